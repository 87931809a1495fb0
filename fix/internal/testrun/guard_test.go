package testrun

import (
	"runtime"
	"testing"
	"time"
)

func TestMemoryIsWatched(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not tell what a session uses")
	}
	dir := t.TempDir()
	// Each turn of the shell's loop doubles what it holds.
	s, err := New(dir, []string{"sh", "-c", "x=0123456789abcdef; while :; do x=$x$x; done"}, nil, time.Minute, dir)
	if err != nil {
		t.Fatal(err)
	}
	s.Memory = 300 << 20
	began := time.Now()
	r, err := s.Run(t.Context(), "")
	if err != nil || !r.Filled || !r.Exit.Killed {
		t.Errorf("%+v, %v after %v, want it stopped for filling memory", r, err, time.Since(began))
	}
}

func TestResident(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not tell what a session uses")
	}
	dir := t.TempDir()
	s, err := New(dir, []string{"sh", "-c", "exit 0"}, nil, time.Minute, dir)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := s.Run(t.Context(), ""); err != nil || r.Filled {
		t.Errorf("a small command: %+v, %v", r, err)
	}
	if n := available(); n < 64<<20 {
		t.Errorf("%d bytes are available", n)
	}
	if n := resident(-1); n != 0 {
		t.Errorf("no session uses %d bytes", n)
	}
}
