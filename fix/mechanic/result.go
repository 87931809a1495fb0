package mechanic

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/internal/testrun"
)

// readArgs and editArgs are the arguments of the tools.
type readArgs struct {
	Path  string `json:"path"`
	Start int    `json:"start,omitempty"`
}

type editArgs struct {
	Path string `json:"path"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

func (m *mind) result(c pawl.Call, r pawl.ToolResult) {
	var a editArgs // of the others, the path is all that matters here
	if json.Unmarshal(c.Args, &a) != nil {
		return
	}
	switch c.Tool {
	case listFiles:
		m.listed = true
		for line := range strings.Lines(r.Text()) {
			line = strings.TrimSuffix(line, "\n")
			if !r.Failed && !strings.HasPrefix(line, "[") && !strings.HasSuffix(line, "/") && !strings.HasSuffix(line, ")") {
				m.paths = append(m.paths, line)
			}
		}
	case readFile:
		m.read(a.Path, r)
	case runTests:
		var d testrun.Details
		if !r.Failed && json.Unmarshal(r.Content, &d) == nil && m.base() != nil && !m.dirty() {
			m.base().details = &d
		}
	case editFile:
		m.edited(a, r)
	case coverage:
		m.covered(r)
	case tryEdits:
		m.learned(c, r)
	}
}

var partLine = regexp.MustCompile(`\[lines (\d+) to (\d+) of (\d+)\]$`)

func (m *mind) read(name string, r pawl.ToolResult) {
	if r.Failed {
		m.barred[name] = true
		delete(m.parts, name)
		return
	}
	text := r.Text()
	if at := partLine.FindStringSubmatchIndex(text); at != nil {
		number := func(i int) int { n, _ := strconv.Atoi(text[at[2*i]:at[2*i+1]]); return n }
		from, to, all := number(1), number(2), number(3)
		p := m.parts[name]
		if p == nil || from == 1 {
			p = &part{next: 1}
			m.parts[name] = p
		}
		if from != p.next || to < from {
			m.barred[name] = true
			return
		}
		p.text += text[:at[0]]
		p.next = to + 1
		if to < all {
			return
		}
		text = p.text
	}
	delete(m.parts, name)
	delete(m.lost, name)
	m.now[name] = text
	for _, l := range m.known { // files that were not read were not changed
		if _, ok := l.files[name]; !ok {
			l.files[name] = text
		}
	}
	m.settleDown()
}

func (m *mind) edited(a editArgs, r pawl.ToolResult) {
	if m.base() == nil {
		return
	}
	after, ok := replace(m.now[a.Path], a.Old, a.New)
	switch {
	case r.Failed && strings.HasPrefix(r.Text(), unknownOutcome):
		m.doubted[key(a)] = true
		m.lose(a.Path)
	case r.Failed: // whatever the reason, the file is looked at before it counts
		m.lose(a.Path)
		if m.fails[a.Path]++; m.fails[a.Path] >= mostFails {
			m.barred[a.Path] = true
		}
	case !ok: // made on a text that is not known
		m.fails[a.Path] = 0
		m.lose(a.Path)
	default:
		m.fails[a.Path] = 0
		m.fresh = false
		m.now[a.Path] = after
		m.settleDown()
	}
}

// unknownOutcome begins the machine's result for an interrupted call.
const unknownOutcome = "outcome unknown"

func (m *mind) lose(name string) {
	m.lost[name], m.fresh = true, false
	delete(m.now, name)
}

// settleDown goes back to an earlier state when the files are as they were then.
func (m *mind) settleDown() {
	if len(m.lost) > 0 {
		return
	}
	for i, l := range m.levels[:max(0, len(m.levels)-1)] {
		if same(m.now, l.files) {
			m.levels = m.levels[:i+1]
			return
		}
	}
}

// key names an edit by its arguments.
func key(a editArgs) string { return a.Path + "\x00" + a.Old + "\x00" + a.New }

// digest names a state of the files by how it differs from another.
func digest(from, to memory) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(from)) {
		if now, ok := to[name]; ok && now != from[name] {
			fmt.Fprintf(sum, "%q %d ", name, len(now))
			_, _ = sum.Write([]byte(now))
		}
	}
	return string(sum.Sum(nil))
}

// edit makes the call for a change to a file. An edit equal to one with an unknown outcome
// would need a person's approval, so edit then includes more of the surrounding text.
func (m *mind) edit(name, text, old, with string) pawl.Call {
	a := editArgs{Path: name, Old: old, New: with}
	for m.doubted[key(a)] {
		wide, ok := widen(text, a.Old, a.New)
		if !ok {
			break
		}
		a.Old, a.New = wide.old, wide.with
	}
	return call(editFile, a)
}
