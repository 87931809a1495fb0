package pipe_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/openai"
	"github.com/pawl-run/pawl/model/pipe"
	"github.com/pawl-run/pawl/internal/testkit/fakeprovider"
	"github.com/pawl-run/pawl/internal/testkit/modeltest"
)

// The test is the program, too.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == pipe.Argument {
		os.Exit(pipe.Main(open))
	}
	os.Exit(m.Run())
}

func open(name string, at pipe.Endpoint) (pawl.Model, error) {
	switch name {
	case "test/unknown":
		return nil, errors.New("there is no model test/unknown")
	case "test/odd":
		return odd{}, nil
	}
	if at.Provider != "" {
		return openai.New(strings.TrimPrefix(name, "openai/"), &openai.Options{APIKey: at.Key, BaseURL: at.BaseURL, Provider: at.Provider, HTTPClient: at.Client()}), nil
	}
	url := strings.TrimPrefix(name, "openai/")
	name = "house"
	if url == "https://api.openai.com/v1" {
		name = "gpt-6.2-sol"
	}
	return openai.New(name, &openai.Options{APIKey: os.Getenv("KEY"), BaseURL: url}), nil
}

// odd does what the input says.
type odd struct{}

func (odd) Takes([]pawl.File) error { return errors.New("it takes no files") }

func (odd) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		switch text := r.Messages[0].Text(); text {
		case "die":
			yield(pawl.Chunk{Text: "I"}, nil)
			fmt.Fprintln(os.Stderr, "out of memory")
			os.Exit(7)
		case "hang":
			yield(pawl.Chunk{Text: "I"}, nil)
			<-ctx.Done()
		default:
			fmt.Println("printed by a library")
			yield(pawl.Chunk{Reply: new(pawl.Say(text))}, nil)
		}
	}
}

func program(t testing.TB, env ...string) *pipe.Program {
	p := pipe.New(func() (*exec.Cmd, error) {
		c := exec.Command(os.Args[0], pipe.Argument)
		c.Env = append(os.Environ(), env...)
		return c, nil
	})
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func asked(text string) pawl.Request {
	return pawl.Request{Messages: []pawl.Message{{Role: pawl.RoleUser, Parts: []pawl.Part{pawl.Text{Text: text}}}}}
}

// What a model promises holds through a pipe, too. All models share one process.
func TestConformance(t *testing.T) {
	shared := program(t, "KEY=key")
	var fake *fakeprovider.Server
	var open *atomic.Int64
	modeltest.Run(t, func(t testing.TB, brain pawl.Model) pawl.Model {
		server, count := fakeprovider.New(brain, nil), &atomic.Int64{}
		fake, open = server, count
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			count.Add(1)
			defer count.Add(-1)
			server.ServeHTTP(w, r)
		}))
		t.Cleanup(func() { server.Close(); srv.Close() })
		return shared.Model("openai/"+srv.URL+"/v1", nil)
	}, &modeltest.Options{
		Sent: func() (list [][]byte) {
			for _, r := range fake.Requests() {
				list = append(list, r.Body)
			}
			return list
		},
		Open:  func() int { return int(open.Load()) },
		Lacks: modeltest.Lacks{Failed: true, Temperature: true, Citations: true},
		Stops: []pawl.StopReason{pawl.StopPause},
	})
}

func TestDescribe(t *testing.T) {
	p := program(t)
	m := p.Model("openai/https://api.openai.com/v1", nil)
	if d := m.Describe(); d.Name != "openai/gpt-6.2-sol" || d.Endpoint != "https://api.openai.com/v1" || d.Price == nil || d.Wire == (pawl.Wire{}) {
		t.Errorf("it is described as %+v", d)
	}
	if err := m.Ready(); err == nil || !strings.Contains(err.Error(), "set OPENAI_API_KEY") {
		t.Errorf("without a key it says %v", err)
	}
	if err := p.Model("test/odd", nil).Takes([]pawl.File{{Name: "a.png"}}); err == nil || err.Error() != "it takes no files" {
		t.Errorf("about a file it says %v", err)
	}
	unknown := p.Model("test/unknown", nil)
	if err := unknown.Ready(); err == nil || err.Error() != "there is no model test/unknown" {
		t.Errorf("an unknown model says %v", err)
	}
	_, err := end(unknown.Stream(t.Context(), asked("hello")))
	if me, ok := errors.AsType[*pawl.ModelError](err); !ok || me.Class != pawl.ClassNotFound {
		t.Errorf("a call of an unknown model fails with %v", err)
	}
}

// One program has models of several endpoints, also those with one name.
func TestEndpoint(t *testing.T) {
	p := program(t)
	for _, key := range []string{"one", "two"} {
		var got http.Header
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = r.Header
			http.NotFound(w, r)
		}))
		t.Cleanup(srv.Close)
		m := p.Model("openai/small", &pipe.Endpoint{Provider: "acme", BaseURL: srv.URL, Key: key, Headers: map[string]string{"X-Title": key}})
		if d := m.Describe(); d.Name != "acme/small" || d.Endpoint != srv.URL {
			t.Errorf("it is described as %+v", d)
		}
		if _, err := end(m.Stream(t.Context(), asked("hello"))); err == nil || got.Get("Authorization") != "Bearer "+key || got.Get("X-Title") != key {
			t.Errorf("the request has %v; %v", got, err)
		}
	}
}

// A program that ends takes no run with it: its calls fail and say why, and the next call
// starts it again.
func TestDeath(t *testing.T) {
	m := program(t).Model("test/odd", nil)
	var begun, calls sync.WaitGroup
	for range 20 {
		begun.Add(1)
		calls.Go(func() {
			var err error
			for c, failed := range m.Stream(t.Context(), asked("hang")) {
				if err = failed; c.Text != "" {
					begun.Done()
				}
			}
			if me, ok := errors.AsType[*pawl.ModelError](err); !ok || me.Class != pawl.ClassNetwork || !strings.Contains(me.Message, "ended: exit status 7: out of memory") {
				t.Errorf("a call of a program that died fails with %v", err)
			}
		})
	}
	begun.Wait()
	_, _ = end(m.Stream(t.Context(), asked("die")))
	calls.Wait()
	if said, err := end(m.Stream(t.Context(), asked("again"))); said != "again" || err != nil {
		t.Errorf("after that it says %q, %v", said, err)
	}
}

func TestCancel(t *testing.T) {
	m := program(t).Model("test/odd", nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for c, err := range m.Stream(ctx, asked("hang")) {
		if c.Text == "I" {
			cancel()
		} else if !errors.Is(err, context.Canceled) {
			t.Fatalf("it yields %+v, %v", c, err)
		}
	}
	if ctx.Err() == nil {
		t.Fatal("it has ended by itself")
	}
}

func TestMissing(t *testing.T) {
	m := pipe.New(func() (*exec.Cmd, error) { return nil, errors.New("install it") }).Model("test/odd", nil)
	if d := m.Describe(); d.Name != "test/odd" {
		t.Errorf("it is described as %+v", d)
	}
	_, err := end(m.Stream(t.Context(), asked("hello")))
	if me, ok := errors.AsType[*pawl.ModelError](err); !ok || !me.Class.Elsewhere() || me.Message != "install it" || m.Ready() == nil {
		t.Errorf("a call without a program fails with %v", err)
	}
	// A program that does not speak the protocol.
	m = pipe.New(func() (*exec.Cmd, error) { return exec.Command(os.Args[0], "-test.list=nothing"), nil }).Model("test/odd", nil)
	if err := m.Ready(); err == nil || !strings.Contains(err.Error(), "pipe.test ended") {
		t.Errorf("another program is %v", err)
	}
}

func end(seq iter.Seq2[pawl.Chunk, error]) (string, error) {
	for c, err := range seq {
		if err != nil {
			return "", err
		}
		if c.Reply != nil {
			return c.Reply.Text(), nil
		}
	}
	return "", errors.New("no reply")
}
