package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/cmd/internal/screen"
	"github.com/pawl-run/pawl/engine"
)

func TestLines(t *testing.T) {
	l := newLineReader(strings.NewReader("one\r\n\nlast"), nil)
	for _, want := range []string{"one", "", "last"} {
		if got, err := l.next(t.Context()); got != want || err != nil {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	for range 2 {
		if got, err := l.next(t.Context()); got != "" || !errors.Is(err, io.EOF) {
			t.Errorf("%q, %v; want the end", got, err)
		}
	}
	if _, err := newLineReader(nil, nil).next(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("of nothing: %v", err)
	}
}

// What is typed when a question is over and before the next is asked answers
// neither; what is typed after that answers the next.
func TestLinesTypedTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, keys := io.Pipe()
		l := newLineReader(in, nil)
		over := errors.New("over")
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			synctest.Wait()
			cancel(over)
		}()
		if got, err := l.next(ctx); !errors.Is(err, over) {
			t.Fatalf("%q, %v", got, err)
		}
		_, err := keys.Write([]byte("for nobody\n"))
		must(t, err)
		synctest.Wait()
		go func() {
			if _, err := keys.Write([]byte("for the next\n")); err != nil {
				t.Error(err)
			}
			if err := keys.Close(); err != nil {
				t.Error(err)
			}
		}()
		if got, err := l.next(t.Context()); got != "for the next" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		if got, err := l.next(t.Context()); !errors.Is(err, io.EOF) {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// Progress stays back while a person is asked, and the question begins a line, also while a model speaks.
func TestProgressWaitsForTheAnswer(t *testing.T) {
	var seen bytes.Buffer
	a := &app{console: console{err: screen.NewWriter(&seen)}}
	typed := []string{"what?", "y"}
	_, _ = a.err.Write([]byte("It is "))
	a.lines = answering(func() string {
		a.sayf("[1] progress %d", len(typed))
		line := typed[0]
		typed = typed[1:]
		return line
	})
	d, err := a.asker(nil).Approve(t.Context(), engine.Request{Call: "c_1", Tool: "pay", Args: []byte(`{}`)})
	if err != nil || !d.Approve {
		t.Fatal(d, err)
	}
	want := "It is \napprove c_1? pay\n    {}\n" + answers + "\n" + answers + "\n[1] progress 2\n[1] progress 1\n"
	if seen.String() != want {
		t.Errorf("it shows\n%swant\n%s", &seen, want)
	}
}

type answering func() string

func (a answering) next(context.Context) (string, error) { return a(), nil }
func (a answering) drain(io.Reader)                      {}

// A reply is printed with its text, or, between calls, with what the model thought.
func TestProgressOfReplies(t *testing.T) {
	for want, parts := range map[string][]pawl.Part{
		"Let me look. And there.": {pawl.Thinking{Text: "Let me look. "}, pawl.Thinking{Text: "And there."}, pawl.Call{ID: "c_1", Tool: "look"}},
		"It is nine.":             {pawl.Thinking{Text: "Nine."}, pawl.Text{Text: "It is nine."}},
		"":                        {pawl.Call{ID: "c_1", Tool: "look"}},
	} {
		if got := new(console).progressText(pawl.ModelReplied{Purpose: pawl.PurposeTurn, Reply: pawl.Reply{Parts: parts}}); got != want {
			t.Errorf("%v is printed as %q, want %q", parts, got, want)
		}
	}
}

// What an adapter changed in requests is printed once, however often and in how many runs it is noted.
func TestChangesArePrintedOnce(t *testing.T) {
	var seen bytes.Buffer
	con := &console{out: io.Discard, err: screen.NewWriter(&seen)}
	for _, value := range []string{`["no temperature"]`, `["no temperature","effort is low"]`, `["effort is low"]`} {
		con.progress(pawl.Entry{Iteration: 1, Event: pawl.Noted{By: "__model__", Name: "adapted", Value: []byte(value)}})
	}
	con.progress(pawl.Entry{Event: pawl.Noted{By: "loop", Name: "adapted", Value: []byte(`["private"]`)}})
	if want := "[1] no temperature\n[1] effort is low\n"; seen.String() != want {
		t.Errorf("it shows\n%swant\n%s", &seen, want)
	}
}
