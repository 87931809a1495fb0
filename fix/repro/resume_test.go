package repro_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	shared "github.com/pawl-run/pawl/fix/internal/project"
	"github.com/pawl-run/pawl/fix/repro"
	"github.com/pawl-run/pawl/journal/memory"
)

// runner stands in for pytest: a line of a function that has fail in it fails by an assertion, one that
// has error in it by another exception.
const runner = `#!/bin/sh
for a; do case $a in --junitxml=*) xml=${a#*=};; esac; done
code=0
{
echo '<testsuites><testsuite>'
for f in test_*.py; do
	while read -r line; do
		case $line in
		"def "*) name=${line#def }; name=${name%%(*};;
		*pass*) echo "<testcase file=\"$f\" classname=\"${f%.py}\" name=\"$name\"/>";;
		*fail*) code=1; echo "<testcase file=\"$f\" classname=\"${f%.py}\" name=\"$name\"><failure message=\"assert\">E   assert 1 == 2
$f:2: AssertionError</failure></testcase>";;
		*error*) code=1; echo "<testcase file=\"$f\" classname=\"${f%.py}\" name=\"$name\"><failure message=\"NameError\">E   NameError: x
$f:2: NameError</failure></testcase>";;
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

// A run is killed before each entry that it writes, and goes on from the log and the working copy alone.
// Its end is always the same.
func TestKilled(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("a shell is not here, and CI must have it")
		}
		t.Skip("there is no shell")
	}
	dir := filepath.Join(t.TempDir(), "most")
	const old = "def test_of():\n    pass\n"
	write(t, dir, map[string]string{"pytest": runner, "most.py": "", "test_most.py": old})
	var last pawl.Request
	model := scripted(&last,
		[]pawl.Call{call("edit_file", args{"path": "test_most.py", "old": "pass", "new": "fail"}), writes("most.py", "x")},
		[]pawl.Call{writes("test_bug.py", "def test_bug():\n    error\n")},
		[]pawl.Call{call("edit_file", args{"path": "test_most.py", "old": old, "new": old + "\ndef test_more():\n    pass\n"}), writes("test_bug.py", "def test_bug():\n    fail\n")},
	)
	for lives := 1; ; lives++ {
		r, err := repro.New(t.Context(), dir, model, &repro.Options{Test: []string{"./pytest"}, StateDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		journal := memory.New()
		run, err := engine.New(&mortal{journal, lives}, nil).Start(t.Context(), r.Agent(), repro.Input("It is wrong."), nil)
		if err != nil {
			t.Fatal(err)
		}
		result, err := run.Wait(t.Context())
		died := errors.Is(err, errDead)
		if died {
			if err := r.Release(); err != nil {
				t.Fatal(err)
			}
			state, err := engine.Load(t.Context(), journal, run.ID())
			if err != nil {
				t.Fatal(err)
			}
			source, ours, err := repro.ParseSource(state.Declaration().Source)
			if err != nil || !ours {
				t.Fatalf("source %q: %v", state.Declaration().Source, err)
			}
			if r, err = repro.Open(source, model, pawl.Limits{}); err != nil {
				t.Fatal(err)
			}
			if run, err = engine.New(journal, nil).Resume(t.Context(), r.Agent(), run.ID(), nil); err != nil {
				t.Fatal(err)
			}
			result, err = run.Wait(t.Context())
			if err != nil {
				t.Fatal(err)
			}
		} else if err != nil {
			t.Fatal(err)
		}
		if result.Status != pawl.StatusSuccess {
			t.Fatalf("killed at entry %d: %v: %s", lives+1, result.Status, result.Verdict.Detail)
		}
		found, err := r.Finish(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if found.Test != "test_bug.py::test_bug" || !strings.Contains(found.Since.Note, "not the top of a git repository") {
			t.Errorf("killed at entry %d: %+v", lives+1, found)
		}
		if d := cmp.Diff([]string{"test_bug.py", "test_most.py"}, found.Diff.Files()); d != "" {
			t.Errorf("killed at entry %d: files (-want +got):\n%s", lives+1, d)
		}
		if _, err := engine.New(journal, nil).Replay(t.Context(), repro.Recorded(r.Source(), model, pawl.Limits{}), run.ID()); err != nil {
			t.Errorf("killed at entry %d: replay: %v", lives+1, err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if !died {
			if lives < 12 {
				t.Errorf("%d batches of entries, want more", lives)
			}
			break
		}
	}
}

func TestSource(t *testing.T) {
	s := repro.Source{Source: shared.Source{Dir: "/home/ann/ledger", Module: "app", State: "/tmp/pawl-tree-1", Test: []string{"go", "test", "./..."}, Env: []string{"CI=1"}, Timeout: 90}}
	got, ours, err := repro.ParseSource(s.String())
	if d := cmp.Diff(s, got); d != "" || !ours || err != nil {
		t.Errorf("ParseSource(%s) = %v, %v (-want +got):\n%s", s, ours, err, d)
	}
	for text, want := range map[string]bool{
		"": false, "spec.yaml": false, `{"kind":"fix"}`: false, `{"kind":"repro"}`: true,
		`{"kind":"repro","state":"relative","test":["go"]}`:          true,
		`{"kind":"repro","state":"/s","test":["go"],"timeout":"1y"}`: true,
	} {
		_, ours, err := repro.ParseSource(text)
		if ours != want || ours && err == nil {
			t.Errorf("ParseSource(%q) = %v, %v, want %v and an error if it is", text, ours, err, want)
		}
	}
}
