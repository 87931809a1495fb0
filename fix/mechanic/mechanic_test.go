package mechanic

import (
	"maps"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
)

const sizes = `// Package size sorts things by size.
package size

// Small reports whether n is below ten.
func Small(n int) bool {
	return n <= 10
}

// Large reports whether n is above ninety.
func Large(n int) bool {
	return n >= 90
}
`

const sizesTest = `package size

import "testing"

func TestSmall(t *testing.T) {
	if Small(10) {
		t.Error("Small(10)")
	}
}

func TestLarge(t *testing.T) {
	if Large(90) {
		t.Error("Large(90)")
	}
}
`

// sized is a project with two faults and a test for each.
func sized() *world {
	return &world{
		files: map[string]string{"go.mod": "module m\n", "size.go": sizes, "size_test.go": sizesTest},
		all:   []string{"m.TestSmall", "m.TestLarge", "m.TestOther"},
		tests: func(files map[string]string) map[string]string {
			failing := map[string]string{}
			if !strings.Contains(files["size.go"], "n < 10") {
				failing["m.TestSmall"] = "size_test.go:7: Small(10)"
			}
			if !strings.Contains(files["size.go"], "n > 90") {
				failing["m.TestLarge"] = "size_test.go:13: Large(90)"
			}
			if strings.Contains(files["size.go"], "==") || strings.Contains(files["size.go"], "!=") {
				failing["m.TestOther"] = "broken"
			}
			return failing
		},
	}
}

// Code is asked for as it is read: with its comparisons, not with escapes.
func TestCallsArePlain(t *testing.T) {
	c := call(editFile, editArgs{Path: "size.go", Old: "n <= 10 && ok", New: "n < 10 && ok"})
	if want := `{"path":"size.go","old":"n <= 10 && ok","new":"n < 10 && ok"}`; string(c.Args) != want {
		t.Errorf("got %s, want %s", c.Args, want)
	}
}

func TestTwoFaults(t *testing.T) {
	w := sized()
	if answer := w.live(t); answer != "" {
		t.Fatalf("it gave up: %s", answer)
	}
	want := strings.NewReplacer("n <= 10", "n < 10", "n >= 90", "n > 90").Replace(sizes)
	if w.files["size.go"] != want {
		t.Errorf("size.go is now\n%s", w.files["size.go"])
	}
	tried := map[string]bool{}
	for _, e := range w.edits() {
		if tried[e] && strings.Contains(e, "<=") {
			t.Errorf("the edit %s was made twice", e)
		}
		tried[e] = true
	}
}

// An edit that fixes all that is open, and shows what did not run before, is kept at once.
func TestFreed(t *testing.T) {
	for _, open := range []map[string]string{{"m.TestA": "panic"}, {"m.TestA": "panic", "m.TestB": "test"}} {
		l := &level{files: memory{"a.go": "x := 1\n"}, outcome: outcome{open: open}}
		l.partial = []partial{{edit: tryEdit{editArgs: editArgs{Path: "a.go", Old: "1", New: "2"}}, fixed: []string{"m.TestA"}}}
		if _, keeps := new(mind).choose(l, false); keeps != (len(open) == 1) {
			t.Errorf("with %v open, it keeps the edit: %v", open, keeps)
		}
	}
}

// An edit that was made and not told of is found by looking.
func TestLostEdits(t *testing.T) {
	for _, took := range []bool{true, false} {
		w := sized()
		edits := 0
		w.answer = func(c pawl.Call) (string, bool, bool) {
			if c.Tool != editFile {
				return "", false, false
			}
			if edits++; edits%2 == 0 {
				return "", false, false
			}
			if took {
				answer := w.answer
				w.answer = nil
				w.run(c)
				w.answer = answer
			}
			return "outcome unknown: the run lost its owner", true, true
		}
		if answer := w.live(t); answer != "" {
			t.Errorf("took place: %v: it gave up: %s", took, answer)
		}
	}
}

// An edit that fixes one test and bars the way is taken back in the end.
func TestGoesBack(t *testing.T) {
	w := sized()
	decoys := 0
	w.tests = func(files map[string]string) map[string]string {
		text := files["size.go"]
		decoy, right, small := strings.Contains(text, "n > 90"), strings.Contains(text, "n >= 91"), strings.Contains(text, "n < 10")
		failing := map[string]string{}
		if decoy {
			decoys++
		}
		if !small || !right { // the one can be fixed after the other only
			failing["m.TestSmall"] = "size_test.go:7: Small(10)"
		}
		if !right && !decoy {
			failing["m.TestLarge"] = "size_test.go:13: Large(90)"
		}
		return failing
	}
	if answer := w.live(t); answer != "" {
		t.Fatalf("it gave up: %s", answer)
	}
	if decoys < 10 {
		t.Errorf("the decoy was looked at %d times, want a search from there", decoys)
	}
}

// It leaves the best state when it gives up, and says so.
func TestPartial(t *testing.T) {
	w := sized()
	honest := w.tests
	w.all = append(w.all, "m.TestNever")
	w.tests = func(files map[string]string) map[string]string {
		failing := honest(files)
		failing["m.TestNever"] = "never"
		return failing
	}
	answer := w.live(t)
	for _, want := range []string{"rule-based program", "Kept: size.go:", "`return n <= 10` → `return n < 10`", "`return n >= 90` → `return n > 90`", "Still failing: m.TestNever."} {
		if !strings.Contains(answer, want) {
			t.Errorf("the answer lacks %q: %s", want, answer)
		}
	}
	if got := honest(w.files); len(got) != 0 {
		t.Errorf("the best state was not left: %v in\n%s", got, w.files["size.go"])
	}
}

// Of a hint it says that it cannot use it, once, and goes on.
func TestHints(t *testing.T) {
	w := sized()
	m := New()
	w.begin()
	w.turn(t, m)
	last := &w.talk[len(w.talk)-1]
	last.Parts = append(last.Parts, pawl.Text{Text: "Look at Small first, please."})
	for i, want := range []bool{true, false} {
		said := len(w.talk)
		if answer := w.turn(t, m); answer != "" {
			t.Fatalf("it gave up: %s", answer)
		}
		text := pawl.Reply{Parts: w.talk[said].Parts}.Text()
		if got := strings.Contains(text, "It ignores the hint (`Look at Small first, please.`)"); got != want {
			t.Errorf("turn %d says so: %v, want %v: %s", i, got, want, text)
		}
	}
}

// What it cannot do it says at once, and touches nothing.
func TestSaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*world)
		want   string
	}{
		"build": {func(w *world) {
			w.tests = func(map[string]string) map[string]string {
				return map[string]string{"m [build]": "build: undefined: x"}
			}
		}, "does not build"},
		"other command": {func(w *world) {
			w.text = func() string { return "FAIL: the test command ended with exit 2. Its output:\nmake: nothing" }
		}, "go test only"},
		"no observation": {func(w *world) {
			w.text = func() string { return "the observation failed: no go here" }
		}, "no go here"},
		"read-only": {func(w *world) {
			w.answer = func(c pawl.Call) (string, bool, bool) { return "error: read-only", true, c.Tool == editFile }
		}, "Edits tried: 0"},
		"unreadable": {func(w *world) {
			w.answer = func(c pawl.Call) (string, bool, bool) { return "error: not text", true, c.Tool == readFile }
		}, "rule-based"},
	} {
		w := sized()
		c.change(w)
		before := maps.Clone(w.files)
		answer := w.live(t)
		if c.want != "Edits tried: 0" && !strings.Contains(answer, c.want) || !strings.Contains(answer, "This is the mechanic, a rule-based program and no language model") {
			t.Errorf("%s: %q, want it to say what it is, and %q", name, answer, c.want)
		}
		if !maps.Equal(before, w.files) {
			t.Errorf("%s: the files were touched", name)
		}
	}
}

// Where no edit suggests itself, none is said to have been tried.
func TestNothingToTry(t *testing.T) {
	w := &world{
		files: map[string]string{"go.mod": "module m\n", "m_test.go": "package m\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) { t.Fatal(\"no\") }\n"},
		all:   []string{"m.TestF"},
		tests: func(map[string]string) map[string]string { return map[string]string{"m.TestF": "m_test.go:5: no"} },
	}
	answer := w.live(t)
	if !strings.Contains(answer, "It found no edit to try. Still failing: m.TestF.") {
		t.Errorf("it says: %s", answer)
	}
}

func TestOtherPurposes(t *testing.T) {
	w := sized()
	w.begin()
	for purpose, want := range map[pawl.Purpose]string{
		pawl.PurposeFinal: "reached a limit", pawl.PurposeJudge: "does not support this request", pawl.PurposeSummary: "does not support this request",
	} {
		if got := ask(t, New(), pawl.Request{Purpose: purpose, Messages: w.talk}).Text(); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q in it", purpose, got, want)
		}
	}
	if got := ask(t, New(), pawl.Request{Purpose: pawl.PurposeTurn, Messages: w.talk, Tools: tools[1:]}).Text(); !strings.Contains(got, "lacks read_file") {
		t.Errorf("without tools: %q", got)
	}
	if got := ask(t, New(), pawl.Request{Purpose: pawl.PurposeTurn, Tools: tools}).Text(); !strings.Contains(got, "not shown a run") {
		t.Errorf("without messages: %q", got)
	}
}

// A long file comes in parts.
func TestParts(t *testing.T) {
	w := sized()
	lines := strings.SplitAfter(sizes, "\n")
	w.answer = func(c pawl.Call) (string, bool, bool) {
		if c.Tool != readFile || !strings.Contains(string(c.Args), `"size.go"`) {
			return "", false, false
		}
		if strings.Contains(string(c.Args), `"start":6`) {
			return strings.Join(lines[5:12], "") + "[lines 6 to 12 of 12]", false, true
		}
		return strings.Join(lines[:5], "") + "[lines 1 to 5 of 12]", false, true
	}
	if answer := w.live(t); answer != "" {
		t.Fatalf("it gave up: %s", answer)
	}
}

func TestBetter(t *testing.T) {
	read := func(text string) outcome {
		o, ok := readOutcome(text)
		if !ok {
			t.Fatalf("not understood: %q", text)
		}
		return o
	}
	before := read("FAIL: 3 passed, 2 failed, 1 skipped in 2 packages\n- m/x.TestA (test)\n- m.TestB (panic)\n\nm/x.TestA\n- m.TestZ (test)\n")
	if len(before.open) != 2 {
		t.Errorf("open: %v, want two", before.open)
	}
	for text, want := range map[string]bool{
		"ok: 5 passed, 0 failed, 1 skipped in 2 packages\n":                                               true,
		"FAIL: 4 passed, 1 failed, 1 skipped in 2 packages\n- m.TestB (panic)\n":                          true,
		"FAIL: 4 passed, 1 failed, 1 skipped in 2 packages\n- m/x.TestA (test)\n":                         true,
		"FAIL: 4 passed, 2 failed, 1 skipped in 2 packages\n- m/x.TestA (test)\n- m.TestC (test)\n":       true,  // was hidden by the panic
		"FAIL: 4 passed, 2 failed, 1 skipped in 2 packages\n- m.TestB (panic)\n- m/x.TestC (test)\n":      false, // was not
		"FAIL: 3 passed, 1 failed, 2 skipped in 2 packages\n- m.TestB (panic)\n":                          false,
		"FAIL: 3 passed, 2 failed, 1 skipped in 2 packages\n- m/x.TestA (test)\n- m.TestB (panic)\n":      false,
		"FAIL: 4 passed, 1 failed, 1 skipped in 2 packages\n- m.TestB (panic)\n\nThese …:\n* m/x.TestA\n": false,
		"FAIL: 0 passed, 1 failed, 0 skipped in 2 packages\n- m [build] (build)\n":                        false,
		"FAIL: 900 passed, 1 failed, 1 skipped in 2 packages\n- m.TestB (panic)\nand 300 more\n":          true,
		"FAIL: 900 passed, 3 failed, 1 skipped in 2 packages\n- m.TestB (panic)\nand 300 more\n":          false,
	} {
		if got := read(text).better(before); got != want {
			t.Errorf("better is %v, want %v:\n%s", got, want, text)
		}
	}
}

// FuzzHunk checks that what hunk finds turns the one text into the other.
func FuzzHunk(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nx\nc\n")
	f.Add("a\na\na\n", "a\na\n")
	f.Add("", "a")
	f.Add("a", "a\n")
	f.Add("x\nx\nx\ny\n", "x\nx\ny\n")
	f.Fuzz(func(t *testing.T, from, to string) {
		old, with, ok := hunk(from, to)
		if !ok {
			if from != to {
				t.Fatal("no hunk for different texts")
			}
			return
		}
		if from == "" {
			return // nothing occurs in an empty file, so nothing can be replaced
		}
		if got, ok := replace(from, old, with); !ok || got != to {
			t.Fatalf("replacing %q by %q in %q gives %q, %v, want %q", old, with, from, got, ok, to)
		}
	})
}

func BenchmarkReply(b *testing.B) {
	w := sized()
	w.tests = func(map[string]string) map[string]string { return map[string]string{"m.TestSmall": "never"} }
	m := New()
	w.begin()
	for range 12 {
		w.turn(b, m)
	}
	b.ReportAllocs()
	for b.Loop() {
		for chunk, err := range m.Stream(b.Context(), pawl.Request{Purpose: pawl.PurposeTurn, Messages: w.talk, Tools: tools}) {
			if err != nil || chunk.Reply == nil {
				b.Fatal(err)
			}
		}
	}
}
