package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/sheet"
	"github.com/pawl-run/pawl/spec"
)

// modelLine is a model of the model sheet. Prices are dollars per million tokens, of today; null:
// none is known where the model is called.
type modelLine struct {
	Model    string `json:"model"`
	Ready    bool   `json:"ready"` // it has what it needs to be called
	Default  bool   `json:"default"`
	Endpoint string `json:"endpoint"`

	Price       *string        `json:"price"` // where the prices come from: table or list
	Input       *pawl.Decimal  `json:"input"`
	Output      *pawl.Decimal  `json:"output"`
	CacheRead   *pawl.Decimal  `json:"cache_read"`
	CacheWrite  *pawl.Decimal  `json:"cache_write"`
	CacheLong   *pawl.Decimal  `json:"cache_long"`
	Long        *sheet.Long    `json:"long"` // of requests with a long input
	WebSearch   *pawl.Decimal  `json:"web_search"`
	CodeSession *pawl.Decimal  `json:"code_session"`
	Next        []sheet.Change `json:"next"`
	AsOf        string         `json:"prices_as_of"`

	Window      int               `json:"window"`
	Reply       int               `json:"reply"`
	Thinking    string            `json:"thinking"` // how it is asked to think; empty: it does not
	Effort      string            `json:"effort"`   // the default; empty: it does not think unless it is asked to
	Efforts     []string          `json:"efforts"`
	Temperature string            `json:"temperature"` // always, unthinking or never
	ForcedCalls bool              `json:"forced_calls"`
	Schema      bool              `json:"schema"`
	Files       bool              `json:"files"`
	CacheFrom   int               `json:"cache_from"`
	CacheFor    string            `json:"cache_for"`
	Hosted      map[string]string `json:"hosted"`

	Retires   string `json:"retires"`
	Successor string `json:"successor"`
	Tried     string `json:"tried"`
	Source    string `json:"source"`
}

func modelLineOf(m pawl.Model, r sheet.Model) modelLine {
	info := describes(m)
	line := modelLine{
		Model: r.Provider + "/" + r.Name, Endpoint: info.Endpoint, Ready: true, Next: append([]sheet.Change{}, r.Next...), AsOf: day(sheet.AsOf()),
		Window: r.Window, Reply: r.Reply, Thinking: string(r.Thinking), Effort: r.Effort, Efforts: append([]string{}, r.Efforts...),
		Temperature: string(r.Sampling), ForcedCalls: !r.Unforced, Schema: !r.NoSchema, Files: !r.Blind,
		CacheFrom: r.CacheFrom, CacheFor: r.CacheFor, Hosted: r.Hosted,
		Retires: r.Retires, Successor: r.Successor, Tried: r.Tried, Source: r.Source,
	}
	switch {
	case r.Sampling == sheet.Always:
		line.Temperature = "always"
	case !slices.Contains(r.Efforts, "none"): // it always thinks
		line.Temperature = string(sheet.NeverSample)
	}
	if line.Hosted == nil {
		line.Hosted = map[string]string{}
	}
	if keyed, ok := m.(spec.Readiness); ok {
		line.Ready = keyed.Ready() == nil
	}
	p := info.Price
	if p == nil {
		return line
	}
	dollars := func(v float64, some bool) *pawl.Decimal {
		if !some {
			return nil
		}
		return new(pawl.Decimal(v))
	}
	line.Price, line.Input, line.Output = &info.PriceFrom, dollars(p.Input, true), dollars(p.Output, true)
	line.CacheRead, line.CacheWrite, line.CacheLong = dollars(p.CacheRead, p.CacheRead > 0), dollars(p.CacheWrite, p.CacheWrite > 0), dollars(p.CacheLong, p.CacheLong > 0)
	line.WebSearch, line.CodeSession = dollars(p.Search, p.Search > 0), dollars(p.Session, p.Session > 0)
	if l := p.Long; l.From > 0 {
		line.Long = &sheet.Long{From: l.From, Input: l.Input, Output: l.Output, CacheRead: l.CacheRead, CacheWrite: l.CacheWrite, CacheLong: l.CacheLong}
	}
	return line
}

// String returns the model as a row of cells.
func (l modelLine) String() string {
	temperature := map[string]string{"always": "yes", string(sheet.Unthinking): "off", string(sheet.NeverSample): "no"}[l.Temperature]
	return strings.Join([]string{l.Model, perMillion(l.Input), perMillion(l.Output), perMillion(l.CacheRead), thousands(l.Window), thousands(l.Reply), l.efforts(), temperature}, "\t")
}

// efforts are the levels that the model takes, as a range, with the default in parentheses.
func (l modelLine) efforts() string {
	levels := l.Efforts
	var parts []string
	for len(levels) > 0 {
		first, n := slices.Index(sheet.Levels, levels[0]), 1
		for n < len(levels) && first+n < len(sheet.Levels) && levels[n] == sheet.Levels[first+n] {
			n++
		}
		part := levels[0]
		if n > 1 {
			part += "-" + levels[n-1]
		}
		parts, levels = append(parts, part), levels[n:]
	}
	switch text := strings.Join(parts, " "); {
	case text == "":
		return "-"
	case l.Effort != "":
		return text + " (" + l.Effort + ")"
	default:
		return text
	}
}

// thousands is a number of tokens in a few characters.
func thousands(n int) string {
	switch {
	case n == 0:
		return "-"
	case n >= 1_000_000:
		return fmt.Sprintf("%.3gM", float64(n)/1e6)
	default:
		return fmt.Sprintf("%dK", n/1000)
	}
}

func perMillion(v *pawl.Decimal) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%g", float64(*v))
}

// day is the day of a time.
func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
