package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
)

const events = "GET /v1/runs/" + run + "/events"

// heard is what somebody hears who follows to the end.
func heard(ctx context.Context, c *Client, after uint64) (seqs []uint64, text string, err error) {
	for e, err := range c.Follow(ctx, run, after) {
		if err != nil {
			return seqs, text, err
		}
		if d, ok := e.Event.(pawl.ModelDelta); ok {
			text += d.Text
			continue
		}
		if p, ok := e.Event.(pawl.ToolProgressed); ok {
			text += p.Text
			continue
		}
		seqs = append(seqs, e.Seq)
	}
	return seqs, text, nil
}

func TestFollow(t *testing.T) {
	t.Parallel()
	all := story(t, 4)
	delta := func(text string) string { return event(line(t, 0, pawl.ModelDelta{Text: text})) }
	running := document(pawl.Result{Run: run, Status: pawl.StatusRunning})
	over := document(pawl.Result{Run: run, Status: pawl.StatusSuccess})
	for name, c := range map[string]struct {
		streams []http.HandlerFunc
		run     http.HandlerFunc
		after   uint64
		want    []uint64
		text    string
		last    []string // Last-Event-ID of each request
	}{
		"whole":                       {streams: []http.HandlerFunc{stream(nil, event(all[0]), delta("a"), event(line(t, 0, pawl.ToolProgressed{Call: "c_1", Text: "b"})), event(all[1]), event(all[2]), event(all[3]))}, want: []uint64{1, 2, 3, 4}, text: "ab", last: []string{""}},
		"from the middle":             {streams: []http.HandlerFunc{stream(nil, event(all[2]), event(all[3]))}, after: 2, want: []uint64{3, 4}, last: []string{"2"}},
		"cut between entries":         {streams: []http.HandlerFunc{stream(cut, event(all[0])), stream(nil, event(all[1]), event(all[2]), event(all[3]))}, want: []uint64{1, 2, 3, 4}, last: []string{"", "1"}},
		"cut in mid-entry":            {streams: []http.HandlerFunc{stream(cut, event(all[0]), event(all[1])[:40]), stream(nil, event(all[1]), event(all[2]), event(all[3]))}, want: []uint64{1, 2, 3, 4}, last: []string{"", "1"}},
		"half a frame, then an end":   {streams: []http.HandlerFunc{stream(nil, event(all[0]), strings.TrimSuffix(event(all[1]), "\n")), stream(nil, event(all[1]), event(all[2]), event(all[3]))}, want: []uint64{1, 2, 3, 4}, last: []string{"", "1"}},
		"cut behind the end":          {streams: []http.HandlerFunc{stream(cut, event(all[0]), event(all[1]), event(all[2]), event(all[3])), stream(nil)}, want: []uint64{1, 2, 3, 4}, last: []string{"", "4"}},
		"what came comes again":       {streams: []http.HandlerFunc{stream(cut, event(all[0]), event(all[1])), stream(nil, event(all[0]), event(all[1]), event(all[2]), event(all[3]))}, want: []uint64{1, 2, 3, 4}, last: []string{"", "2"}},
		"an entry is missing":         {streams: []http.HandlerFunc{stream(nil, event(all[0]), event(all[2])), stream(nil, event(all[1]), event(all[2]), event(all[3]))}, want: []uint64{1, 2, 3, 4}, last: []string{"", "1"}},
		"503, then fine":              {streams: []http.HandlerFunc{page(503, "<html>busy"), problem(503, "busy"), stream(nil, event(all[0]), event(all[1]), event(all[2]), event(all[3]))}, want: []uint64{1, 2, 3, 4}, last: []string{"", "", ""}},
		"503 in between":              {streams: []http.HandlerFunc{stream(cut, event(all[0])), page(502, "x"), page(502, "x"), stream(nil, event(all[1]), event(all[2]), event(all[3]))}, want: []uint64{1, 2, 3, 4}, last: []string{"", "1", "1", "1"}},
		"silence":                     {streams: []http.HandlerFunc{stream(hang, event(all[0])), stream(nil, event(all[1]), event(all[2]), event(all[3]))}, want: []uint64{1, 2, 3, 4}, last: []string{"", "1"}},
		"over before":                 {streams: []http.HandlerFunc{stream(nil)}, run: over, after: 4, last: []string{"4"}},
		"over before, without a body": {streams: []http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }}, run: over, after: 4, last: []string{"4"}},
		"ended in order, too early":   {streams: []http.HandlerFunc{stream(nil), stream(nil, event(all[0]), event(all[1]), event(all[2]), event(all[3]))}, run: running, want: []uint64{1, 2, 3, 4}, last: []string{"", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, client := serve(t, map[string][]http.HandlerFunc{events: c.streams, "GET /v1/runs/" + run: {c.run}})
			got, text, err := heard(t.Context(), client, c.after)
			must(t, err)
			var last []string
			for _, r := range f.asked(events) {
				last = append(last, r.Header.Get("Last-Event-ID"))
				if r.Header.Get("Authorization") != "Bearer secret-token" || r.Header.Get("Accept") != "text/event-stream" {
					t.Errorf("a stream was asked for with %v", r.Header)
				}
			}
			if d := cmp.Diff(c.want, got) + cmp.Diff(c.text, text) + cmp.Diff(c.last, last); d != "" {
				t.Error(d)
			}
		})
	}
}

// Heartbeats keep a stream alive that has nothing to tell.
func TestFollowHeartbeats(t *testing.T) {
	t.Parallel()
	all := story(t, 2)
	slow := func(w http.ResponseWriter, _ *http.Request) {
		for range 4 {
			time.Sleep(200 * time.Millisecond)
			_, _ = w.Write([]byte(":\n\n"))
			_ = http.NewResponseController(w).Flush()
		}
		_, _ = w.Write([]byte(event(all[1])))
	}
	f, c := serve(t, map[string][]http.HandlerFunc{events: {stream(slow, event(all[0]))}})
	got, _, err := heard(t.Context(), c, 0)
	if d := cmp.Diff([]uint64{1, 2}, got); d != "" || err != nil {
		t.Error(d, err)
	}
	if n := len(f.asked(events)); n != 1 {
		t.Errorf("%d streams were made, want 1", n)
	}
}

func TestFollowFails(t *testing.T) {
	t.Parallel()
	all := story(t, 3)
	for name, c := range map[string]struct {
		streams []http.HandlerFunc
		want    string
		most    int64
	}{
		"unknown":       {[]http.HandlerFunc{problem(404, "there is no run X")}, "there is no run X", 0},
		"no token":      {[]http.HandlerFunc{stream(cut, event(all[0])), problem(401, "the token is wrong")}, "the token is wrong", 0},
		"another page":  {[]http.HandlerFunc{page(200, "<html>Hello.</html>")}, `the answer is not one of a pawl server: 200 OK, no stream: "<html>Hello.</html>"`, 0},
		"other entries": {[]http.HandlerFunc{stream(nil, event(strings.ReplaceAll(all[0], run, "other")))}, "the server sent an entry of run other", 0},
		"newer entries": {[]http.HandlerFunc{stream(nil, event(strings.ReplaceAll(all[0], "noted", "dreamt")))}, `event type "dreamt" is unknown to this build`, 0},
		"missing":       {[]http.HandlerFunc{stream(nil, event(all[0]), event(all[2])), stream(nil, event(all[2]))}, "the server sent entry 3 after entry 1", 0},
		"huge":          {[]http.HandlerFunc{stream(hang, "data: "+strings.Repeat("x", 5000)+"\n")}, "an event of the stream is too large", 4096},
		"busy":          {[]http.HandlerFunc{page(503, "<h1>busy</h1>")}, `503 Service Unavailable: "<h1>busy</h1>"`, 0},
		"gone":          {[]http.HandlerFunc{stream(cut, event(all[0])), cut}, "following run", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, client := serve(t, map[string][]http.HandlerFunc{events: c.streams})
			if c.most > 0 {
				client.most = c.most
			}
			_, _, err := heard(t.Context(), client, 0)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestFollowEndsWithItsContext(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	for name, streams := range map[string][]http.HandlerFunc{
		"in a stream":     {stream(hang, event(story(t, 2)[0]))},
		"between streams": {stream(cut, event(story(t, 2)[0])), cut},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, c := serve(t, map[string][]http.HandlerFunc{events: streams})
			c.options.Idle, c.options.Patience = time.Hour, time.Hour
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			time.AfterFunc(300*time.Millisecond, func() { cancel(enough) })
			began := time.Now()
			_, _, err := heard(ctx, c, 0)
			if !errors.Is(err, enough) || time.Since(began) > 20*time.Second {
				t.Errorf("error %v after %v", err, time.Since(began))
			}
		})
	}
	t.Run("broken off", func(t *testing.T) {
		t.Parallel()
		_, c := serve(t, map[string][]http.HandlerFunc{events: {stream(hang, event(story(t, 2)[0]))}})
		for _, err := range c.Follow(t.Context(), run, 0) {
			must(t, err)
			break
		}
	})
	t.Run("broken off after its end", func(t *testing.T) {
		t.Parallel()
		_, c := serve(t, map[string][]http.HandlerFunc{events: {stream(hang, event(story(t, 2)[0]))}})
		ctx, cancel := context.WithCancel(t.Context())
		for range c.Follow(ctx, run, 0) { // which panics if it is gone on with
			cancel()
			break
		}
		cancel()
	})
}

func TestWait(t *testing.T) {
	t.Parallel()
	paused := line(t, 1, pawl.RunPaused{Status: pawl.StatusWaitingInput})
	f, c := serve(t, map[string][]http.HandlerFunc{
		events: {stream(hang, event(paused))},
		"GET /v1/runs/" + run: {
			document(pawl.Result{Run: run, Status: pawl.StatusRunning}),
			document(pawl.Result{Run: run, Status: pawl.StatusSuccess, Legs: []string{run, "leg"}}),
		},
		"GET /v1/runs/leg": {document(pawl.Result{Run: "leg", Status: pawl.StatusWaitingInput, Legs: []string{run, "leg"}})},
	})
	r, err := c.Wait(t.Context(), run)
	if err != nil || r.Run != "leg" || r.Status != pawl.StatusWaitingInput {
		t.Errorf("%v, %v", r.Status, err)
	}
	if n := len(f.asked(events)); n != 1 {
		t.Errorf("%d streams, want 1", n)
	}
}

// A run that is resumed as soon as it has ended is waited for until it ends again. If it had ended by
// then, what is new in its log is shown, although the stream was at the end before.
func TestWaitThroughResume(t *testing.T) {
	t.Parallel()
	said := story(t, 5)
	said[1] = line(t, 2, pawl.RunStopped{Status: pawl.StatusExhausted})
	said[3] = line(t, 4, pawl.RunStopped{Status: pawl.StatusExhausted})
	running := document(pawl.Result{Run: run, Status: pawl.StatusRunning})
	_, c := serve(t, map[string][]http.HandlerFunc{
		events: {stream(nil, event(said[0]), event(said[1])), stream(nil, event(said[2]), event(said[3])),
			document(Entries{Entries: []json.RawMessage{json.RawMessage(said[4])}})},
		"GET /v1/runs/" + run: {running, running, running, running, document(pawl.Result{Run: run, Status: pawl.StatusSuccess})},
	})
	var seqs []uint64
	r, err := c.Watch(t.Context(), run, 0, func(e pawl.Entry) { seqs = append(seqs, e.Seq) })
	if err != nil || r.Status != pawl.StatusSuccess || fmt.Sprint(seqs) != "[1 2 3 4 5]" {
		t.Errorf("%v after %v, %v", r.Status, seqs, err)
	}
}
