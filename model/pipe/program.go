// Package pipe runs models in a second program, so that the first one does not link an adapter
// with large dependencies that it seldom needs. The command pawl uses it for Amazon Bedrock: it
// starts pawl-bedrock, which is
//
//	func main() { os.Exit(pipe.Main(open)) }
//
// The two programs speak HTTP/2 through the standard input and output of the second: many calls
// at once, each with its own cancellation, and no port that others could use. The first call
// starts the program. If the program ends, the calls in progress fail with the class network, so
// the run retries them, and the next call starts the program again. It also ends when the
// program that started it ends, in whatever way.
package pipe

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
)

const (
	answerTime = 30 * time.Second // for a call other than of a model
	lastWords  = time.Second      // for a program that ended to be collected
	sign       = 15 * time.Second // a program that shows no sign of life for twice as long is taken for dead
	mostWords  = 2 << 10          // bytes of a program's standard error that an error may have
)

// A Program is a program that serves models. It may be used by many runs at once.
type Program struct{ transport *http.Transport }

// New returns a program that command describes. It is called each time that the program is
// started, for the first time by the first call of a model; its error is that of the call.
func New(command func() (*exec.Cmd, error)) *Program {
	return &Program{&http.Transport{
		Protocols:       protocols(),
		HTTP2:           &http.HTTP2Config{SendPingTimeout: sign, PingTimeout: sign},
		MaxConnsPerHost: 1,
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			c, err := command()
			if err == nil {
				c, err := start(c)
				if err == nil {
					return c, nil
				}
			}
			return nil, &startError{err}
		},
	}}
}

// A startError says why a program cannot be started.
type startError struct{ error }

func (e *startError) Unwrap() error { return e.error }

// Model returns the model with a name, such as bedrock/amazon.nova-pro-v1:0, at an endpoint;
// nil is that of its provider. It starts nothing.
func (p *Program) Model(name string, at *Endpoint) *Model {
	m := &Model{program: p, name: name, asked: question{Model: name}}
	if at != nil {
		_, model, _ := strings.Cut(name, "/")
		m.name, m.asked.At = at.Provider+"/"+model, *at
	}
	return m
}

// Close ends the program if no call is under way. The next call starts it again.
func (p *Program) Close() error {
	p.transport.CloseIdleConnections()
	return nil
}

// start starts a program. The connection is to its standard input and output.
func start(c *exec.Cmd) (net.Conn, error) {
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p := &process{name: filepath.Base(c.Path), ended: make(chan struct{})}
	c.Stderr, c.WaitDelay = &p.words, lastWords
	if err := c.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.err = c.Wait()
		close(p.ended)
	}()
	return &conn{in: out, out: in, died: p.died, close: func() error {
		_ = in.Close()
		return c.Process.Kill() // it may have stopped to answer
	}}, nil
}

// A process is a program that runs.
type process struct {
	name  string
	words words
	ended chan struct{} // closed once err is set
	err   error         // how it ended
}

// died returns the error of a pipe that broke: how the program ended, if it did.
func (p *process) died(err error) error {
	select {
	case <-p.ended:
	case <-time.After(lastWords):
		return fmt.Errorf("%s does not answer: %w", p.name, err)
	}
	how := "it exited"
	if p.err != nil {
		how = p.err.Error()
	}
	if said := p.words.String(); said != "" {
		how += ": " + said
	}
	return errors.New(p.name + " ended: " + how)
}

// words are the beginning of what a program writes to its standard error.
type words struct {
	mu   sync.Mutex
	text []byte
}

func (w *words) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, b[:min(len(b), mostWords-len(w.text))]...)
	return len(b), nil
}

// String is the text on one line.
func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(strings.Fields(string(w.text)), " ")
}

// A Model is a model that a program serves. It may be used by many runs at once.
type Model struct {
	program *Program
	name    string   // as runs have it
	asked   question // with the name that the program knows

	mu   sync.Mutex
	info *pawl.ModelInfo
}

// call makes a call and returns its answer.
func (m *Model) call(ctx context.Context, path string, q question) (io.ReadCloser, error) {
	q.Model, q.At = m.asked.Model, m.asked.At
	var body bytes.Buffer
	if err := gob.NewEncoder(&body).Encode(q); err != nil {
		return nil, fmt.Errorf("the request cannot be sent through a pipe: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://program"+path, &body)
	if err != nil {
		return nil, err
	}
	res, err := m.program.transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		res.Body.Close()
		return nil, &startError{fmt.Errorf("the program for %s is of another release (it answers %s); install that of the same release", m.name, res.Status)}
	}
	return res.Body, nil
}

// describe asks the program about the model.
func (m *Model) describe(files []pawl.File) (answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	a := answer{Info: pawl.ModelInfo{Name: m.name}}
	body, err := m.call(ctx, callDescribe, question{Files: files})
	if err == nil {
		defer body.Close()
		err = gob.NewDecoder(body).Decode(&a)
	}
	return a, err
}

// Describe describes the model as the program does. If the program cannot be started, the
// model has its name only.
func (m *Model) Describe() pawl.ModelInfo {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.info == nil {
		a, err := m.describe(nil)
		if err != nil || a.Ready != "" { // it may be another one once it is ready
			return a.Info
		}
		m.info = &a.Info
	}
	return *m.info
}

// Ready returns an error if the model cannot be called, because the program or what the
// provider needs is missing.
func (m *Model) Ready() error {
	a, err := m.describe(nil)
	if err == nil && a.Ready != "" {
		err = errors.New(a.Ready)
	}
	return err
}

// Takes implements engine.Taker as the program does.
func (m *Model) Takes(files []pawl.File) error {
	a, err := m.describe(files)
	if err == nil && a.Takes != "" {
		err = errors.New(a.Takes)
	}
	return err
}

// Stream sends the request to the program and yields the reply as it arrives.
func (m *Model) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		body, err := m.call(ctx, callStream, question{Request: r})
		if err == nil {
			defer body.Close()
			for chunks := gob.NewDecoder(body); err == nil; {
				var c chunk
				switch err = chunks.Decode(&c); {
				case errors.Is(err, io.EOF):
					return
				case err == nil && c.Error != nil:
					yield(pawl.Chunk{}, c.Error)
					return
				case err == nil && !yield(c.Chunk, nil):
					return
				}
			}
		}
		if ctx.Err() != nil {
			yield(pawl.Chunk{}, ctx.Err())
			return
		}
		e := &pawl.ModelError{Class: pawl.ClassNetwork, Message: err.Error(), Err: err}
		if _, ok := errors.AsType[*startError](err); ok { // another model helps, another attempt does not
			e.Class = pawl.ClassNotFound
		}
		yield(pawl.Chunk{}, e)
	}
}
