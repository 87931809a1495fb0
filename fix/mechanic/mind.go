package mechanic

import (
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing/fstest"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/internal/goedit"
	"github.com/pawl-run/pawl/fix/internal/testrun"
)

// memory holds the files read so far, by path.
type memory map[string]string

func (m memory) fs() fs.FS {
	all := fstest.MapFS{}
	for name, text := range m {
		all[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o444}
	}
	return all
}

// mind is the content of the conversation: the code read and changed, the test results, and
// the edits tried.
type mind struct {
	paths  []string // of the module's files
	listed bool
	now    memory           // files as they are, as far as they were read
	parts  map[string]*part // files of which only a part was read
	barred map[string]bool  // files that cannot be read or edited
	lost   map[string]bool  // files of which an edit's outcome is unknown
	fails  map[string]int   // edits of a file that failed in a row

	doubted map[string]bool // edits with an unknown outcome

	levels  []*level // states of the code, each better than the one before
	known   []*level // all that ever were
	best    *level
	latest  outcome
	fresh   bool   // latest is about the files as they are
	strange string // the latest observation, when it is none of go test
	told    string // by a person, since the latest calls

	tries   int    // edits tried
	runs    int    // runs of tests that this took
	failed  int    // uses of try_edits that failed in a row
	idle    int    // uses of it in a row that tried nothing
	failure string // the message of the last of these
}

// part is the beginning of a file that is too long for one reading.
type part struct {
	text string
	next int
}

// level is a state of the code that is searched for an edit that helps.
type level struct {
	files    memory
	outcome  outcome
	details  *testrun.Details
	asked    bool // for coverage, whatever the answer
	lines    map[goedit.Location]goedit.Spectrum
	profiled int             // failing tests that lines are known of
	several  bool            // no line is executed by all failing tests, so that no single fault explains them
	tried    map[string]bool // edits, by key
	partial  []partial       // edits that fix something and break nothing
	first    int             // how many were tried when the first of these was found
	been     map[string]bool // states that edits from here led to, by digest
	path     []string        // the edits that led here
}

// partial is an edit that fixes some tests, or all.
type partial struct {
	edit  tryEdit
	all   bool
	fixed []string
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
	acted := false // the latest message of the mechanic has calls, and so no answer that the run goes on about
	for _, message := range messages {
		if message.Role == pawl.RoleAssistant {
			m.told, acted = "", false
		}
		for _, p := range message.Parts {
			switch p := p.(type) {
			case pawl.Call:
				calls[p.ID], acted = p, true
			case pawl.ToolResult:
				m.result(calls[p.Call], p)
			case pawl.Text:
				switch text, ok := strings.CutPrefix(p.Text, observation); {
				case message.Role != pawl.RoleUser:
				case ok:
					m.observe(text)
				case acted:
					m.told = p.Text
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

// settle records the test results for the current files.
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
			base.details, base.asked = nil, false // the tests waver, or somebody else is at work
		}
		base.outcome = m.latest
	default:
		base.been[digest(base.files, m.now)] = true
		// A state that was searched before is come back to on purpose.
		if m.latest.better(base.outcome) || slices.ContainsFunc(m.known, func(k *level) bool { return same(m.now, k.files) }) {
			m.push(m.difference(base.files))
		}
	}
}

func (m *mind) push(what string) {
	l := &level{files: maps.Clone(m.now), outcome: m.latest, tried: map[string]bool{}, been: map[string]bool{}}
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

// dirty reports whether an edit was made that is not part of the searched state.
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
