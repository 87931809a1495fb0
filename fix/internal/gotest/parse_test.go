package gotest

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func parseLines(t *testing.T, lines ...string) Report {
	t.Helper()
	r, err := Parse(strings.NewReader(strings.Join(lines, "\n")), "m", nil)
	must(t, err)
	return r
}

func ev(action, pkg, test, output string) string {
	return fmt.Sprintf(`{"Time":"2026-01-02T03:04:05Z","Action":%q,"Package":%q,"Test":%q,"Output":%q}`, action, pkg, test, output)
}

func TestOddStreams(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		open  []string
		ok    bool
	}{
		{"empty", nil, []string{"[setup]"}, false},
		{"only stderr", []string{"go: errors parsing go.mod:", "go.mod:4: unknown directive: bogus"}, []string{"[setup]"}, false},
		{"green among noise", []string{"go: downloading x v1.0.0", ev("start", "m", "", ""), ev("run", "m", "TestA", ""), "noise", ev("pass", "m", "TestA", ""), `{"half":`, ev("pass", "m", "", "")}, []string{}, true},
		{"no test files", []string{ev("start", "m", "", ""), ev("output", "m", "", "?   \tm\t[no test files]\n"), ev("skip", "m", "", "")}, []string{}, true},
		{"cut in a test", []string{ev("start", "m", "", ""), ev("run", "m", "TestA", ""), `{"Time":"2026-01-02T0`}, []string{"m [unfinished]"}, false},
		{"cut after a failure", []string{ev("run", "m", "TestA", ""), ev("fail", "m", "TestA", ""), ev("run", "m", "TestB", "")}, []string{"m [unfinished]", "m.TestA"}, false},
		{"run twice, failed once", []string{ev("run", "m", "TestA", ""), ev("fail", "m", "TestA", ""), ev("run", "m", "TestA", ""), ev("pass", "m", "TestA", ""), ev("output", "m", "", "FAIL\n"), ev("fail", "m", "", "")}, []string{"m.TestA"}, false},
		{"messages of an older toolchain", []string{"# m/b [m/b.test]", "b/b.go:2:1: undefined: x", ev("output", "m/b", "", "FAIL\tm/b [build failed]\n"), ev("fail", "m/b", "", "")}, []string{"m/b [build]"}, false},
		{"event on the heels of stderr", []string{"warning: x" + ev("run", "m", "TestA", ""), ev("fail", "m", "TestA", ""), ev("output", "m", "", "FAIL\n"), ev("fail", "m", "", "")}, []string{"m.TestA"}, false},
		{"several at work when it exits", []string{ev("run", "m", "TestA", ""), ev("run", "m", "TestB", ""), ev("fail", "m", "", "")}, []string{"m [panic]"}, false},
		{"race after the tests", []string{ev("run", "m", "TestA", ""), ev("pass", "m", "TestA", ""), ev("output", "m", "", "PASS\n"), ev("output", "m", "", "WARNING: DATA RACE\n"), ev("fail", "m", "", "")}, []string{"m [race]"}, false},
		{"subtest named with slashes", []string{ev("run", "m", "TestA", ""), ev("run", "m", "TestA/a/b", ""), ev("fail", "m", "TestA/a/b", ""), ev("fail", "m", "TestA", ""), ev("output", "m", "", "FAIL\n"), ev("fail", "m", "", "")}, []string{"m.TestA/a/b"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := parseLines(t, tt.lines...)
			if d := cmp.Diff(tt.open, r.Open()); d != "" || r.OK != tt.ok {
				t.Errorf("OK = %v, want %v; open identities (-want +got):\n%s", r.OK, tt.ok, d)
			}
		})
	}
}

func TestStrayMessagesAreShown(t *testing.T) {
	r := parseLines(t, "go: errors parsing go.mod:", "go.mod:4: unknown directive: bogus")
	if got := r.Failures[0].Output; !strings.Contains(got, "unknown directive") {
		t.Errorf("Output = %q, want the go command's message in it", got)
	}
}

func TestPanicOfAnotherTestThanTheOneThatPrinted(t *testing.T) {
	r := parseLines(t,
		ev("run", "m", "TestA", ""), ev("run", "m", "TestB", ""),
		ev("output", "m", "TestA", "panic: boom\n"), ev("output", "m", "TestA", "\n"),
		ev("output", "m", "TestA", "goroutine 9 [running]:\n"),
		ev("output", "m", "TestA", "m.helper()\n"), ev("output", "m", "TestA", "\t/x/m.go:7 +0x1\n"),
		ev("output", "m", "TestA", "created by m.TestB in goroutine 3\n"), ev("output", "m", "TestA", "\t/x/m_test.go:9 +0x1\n"),
		ev("fail", "m", "", ""))
	if d := cmp.Diff([]string{"m.TestB"}, r.Open()); d != "" {
		t.Errorf("the trace names TestB (-want +got):\n%s", d)
	}
	want := []Location{{"m.go", 7}, {"m_test.go", 9}}
	if d := cmp.Diff(want, r.Failures[0].Locations); d != "" {
		t.Errorf("locations (-want +got):\n%s", d)
	}
}

func TestLongOutputIsCutInTheMiddle(t *testing.T) {
	lines := []string{ev("run", "m", "TestA", "")}
	for i := range 50_000 {
		lines = append(lines, ev("output", "m", "TestA", fmt.Sprintf("    m_test.go:%d: line %d\n", i+1, i)))
	}
	lines = append(lines, ev("fail", "m", "TestA", ""), ev("output", "m", "", "FAIL\n"), ev("fail", "m", "", ""))
	f := parseLines(t, lines...).Failures[0]
	if len(f.Output) > showBytes+200 {
		t.Errorf("Output has %d bytes, want at most about %d", len(f.Output), showBytes)
	}
	for _, part := range []string{"line 0\n", "left out", "line 49999"} {
		if !strings.Contains(f.Output, part) {
			t.Errorf("Output lacks %q", part)
		}
	}
	if len(f.Locations) != maxLocations {
		t.Errorf("%d locations, want %d", len(f.Locations), maxLocations)
	}
}

func TestOneEndlessLine(t *testing.T) {
	f := parseLines(t, ev("output", "m", "TestA", strings.Repeat("x", 200_000)), ev("fail", "m", "TestA", "")).Failures[1]
	if n := len(f.Output); f.ID != "m.TestA" || n == 0 || n > 2*showBytes+100 {
		t.Errorf("%s has %d bytes of output, want some and at most about %d", f.ID, n, 2*showBytes)
	}
	_, err := Parse(strings.NewReader(strings.Repeat("y", 3*maxLine)), "", nil)
	must(t, err)
}

func TestReaderError(t *testing.T) {
	boom := errors.New("boom")
	r, err := Parse(io.MultiReader(strings.NewReader(ev("fail", "m", "TestA", "")+"\n"), iotest.ErrReader(boom)), "", nil)
	if !errors.Is(err, boom) {
		t.Errorf("err = %v, want %v", err, boom)
	}
	if d := cmp.Diff([]string{"m [unfinished]", "m.TestA"}, r.Open()); d != "" {
		t.Errorf("what came before the error (-want +got):\n%s", d)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(ev("run", "m", "TestA/b", "") + "\n" + ev("output", "m", "TestA", "panic: x\n\tgoroutine 1 [running]:\n\ta.go:1 +0x1\n") + "\n" + ev("fail", "m", "", ""))
	f.Add("# m [m.test]\nx.go:1:2: no\n" + ev("output", "m", "", "FAIL\tm [build failed]\n") + "\n" + ev("fail", "m", "", ""))
	f.Add(ev("output", "m", "T", "x_test.go:1: got: a\nwant:\n-b\n+c\n(") + "\n" + ev("fail", "m", "T", ""))
	f.Fuzz(func(t *testing.T, s string) {
		r, err := Parse(strings.NewReader(s), "m", nil)
		must(t, err)
		open := r.Open()
		for i := range open {
			if i > 0 && open[i] == open[i-1] {
				t.Fatalf("identity %q occurs twice", open[i])
			}
		}
		if r.OK != (len(open) == 0) {
			t.Fatalf("OK = %v with %d failures", r.OK, len(open))
		}
		if d := Compare(r, r); len(d.Broken)+len(d.Fixed)+len(d.Revealed) > 0 {
			t.Fatalf("a run differs from itself: %+v", d)
		}
		_ = r.Summary(500)
	})
}
