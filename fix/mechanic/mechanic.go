package mechanic

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/internal/goedit"
	"github.com/pawl-run/pawl/fix/internal/project"
	"github.com/pawl-run/pawl/internal/wire"
)

// The tools it needs, by name, as the test-fix agent declares them.
const (
	readFile  = "read_file"
	editFile  = "edit_file"
	listFiles = "list_files"
	runTests  = "run_tests"
	coverage  = "coverage"
	tryEdits  = "try_edits"
)

// Bounds on the search. Most slips that one edit fixes are among the first fifty candidates; of
// the gaps that people leave in code with many tests, half are further down.
const (
	mostTries = 1500 // edits, all states of the code together
	mostEdits = 900  // candidates of the first state
	mostDeep  = 240  // candidates tried of a state that edits led to
	mostReads = 16   // files asked for in one reply
	mostFails = 3    // refused edits of one file, or failures of a tool, in a row
	batchSize = 16   // edits tried in one turn, at first
	mostBatch = 64   // later: the further down, the less likely it is that a turn ends early
	patience  = 192  // edits tried after one that seems to fix one of two faults, in search of one that fixes all
)

// Name is the model's name.
const Name = project.Mechanic

// New returns the mechanic. Its limits suit a search by trial: many cheap turns, bounded by time.
func New() pawl.Model {
	return project.Rules{Reply: reply, Most: pawl.Limits{Iterations: 2000, Tokens: 1_000_000_000, Time: 30 * time.Minute}}
}

func reply(r pawl.Request) pawl.Reply {
	mind := recall(r.Messages)
	switch r.Purpose {
	case pawl.PurposeTurn, "":
	case pawl.PurposeFinal:
		return pawl.Say(mind.says("The run reached a limit, which ended the search; resume it with a higher limit to continue."))
	default:
		return pawl.Say(fmt.Sprintf("The mechanic is a rule-based program: it does not support this request (%s).", r.Purpose))
	}
	for _, name := range []string{readFile, editFile, listFiles, runTests, coverage, tryEdits} {
		if slices.ContainsFunc(r.Tools, func(t pawl.ToolInfo) bool { return t.Name == name }) {
			continue
		}
		if name == coverage || name == tryEdits {
			return pawl.Say(mind.says("It fixes Go code tested with go test, and these tests are run by something else. A language model could help: give pawl a provider's key."))
		}
		return pawl.Say(mind.says("It works with the tools of pawl fix only, and this agent lacks " + name + "."))
	}
	reply := next(mind)
	if mind.told != "" {
		why := "It ignores the hint (" + brief(mind.told) + "), since it only tries edits by rules; a language model reads hints: give pawl a provider's key. "
		reply.Parts = append([]pawl.Part{pawl.Text{Text: why}}, reply.Parts...)
	}
	return reply
}

// next is the whole of its cunning.
func next(mind *mind) pawl.Reply {
	if lost := slices.Sorted(maps.Keys(mind.lost)); len(lost) > 0 {
		if i := slices.IndexFunc(lost, func(p string) bool { return mind.barred[p] }); i >= 0 {
			return pawl.Say(mind.says("It cannot edit " + lost[i] + " any more, so it cannot continue."))
		}
		return do("Looking at the files whose edits had no clear outcome.", mind.reads(lost))
	}
	base := mind.base()
	switch {
	case mind.strange != "":
		first, _, _ := strings.Cut(mind.strange, "\n")
		return pawl.Say(mind.says("It understands the output of go test only, and got something else: " + brief(first)))
	case base == nil:
		return pawl.Say(mind.says("It was not shown a run of the tests, and so has nothing to go by."))
	case base.outcome.ok && !mind.dirty():
		return pawl.Say(mind.says("Every test passes."))
	}

	if back := mind.moves(base.files); len(back) > 0 {
		return do("Taking the last edit back.", back)
	}
	if mind.failed >= mostFails || mind.idle >= mostFails {
		return mind.giveUp("It cannot try edits here: " + brief(mind.failure) + ".")
	}
	if mind.tries >= mostTries {
		return mind.giveUp(fmt.Sprintf("None of the %d edits tried made every test pass.", mind.tries))
	}
	if r, ok := mind.pending(); ok {
		return r
	}
	if calls := mind.asks(); len(calls) > 0 {
		return do("Asking what fails, and which lines that executes.", calls)
	}
	if need := mind.needed(base); len(need) > 0 {
		return do("Reading the code that the failing tests reach.", mind.reads(need))
	}
	return search(mind)
}

// asks are the calls that find out what is unknown of the current state.
func (m *mind) asks() []pawl.Call {
	var calls []pawl.Call
	if !m.listed {
		calls = append(calls, call(listFiles, struct{}{}), call(readFile, readArgs{Path: "go.mod"}))
	}
	if m.base().details == nil {
		calls = append(calls, call(runTests, struct{}{}))
	}
	if !m.base().asked && m.base().outcome.repairable() { // what does not build executes nothing
		calls = append(calls, call(coverage, struct{}{}))
	}
	return calls
}

// giveUp leaves the best state there was and says why it stops.
func (m *mind) giveUp(why string) pawl.Reply {
	if m.best != nil {
		if moves := m.moves(m.best.files); len(moves) > 0 {
			return do("Leaving the best state that was found.", moves)
		}
	}
	return pawl.Say(m.says(why))
}

// says is the answer in text.
func (m *mind) says(why string) string {
	var b strings.Builder
	b.WriteString("This is the mechanic, a rule-based program and no language model. ")
	b.WriteString(why)
	if m.tries > 0 {
		fmt.Fprintf(&b, " Edits tried: %d, in %d runs of tests.", m.tries, m.runs)
	}
	switch {
	case m.best != nil && len(m.best.path) > 0:
		fmt.Fprintf(&b, " Kept: %s.", strings.Join(m.best.path, "; "))
	case m.tries > 0:
		b.WriteString(" None was kept.")
	}
	if base := m.base(); base != nil && len(base.outcome.open) > 0 {
		open := slices.Sorted(maps.Keys(base.outcome.open))
		fmt.Fprintf(&b, " Still failing: %s", strings.Join(open[:min(len(open), 10)], ", "))
		if more := len(open) - 10; more > 0 {
			fmt.Fprintf(&b, " and %d more", more)
		}
		b.WriteString(".")
	}
	b.WriteString(" It tries small single edits of Go code, and keeps those that make more tests pass.")
	return b.String()
}

// moves are the edits that turn the files into the wanted ones.
func (m *mind) moves(files memory) []pawl.Call {
	var calls []pawl.Call
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if old, with, ok := hunk(m.now[name], files[name]); ok {
			calls = append(calls, m.edit(name, m.now[name], old, with))
		}
	}
	return calls
}

// needed are the files to read before edits can be proposed.
func (m *mind) needed(l *level) []string {
	h := l.hints()
	for _, c := range complaints(l.details.Failures) { // where it does not build, and around it
		h.Failures = append(h.Failures, goedit.Failure{Package: m.packageIn(path.Dir(c.file))})
	}
	have := maps.Clone(m.now)
	for name := range m.barred {
		if _, ok := have[name]; !ok {
			have[name] = "" // does not parse, and so is left alone
		}
	}
	return goedit.Needed(have.fs(), m.paths, h)
}

// packageIn returns the import path of the package in a directory.
func (m *mind) packageIn(dir string) string {
	return path.Join(goedit.ModulePath([]byte(m.now["go.mod"])), dir)
}

func (m *mind) reads(paths []string) []pawl.Call {
	var calls []pawl.Call
	for _, name := range paths[:min(len(paths), mostReads)] {
		a := readArgs{Path: name}
		if p := m.parts[name]; p != nil {
			a.Start = p.next
		}
		calls = append(calls, call(readFile, a))
	}
	return calls
}

// hints turns the result of run_tests into hints for goedit.
func (l *level) hints() goedit.Hints {
	var h goedit.Hints
	for _, f := range l.details.Failures {
		if !beyond[f.Kind.String()] {
			h.Failures = append(h.Failures, f)
		}
	}
	h.Spectra = l.lines
	for _, id := range l.details.Passing {
		pkg := packageOf(id)
		h.Passed = append(h.Passed, goedit.Test{Package: pkg, Name: strings.TrimPrefix(id, pkg+".")})
	}
	return h
}

func do(thought string, calls []pawl.Call) pawl.Reply {
	parts := []pawl.Part{pawl.Text{Text: thought}}
	for _, c := range calls {
		parts = append(parts, c)
	}
	return pawl.Reply{Parts: parts}
}

// call asks for a tool. Code is full of characters that HTML would escape, and
// is to be read in the log as it is.
func call(tool string, args any) pawl.Call {
	raw, _ := wire.Marshal(args) // strings and numbers always marshal
	return pawl.Call{Tool: tool, Args: raw}
}
