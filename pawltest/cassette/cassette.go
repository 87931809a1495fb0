package cassette

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"testing"
)

// Variable is the environment variable that, set to anything but 0, makes
// cassettes record.
const Variable = "PAWL_RECORD"

// Options are what a cassette may be told beside its file.
type Options struct {
	Record   bool                        // record whatever the environment says
	Next     http.RoundTripper           // what sends requests while recording; nil: http.DefaultTransport
	Headers  []string                    // names of further headers to keep of requests and responses
	Secrets  []string                    // values that are written as SECRET wherever they occur
	Edit     func(request []byte) []byte // changes a request's body before it is written or compared, to take out what differs each time, such as a date; nil: nothing does
	AnyOrder bool                        // requests may come in any order when replayed
	Paced    bool                        // replay takes as long as the provider took; otherwise it waits for nothing
}

// Client is a client that records to a file when [Variable] is set and answers
// from it otherwise. The test fails when there is no such file, when what is
// asked for is not what was recorded, and when the file cannot be written. The
// file is written when the test ends, also when it has failed by then. o may be
// nil. The client may be used by many goroutines at once.
func Client(t testing.TB, file string, o *Options) *http.Client {
	t.Helper()
	tape, err := Open(file, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tape.Close(); err != nil {
			t.Error(err)
		}
	})
	return tape.Client()
}

// A Tape is a cassette in use, for programs that are no tests. It is an
// [http.RoundTripper] and may be used by many goroutines at once.
type Tape struct {
	http.RoundTripper
	close func() error
}

// Open opens a cassette, to record it or to answer from it, as [Client] does.
// The error wraps [fs.ErrNotExist] when there is nothing to answer from.
// Close must be called in the end.
func Open(file string, o *Options) (*Tape, error) {
	if o == nil {
		o = &Options{}
	}
	s := &secrets{}
	s.add(1, o.Secrets...)
	if v := os.Getenv(Variable); o.Record || v != "" && v != "0" {
		r := &recorder{file: file, o: o, secrets: s, next: cmp.Or[http.RoundTripper](o.Next, http.DefaultTransport)}
		return &Tape{r, r.close}, nil
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cassette: there is no recording to answer from; set %s=1 and the provider's key to make one: %w", Variable, err)
	}
	if err != nil {
		return nil, fmt.Errorf("cassette: %w", err)
	}
	tape, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("cassette %s: %w", file, err)
	}
	p := &player{file: file, o: o, secrets: s, tape: tape, used: make([]bool, len(tape.exchanges))}
	return &Tape{p, p.close}, nil
}

// Client is a client that uses the tape.
func (t *Tape) Client() *http.Client { return &http.Client{Transport: t} }

// Close ends the recording and writes its file, or reports how what was asked
// for differs from what was recorded. Nothing may be sent after it.
func (t *Tape) Close() error { return t.close() }
