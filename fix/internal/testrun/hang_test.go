package testrun

import (
	"strings"
	"testing"

	"github.com/pawl-run/pawl/fix/internal/gotest"
)

func TestEndless(t *testing.T) {
	const quick = `{"Action":"pass","Test":"TestA","Elapsed":0.01}`
	const late = `{"Action":"output","Test":"TestB","Output":"panic: test timed out after 10s\n"}`
	state := func(s string) string {
		return `{"Action":"output","Test":"TestB","Output":"goroutine 7 [` + s + `]:\n"}`
	}
	for _, c := range []struct {
		name  string
		lines []string
		want  bool
	}{
		{"a lock", []string{quick, late, state("sync.Mutex.Lock")}, true},
		{"a lock for minutes", []string{quick, late, state("sync.Mutex.Lock, 1 minutes")}, true},
		{"a loop", []string{quick, late, state("running"), `{"Action":"fail","Test":"TestB","Elapsed":10}`}, true},
		{"nothing late", []string{quick}, false},
		{"sleep", []string{quick, late, state("sleep")}, false},
		{"a connection", []string{quick, late, state("chan receive"), state("IO wait")}, false},
		{"nothing to compare with", []string{late, state("running")}, false},
		{"slow tests beside it", []string{quick, `{"Action":"pass","Test":"TestC","Elapsed":1.5}`, late, state("running")}, false},
		{"no events", []string{"x", "null", late}, false},
	} {
		var n endings
		if _, err := gotest.Parse(strings.NewReader(strings.Join(c.lines, "\n")), "", n.add); err != nil {
			t.Fatal(err)
		}
		if n.endless() != c.want {
			t.Errorf("%s: endless is %v, want %v", c.name, !c.want, c.want)
		}
	}
}
