// Command gen makes prices.json, the price table of package prices, from the
// public price data of genai-prices (MIT, see NOTICE): the file
// prices/data.json of its repository at a release. To bring the table up to
// date, download that file and run in the root of this module
//
//	go run ./internal/sheet/gen -date 2026-09-23 -version 0.1.8 data.json >internal/sheet/prices.json
//
// with the version and the day of the release. The same file, version and day
// make the same table, byte for byte.
//
// It keeps the models of Anthropic, OpenAI and Google that answer a
// conversation in text and are not deprecated, at the price that held on that
// day. Names that a model is matched by are kept as they are; how a name is
// matched is decided in package prices, more strictly than by its source, which
// would take claude-sonnet-5-5 for claude-sonnet-5.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl/internal/sheet"
)

type provider struct {
	ID     string  `json:"id"`
	Models []model `json:"models"`
}

type model struct {
	ID         string          `json:"id"`
	Deprecated bool            `json:"deprecated"`
	Match      match           `json:"match"`
	Prices     json.RawMessage `json:"prices"`
}

type match struct {
	Equals     string  `json:"equals"`
	StartsWith string  `json:"starts_with"`
	Or         []match `json:"or"`
	And        []match `json:"and"`
}

type conditional struct {
	Constraint *struct {
		Type      string `json:"type"`
		StartDate string `json:"start_date"`
	} `json:"constraint"`
	Prices map[string]json.RawMessage `json:"prices"`
}

// lasting are the models of OpenAI that keep a request for a day, for nothing more
// (its guide to prompt caching, prompt_cache_retention).
var lasting = regexp.MustCompile(`^gpt-(4\.1|5|5\.[12])$`)

// long is what writing to the cache costs that lasts longest, which the source does
// not have: at Anthropic twice the price of input, for an hour (its guide to prompt
// caching); elsewhere as any input, or nothing because there is none.
func long(provider, name string, input, write float64) float64 {
	switch {
	case provider == "anthropic" && write > 0:
		return 2 * input
	case provider == "openai" && lasting.MatchString(name):
		return input
	}
	return 0
}

// hosted is what a web search of the provider costs and a session in which it runs code, in
// dollars each, which the source does not have (the providers' price lists): Anthropic charges
// for containers by the hour beyond a free allowance, which no reply tells, and Google for
// tokens only. Before Gemini 3, Google charges for a prompt in place of a search.
func hosted(provider, name string) (search, session float64) {
	switch {
	case provider == "anthropic":
		return 0.01, 0
	case provider == "openai":
		return 0.01, 0.03
	case strings.HasPrefix(name, "gemini-2"):
		return 0.035, 0
	}
	return 0.014, 0
}

// want are the models of a provider that hold a conversation; other are those
// among them that are priced by more than text tokens, are retired, or are made
// for something else.
var want = map[string]*regexp.Regexp{
	"anthropic": regexp.MustCompile(`^claude-(3-[57]|[a-z]+-\d)`),
	"openai":    regexp.MustCompile(`^(gpt-[4-9]|o\d)`),
	"google":    regexp.MustCompile(`^gemini-[2-9]`),
}

var other = regexp.MustCompile(`audio|realtime|image|tts|transcribe|live|search|vision|deep-research|:|\.ft-|computer|gpt-4-32k|gpt-4\.5|o1-preview|o1-mini`)

func main() {
	date := flag.String("date", "", "the day the prices were published, as 2006-01-02")
	version := flag.String("version", "unversioned", "the release of genai-prices")
	flag.Parse()
	data, err := os.ReadFile(flag.Arg(0))
	if err == nil {
		err = run(data, os.Stdout, *date, *version)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(data []byte, out io.Writer, date, version string) error {
	if _, err := time.Parse(time.DateOnly, date); err != nil {
		return fmt.Errorf("want -date YYYY-MM-DD: %w", err)
	}
	var providers []provider
	if err := json.Unmarshal(data, &providers); err != nil {
		return fmt.Errorf("read the price data: %w", err)
	}
	var rows []sheet.Model
	for _, p := range providers {
		keep := want[p.ID]
		if keep == nil {
			continue
		}
		for _, m := range p.Models {
			if !keep.MatchString(m.ID) || other.MatchString(m.ID) || m.Deprecated {
				continue
			}
			r, err := m.row(p.ID, date)
			if err != nil {
				return fmt.Errorf("%s/%s: %w", p.ID, m.ID, err)
			}
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return errors.New("no model of a known provider in the price data")
	}
	return write(out, date, version, rows)
}

func (m model) row(provider, date string) (sheet.Model, error) {
	r := sheet.Model{Provider: provider, Name: m.ID}
	for _, name := range m.Match.names() {
		if name != r.Name && !slices.Contains(r.Aliases, name) && !other.MatchString(name) {
			r.Aliases = append(r.Aliases, name)
		}
	}
	slices.Sort(r.Aliases)
	on, err := m.on(date)
	if err != nil {
		return r, err
	}
	var far sheet.Long
	for _, f := range []struct {
		key       string
		base, far *float64
		need      bool
	}{
		{"input_mtok", &r.Input, &far.Input, true},
		{"output_mtok", &r.Output, &far.Output, true},
		{"cache_read_mtok", &r.CacheRead, &far.CacheRead, false},
		{"cache_write_mtok", &r.CacheWrite, &far.CacheWrite, false},
	} {
		raw, ok := on[f.key]
		if !ok && f.need {
			return r, fmt.Errorf("no %s", f.key)
		}
		if !ok {
			continue
		}
		if json.Unmarshal(raw, f.base) == nil {
			*f.far = *f.base
			continue
		}
		var tiered struct {
			Base  float64
			Tiers []struct {
				Start float64 // a whole number, though it may be written as 2e5
				Price float64
			}
		}
		if err := json.Unmarshal(raw, &tiered); err != nil || len(tiered.Tiers) != 1 {
			return r, fmt.Errorf("%s is neither a price nor a price with one tier: %s", f.key, raw)
		}
		start := int(tiered.Tiers[0].Start)
		if far.From != 0 && far.From != start {
			return r, fmt.Errorf("%s has its tier at %d, another price at %d", f.key, start, far.From)
		}
		*f.base, *f.far, far.From = tiered.Base, tiered.Tiers[0].Price, start
	}
	r.CacheLong = long(provider, m.ID, r.Input, r.CacheWrite)
	r.Search, r.Session = hosted(provider, m.ID)
	if far.From != 0 {
		far.CacheLong = long(provider, m.ID, far.Input, far.CacheWrite)
		r.Long = far
	}
	return r, nil
}

// on is the price list that holds on a day: the last whose start has come.
func (m model) on(date string) (map[string]json.RawMessage, error) {
	var plain map[string]json.RawMessage
	if json.Unmarshal(m.Prices, &plain) == nil {
		return plain, nil
	}
	var list []conditional
	if err := json.Unmarshal(m.Prices, &list); err != nil {
		return nil, fmt.Errorf("read prices: %w", err)
	}
	var found map[string]json.RawMessage
	for _, c := range list {
		switch {
		case c.Constraint == nil:
			found = c.Prices
		case c.Constraint.StartDate == "": // the package names the type of a constraint, the repository does not
			return nil, fmt.Errorf("prices depend on %s, which this table cannot say", cmp.Or(c.Constraint.Type, "the time of day"))
		case c.Constraint.StartDate <= date:
			found = c.Prices
		}
	}
	if found == nil {
		return nil, fmt.Errorf("no price on %s", date)
	}
	return found, nil
}

// names are the whole names in a match, and the beginnings that may stand as names.
func (m match) names() []string {
	var all []string
	if m.Equals != "" {
		all = append(all, m.Equals)
	}
	if s := strings.TrimRight(m.StartsWith, "-@"); s != "" && !strings.HasSuffix(s, "-2025") {
		all = append(all, s)
	}
	for _, each := range slices.Concat(m.Or, m.And) {
		all = append(all, each.names()...)
	}
	return all
}

// write puts one row on a line, so that a new version shows what changed.
func write(out io.Writer, date, version string, rows []sheet.Model) error {
	lines := make([]string, len(rows))
	for i, r := range rows {
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		lines[i] = string(line)
	}
	_, err := fmt.Fprintf(out, "{\"as_of\": %q, \"source\": %q, \"rows\": [\n%s\n]}\n", date, "genai-prices "+version, strings.Join(lines, ",\n"))
	return err
}
