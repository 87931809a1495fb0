package pipe

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/sheet"
)

// Argument is the argument that the program is started with.
const Argument = "serve-models"

// mostCalls is how many calls may be under way at once.
const mostCalls = 1 << 20

// An Opener creates the model with a name, such as bedrock/amazon.nova-pro-v1:0, at an endpoint;
// a zero one is that of the provider. It is called once for each that is asked for, and again if
// it failed. It may be called concurrently.
type Opener func(name string, at Endpoint) (pawl.Model, error)

// Main is the main function of a program that serves models: it returns the exit code. The
// program ends when its standard input does, which is when the program that started it has
// ended, and not by a signal: a run that is ended by the same signal may still need its model.
func Main(open Opener) int {
	if len(os.Args) != 2 || os.Args[1] != Argument {
		fmt.Fprintf(os.Stderr, "%s serves models to pawl, which starts it for a run that names one; it does nothing by itself (docs/models.md)\n", os.Args[0])
		return 2
	}
	if path := os.Getenv("PAWL_MODELS"); path != "" {
		if err := sheet.Use(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
	}
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	out := os.Stdout
	os.Stdout = os.Stderr // what a library prints is no answer
	if err := Serve(os.Stdin, out, open); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// Serve answers the calls that come from in through out, until in ends.
func Serve(in io.Reader, out io.Writer, open Opener) error {
	s := &service{open: open, models: map[string]pawl.Model{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+callDescribe, s.describe)
	mux.HandleFunc("POST "+callStream, s.stream)
	server := &http.Server{Handler: mux, Protocols: protocols(), HTTP2: &http.HTTP2Config{MaxConcurrentStreams: mostCalls}, ReadHeaderTimeout: time.Minute}
	one := &listener{ended: make(chan struct{})}
	one.conn = &conn{in: in, out: out, close: sync.OnceValue(func() error { close(one.ended); return nil })}
	if err := server.Serve(one); !errors.Is(err, io.EOF) {
		return fmt.Errorf("serve models: %w", err)
	}
	return nil
}

// protocols is HTTP/2 without TLS, on both sides.
func protocols() *http.Protocols {
	p := &http.Protocols{}
	p.SetUnencryptedHTTP2(true)
	return p
}

// A service answers the calls.
type service struct {
	open   Opener
	mu     sync.Mutex
	models map[string]pawl.Model // by name and endpoint
}

// ask reads a question. The error is answered.
func ask(w http.ResponseWriter, r *http.Request) (q question, err error) {
	if err := gob.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return q, fmt.Errorf("read a question: %w", err)
	}
	return q, nil
}

// model returns the model that a question is about.
func (s *service) model(q question) (pawl.Model, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := fmt.Sprintf("%s %#v", q.Model, q.At)
	if m := s.models[key]; m != nil {
		return m, nil
	}
	m, err := s.open(q.Model, q.At)
	if err == nil {
		s.models[key] = m
	}
	return m, err
}

func (s *service) describe(w http.ResponseWriter, r *http.Request) {
	q, err := ask(w, r)
	if err != nil {
		return
	}
	m, err := s.model(q)
	a := answer{Info: pawl.ModelInfo{Name: q.Model}}
	if d, ok := m.(pawl.Describer); ok {
		a.Info = d.Describe()
	}
	if keyed, ok := m.(interface{ Ready() error }); ok {
		err = keyed.Ready()
	}
	if err != nil {
		a.Ready = err.Error()
	}
	if t, ok := m.(interface{ Takes(files []pawl.File) error }); ok {
		if err := t.Takes(q.Files); err != nil {
			a.Takes = err.Error()
		}
	}
	_ = gob.NewEncoder(w).Encode(a)
}

func (s *service) stream(w http.ResponseWriter, r *http.Request) {
	q, err := ask(w, r)
	if err != nil {
		return
	}
	say := gob.NewEncoder(w)
	m, err := s.model(q)
	if err != nil {
		_ = say.Encode(chunk{Error: &pawl.ModelError{Class: pawl.ClassNotFound, Message: err.Error()}})
		return
	}
	for c, err := range m.Stream(r.Context(), q.Request) {
		next := chunk{Chunk: c}
		if err != nil {
			next = failure(err)
		}
		if say.Encode(next) != nil || http.NewResponseController(w).Flush() != nil {
			return // nobody is there
		}
	}
}

// A listener has one connection, and ends with it.
type listener struct {
	conn  net.Conn
	ended chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	if c := l.conn; c != nil {
		l.conn = nil
		return c, nil
	}
	<-l.ended
	return nil, io.EOF
}

func (l *listener) Close() error   { return nil }
func (l *listener) Addr() net.Addr { return address{} }

// A conn is a connection made of two pipes. It has no deadlines: it ends with its other side.
type conn struct {
	in    io.Reader
	out   io.Writer
	close func() error
	died  func(err error) error // explains why a pipe broke; nil: it needs no explanation
}

func (c *conn) Read(b []byte) (int, error) {
	n, err := c.in.Read(b)
	return n, c.broke(err)
}

func (c *conn) Write(b []byte) (int, error) {
	n, err := c.out.Write(b)
	return n, c.broke(err)
}

func (c *conn) broke(err error) error {
	if err == nil || c.died == nil {
		return err
	}
	return c.died(err)
}

func (c *conn) Close() error                     { return c.close() }
func (c *conn) LocalAddr() net.Addr              { return address{} }
func (c *conn) RemoteAddr() net.Addr             { return address{} }
func (c *conn) SetDeadline(time.Time) error      { return nil }
func (c *conn) SetReadDeadline(time.Time) error  { return nil }
func (c *conn) SetWriteDeadline(time.Time) error { return nil }

type address struct{}

func (address) Network() string { return "pipe" }
func (address) String() string  { return "pipe" }
