package mechanic

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/fix/internal/testrun"
)

// world is a project without a toolchain: what its tests say is a function of
// its files. It answers calls as the test-fix agent's tools do.
type world struct {
	files map[string]string
	// tests returns which tests fail, by identity, and with what message; all are
	// those that there are.
	tests func(files map[string]string) (failing map[string]string)
	all   []string
	// answer, if set, may answer a call in the world's place.
	answer func(c pawl.Call) (text string, failed, handled bool)
	text   func() string // the observation, if it is to be another

	talk  []pawl.Message
	tried []string // edits, in order
	last  string
	next  int
}

func (w *world) observation() string {
	if w.text != nil {
		return w.text()
	}
	failing := w.tests(w.files)
	word := "FAIL"
	if len(failing) == 0 {
		word = "ok"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d passed, %d failed, 0 skipped in 1 packages\n", word, len(w.all)-len(failing), len(failing))
	for _, id := range slices.Sorted(maps.Keys(failing)) {
		fmt.Fprintf(&b, "- %s (%s)\n", id, kindOf(failing[id]))
	}
	return b.String()
}

// kindOf takes the kind from a message such as "panic: index out of range".
func kindOf(message string) (k gotest.Kind) {
	kind, _, _ := strings.Cut(message, ": ")
	if k.UnmarshalText([]byte(kind)) != nil {
		return gotest.KindTest
	}
	return k
}

func (w *world) details() string {
	var d testrun.Details
	failing := w.tests(w.files)
	for _, id := range w.all {
		pkg := packageOf(id)
		if message, fails := failing[id]; fails {
			d.Failures = append(d.Failures, gotest.Failure{ID: id, Package: pkg, Test: strings.TrimPrefix(id, pkg+"."), Kind: kindOf(message), Output: message})
		} else {
			d.Passing = append(d.Passing, id)
		}
	}
	raw, _ := json.Marshal(d)
	return string(raw)
}

func (w *world) run(c pawl.Call) (string, bool) {
	if w.answer != nil {
		if text, failed, handled := w.answer(c); handled {
			return text, failed
		}
	}
	var a struct {
		Path, Old, New string
		Start          int
		Edits          []tryEdit
	}
	if err := json.Unmarshal(c.Args, &a); err != nil {
		return err.Error(), true
	}
	switch c.Tool {
	case listFiles:
		return strings.Join(slices.Sorted(maps.Keys(w.files)), "\n") + "\nvendor/\n", false
	case readFile:
		text, ok := w.files[a.Path]
		return text, !ok
	case runTests:
		return w.details(), false
	case coverage:
		return `{"summary":"none","failing":0,"passing":0,"lines":{},"runs":1}`, false
	case tryEdits:
		return w.try(a.Edits), false
	case editFile:
		if strings.Count(w.files[a.Path], a.Old) != 1 {
			return fmt.Sprintf("error: old occurs %d times", strings.Count(w.files[a.Path], a.Old)), true
		}
		w.files[a.Path] = strings.Replace(w.files[a.Path], a.Old, a.New, 1)
		return "replaced", false
	}
	return "there is no such tool", true
}

// try tries edits as the tool does.
func (w *world) try(edits []tryEdit) string {
	type fixes struct {
		Edit   int      `json:"edit"`
		All    bool     `json:"all"`
		Fixed  []string `json:"fixed"`
		Broken []string `json:"broken"`
	}
	var told struct {
		Fixes    []fixes `json:"fixes"`
		NotTried []int   `json:"not_tried"`
		Runs     int     `json:"runs"`
	}
	before := w.tests(w.files)
	done := false
	for i, e := range edits {
		if done {
			told.NotTried = append(told.NotTried, i+1)
			continue
		}
		w.tried = append(w.tried, e.String())
		after, ok := e.on(w.files)
		if !ok {
			continue // refused
		}
		told.Runs++
		now := w.tests(after)
		m := fixes{Edit: i + 1, All: len(now) == 0}
		for _, id := range w.all {
			switch _, was := before[id]; {
			case was && now[id] == "":
				m.Fixed = append(m.Fixed, id)
			case !was && now[id] != "":
				m.Broken = append(m.Broken, id)
			}
		}
		if len(m.Fixed) > 0 {
			told.Fixes = append(told.Fixes, m)
		}
		done = m.All
	}
	raw, _ := json.Marshal(told)
	return string(raw)
}

// see tells the model what the tests say, or that nothing has changed.
func (w *world) see() pawl.Part {
	text := w.observation()
	now := text + fmt.Sprint(w.files)
	if now == w.last {
		text = unchanged + "the last run of the tests: " + text
	}
	w.last = now
	return pawl.Text{Text: observation + text}
}

func (w *world) begin() {
	w.talk = []pawl.Message{{Role: pawl.RoleUser, Parts: []pawl.Part{pawl.Text{Text: "Make the tests pass."}, w.see()}}}
}

var tools = []pawl.ToolInfo{{Name: readFile}, {Name: editFile}, {Name: listFiles}, {Name: runTests}, {Name: coverage}, {Name: tryEdits}}

func ask(t testing.TB, m pawl.Model, r pawl.Request) pawl.Reply {
	t.Helper()
	for chunk, err := range m.Stream(context.Background(), r) {
		if err != nil {
			t.Fatal(err)
		}
		if chunk.Reply != nil {
			return *chunk.Reply
		}
	}
	t.Fatal("the stream has no reply")
	return pawl.Reply{}
}

// turn lets the model reply and performs its calls. It returns the reply's
// text when it calls nothing.
func (w *world) turn(t testing.TB, m pawl.Model) (answer string) {
	t.Helper()
	reply := ask(t, m, pawl.Request{Purpose: pawl.PurposeTurn, Messages: w.talk, Tools: tools})
	// Whatever the mechanic says follows from what was said, not from what it remembers.
	if again := ask(t, New(), pawl.Request{Purpose: pawl.PurposeTurn, Messages: w.talk, Tools: tools}); !cmp.Equal(reply, again) {
		t.Fatalf("another mechanic replies otherwise:\n%s", cmp.Diff(reply, again))
	}
	var results []pawl.Part
	for i, p := range reply.Parts {
		c, ok := p.(pawl.Call)
		if !ok {
			continue
		}
		w.next++
		c.ID = fmt.Sprint("c_", w.next)
		reply.Parts[i] = c
		text, failed := w.run(c)
		content, _ := json.Marshal(text)
		if json.Valid([]byte(text)) && slices.Contains([]string{runTests, coverage, tryEdits}, c.Tool) {
			content = []byte(text)
		}
		results = append(results, pawl.ToolResult{Call: c.ID, Tool: c.Tool, Content: content, Failed: failed})
	}
	if results == nil {
		return reply.Text()
	}
	w.talk = append(w.talk, pawl.Message{Role: pawl.RoleAssistant, Parts: reply.Parts}, pawl.Message{Role: pawl.RoleUser, Parts: append(results, w.see())})
	return ""
}

// live lets the model work until it answers or every test passes.
func (w *world) live(t testing.TB) string {
	t.Helper()
	m := New()
	w.begin()
	for range 400 {
		if w.text == nil && len(w.tests(w.files)) == 0 {
			return ""
		}
		if answer := w.turn(t, m); answer != "" {
			return answer
		}
	}
	t.Fatal("it does not come to an end")
	return ""
}

// edits lists the edits made, one a line.
func (w *world) edits() []string {
	var list []string
	for _, m := range w.talk {
		for _, p := range m.Parts {
			if c, ok := p.(pawl.Call); ok && c.Tool == editFile {
				var a editArgs
				if json.Unmarshal(c.Args, &a) == nil {
					list = append(list, brief(a.Old)+" "+brief(a.New))
				}
			}
		}
	}
	return list
}
