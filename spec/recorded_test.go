package spec

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// What a run recorded is its spec as it was written, below what is in force.
func TestRecorded(t *testing.T) {
	const text = "name: a\nmodel: anthropic/x # the best\nprompt: key=sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789\n"
	dir := t.TempDir()
	o := &Options{Registry: registry(), Model: "mechanic", Effort: "low", Prompt: "two\nlines", Stop: "iterations >= 3", Plan: true, Limits: pawl.Limits{Iterations: 7}}
	_, written := parseAgent(t, dir, text, o)
	made := pawl.Agent{Name: "made", Prompt: "p", Model: pawl.ModelFunc(nil)}
	for _, c := range []struct {
		agent pawl.Agent
		want  string
	}{
		{written, "# " + filepath.Join(dir, "spec.yaml") + ", with paths relative to " + dir + `. In force:
# model: script/replies
# effort: low
# prompt: two
#   lines
# plan: true
# stop: iterations >= 3
# limits: iterations=7,tokens=500000,time=30m,tool_errors=3,attempts=4,margin=0.1,depth=10
# label team: ops
name: a
model: anthropic/x # the best
prompt: key=[redacted]
`},
		{made, `# The agent of a program, as its run declared it. In force:
# model: func
# limits: iterations=20,tokens=500000,time=30m,tool_errors=3,attempts=4,margin=0.1,depth=10
# label team: ops
{"agent":"made","prompt":"p","model":"func",`},
	} {
		j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), nil)
		must(t, err)
		e := engine.New(j, nil)
		run, err := e.Queue(t.Context(), c.agent, "go", &engine.StartOptions{Labels: map[string]string{"team": "ops"}})
		must(t, err)
		s, err := engine.Load(t.Context(), j, run.ID())
		must(t, err)
		if got := Of(s).String(); !strings.HasPrefix(got, c.want) {
			t.Error(cmp.Diff(c.want, got))
		}
		_, _ = e.Close(), j.Close()
	}
}
