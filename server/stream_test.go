package server

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/tool"
)

// watchable serves the streams of a journal alone, at /RUN.
func watchable(t testing.TB, j Store, e *engine.Engine) *httptest.Server {
	t.Helper()
	s := &Server{journal: j, closing: make(chan struct{}), live: func(run string) *engine.Handle {
		if e == nil {
			return nil
		}
		return e.Live(run)
	}}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.stream(&exchange{ResponseWriter: w, Request: r}, r.URL.Path[1:]); err != nil {
			http.Error(w, err.Error(), http.StatusTeapot)
		}
	}))
	t.Cleanup(web.Close)
	t.Cleanup(func() { close(s.closing) })
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

// until has the model say a word, which may be lost, again and again until it is heard. A space ends
// the word, because what is not followed by one may be half a secret.
func (m slow) until(word string) (heard func()) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case m.words <- word:
				time.Sleep(time.Millisecond)
			case <-stop:
				return
			}
		}
	}()
	return func() { close(stop); <-stopped }
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
// between its entries without an id, also those from before it came, what was
// withdrawn before what replaces it, and the end.
func TestStream(t *testing.T) { // Promises: D9.
	j := memory.New()
	e := engine.New(j, &engine.Options{Backoff: func(int) time.Duration { return 0 }})
	model := slow{make(chan string)}
	h, err := e.Start(t.Context(), pawl.Agent{Name: "a", Model: model}, "go", &engine.StartOptions{ID: "r"})
	must(t, err)
	web := watchable(t, j, e)
	model.words <- "Hel"
	model.words <- "lo "
	events, _, header := follow(t, web.URL+"/r")
	if got := header.Get("Content-Type") + header.Get("Cache-Control") + header.Get("X-Accel-Buffering"); got != "text/event-streamno-storeno" {
		t.Errorf("headers are %q", got)
	}
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
		}
		said += ev.short()[1:]
		got = append(got, "+"+said)
		switch said {
		case "Hello ":
			model.words <- "there "
		case "Hello there ":
			model.words <- "!"
		case "Good ":
			model.words <- "bye"
			model.words <- "."
		}
	}
	joined := strings.Replace(strings.Join(got, "|"), "+Good bye", "+Good ", 1) // the last of it may come or not
	if want := "1 run.started|2 model.called|+Hello there |3 model.failed|4 model.called|+Good |5 model.replied|6 run.stopped"; joined != want {
		t.Errorf("it is\n%s\nwant\n%s", joined, want)
	}
	_, err = h.Wait(t.Context())
	must(t, err)

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
	_, err := e.Start(t.Context(), pawl.Agent{Name: "a", Model: model}, "use "+token, &engine.StartOptions{ID: "r"})
	must(t, err)
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
	_, err := e.Start(t.Context(), lead, "go", &engine.StartOptions{ID: "r"})
	must(t, err)
	web := watchable(t, j, e)
	if _, status, _ := follow(t, web.URL+"/r?children=some"); status != "418 I'm a teapot" {
		t.Errorf("children=some is %s", status)
	}
	plain, _, _ := follow(t, web.URL+"/r")
	events, _, _ := follow(t, web.URL+"/r?children=true")
	const key = "sk-ant-api03-0123456789abcdefghijABCDEFGHIJ"
	heard := model.until("~ ")
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
			heard()
			for _, word := range []string{"It is " + key[:20], key[20:] + " now.\n", "."} {
				model.words <- word
			}
		}
		said += d.Data.Text
	}
	if said = strings.ReplaceAll(said, "~ ", ""); !strings.HasSuffix(said, "now.\n") || strings.Contains(said, key[10:20]) {
		t.Errorf("it said %q", said)
	}
	if got := strings.Join(kinds(plain), "|"); strings.Contains(got, "+") || !strings.HasSuffix(got, "run.stopped") {
		t.Errorf("who did not ask got %s", got)
	}
}

var must = check.Must
