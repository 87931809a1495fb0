package mechanic

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl"
)

// mind is what the conversation says: which code was read and changed, what
// the tests said of it, and which edits were tried.
type mind struct {
	paths  []string // of the module's files
	listed bool
	now    memory           // files as they are, as far as they were read
	parts  map[string]*part // files of which only a part was read
	barred map[string]bool  // files that cannot be read or edited
	lost   map[string]bool  // files of which an edit's outcome is unknown
	fails  map[string]int   // edits of a file that failed in a row

	doubted map[string]bool // edits that nobody knows to have taken place

	levels  []*level // states of the code, each better than the one before
	known   []*level // all that ever were
	best    *level
	latest  outcome
	fresh   bool   // latest is about the files as they are
	strange string // the latest observation, when it is none of go test
	tries   int
}

// part is the beginning of a file that is too long for one reading.
type part struct {
	text string
	next int
}

// level is a state of the code that is searched for an edit that helps.
type level struct {
	files   memory
	outcome outcome
	details *details
	tried   map[string]bool
	path    []string // the edits that led here
}

// details are the failures as the tool run_tests tells them.
type details struct {
	Failures []struct {
		ID      string   `json:"id"`
		Package string   `json:"package"`
		Test    string   `json:"test"`
		Kind    string   `json:"kind"`
		Output  string   `json:"output"`
		At      []string `json:"at"`
		Got     string   `json:"got"`
		Want    string   `json:"want"`
	} `json:"failures"`
	Passing []string `json:"passing"`
}

func (m *mind) base() *level {
	if len(m.levels) == 0 {
		return nil
	}
	return m.levels[len(m.levels)-1]
}

// recall reads the conversation.
func recall(messages []pawl.Message) *mind {
	m := &mind{
		now: memory{}, parts: map[string]*part{}, barred: map[string]bool{},
		lost: map[string]bool{}, fails: map[string]int{}, doubted: map[string]bool{},
	}
	calls := map[string]pawl.Call{}
	for _, message := range messages {
		for _, p := range message.Parts {
			switch p := p.(type) {
			case pawl.Call:
				calls[p.ID] = p
			case pawl.ToolResult:
				m.result(calls[p.Call], p)
			case pawl.Text:
				if text, ok := strings.CutPrefix(p.Text, observation); ok && message.Role == pawl.User {
					m.observe(text)
				}
			}
		}
		m.settle()
	}
	return m
}

func (m *mind) observe(text string) {
	if strings.HasPrefix(text, unchanged) {
		return
	}
	o, ok := readOutcome(text)
	if !ok {
		m.strange = text
		return
	}
	m.latest, m.fresh, m.strange = o, true, ""
}

// settle takes in what the tests say of the files as they are.
func (m *mind) settle() {
	if !m.fresh || len(m.lost) > 0 {
		return
	}
	base := m.base()
	switch {
	case base == nil:
		m.push("")
	case !m.dirty():
		if !maps.Equal(base.outcome.open, m.latest.open) {
			base.details = nil // the tests waver, or somebody else is at work
		}
		base.outcome = m.latest
	case m.latest.better(base.outcome):
		m.push(m.difference(base.files))
	}
}

func (m *mind) push(what string) {
	l := &level{files: maps.Clone(m.now), outcome: m.latest, tried: map[string]bool{}}
	if what != "" {
		l.path = append(slices.Clip(m.base().path), what)
	}
	if i := slices.IndexFunc(m.known, func(k *level) bool { return same(m.now, k.files) }); i >= 0 {
		l = m.known[i] // the way there does not matter
	} else {
		m.known = append(m.known, l)
	}
	m.levels = append(m.levels, l)
	if m.best == nil || l.outcome.passed > m.best.outcome.passed {
		m.best = l
	}
}

// dirty tells whether an edit is made that is not part of the state searched.
func (m *mind) dirty() bool {
	return m.base() != nil && !same(m.now, m.base().files)
}

// same compares the files that both have.
func same(a, b memory) bool {
	for name, text := range b {
		if now, ok := a[name]; ok && now != text {
			return false
		}
	}
	return true
}

// difference describes the change from other files to those of now.
func (m *mind) difference(files memory) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if old, with, ok := hunk(files[name], m.now[name]); ok {
			list = append(list, name+":"+strconv.Itoa(lineOf(files[name], old))+": "+brief(old)+" → "+brief(with))
		}
	}
	return strings.Join(list, "; ")
}

func brief(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 80 {
		s = string(r[:80]) + "…"
	}
	return "`" + s + "`"
}

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
		var d details
		if !r.Failed && json.Unmarshal(r.Content, &d) == nil && m.base() != nil && !m.dirty() {
			m.base().details = &d
		}
	case editFile:
		m.edited(a, r)
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
	for _, l := range m.known { // what was not read before was not changed before
		if _, ok := l.files[name]; !ok {
			l.files[name] = text
		}
	}
	m.settleDown()
}

func (m *mind) edited(a editArgs, r pawl.ToolResult) {
	base := m.base()
	if base == nil {
		return
	}
	before, known := m.now[a.Path]
	after, ok := replace(before, a.Old, a.New)
	switch {
	case r.Failed && strings.HasPrefix(r.Text(), unknownOutcome):
		m.doubted[key(a)] = true
		m.lose(a.Path)
	case r.Failed: // whatever the reason, the file is looked at before it counts
		m.lose(a.Path)
		if m.fails[a.Path]++; m.fails[a.Path] >= mostFails {
			m.barred[a.Path] = true
		}
		if known && ok {
			base.tried[state(a.Path, after)] = true
		}
	case !ok: // made on a text that is not known
		m.fails[a.Path] = 0
		m.lose(a.Path)
	default:
		m.fails[a.Path] = 0
		m.fresh = false
		m.now[a.Path] = after
		if m.settleDown(); m.dirty() {
			base.tried[state(a.Path, after)] = true
			m.tries++
		}
	}
}

// unknownOutcome begins what the machine tells of a call that was cut short.
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

// key names an edit by its arguments, and state a file by what it holds.
func key(a editArgs) string { return a.Path + "\x00" + a.Old + "\x00" + a.New }

func state(name, text string) string {
	sum := sha256.Sum256([]byte(text))
	return name + "\x00" + string(sum[:])
}

// edit makes the call for a change to a file. An edit equal to one that nobody
// knows to have taken place would have to be approved by a person, so it takes
// in more of what is around it.
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
