package fakeprovider

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/script"
)

// handle lets a server answer one request, and says how. An answer that would
// never end is given up some time after it was decided on; it must end then.
func handle(t *testing.T, fake *Server, w Wire, body string, patience time.Duration) *httptest.ResponseRecorder {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for !slices.ContainsFunc(fake.Requests(), func(r Request) bool { return r.Decided }) && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		time.AfterFunc(patience, cancel)
	}()
	rec := httptest.NewRecorder()
	done := make(chan any, 1)
	go func() {
		defer func() { done <- recover() }()
		req := httptest.NewRequestWithContext(ctx, http.MethodPost, paths[w], strings.NewReader(body))
		req.Header.Set("Anthropic-Version", "2023-06-01")
		fake.ServeHTTP(rec, req)
	}()
	select {
	case p := <-done:
		if err, ok := p.(error); p != nil && (!ok || !errors.Is(err, http.ErrAbortHandler)) {
			t.Fatalf("%v: %s", p, body)
		}
	case <-time.After(time.Minute):
		t.Fatal("the answer does not end though its client has gone")
	}
	return rec
}

// FuzzFault lets any fault strike anywhere, in pieces of any size: the server
// neither panics nor hangs.
func FuzzFault(f *testing.F) {
	faults := Faults()
	for i := range faults {
		f.Add(uint8(i), uint8(i), uint16(i%5), uint8(i%8), uint64(i), uint8(i))
	}
	f.Fuzz(func(t *testing.T, n, wire uint8, k uint16, chunk uint8, seed uint64, shape uint8) {
		fault := faults[int(n)%len(faults)]
		if strings.HasPrefix(fault.Name, "late") {
			k %= 10
		}
		w := fault.Wires[int(wire)%len(fault.Wires)]
		reply := lookup()
		reply.Parts = reply.Parts[int(shape)%5:]
		reply.Stop = pawl.StopReason(int(shape) / 5 % 6)
		body := bodies[w]
		if shape > 127 {
			body = strings.Replace(body, `"stream":true`, `"stream":false`, 1)
			body = strings.Replace(body, `"stream_options":{"include_usage":true},`, "", 1)
		}
		fake := New(script.Replies(reply), &Options{Faults: []Fault{fault.At(int(k))}, Chunk: int(chunk) % 8, Seed: seed})
		if fault.Name == "huge-arguments" {
			fake.o.Chunk = 0
		}
		handle(t, fake, w, body, 300*time.Millisecond)
		if r := fake.Requests()[0]; !r.Decided || len(r.Problems) > 0 {
			t.Errorf("%v: decided %v, problems %q", fault, r.Decided, r.Problems)
		}
	})
}

// FuzzRequest sends anything on any wire: it is answered, or refused with a
// reason.
func FuzzRequest(f *testing.F) {
	for w, body := range bodies {
		f.Add(uint8(w), body)
		f.Add(uint8(w), strings.ReplaceAll(body, `"`, ""))
		f.Add(uint8(w), strings.ReplaceAll(body, "[", "{"))
		f.Add(uint8(w), strings.ReplaceAll(body, "content", "contents"))
	}
	for _, body := range []string{"null", "{}", "[]", `{"messages":{}}`, `{"messages":[null]}`, `{"contents":[[]]}`, `{"input":[{}]}`, `{"messages":[{"role":"assistant","tool_calls":[{}]}]}`} {
		for w := range paths {
			f.Add(uint8(w), body)
		}
	}
	f.Fuzz(func(t *testing.T, wire uint8, body string) {
		w := Wire(wire%4) + 1
		fake := New(script.Replies(pawl.Say("Fine."), pawl.Say("Fine.")), nil)
		rec := handle(t, fake, w, body, 5*time.Second)
		r := fake.Requests()[0]
		if ok := rec.Code == http.StatusOK; len(r.Problems) > 0 && ok || rec.Code == http.StatusBadRequest && len(r.Problems) == 0 && !strings.Contains(rec.Body.String(), "script") {
			t.Errorf("%v %s\nis answered %d, with problems %q: %s", w, body, rec.Code, r.Problems, rec.Body)
		}
	})
}
