package mechanic

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/internal/goedit"
)

// tryEdit is an edit as try_edits takes it.
type tryEdit struct {
	editArgs

	Also []editArgs `json:"also,omitempty"`
}

type tryArgs struct {
	Edits []tryEdit `json:"edits"`
}

// tried is the result of try_edits.
type tried struct {
	Fixes []struct {
		Edit   int      `json:"edit"`
		All    bool     `json:"all"`
		Fixed  []string `json:"fixed"`
		Broken []string `json:"broken"`
	} `json:"fixes"`
	NotTried []int `json:"not_tried"`
	Runs     int   `json:"runs"`
}

// pieces are the replacements that an edit is made of.
func (e tryEdit) pieces() []editArgs { return append([]editArgs{e.editArgs}, e.Also...) }

// key names an edit.
func (e tryEdit) key() string {
	var k strings.Builder
	for _, p := range e.pieces() {
		k.WriteString(key(p) + "\x00")
	}
	return k.String()
}

// on returns the files after the edit; false when it does not fit them.
func (e tryEdit) on(files memory) (memory, bool) {
	after := maps.Clone(files)
	for _, p := range e.pieces() {
		text, ok := replace(after[p.Path], p.Old, p.New)
		if !ok {
			return nil, false
		}
		after[p.Path] = text
	}
	return after, true
}

// learned records the results of edits that were tried on the searched state.
func (m *mind) learned(c pawl.Call, r pawl.ToolResult) {
	var args tryArgs
	var told tried
	if m.base() == nil || m.dirty() || len(m.lost) > 0 || json.Unmarshal(c.Args, &args) != nil {
		return
	}
	if r.Failed || json.Unmarshal(r.Content, &told) != nil {
		m.failed++
		m.failure = r.Text()
		return
	}
	m.failed = 0
	m.runs += told.Runs
	l := m.base()
	fresh := 0
	for i, e := range args.Edits {
		if k := e.key(); !slices.Contains(told.NotTried, i+1) && !l.tried[k] {
			l.tried[k] = true
			fresh++
		}
	}
	m.tries += fresh
	if m.idle++; fresh > 0 {
		m.idle = 0
	} else {
		m.failure = "no edit was tried in the time there is"
	}
	for _, x := range told.Fixes {
		if x.Edit < 1 || x.Edit > len(args.Edits) || len(x.Broken) > 0 {
			continue
		}
		if len(l.partial) == 0 {
			l.first = len(l.tried)
		}
		l.partial = append(l.partial, partial{args.Edits[x.Edit-1], x.All, x.Fixed})
	}
}

var lineRange = regexp.MustCompile(`(\d+)(?:-(\d+))?:(\d+)/(\d+)`)

// covered records which lines the failing tests execute. Without an answer the search uses
// the call graph.
func (m *mind) covered(r pawl.ToolResult) {
	l := m.base()
	if l == nil || m.dirty() || len(m.lost) > 0 {
		return
	}
	l.asked = true
	var told struct {
		Failing int               `json:"failing"`
		Lines   map[string]string `json:"lines"`
		Runs    int               `json:"runs"`
	}
	if r.Failed || json.Unmarshal(r.Content, &told) != nil {
		return
	}
	m.runs += told.Runs
	l.profiled, l.several = told.Failing, told.Failing > 1
	l.lines = map[goedit.Location]goedit.Spectrum{}
	for name, text := range told.Lines {
		for _, part := range lineRange.FindAllStringSubmatch(text, -1) {
			n := [5]int{}
			for i := 1; i < len(n); i++ {
				n[i], _ = strconv.Atoi(part[i]) // the end may be left out
			}
			l.several = l.several && n[3] < told.Failing
			for line := n[1]; line <= max(n[1], n[2]) && line-n[1] < 1<<16; line++ {
				l.lines[goedit.Location{File: name, Line: line}] = goedit.Spectrum{Failed: n[3], Passed: n[4]}
			}
		}
	}
}
