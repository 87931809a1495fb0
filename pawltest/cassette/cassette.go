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

// Options are the options of a cassette.
type Options struct {
	Record   bool                        // record, whatever the environment says
	Next     http.RoundTripper           // what sends requests while recording; nil: http.DefaultTransport
	Headers  []string                    // names of further headers to keep of requests and responses
	Secrets  []string                    // values that are written as SECRET wherever they occur
	Edit     func(request []byte) []byte // changes a request's body before it is written or compared, to take out what differs each time, such as a date; nil: nothing does
	AnyOrder bool                        // requests may come in any order when replayed
	Paced    bool                        // replay takes as long as the provider took; otherwise it waits for nothing
}

// Client returns a client that records to a file if [Variable] is set and answers from the
// file otherwise. The test fails if there is no such file, if a request differs from the
// recording, and if the file cannot be written. The file is written when the test ends,
// even if the test has failed. o may be nil. The client is safe for concurrent use.
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

// A Tape is a cassette for programs that are not tests. It is an [http.RoundTripper] and safe for
// concurrent use.
type Tape struct {
	http.RoundTripper
	close func() error
}

// Open opens a cassette, to record it or to answer from it, as [Client] does. The error wraps
// [fs.ErrNotExist] if there is no recording. The caller must call Close.
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

// Client returns a client that uses the tape.
func (t *Tape) Client() *http.Client { return &http.Client{Transport: t} }

// Close ends a recording and writes its file, or reports how the requests differed from the
// recording. Nothing may be sent afterwards.
func (t *Tape) Close() error { return t.close() }
