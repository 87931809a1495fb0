package testfix

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/internal/process"
)

// events makes a run of one package from words such as "pass A" and "fail B";
// "died" leaves the package without an end.
func events(t *testing.T, code int, words ...string) ran {
	t.Helper()
	var b strings.Builder
	end := "pass"
	for _, w := range words {
		action, test, _ := strings.Cut(w, " ")
		if action == "fail" {
			end = "fail"
		}
		fmt.Fprintf(&b, `{"Action":"run","Package":"m","Test":"Test%s"}`+"\n", test)
		fmt.Fprintf(&b, `{"Action":"%s","Package":"m","Test":"Test%s"}`+"\n", action, test)
	}
	fmt.Fprintf(&b, `{"Action":"%s","Package":"m"}`+"\n", end)
	r, err := gotest.Parse(strings.NewReader(b.String()), "")
	if err != nil {
		t.Fatal(err)
	}
	return ran{report: r, exit: process.Exit{Code: code}, golang: true}
}

func TestJudge(t *testing.T) {
	first := events(t, 1, "fail A", "pass B")
	for _, c := range []struct {
		name  string
		now   ran
		edits bool
		open  []string
	}{
		{"as before", first, false, []string{"m.TestA"}},
		{"fixed", events(t, 0, "pass A", "pass B"), false, nil},
		{"one for the other", events(t, 1, "pass A", "fail B"), false, []string{"m.TestB"}},
		{"the failing one is gone", events(t, 0, "pass B"), false, []string{"m.TestA"}},
		{"the failing one is skipped", events(t, 0, "skip A", "pass B"), false, []string{"m.TestA"}},
		{"a passing one is gone", events(t, 0, "pass A"), false, []string{"m.TestB"}},
		{"all are gone", events(t, 0), false, []string{"m.TestA", "m.TestB"}},
		{"all are gone, with leave to edit tests", events(t, 0), true, []string{noTests}},
		{"one is gone, with leave to edit tests", events(t, 0, "pass B"), true, nil},
		{"an exit code without a reason", events(t, 2, "pass A", "pass B"), false, []string{noReason}},
		{"a command", ran{}, false, nil},
		{"a command that failed", ran{exit: process.Exit{Code: 1}}, false, []string{noSuccess}},
		{"a command that was killed", ran{exit: process.Exit{Killed: true}}, false, []string{noSuccess}},
	} {
		v := judge(first, c.now, c.edits)
		if d := cmp.Diff(c.open, v.Open); d != "" {
			t.Errorf("%s: open (-want +got):\n%s", c.name, d)
		}
		if want := float64(-len(c.open)); v.value() != want {
			t.Errorf("%s: value %v, want %v", c.name, v.value(), want)
		}
		text := c.now.text(v)
		for _, id := range c.open {
			if !strings.HasPrefix(id, "[") && !strings.Contains(text, id) {
				t.Errorf("%s: the text does not name %s:\n%s", c.name, id, text)
			}
		}
	}
}

func TestDetailsFit(t *testing.T) {
	var words []string
	for i := range 300 {
		words = append(words, fmt.Sprintf("fail T%d", i), fmt.Sprintf("pass P%d", i))
	}
	r := events(t, 1, words...)
	for i := range r.report.Failures {
		r.report.Failures[i].Output = strings.Repeat("x\x01", 4000)
		r.report.Failures[i].Got = strings.Repeat("y", 4000)
	}
	d := r.details()
	if len(d.Failures) != mostFailures || d.More != 300-mostFailures || len(d.Passing) != mostPassing {
		t.Errorf("%d failures, %d more, %d passing", len(d.Failures), d.More, len(d.Passing))
	}
	size := 0
	for _, f := range d.Failures {
		size += 6*len(f.Output) + len(f.Got)
	}
	if size > maxResult {
		t.Errorf("%d bytes of JSON at worst, more than %d", size, maxResult)
	}
}

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

func TestStopwatch(t *testing.T) {
	var b strings.Builder
	w := &stopwatch{to: &b}
	text := `{"Action":"pass","Package":"m","Test":"TestA","Elapsed":9}` + "\nno event\n" + strings.Repeat("x", 2*longestEvent) +
		"\n" + `{"Action":"fail","Package":"m","Elapsed":1.5}` + "\n" + `{"Action":"pass","Package":"n","Elapsed":0.5}` + "\n"
	for i := 0; i < len(text); i += 7 {
		if _, err := w.Write([]byte(text[i:min(i+7, len(text))])); err != nil {
			t.Fatal(err)
		}
	}
	if w.slowest.Seconds() != 1.5 || b.String() != text {
		t.Errorf("slowest %v, want 1.5s; passed on: %v", w.slowest, b.String() == text)
	}
}
