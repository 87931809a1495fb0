package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/tool"
)

// watchable serves the streams of a journal alone, at /RUN.
func watchable(t testing.TB, j Store, e *engine.Engine) *httptest.Server {
	t.Helper()
	s := &Server{journal: j, broadcasters: newHubs(j, func(run string) *engine.Handle {
		if e == nil {
			return nil
		}
		return e.Live(run)
	})}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.stream(&exchange{ResponseWriter: w, Request: r}, r.URL.Path[1:]); err != nil {
			http.Error(w, err.Error(), http.StatusTeapot)
		}
	}))
	t.Cleanup(web.Close)
	t.Cleanup(s.broadcasters.close)
	return web
}

// event is one of a stream.
type event struct{ id, kind, data string }

// follow reads a stream to its end.
func follow(t testing.TB, url string, header ...string) (events iter.Seq[event], status string, got http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	must(t, err)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w, err := http.DefaultClient.Do(r)
	must(t, err)
	t.Cleanup(func() { _ = w.Body.Close() })
	return func(yield func(event) bool) {
		var e event
		lines := bufio.NewReader(w.Body)
		for {
			line, err := lines.ReadString('\n')
			if err == io.EOF {
				return
			}
			if err != nil {
				t.Errorf("the stream broke off: %v", err)
				return
			}
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch name {
			case "id":
				e.id = value
			case "event":
				e.kind = value
			case "data":
				e.data = value
			case "":
				if e != (event{}) && !yield(e) {
					return
				}
				e = event{}
			}
		}
	}, w.Status, w.Header
}

// slow is a model that says its words one by one, each when it is told to.
type slow struct{ words chan string }

func (m slow) Stream(ctx context.Context, _ pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		var all strings.Builder
		for {
			select {
			case w, ok := <-m.words:
				if !ok || w == "." {
					r := pawl.Say(all.String())
					yield(pawl.Chunk{Reply: &r}, nil)
					return
				}
				if w == "!" {
					yield(pawl.Chunk{}, &pawl.ModelError{Class: pawl.ClassOverloaded, Message: "it broke"})
					return
				}
				all.WriteString(w)
				if !yield(pawl.Chunk{Text: w}, nil) {
					return
				}
			case <-ctx.Done():
				yield(pawl.Chunk{}, ctx.Err())
				return
			}
		}
	}
}

// kinds are the types of events, and the text of pieces.
func kinds(events iter.Seq[event]) (all []string) {
	for e := range events {
		all = append(all, e.short())
	}
	return all
}

func (e event) short() string {
	if e.kind != "model.delta" {
		return e.id + " " + e.kind
	}
	var d struct{ Data struct{ Text string } }
	_ = json.Unmarshal([]byte(e.data), &d)
	return "+" + d.Data.Text
}

// TestStream holds that a watcher sees the log as it is, the pieces of a reply
// between its entries without an id, what was withdrawn before what replaces it,
// and the end.
func TestStream(t *testing.T) {
	j := memory.New()
	e := engine.New(j, &engine.Options{Backoff: func(int) time.Duration { return 0 }})
	model := slow{make(chan string)}
	h, err := e.Start(t.Context(), pawl.Agent{Name: "a", Model: model}, "go", &engine.StartOptions{ID: "r"})
	must(t, err)
	web := watchable(t, j, e)
	events, _, header := follow(t, web.URL+"/r")
	if got := header.Get("Content-Type") + header.Get("Cache-Control") + header.Get("X-Accel-Buffering"); got != "text/event-streamno-storeno" {
		t.Errorf("headers are %q", got)
	}
	// What is said before somebody listens is lost. So the model clears its throat
	// until it is heard, and then says each piece when the one before has come.
	heard, cleared := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(cleared)
		for {
			select {
			case model.words <- "~ ": // what is not followed by a space may be half a secret
				time.Sleep(time.Millisecond)
			case <-heard:
				return
			}
		}
	}()
	var got []string
	said, calls, pieces := "", 0, 0
	for ev := range events {
		if ev.kind != "model.delta" {
			got, said, pieces = append(got, ev.short()), "", 0
			if ev.kind == "model.called" {
				if calls++; calls == 2 {
					model.words <- "Good "
				}
			}
			continue
		}
		if pieces++; pieces > 1 {
			got = got[:len(got)-1]
		} else if calls == 1 {
			close(heard)
			<-cleared
			model.words <- "Hel"
			model.words <- "lo "
		}
		more := strings.ReplaceAll(ev.short()[1:], "~ ", "")
		said += more
		got = append(got, "+"+said)
		switch {
		case more == "":
		case said == "Hello ":
			model.words <- "there "
		case said == "Hello there ":
			model.words <- "!"
		case said == "Good ":
			model.words <- "bye"
			model.words <- "."
		}
	}
	joined := strings.Replace(strings.Join(got, "|"), "+Good bye", "+Good ", 1) // the last of it may come or not
	if want := "1 run.started|2 model.called|+Hello there |3 model.failed|4 model.called|+Good |5 model.replied|6 run.stopped"; joined != want {
		t.Errorf("it is\n%s\nwant\n%s", joined, want)
	}
	if _, err := h.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}

	after := func(id string) []string {
		events, status, _ := follow(t, web.URL+"/r", "Last-Event-ID", id)
		return append(kinds(events), status)
	}
	if diff := cmp.Diff([]string{"5 model.replied", "6 run.stopped", "200 OK"}, after("4")); diff != "" {
		t.Error("after entry 4:", diff)
	}
	for _, end := range []string{"6", "99"} {
		if diff := cmp.Diff([]string{"204 No Content"}, after(end)); diff != "" {
			t.Error("after entry", end, diff)
		}
	}
	if diff := cmp.Diff([]string{"418 I'm a teapot"}, after("x")); diff != "" {
		t.Error("after an entry that cannot be", diff)
	}
	events, _, _ = follow(t, web.URL+"/r?cursor=6")
	if diff := cmp.Diff([]string{"6 run.stopped"}, kinds(events)); diff != "" {
		t.Error("with a cursor:", diff)
	}
	if _, status, _ := follow(t, web.URL+"/none"); status != "418 I'm a teapot" {
		t.Errorf("of no run it answers %s", status)
	}
}

// TestStreamRedacts holds that neither an entry nor pieces of a reply show what
// looks like a secret.
func TestStreamRedacts(t *testing.T) {
	const token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	j := memory.New()
	e := engine.New(j, nil)
	model := slow{make(chan string, 100)}
	for word := range strings.SplitSeq("The token is "+token+" and no other.", "") {
		model.words <- word
	}
	model.words <- " " // the last that is waited for
	web := watchable(t, j, e)
	if _, err := e.Start(t.Context(), pawl.Agent{Name: "a", Model: model}, "use "+token, &engine.StartOptions{ID: "r"}); err != nil {
		t.Fatal(err)
	}
	events, _, _ := follow(t, web.URL+"/r")
	live := ""
	for ev := range events {
		if strings.Contains(ev.data, token[4:]) {
			t.Errorf("it shows %s", ev.data)
		}
		if s, ok := strings.CutPrefix(ev.short(), "+"); ok {
			live += s
		}
		if ev.kind == "model.called" {
			close(model.words)
		}
	}
	if strings.Contains(live, "abcdefghij") {
		t.Errorf("its pieces show %q", live)
	}
}

// gated is an agent whose one call needs somebody's approval, and then ends.
func gated(turns int) pawl.Agent {
	n := 0
	return pawl.Agent{
		Name: "gated",
		Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			if n++; n <= turns {
				return pawl.Do(pawl.Call{Tool: "pay", Args: json.RawMessage(fmt.Sprintf(`{"N":%d}`, n))}), nil
			}
			return pawl.Say("done"), nil
		}),
		Tools:    []pawl.Tool{tool.Func("pay", "Pay.", func(context.Context, struct{ N int }) (string, error) { return "paid", nil }, pawl.Write)},
		Policies: []pawl.Policy{approval.For("pay")},
	}
}

// TestStreamAcrossPauses holds that a stream stays while a run waits, and goes on
// when it is taken up again by this process or another one.
func TestStreamAcrossPauses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.db")
	here, err := sqlite.Open(t.Context(), path, nil)
	must(t, err)
	defer here.Close()
	there, err := sqlite.Open(t.Context(), path, nil)
	must(t, err)
	defer there.Close()
	agent := gated(2)
	e, other := engine.New(here, nil), engine.New(there, nil)
	h, err := e.Start(t.Context(), agent, "go", &engine.StartOptions{ID: "r"})
	must(t, err)
	if _, err := h.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	web := watchable(t, here, e)
	events, _, _ := follow(t, web.URL+"/r")
	var got []string
	for ev := range events {
		got = append(got, ev.short())
		if ev.kind != "run.paused" {
			continue
		}
		by := e
		if len(got) > 8 {
			by = other
		}
		var call string
		for c := range strings.SplitSeq("c_1 c_2", " ") {
			if by.Approve(t.Context(), "r", c, "me", nil) == nil {
				call = c
			}
		}
		if _, err := by.Resume(t.Context(), agent, "r", nil); err != nil {
			t.Fatal(call, err)
		}
	}
	if got[len(got)-1] != fmt.Sprintf("%d run.stopped", len(got)) {
		t.Errorf("it is %q", got)
	}
}

// TestStreamOfAReaderWhoNeverReads holds that one who takes nothing holds neither
// the run nor the others, and that what is kept for him is bounded.
func TestStreamOfAReaderWhoNeverReads(t *testing.T) {
	j := memory.New()
	const run, entries = "r", 3000
	lease, err := j.Claim(t.Context(), pawl.Claim{Run: run, Owner: "me", TTL: time.Hour, New: true})
	must(t, err)
	fill := strings.Repeat("x", 4000)
	last := uint64(0)
	add := func(event pawl.Event, status pawl.Status) {
		line, err := pawl.Entry{Run: run, Seq: last + 1, At: last, Time: time.Unix(1, 0), Event: event}.AppendJSON(nil)
		if err == nil {
			err = j.Append(t.Context(), pawl.Batch{Run: run, Epoch: lease.Epoch, After: last, Records: [][]byte{line}, Head: pawl.Head{Run: run, Status: status}})
		}
		must(t, err)
		last++
	}
	add(pawl.Noted{By: "t", Name: "n", Value: json.RawMessage(`0`)}, pawl.StatusRunning)
	broadcasters := newHubs(j, func(string) *engine.Handle { return nil })
	defer broadcasters.close()
	never, _, err := broadcasters.enter(t.Context(), run, 0)
	must(t, err)
	defer never.leave()
	if _, _, _, err := never.take(t.Context()); err != nil { // and then no more
		t.Fatal(err)
	}
	if _, wait, _, _ := never.take(t.Context()); wait == nil {
		t.Fatal("there is more than was written")
	}
	ready, _, err := broadcasters.enter(t.Context(), run, 0)
	must(t, err)
	defer ready.leave()
	got := make(chan uint64)
	go func() {
		defer close(got)
		for seen := uint64(0); ; {
			frames, wait, ended, err := ready.take(t.Context())
			if err != nil || ended {
				if err != nil {
					t.Error(err)
				}
				return
			}
			for _, f := range frames {
				if f.seq != seen+1 {
					t.Errorf("entry %d follows %d", f.seq, seen)
				}
				seen = f.seq
			}
			if wait != nil {
				got <- seen
				<-wait
			}
		}
	}()
	before := heap()
	for last < entries {
		add(pawl.Noted{By: "t", Name: "n", Value: json.RawMessage(`"` + fill + `"`)}, pawl.StatusRunning)
		if last%100 == 0 {
			for seen := range got {
				if seen == last {
					break
				}
			}
		}
	}
	log := int64(entries * 4864) // the memory that an entry of 4,100 bytes takes
	if grown := heap() - before - log; grown > 2<<20 {
		t.Errorf("for one who reads nothing %d kB more are kept than the log", grown>>10)
	}
	b := never.broadcaster
	b.mu.Lock()
	kept := b.bytes
	b.mu.Unlock()
	if kept > b.room() {
		t.Errorf("%d bytes are kept in the ring", kept)
	}
	add(pawl.RunStopped{Status: pawl.StatusSuccess}, pawl.StatusSuccess)
	for range got {
	}
	seen := uint64(1)
	for { // and when he comes back, nothing is missing
		frames, wait, ended, err := never.take(t.Context())
		must(t, err)
		if ended {
			break
		}
		for _, f := range frames {
			if f.seq != seen+1 {
				t.Fatalf("entry %d follows %d", f.seq, seen)
			}
			seen = f.seq
		}
		if wait != nil {
			<-wait
		}
	}
	if seen != last {
		t.Errorf("he ends with entry %d of %d", seen, last)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func itoa(n uint64) string { return strconv.FormatUint(n, 10) }

// TestStreamOfAGrowingAnswer holds that a reader who wants it gets the structured answer as it
// grows, of a reply that it has from its beginning on, and of no other.
func TestStreamOfAGrowingAnswer(t *testing.T) {
	j := memory.New()
	e := engine.New(j, &engine.Options{Backoff: func(int) time.Duration { return 0 }})
	model := slow{make(chan string)}
	schema := json.RawMessage(`{"type":"object","properties":{"vendor":{"type":"string"},"cents":{"type":"integer"}}}`)
	if _, err := e.Start(t.Context(), pawl.Agent{Name: "a", Model: model, Output: schema}, "go", &engine.StartOptions{ID: "r"}); err != nil {
		t.Fatal(err)
	}
	web := watchable(t, j, e)
	if _, status, _ := follow(t, web.URL+"/r?partial=perhaps"); status != "418 I'm a teapot" {
		t.Errorf("perhaps is answered with %s", status)
	}
	for _, query := range []string{"?partial=true", ""} {
		events, _, _ := follow(t, web.URL+"/r"+query)
		var parts []string
		if query != "" {
			heard, cleared := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(cleared)
				for {
					select {
					case model.words <- "{} ": // until somebody listens
						time.Sleep(time.Millisecond)
					case <-heard:
						return
					}
				}
			}()
			calls := 0
			for ev := range events {
				switch {
				case ev.kind == "answer.partial" && calls == 2:
					parts = append(parts, ev.data)
				case ev.kind == "model.called":
					if calls++; calls == 2 {
						for _, w := range []string{`{"vendor": `, `"Miller & `, `Sons ", "cents": 12`, `50 } `, "."} {
							model.words <- w
						}
					}
				case ev.kind == "model.delta" && calls == 1 && heard != nil:
					close(heard)
					<-cleared
					heard = nil
					model.words <- "!"
				}
			}
			all := strings.Join(parts, "\n")
			if want := `{"run":"r","at":4,"output":{"vendor":"Miller \u0026 Sons ","cents":1250}}`; len(parts) == 0 || parts[len(parts)-1] != want || strings.Contains(all, `"cents":12}`) {
				t.Errorf("the answer grows as\n%s\nto end with\n%s", all, want)
			}
			continue
		}
		for ev := range events {
			if ev.kind == "answer.partial" {
				t.Errorf("a reader who did not ask gets %s", ev.data)
			}
		}
	}
}

// TestStreamOfChildren holds that a reader who wants them gets the pieces of child runs, under
// their run and agent and without secrets, and no other reader does.
func TestStreamOfChildren(t *testing.T) {
	j := memory.New()
	e := engine.New(j, &engine.Options{Children: true})
	model := slow{make(chan string)}
	lead := pawl.Agent{Name: "lead", Tools: []pawl.Tool{tool.Agent(pawl.Agent{Name: "aide", Description: "Helps.", Model: model}, nil)},
		Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			if len(r.Messages) == 1 {
				return pawl.Do(pawl.Call{Tool: "aide", Args: json.RawMessage(`{"input":"go"}`)}), nil
			}
			return pawl.Say("done"), nil
		})}
	if _, err := e.Start(t.Context(), lead, "go", &engine.StartOptions{ID: "r"}); err != nil {
		t.Fatal(err)
	}
	web := watchable(t, j, e)
	if _, status, _ := follow(t, web.URL+"/r?children=some"); status != "418 I'm a teapot" {
		t.Errorf("children=some is %s", status)
	}
	plain, _, _ := follow(t, web.URL+"/r")
	events, _, _ := follow(t, web.URL+"/r?children=true")
	const key = "sk-ant-api03-0123456789abcdefghijABCDEFGHIJ"
	heard, cleared := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(cleared)
		for {
			select {
			case model.words <- "~ ":
				time.Sleep(time.Millisecond)
			case <-heard:
				model.words <- "It is " + key[:20]
				model.words <- key[20:] + " now.\n"
				model.words <- "."
				return
			}
		}
	}()
	said := ""
	for ev := range events {
		if ev.kind != "model.delta" {
			continue
		}
		var d struct {
			Run  string
			Data struct{ Text, Agent string }
		}
		if err := json.Unmarshal([]byte(ev.data), &d); err != nil || d.Run != "r.c_1" || d.Data.Agent != "aide" {
			t.Errorf("a piece is %s", ev.data)
		}
		if said == "" {
			close(heard)
		}
		said += d.Data.Text
	}
	<-cleared
	if said = strings.ReplaceAll(said, "~ ", ""); !strings.HasSuffix(said, "now.\n") || strings.Contains(said, key[10:20]) {
		t.Errorf("it said %q", said)
	}
	if got := strings.Join(kinds(plain), "|"); strings.Contains(got, "+") || !strings.HasSuffix(got, "run.stopped") {
		t.Errorf("who did not ask got %s", got)
	}
}

// must ends a test at an error that it does not expect.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
