package testrun

import (
	"slices"
	"strings"
	"testing"

	"github.com/pawl-run/pawl/fix/internal/gotest"
)

func TestEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"GOFLAGS": "-count=1", "GOPRIVATE": "example.com", "CGO_ENABLED": "0", "GOOGLE_API_KEY": "hush",
		"GOOGLE_APPLICATION_CREDENTIALS": "hush", "OPENAI_API_KEY": "hush", "HOME": "", "XDG_CACHE_HOME": "", "GOCACHE": "",
	} {
		t.Setenv(name, value)
	}
	env := environment("/state", []string{"EXTRA=1"})
	for _, want := range []string{"GOFLAGS=-count=1", "GOPRIVATE=example.com", "CGO_ENABLED=0", "GOCACHE=/state/gocache", "EXTRA=1", "PYTHONDONTWRITEBYTECODE=1"} {
		if !slices.Contains(env, want) {
			t.Errorf("the environment lacks %s: %q", want, env)
		}
	}
	for _, v := range env {
		if strings.Contains(v, "hush") {
			t.Errorf("the tests see %s", v)
		}
	}
}

// The slowest package counts, and not the slowest test.
func TestSlowest(t *testing.T) {
	var n endings
	for _, e := range []gotest.Event{
		{Action: "pass", Package: "m", Test: "TestA", Elapsed: 9}, {Action: "fail", Package: "m", Elapsed: 1.5}, {Action: "pass", Package: "n", Elapsed: 0.5},
	} {
		n.add(e)
	}
	if n.slowest.Seconds() != 1.5 || n.ended != 2 || n.failed != 1 {
		t.Errorf("%+v, want two packages, one of which failed after 1.5 s", n)
	}
}
