package project_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/fix/internal/project"
	"github.com/pawl-run/pawl/fix/refactor"
	"github.com/pawl-run/pawl/fix/repro"
	"github.com/pawl-run/pawl/fix/testfix"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/internal/testkit/modeltest"
	"github.com/pawl-run/pawl/journal/memory"
)

// runner stands in for pytest: a line of a function that has pass in it passes, one that has fail in it
// fails by an assertion, one that has error in it by another exception, and one that needs something passes
// if the code has that.
const runner = `#!/bin/sh
for a; do case $a in --junitxml=*) xml=${a#*=};; esac; done
code=0
verdict() { echo "<testcase file=\"$f\" classname=\"${f%.py}\" name=\"$name\">$1</testcase>"; }
failed() { code=1; verdict "<failure message=\"$1\">E   $1
$f:2: $2</failure>"; }
{
echo '<testsuites><testsuite>'
for f in test_*.py; do
	while read -r line; do
		case $line in
		"def "*) name=${line#def }; name=${name%%(*};;
		*pass*) verdict;;
		*fail*) failed "assert 1 == 2" AssertionError;;
		*error*) failed "NameError: x" NameError;;
		"needs "*) if grep -q "${line#needs }" code.py; then verdict; else failed "assert 1 == 2" AssertionError; fi;;
		esac
	done < "$f"
done
echo '</testsuite></testsuites>'
} > "$xml"
exit $code
`

// mortal is a journal whose process dies before it writes an entry for the first time.
type mortal struct {
	*memory.Journal

	left int // how many batches may be written
}

var errDead = errors.New("the process is dead")

func (m *mortal) Append(ctx context.Context, b pawl.Batch) error {
	if m.left--; m.left < 0 {
		return errDead
	}
	return m.Journal.Append(ctx, b)
}

type worker interface { //nolint:interfacebloat // of the blueprints
	Agent() pawl.Agent
	Input() string
	Finish(ctx context.Context, s pawl.Status) (project.Outcome, error)
	Release() error
	Close() error
}

// A run is killed before each entry that it writes, and goes on from the log and the working copy alone.
// Its end is always the same.
func TestKilled(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("a shell is not here, and CI must have it")
		}
		t.Skip("there is no shell")
	}
	const old = "def test_of():\n    pass\n"
	test := []string{"./pytest"}
	reproduces := modeltest.Turns(nil,
		[]pawl.Call{call("edit_file", args{"path": "test_most.py", "old": "pass", "new": "fail"}), call("write_file", args{"path": "most.py", "content": "x"})},
		[]pawl.Call{call("write_file", args{"path": "test_bug.py", "content": "def test_bug():\n    error\n"})},
		[]pawl.Call{call("edit_file", args{"path": "test_most.py", "old": old, "new": old + "\ndef test_more():\n    pass\n"}), call("write_file", args{"path": "test_bug.py", "content": "def test_bug():\n    fail\n"})},
	)
	refactors := modeltest.Turns(nil,
		[]pawl.Call{call("write_file", args{"path": "code.py", "content": "beta\n"})},
		[]pawl.Call{call("write_file", args{"path": "code.py", "content": "alpha\nbeta\nbeta\ngamma\n"}), call("edit_file", args{"path": "test_code.py", "old": "    needs alpha\n", "new": "    needs alpha\n\ndef test_gamma():\n    needs gamma\n"})},
		[]pawl.Call{call("edit_file", args{"path": "code.py", "old": "beta\nbeta\n", "new": "beta\n"})},
		[]pawl.Call{call("finished", nil)},
	)
	for name, c := range map[string]struct {
		files    map[string]string
		make     func(dir string) (worker, error)
		open     func(source string) (w worker, recorded pawl.Agent, err error)
		check    func(t *testing.T, out project.Outcome)
		wantDiff []string
	}{
		"repro": {
			map[string]string{"most.py": "", "test_most.py": old},
			func(dir string) (worker, error) {
				r, err := repro.New(t.Context(), dir, "It is wrong.", reproduces, &repro.Options{Test: test, StateDir: t.TempDir()})
				return r, err
			},
			func(source string) (worker, pawl.Agent, error) {
				s, _, err := repro.ParseSource(source)
				if err != nil {
					return nil, pawl.Agent{}, err
				}
				r, err := repro.Open(s, reproduces, pawl.Limits{})
				return r, repro.Recorded(s, reproduces, pawl.Limits{}), err
			},
			func(t *testing.T, out project.Outcome) {
				if found, _ := out.Facts.(repro.Found); found.Test != "test_bug.py::test_bug" {
					t.Errorf("%+v", found)
				}
			},
			[]string{"test_bug.py", "test_most.py"},
		},
		"refactor": {
			map[string]string{"code.py": "alpha\nbeta\nbeta\ngamma\n", "test_code.py": "def test_of():\n    needs alpha\n"},
			func(dir string) (worker, error) {
				r, err := refactor.New(t.Context(), dir, "say it once", refactor.Metric{}, refactors, &refactor.Options{Test: test, StateDir: t.TempDir()})
				return r, err
			},
			func(source string) (worker, pawl.Agent, error) {
				s, _, err := refactor.ParseSource(source)
				if err != nil {
					return nil, pawl.Agent{}, err
				}
				r, err := refactor.Open(s, refactors, pawl.Limits{})
				return r, refactor.Recorded(s, refactors, pawl.Limits{}), err
			},
			func(t *testing.T, out project.Outcome) {
				if facts, _ := out.Facts.(refactor.Facts); *facts.Metric.After != 3 {
					t.Errorf("%+v", facts)
				}
			},
			[]string{"code.py", "test_code.py"},
		},
	} {
		dir := filepath.Join(t.TempDir(), name)
		must(t, os.Mkdir(dir, 0o755))
		must(t, os.WriteFile(filepath.Join(dir, "pytest"), []byte(runner), 0o755))
		for file, text := range c.files {
			must(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
		}
		for lives, died := 1, true; died; lives++ {
			w, err := c.make(dir)
			must(t, err)
			journal := memory.New()
			run, err := engine.New(&mortal{journal, lives}, nil).Start(t.Context(), w.Agent(), w.Input(), nil)
			must(t, err)
			result, err := run.Wait(t.Context())
			if died = errors.Is(err, errDead); died {
				must(t, w.Release())
			} else {
				must(t, err)
			}
			state, err := engine.Load(t.Context(), journal, run.ID())
			must(t, err)
			again, recorded, err := c.open(state.Declaration().Source)
			must(t, err)
			if died {
				w = again
				run, err = engine.New(journal, nil).Resume(t.Context(), w.Agent(), run.ID(), nil)
				must(t, err)
				result, err = run.Wait(t.Context())
				must(t, err)
			} else {
				must(t, again.Release())
				if lives < 12 {
					t.Errorf("%s: %d batches of entries, want more", name, lives)
				}
			}
			if result.Status != pawl.StatusSuccess {
				t.Fatalf("%s: killed at entry %d: %v: %s", name, lives+1, result.Status, result.Verdict.Detail)
			}
			out, err := w.Finish(t.Context(), result.Status)
			must(t, err)
			c.check(t, out)
			if d := cmp.Diff(c.wantDiff, out.Diff.Files()); d != "" {
				t.Errorf("%s: killed at entry %d: files (-want +got):\n%s", name, lives+1, d)
			}
			if _, err := engine.New(journal, nil).Replay(t.Context(), recorded, run.ID()); err != nil {
				t.Errorf("%s: killed at entry %d: replay: %v", name, lives+1, err)
			}
			must(t, w.Close())
		}
	}
}

type args = map[string]any

var must, call = check.Must, modeltest.Call

// What an agent's source says is read as it was written, and what lacks something is refused.
func TestSources(t *testing.T) {
	common := project.Source{Dir: "/home/ann/ledger", State: "/tmp/pawl-tree-1", Test: []string{"go", "test", "-run", "A|B", "./..."}, Env: []string{"CI=1"}, Timeout: 90 * time.Second}
	back := func(written, read any, ours bool, err error) {
		t.Helper()
		if d := cmp.Diff(written, read); d != "" || !ours || err != nil {
			t.Errorf("%v, %v (-want +got):\n%s", ours, err, d)
		}
	}
	fix := testfix.Source{Source: common, Choices: testfix.Choices{AllowTestEdits: true, Keep: testfix.Best}}
	readFix, ours, err := testfix.ParseSource(fix.String())
	back(fix, readFix, ours, err)
	bug := repro.Source{Source: common}
	readBug, ours, err := repro.ParseSource(bug.String())
	back(bug, readBug, ours, err)
	form := refactor.Source{Source: common, Goal: "tidy", Metric: refactor.Metric{Name: "cmd", Command: []string{"wc"}}}
	readForm, ours, err := refactor.ParseSource(form.String())
	back(form, readForm, ours, err)

	for text, want := range map[string]string{
		"": "", "spec.yaml": "", `{"kind":"spec"}`: "",
		`{"kind":"fix"}`: "fix", `{"kind":"repro"}`: "repro", `{"kind":"refactor"}`: "refactor",
		`{"kind":"fix","state":"relative","test":["go"],"keep":"best"}`:                                  "fix",
		`{"kind":"fix","state":"/s","test":[],"keep":"best"}`:                                            "fix",
		`{"kind":"repro","state":"relative","test":["go"]}`:                                              "repro",
		`{"kind":"repro","state":"/s","test":["go"],"timeout":"1y"}`:                                     "repro",
		`{"kind":"refactor","state":"/s","test":["go"],"goal":"x","metric":{"name":"y"},"timeout":"1y"}`: "refactor",
	} {
		_, isFix, errFix := testfix.ParseSource(text)
		_, isRepro, errRepro := repro.ParseSource(text)
		_, isRefactor, errRefactor := refactor.ParseSource(text)
		for kind, got := range map[string]struct {
			is  bool
			err error
		}{"fix": {isFix, errFix}, "repro": {isRepro, errRepro}, "refactor": {isRefactor, errRefactor}} {
			if got.is != (kind == want) || got.is != (got.err != nil) {
				t.Errorf("%s is the source of a %s: %v, %v", text, kind, got.is, got.err)
			}
		}
	}
}
