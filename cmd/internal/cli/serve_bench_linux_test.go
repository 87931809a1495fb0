package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/server/client"
)

// load is many clients of a server, and a provider whose model answers after 200 ms.
type load struct {
	b        *testing.B
	provider *httptest.Server
	mu       sync.Mutex
	decided  sync.Map             // when a run was approved, by its input
	took     map[string][]float64 // milliseconds
}

func newLoad(b *testing.B) *load {
	l := &load{b: b, took: map[string][]float64{}}
	input := regexp.MustCompile(`run-\d+\.`)
	l.provider = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		reply, stop := `{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a.yaml\"}"}}]}`, "tool_calls"
		if bytes.Contains(body, []byte(`"role":"tool"`)) {
			reply, stop = `{"content":"It is read."}`, "stop"
			decided, _ := l.decided.Load(string(input.Find(body)))
			l.since("approval to the next model call", decided.(time.Time))
		}
		time.Sleep(200 * time.Millisecond)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%q}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":50,\"completion_tokens\":5}}\n\ndata: [DONE]\n\n", reply, stop)
	}))
	b.Cleanup(l.provider.Close)
	return l
}

// since notes how long ago something was.
func (l *load) since(what string, then time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took[what] = append(l.took[what], time.Since(then).Seconds()*1e3)
}

// each has clients do something b.N times, and reports what was noted.
func (l *load) each(clients int, do func(i int) error) {
	var all sync.WaitGroup
	next := make(chan int)
	for range clients {
		all.Go(func() {
			for i := range next {
				if err := do(i); err != nil {
					l.b.Error(err)
				}
			}
		})
	}
	l.b.ResetTimer()
	for i := range l.b.N {
		next <- i
	}
	close(next)
	all.Wait()
	l.b.ReportMetric(float64(l.b.N)/l.b.Elapsed().Seconds(), "runs/s")
	for what, list := range l.took {
		slices.Sort(list)
		for _, p := range []int{50, 99} {
			l.b.ReportMetric(list[(len(list)-1)*p/100], fmt.Sprintf("ms_p%d_%s", p, strings.ReplaceAll(what, " ", "_")))
		}
	}
}

// served starts pawl serve on $PAWL_DATABASE, or a new database of SQLite. memory is its RSS in kB.
func (l *load) served() (c *client.Client, memory func() float64) {
	b := l.b
	dir := b.TempDir()
	must(b, os.WriteFile(filepath.Join(dir, "a.yaml"), fmt.Appendf(nil, `
name: a
model: mine/m
providers: {mine: {wire: openai, base_url: %q, price: none}}
tools: [{builtin: [read_file]}]
approvals: {gates: [read_file]}
`, l.provider.URL), 0o600))
	said, err := os.Create(filepath.Join(dir, "said"))
	must(b, err)
	s := exec.Command("pawl", "serve", "--addr", "127.0.0.1:0", "--max-runs", "20000", "a.yaml")
	s.Dir, s.Stdout, s.Stderr = dir, said, said
	s.Env = append(os.Environ(), "PAWL_TOKEN="+token, "XDG_STATE_HOME="+dir, "GOGC=100")
	must(b, s.Start())
	b.Cleanup(func() {
		_ = s.Process.Signal(os.Interrupt)
		_ = s.Wait()
		_ = said.Close()
	})
	read := func(file string, r *regexp.Regexp) string {
		var found [][]byte
		check.Soon(b, r.String(), func() bool {
			text, _ := os.ReadFile(file)
			found = r.FindSubmatch(text)
			return found != nil
		})
		return string(found[1])
	}
	c, err = client.New(read(said.Name(), serving), token, &client.Options{HTTP: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1000}}})
	must(b, err)
	return c, func() float64 {
		kB, _ := strconv.Atoi(read(fmt.Sprintf("/proc/%d/status", s.Process.Pid), regexp.MustCompile(`VmRSS:\s*(\d+)`)))
		return float64(kB)
	}
}

// BenchmarkServe has clients run an agent that reads a file once a person allows it: as many as the
// machine bears, and so few that it is idle most of the time.
func BenchmarkServe(b *testing.B) {
	for _, clients := range []int{300, 10} {
		b.Run(strconv.Itoa(clients), func(b *testing.B) { serveRuns(b, clients) })
	}
}

func serveRuns(b *testing.B, clients int) {
	l := newLoad(b)
	c, _ := l.served()
	ctx := b.Context()
	l.each(clients, func(i int) error {
		input := fmt.Sprintf("run-%d.", i)
		from := time.Now()
		r, err := c.Start(ctx, client.StartRun{Agent: "a", Input: input})
		if err != nil {
			return err
		}
		l.since("start to 201", from)
		var watched time.Time
		for e, err := range c.Follow(ctx, r.Run, 0) {
			switch {
			case err != nil:
				return err
			case watched.IsZero():
				watched = time.Now()
			case e.Seq > 0 && e.Time.After(watched):
				l.since("append to reader", e.Time)
			}
			if asked, ok := e.Event.(pawl.ApprovalRequested); ok {
				l.decided.Store(input, time.Now())
				if err := c.Approve(ctx, r.Run, asked.Call, "ann", nil); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// BenchmarkServeBare is a server that makes the same calls, and commits as many rows of a kilobyte, each in a transaction.
func BenchmarkServeBare(b *testing.B) {
	l := newLoad(b)
	c, err := sqlite3.Open(filepath.Join(b.TempDir(), "rows.db"))
	must(b, err)
	b.Cleanup(func() { c.Close() })
	must(b, c.Exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE log (seq INTEGER PRIMARY KEY, data BLOB)`))
	row, _, err := c.Prepare(`INSERT INTO log (data) VALUES (zeroblob(1024))`)
	must(b, err)
	b.Cleanup(func() { row.Close() })
	var writing sync.Mutex
	post := func(ctx context.Context, url, body string) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			return err
		}
		answer, err := http.DefaultClient.Do(r)
		if err == nil {
			_, _ = io.Copy(io.Discard, answer.Body)
			err = answer.Body.Close()
		}
		return err
	}
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = 1000
	bare := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		for i := range 12 { // entries of such a run
			if i == 2 || i == 10 { // where it has its calls
				_ = post(r.Context(), l.provider.URL, "{}")
			}
			writing.Lock()
			_ = row.Exec()
			writing.Unlock()
		}
	}))
	b.Cleanup(bare.Close)
	l.each(300, func(int) error { return post(b.Context(), bare.URL, "{}") })
}

// BenchmarkServeWaiting has runs wait for a person, and reports the server's memory.
func BenchmarkServeWaiting(b *testing.B) {
	l := newLoad(b)
	c, memory := l.served()
	l.each(300, func(i int) error {
		r, err := c.StartAndWait(b.Context(), client.StartRun{Agent: "a", Input: fmt.Sprintf("run-%d.", i)})
		if err == nil && r.Status != pawl.StatusWaitingApproval {
			err = fmt.Errorf("run %s: %s", r.Run, r.Verdict.Detail)
		}
		return err
	})
	b.ReportMetric(memory()/1024, "MB")
}
