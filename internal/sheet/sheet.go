// Package sheet is the model sheet: for each model its price, its limits, what
// a request to it may contain, and when it retires. Adapters and commands ask
// the sheet, so that a new model is a row and not code. The prices come from the
// public genai-prices data (see NOTICE); the command in gen brings them up to
// date and leaves the rest as it is.
package sheet

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

//go:embed sheet.json
var embedded []byte

// A Model is one row. The traits of its family hold where the row does not say otherwise.
type Model struct {
	Provider string   `json:"provider"`          // anthropic, openai or google
	Name     string   `json:"name"`              // the provider's name of the model
	Aliases  []string `json:"aliases,omitempty"` // other names of the same model
	Family   string   `json:"family,omitempty"`  // the family whose traits it has
	Rates             // that hold now; see [Model.On]
	Next     []Change `json:"next,omitempty"` // prices announced for later days, in the order of their days
	Traits
	Retires   string `json:"retires,omitempty"`   // the day on which the provider stops serving it, as 2006-01-02; empty: none is announced
	Successor string `json:"successor,omitempty"` // what the provider names in its place
	Tried     string `json:"tried,omitempty"`     // the day and outcome of the last request of make live
	Source    string `json:"source,omitempty"`    // where what is not generated was read
}

// Rates are prices in dollars per million tokens. A zero CacheRead or
// CacheWrite means that the provider has no separate price for it.
type Rates struct {
	Input      float64 `json:"input,omitempty"` // 0: no price is known
	Output     float64 `json:"output,omitempty"`
	CacheRead  float64 `json:"cache_read,omitempty"`
	CacheWrite float64 `json:"cache_write,omitempty"`
	CacheLong  float64 `json:"cache_long,omitempty"`   // to keep it for the longer of the provider's lifetimes; zero: it is not kept
	Long       Long    `json:"long,omitzero"`          // zero: the price does not depend on length
	Search     float64 `json:"web_search,omitempty"`   // of one, in dollars
	Session    float64 `json:"code_session,omitempty"` // of one, in dollars; zero: no charge that a reply tells of
}

// A Change is a price from a later day on.
type Change struct {
	From string `json:"from"` // 2006-01-02
	Rates
}

// Long has the prices of a request whose input has more than From tokens,
// cached or not. They apply to all of its tokens.
type Long struct {
	From       int     `json:"from"`
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cache_read,omitempty"`
	CacheWrite float64 `json:"cache_write,omitempty"`
	CacheLong  float64 `json:"cache_long,omitempty"`
}

// Traits are what a request to a model may contain.
type Traits struct {
	Window   int      `json:"window,omitempty"`    // the most tokens of a request with its reply
	Reply    int      `json:"reply,omitempty"`     // the most tokens of a reply, thinking included
	Endpoint string   `json:"endpoint,omitempty"`  // of OpenAI: "responses" or "chat", the one that takes all that the model can do
	Sampling Sampling `json:"sampling,omitempty"`  // when it takes temperature and top_p
	Thinking Thinking `json:"thinking,omitempty"`  // how it is asked to think
	Effort   string   `json:"effort,omitempty"`    // what it thinks with where nothing is asked for; empty: it does not think then
	Efforts  []string `json:"efforts,omitempty"`   // the levels it takes, ascending; "none": thinking can be off
	Off      string   `json:"off,omitempty"`       // of Anthropic: the type of thinking that turns it off, "disabled" or "between_tools"; empty: leaving it out does, if anything
	Unforced bool     `json:"unforced,omitempty"`  // it refuses to be forced to call a tool
	NoSchema bool     `json:"no_schema,omitempty"` // it guarantees no schema of the answer

	BedrockSchema bool `json:"bedrock_schema,omitempty"` // it guarantees one on Bedrock, too

	Bound     bool   `json:"bound,omitempty"`      // its thinking is only taken back behind the same system prompt, tools and messages
	Blind     bool   `json:"blind,omitempty"`      // it takes no files
	Sounds    bool   `json:"sounds,omitempty"`     // it takes sounds, and no other files
	CacheFrom int    `json:"cache_from,omitempty"` // the fewest tokens that its provider caches; 0: unknown
	CacheFor  string `json:"cache_for,omitempty"`  // the longer lifetime of its cache, by the provider's name: 1h, 12h, 24h; empty: there is none

	Toolless   bool `json:"toolless,omitempty"`    // of OpenAI: while it thinks, it takes function tools in the Responses API alone
	Signed     bool `json:"signed,omitempty"`      // of Google: it refuses the first call of a step without a signature
	Mixed      bool `json:"mixed,omitempty"`       // of Google: it takes hosted tools and a schema of the answer beside other tools, and pictures as parts of a result
	SearchOnce bool `json:"search_once,omitempty"` // of Google: all searches of a request cost what one costs
	ToolPrompt int  `json:"tool_prompt,omitempty"` // the most tokens that its provider adds to a request that offers tools

	Hosted map[string]string `json:"hosted,omitempty"` // the newest type of each hosted tool that it runs, by the tool's name in a run
}

// Sampling says when a model takes temperature and top_p.
type Sampling string

// The answers. The empty one is that it always does.
const (
	Always      Sampling = ""
	Unthinking  Sampling = "unthinking" // only in a request without thinking, with effort none
	NeverSample Sampling = "never"
)

// Thinking is how a model is asked to think.
type Thinking string

// The ways. A model with the empty one cannot think, or is not known to.
const (
	ByBudget Thinking = "budget"   // by a number of tokens
	Adaptive Thinking = "adaptive" // as much as it finds right, within an effort
	ByLevel  Thinking = "level"    // by a level of Google's
	ByEffort Thinking = "effort"   // by an effort of OpenAI's
)

// Levels are all efforts, ascending.
var Levels = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}

// On returns the prices of the model on a day.
func (m *Model) On(day time.Time) Rates {
	r := m.Rates
	for _, c := range m.Next {
		if c.From <= day.UTC().Format(time.DateOnly) {
			r = c.Rates
		}
	}
	return r
}

// Thinks reports whether the model thinks when it is asked for an effort; empty: for none.
func (t *Traits) Thinks(effort string) bool {
	return t.Thinking != "" && t.Clamp(effort) != "none" && (effort != "" || t.Effort != "")
}

// Clamp returns the level nearest to an effort that the model takes: the next lower one where
// there is one, and else the lowest. It returns the empty effort, which leaves the level to the
// provider, as it is, and for a model whose levels are unknown the effort itself. A model
// that cannot think takes none alone.
func (t *Traits) Clamp(effort string) string {
	if effort == "" || t.Thinking != "" && len(t.Efforts) == 0 {
		return effort
	}
	if t.Thinking == "" {
		return "none"
	}
	near := t.Efforts[0]
	for _, e := range t.Efforts {
		if rank(e) <= rank(effort) && (e != "none" || effort == "none") {
			near = e
		}
	}
	if near == "none" && effort != "none" && len(t.Efforts) > 1 { // asked to think a little: the least it can
		near = t.Efforts[1]
	}
	return near
}

func rank(effort string) int { return slices.Index(Levels, effort) }

// Until returns the time that is left before the model retires, and whether that day is known.
func (m *Model) Until(now time.Time) (time.Duration, bool) {
	day, err := time.Parse(time.DateOnly, m.Retires)
	return day.Sub(now), err == nil
}

// A family has the traits of several models, and of those unknown ones whose names begin as For says.
type family struct {
	Name     string   `json:"name"`
	Provider string   `json:"provider"`
	For      []string `json:"for,omitempty"`
	Source   string   `json:"source,omitempty"`
	Traits
}

// A table is a whole sheet.
type table struct {
	file     string // empty: it is in the program
	asOf     time.Time
	source   string
	families []family
	models   []Model
	retired  map[string][]string // patterns of names without a row, by provider
}

var current atomic.Pointer[table]

func load() *table {
	if t := current.Load(); t != nil {
		return t
	}
	t, err := parse(embedded)
	if err != nil { // the sheet is part of the program and tested with it
		panic("sheet: " + err.Error())
	}
	current.CompareAndSwap(nil, t)
	return current.Load()
}

// Use reads the sheet from a file, in place of the one in the program.
func Use(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		if bare, ok := errors.AsType[*fs.PathError](err); ok { // the path is said below
			err = bare.Err
		}
		return fmt.Errorf("model sheet %s: %w", file, err)
	}
	t, err := parse(bytes.TrimPrefix(data, []byte("\ufeff")))
	if err != nil {
		return fmt.Errorf("model sheet %s: %w", file, err)
	}
	t.file = file
	current.Store(t)
	return nil
}

// A document is the file of a sheet.
type document struct {
	AsOf     string              `json:"as_of"`
	Source   string              `json:"source"`
	Families []family            `json:"families"`
	Models   []json.RawMessage   `json:"models"`
	Retired  map[string][]string `json:"retired"`
}

// parse reads and checks a sheet.
func parse(data []byte) (*table, error) {
	var doc document
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	t := &table{source: doc.Source, families: doc.Families, retired: doc.Retired}
	var err error
	if t.asOf, err = time.Parse(time.DateOnly, doc.AsOf); err != nil {
		return nil, fmt.Errorf("as_of: want a day such as 2026-11-28: %w", err)
	}
	for _, raw := range doc.Models {
		m, err := t.read(raw)
		if err != nil {
			return nil, err
		}
		t.models = append(t.models, m)
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	return t, nil
}

// read reads a row over the traits of its family.
func (t *table) read(raw json.RawMessage) (Model, error) {
	var head struct{ Provider, Name, Family string }
	if err := json.Unmarshal(raw, &head); err != nil {
		return Model{}, fmt.Errorf("row %s: %w", raw, err)
	}
	var m Model
	if head.Family != "" {
		i := slices.IndexFunc(t.families, func(f family) bool { return f.Name == head.Family && f.Provider == head.Provider })
		if i < 0 {
			return m, fmt.Errorf("%s/%s is of family %q, which the sheet does not have", head.Provider, head.Name, head.Family)
		}
		m.Traits = t.families[i].Traits.clone()
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, fmt.Errorf("%s/%s: %w", head.Provider, head.Name, err)
	}
	return m, nil
}

// clone prevents changes to the sheet through a returned row.
func (t Traits) clone() Traits {
	t.Efforts = slices.Clone(t.Efforts)
	hosted := t.Hosted
	t.Hosted = nil
	for name, kind := range hosted {
		if t.Hosted == nil {
			t.Hosted = map[string]string{}
		}
		t.Hosted[name] = kind
	}
	return t
}

func (m Model) clone() Model {
	m.Aliases, m.Next, m.Traits = slices.Clone(m.Aliases), slices.Clone(m.Next), m.Traits.clone()
	return m
}

// All returns the rows of the sheet, for people to choose from.
func All() []Model {
	var all []Model
	for _, m := range load().models {
		all = append(all, m.clone())
	}
	return all
}

// Source returns the source of the prices, with its version.
func Source() string { return load().source }

// File returns the file of the sheet; empty: it is the one in the program.
func File() string { return load().file }

// AsOf returns the day of the sheet, in UTC.
func AsOf() time.Time { return load().asOf }

// dated matches the suffixes of versions of the same model at the same price: a
// date, a three-digit release or the word latest.
var dated = regexp.MustCompile(`[-@](\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|latest)$`)

// Lookup finds a provider's model by its name, an alias, or either of them with
// a date or "-latest" appended. A row with the exact name wins, because some
// dated versions have a different price. Prefixes of names do not match: the
// next version of a model is another model.
func Lookup(provider, name string) (Model, bool) {
	for _, n := range []string{name, dated.ReplaceAllString(name, "")} {
		for _, m := range load().models {
			if m.Provider == provider && m.called(n) {
				return m.clone(), true
			}
		}
	}
	return Model{}, false
}

// TraitsOf returns what a model takes: by its row, or, for a model that the sheet does not
// have, by the family whose beginning of names is the longest that fits. known is false for a
// name that is of no family, as of another maker's model behind a compatible server.
func TraitsOf(provider, name string) (traits Traits, known bool) {
	if m, ok := Lookup(provider, name); ok {
		return m.Traits, true
	}
	longest := -1
	for _, f := range load().families {
		for _, prefix := range f.For {
			if f.Provider == provider && strings.HasPrefix(name, prefix) && len(prefix) > longest {
				traits, longest = f.Traits.clone(), len(prefix)
			}
		}
	}
	return traits, longest >= 0
}

// Retired reports whether a provider no longer serves the model with a name that has no row.
func Retired(provider, name string) bool {
	return slices.ContainsFunc(load().retired[provider], func(pattern string) bool {
		ok, _ := path.Match(pattern, name) // which was tried when it was read
		return ok
	})
}

// Find lists the models that a name without a provider may mean: none if it is
// unknown, several if more than one provider has it. A retired one without a row has a name only.
func Find(bare string) []Model {
	var found []Model
	for _, p := range []string{"anthropic", "openai", "google"} {
		if m, ok := Lookup(p, bare); ok {
			found = append(found, m)
		} else if Retired(p, bare) {
			found = append(found, Model{Provider: p, Name: bare})
		}
	}
	return found
}

// Near lists the models whose names are similar to an unknown one, for
// suggestions: those that contain it, or else those that share its first word.
func Near(bare string) []Model {
	bare = strings.ToLower(bare)
	word, _, _ := strings.Cut(bare, "-")
	for _, part := range []string{bare, word} {
		var found []Model
		for _, m := range load().models {
			if part != "" && strings.Contains(m.Name, part) {
				found = append(found, m.clone())
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// defaults are mid-range models: able to run a loop of tools, and not their
// provider's most expensive.
var defaults = map[string]string{
	"anthropic": "claude-sonnet-5-5",
	"openai":    "gpt-6.2-sol",
	"google":    "gemini-4-hydrogen",
}

// Default returns the model to use if only a provider's key is set; it has a
// row. Empty: the provider is unknown.
func Default(provider string) string { return defaults[provider] }

func (m *Model) called(name string) bool { return m.Name == name || slices.Contains(m.Aliases, name) }
