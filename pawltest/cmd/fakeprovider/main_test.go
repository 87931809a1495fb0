package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestServe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "replies.yaml")
	if err := os.WriteFile(file, []byte("replies:\n  - text: Hello.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, []string{"--script", file, "--fault", "none,rate-limit,no-answer"}, w, io.Discard)
		w.Close()
	}()
	lines := make(chan string, 100)
	go func() {
		for scan := bufio.NewScanner(r); scan.Scan(); {
			lines <- scan.Text()
		}
	}()
	next := func() string { return <-lines }
	_, base, _ := strings.Cut(next(), "ANTHROPIC_BASE_URL=")
	base, _, _ = strings.Cut(base, " ")
	if line := next(); !strings.HasPrefix(line, "export OPENAI_BASE_URL="+base+"/v1 ") {
		t.Errorf("%q, want OpenAI's to begin with %s/v1", line, base)
	}
	next()
	post := func() (int, string) {
		res, err := http.Post(base+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"Hi"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(body)
	}
	ok, body := post()
	if line := next(); ok != 200 || !strings.Contains(body, "Hello.") || line != "1 chat POST /v1/chat/completions m -> 200" {
		t.Errorf("%d %s\n%s", ok, body, line)
	}
	limited, _ := post()
	if line := next(); limited != 429 || line != "2 chat POST /v1/chat/completions m fault=rate-limit -> 429" {
		t.Errorf("%d\n%s", limited, line)
	}
	// A client that waits for an answer does not keep the server from ending.
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		res, err := http.Post(base+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"Hi"}]}`))
		if err == nil {
			res.Body.Close()
			t.Error("there was an answer")
		}
	}()
	cancel()
	<-gone
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestFlags(t *testing.T) {
	var b strings.Builder
	if err := run(t.Context(), []string{"--list"}, &b, io.Discard); err != nil || !strings.Contains(b.String(), "\ncut-mid-arguments ") {
		t.Errorf("%v\n%s", err, b.String())
	}
	for want, args := range map[string][]string{
		`there is no fault "nonsense"; --list shows them`: {"--fault", "nonsense"},
		`"more" is not expected; want only flags`:         {"more"},
	} {
		if err := run(t.Context(), args, io.Discard, io.Discard); err == nil || err.Error() != want {
			t.Errorf("%v: error %v, want %s", args, err, want)
		}
	}
	if err := run(t.Context(), []string{"--help"}, io.Discard, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("error %v, want help", err)
	}
	if err := run(t.Context(), []string{"--script", "nowhere.yaml"}, io.Discard, io.Discard); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want that there is no file", err)
	}
}
