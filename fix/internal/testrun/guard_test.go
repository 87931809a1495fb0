package testrun

import (
	"runtime"
	"testing"
	"time"
)

func TestMemoryIsWatched(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not tell what is available")
	}
	dir := t.TempDir()
	// Each turn of the shell's loop doubles what it holds.
	s, err := New(dir, []string{"sh", "-c", "x=0123456789abcdef; while :; do x=$x$x; done"}, nil, time.Minute, dir)
	if err != nil {
		t.Fatal(err)
	}
	s.Least = available() - 300<<20
	r, err := s.Run(t.Context(), "")
	if err != nil || !r.Filled || !r.Exit.Killed {
		t.Errorf("%+v, %v, want it stopped for filling memory", r, err)
	}
	s, err = New(dir, []string{"sh", "-c", "exit 0"}, nil, time.Minute, dir)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := s.Run(t.Context(), ""); err != nil || r.Filled {
		t.Errorf("a small command: %+v, %v", r, err)
	}
}
