package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/tool"
)

// talker is a model that makes turns of some words each, and then ends. Its first
// reply waits until it is let go.
type talker struct {
	turns, words int
	waiting      *atomic.Int64 // runs that do
	release      <-chan struct{}
}

func (m talker) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		if r.Turn == 1 {
			m.waiting.Add(1)
			select {
			case <-m.release:
			case <-ctx.Done():
				yield(pawl.Chunk{}, ctx.Err())
				return
			}
		}
		text := ""
		for i := range m.words {
			word := fmt.Sprintf("word %d of turn %d, ", i, r.Turn)
			text += word
			if !yield(pawl.Chunk{Text: word}, nil) {
				return
			}
		}
		reply := pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: text}}}
		if r.Turn < m.turns {
			reply.Parts = append(reply.Parts, pawl.Call{Tool: "look", Args: json.RawMessage(fmt.Sprintf(`{"n":%d}`, r.Turn))})
		}
		yield(pawl.Chunk{Reply: &reply}, nil)
	}
}

func (m talker) agent() pawl.Agent {
	look := tool.Func("look", "Look.", func(_ context.Context, in struct {
		N int `json:"n"`
	},
	) (int, error) {
		return in.N, nil
	}, pawl.Read)
	return pawl.Agent{Name: "talker", Model: m, Tools: []pawl.Tool{look}, Limits: pawl.Limits{Iterations: m.turns + 1, Tokens: 1 << 40}}
}

// watching is a connection that follows a run. It speaks HTTP/1.0, so that what
// comes is the stream as it is.
type watching struct{ conn net.Conn }

func watch(web *httptest.Server, run string) (watching, error) {
	c, err := net.Dial("tcp", web.Listener.Addr().String())
	if err != nil {
		return watching{}, err
	}
	_, err = fmt.Fprintf(c, "GET /v1/runs/%s/events HTTP/1.0\r\nHost: %s\r\nAuthorization: Bearer t\r\nAccept: text/event-stream\r\n\r\n", run, web.Listener.Addr())
	return watching{c}, err
}

// entries reads to the end and counts the entries; begun is called at the first byte.
func (w watching) entries(begun func()) (entries, pieces int, err error) {
	defer w.conn.Close()
	var id, delta, end = []byte("\nid: "), []byte("\nevent: model.delta"), []byte("\nevent: run.stopped")
	buf := make([]byte, 4<<10)
	ended, have := false, 0
	for {
		n, err := w.conn.Read(buf[have:])
		if begun != nil && n > 0 {
			begun()
			begun = nil
		}
		all := buf[:have+n]
		whole := bytes.LastIndexByte(all, '\n') // what follows may be half a word
		if err != nil {
			whole = len(all)
		}
		if whole > 0 {
			entries += bytes.Count(all[:whole], id)
			pieces += bytes.Count(all[:whole], delta)
			ended = ended || bytes.Contains(all[:whole], end)
			have = copy(buf, all[whole:])
		} else {
			have = copy(buf, all[max(0, len(all)-32):])
		}
		switch {
		case err == io.EOF && !ended:
			return entries, pieces, errors.New("it ended before the run")
		case err == io.EOF:
			return entries, pieces, nil
		case err != nil:
			return entries, pieces, err
		}
	}
}

// used is the memory in use, stacks included.
func used() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// figures are the cost of many readers.
type figures struct {
	took            time.Duration // from the release to the last end
	entries, pieces int           // that all took together
	before, idle    int64         // bytes in use
}

func (f figures) String() string {
	return fmt.Sprintf("%v, %d entries and %d pieces; MB in use: %d before, %d waiting", f.took.Round(time.Millisecond), f.entries, f.pieces, f.before>>20, f.idle>>20)
}

// watchAll lets some readers follow each of some runs at once, and checks that
// all of them get every entry.
func watchAll(t testing.TB, j Store, count, readers, turns, words int) (f figures) {
	t.Helper()
	release := make(chan struct{})
	model := talker{turns: turns, words: words, waiting: new(atomic.Int64), release: release}
	web, _ := hosted(t, j, model.agent())
	f.before = used()
	ids := make([]string, count)
	var all sync.WaitGroup
	var failed atomic.Pointer[error]
	fail := func(err error) { failed.CompareAndSwap(nil, &err) }
	gate := make(chan struct{}, 50) // who starts at once
	for i := range ids {
		all.Go(func() {
			gate <- struct{}{}
			defer func() { <-gate }()
			id, err := post(t.Context(), web)
			if ids[i] = id; err != nil {
				fail(err)
			}
		})
	}
	all.Wait()
	var begun sync.WaitGroup
	var entries, pieces atomic.Int64
	for _, id := range ids {
		for range readers {
			begun.Add(1)
			w, err := watch(web, id)
			must(t, err)
			all.Go(func() {
				once := sync.OnceFunc(begun.Done)
				n, pieced, err := w.entries(once)
				once()
				entries.Add(int64(n))
				pieces.Add(int64(pieced))
				if err != nil {
					fail(err)
				}
			})
		}
	}
	begun.Wait()
	for model.waiting.Load() < int64(count) {
		time.Sleep(time.Millisecond)
	}
	f.idle = used()
	from := time.Now()
	close(release)
	all.Wait()
	f.took = time.Since(from)
	if err := failed.Load(); err != nil {
		t.Fatal(*err)
	}
	f.entries, f.pieces = int(entries.Load()), int(pieces.Load())
	want := 0
	for _, id := range ids {
		h, err := runs.Head(t.Context(), j, id)
		must(t, err)
		want += int(h.Seq) * readers
	}
	if f.entries != want {
		t.Fatalf("together they got %d entries of %d", f.entries, want)
	}
	return f
}

// post starts a run over HTTP.
func post(ctx context.Context, web *httptest.Server) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, web.URL+"/v1/runs", strings.NewReader(`{"agent":"talker","input":"go"}`))
	if err != nil {
		return "", err
	}
	r.Header.Set("Authorization", "Bearer t")
	r.Header.Set("Content-Type", "application/json")
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer w.Body.Close()
	var out struct{ Run string }
	if w.StatusCode != http.StatusCreated {
		return "", errors.New(w.Status)
	}
	return out.Run, json.NewDecoder(w.Body).Decode(&out)
}

func onDisk(t testing.TB) Store {
	t.Helper()
	j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "j.db"), nil)
	must(t, err)
	t.Cleanup(func() { _ = j.Close() })
	return j
}

// TestCrowd checks that many readers get everything, and, with PAWL_PROOF,
// that a thousand take little memory each.
func TestCrowd(t *testing.T) {
	if os.Getenv("PAWL_PROOF") == "" {
		t.Log(watchAll(t, memory.New(), 1, 20, 10, 5))
		t.Log(watchAll(t, onDisk(t), 10, 2, 3, 5))
		return
	}
	alone := watchAll(t, memory.New(), 1, 1, 200, 20)
	many := watchAll(t, memory.New(), 1, 1000, 200, 20)
	t.Log("one reader of one run:", alone)
	t.Log("1,000 readers of one run:", many)
	runs := watchAll(t, onDisk(t), 1000, 1, 10, 20)
	t.Log("1,000 runs at once, each with a reader:", runs)
	for name, f := range map[string]figures{"readers": many, "runs": runs} {
		if each := (f.idle - f.before) / 1000; each > 100<<10 {
			t.Errorf("each of 1,000 %s takes %d kB", name, each>>10)
		}
	}
}
