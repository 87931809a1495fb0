package refactor_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/fix/refactor"
	"github.com/pawl-run/pawl/journal/memory"
)

// runner stands in for pytest: a test passes if the code has the word after its name.
const runner = `#!/bin/sh
for a; do case $a in --junitxml=*) xml=${a#*=};; esac; done
code=0
{
echo '<testsuites><testsuite>'
for f in test_*.py; do
	while read -r line; do
		case $line in
		"def "*) name=${line#def }; name=${name%%(*};;
		"needs "*) if grep -q "${line#needs }" code.py; then
			echo "<testcase file=\"$f\" classname=\"${f%.py}\" name=\"$name\"/>"
		else
			code=1; echo "<testcase file=\"$f\" classname=\"${f%.py}\" name=\"$name\"><failure message=\"assert\">E   assert 1 == 2
$f:2: AssertionError</failure></testcase>"
		fi;;
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
	dir := filepath.Join(t.TempDir(), "code")
	write(t, dir, map[string]string{"pytest": runner, "code.py": "alpha\nbeta\nbeta\ngamma\n", "test_code.py": "def test_of():\n    needs alpha\n"})
	var last pawl.Request
	model := scripted(&last,
		[]pawl.Call{writes("code.py", "beta\n")},
		[]pawl.Call{call("undo", args{}), edits("test_code.py", "    needs alpha\n", "    needs alpha\n\ndef test_gamma():\n    needs gamma\n")},
		[]pawl.Call{edits("code.py", "beta\nbeta\n", "beta\n")},
		[]pawl.Call{call("finished", args{})},
	)
	for lives := 1; ; lives++ {
		r, err := refactor.New(t.Context(), dir, "say it once", model, &refactor.Options{Test: []string{"./pytest"}, StateDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		journal := memory.New()
		run, err := engine.New(&mortal{journal, lives}, nil).Start(t.Context(), r.Agent(), r.Input(), nil)
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
			source, ours, err := refactor.ParseSource(state.Declaration().Source)
			if err != nil || !ours {
				t.Fatalf("source %q: %v", state.Declaration().Source, err)
			}
			if r, err = refactor.Open(source, model, pawl.Limits{}); err != nil {
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
			t.Fatalf("killed at entry %d: %v: %s\n%s", lives+1, result.Status, result.Verdict.Detail, conversation(last))
		}
		diff, err := r.Diff(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"code.py", "test_code.py"}, diff.Files()); d != "" {
			t.Errorf("killed at entry %d: files (-want +got):\n%s", lives+1, d)
		}
		if n, err := r.Value(t.Context()); n != 3 || err != nil {
			t.Errorf("killed at entry %d: %v lines, %v", lives+1, n, err)
		}
		if _, err := engine.New(journal, nil).Replay(t.Context(), refactor.Recorded(r.Source(), model, pawl.Limits{}), run.ID()); err != nil {
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
