package testfix

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestMemoryIsWatched(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not tell what a session uses")
	}
	dir := t.TempDir()
	// Each turn of the shell's loop doubles what it holds.
	s, err := newSuite(dir, Source{Test: []string{"sh", "-c", "x=0123456789abcdef; while :; do x=$x$x; done"}, Timeout: time.Minute}, dir)
	if err != nil {
		t.Fatal(err)
	}
	s.memory = 300 << 20
	began := time.Now()
	r, err := s.run(t.Context(), "")
	if err != nil || !r.filled || !r.exit.Killed {
		t.Errorf("%+v, %v after %v, want it stopped for filling memory", r, err, time.Since(began))
	}
	v := judge(r, r, false)
	if len(v.Open) != 1 {
		t.Errorf("open: %v, want one", v.Open)
	}
	r.golang = true
	if text := r.text(v); !strings.Contains(text, "filling the memory") {
		t.Errorf("the text does not say why: %s", text)
	}
}

func TestResident(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not tell what a session uses")
	}
	dir := t.TempDir()
	s, err := newSuite(dir, Source{Test: []string{"sh", "-c", "exit 0"}, Timeout: time.Minute}, dir)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := s.run(t.Context(), ""); err != nil || r.filled {
		t.Errorf("a small command: %+v, %v", r, err)
	}
	if n := available(); n < 64<<20 {
		t.Errorf("%d bytes are available", n)
	}
	if n := resident(-1); n != 0 {
		t.Errorf("no session uses %d bytes", n)
	}
}
