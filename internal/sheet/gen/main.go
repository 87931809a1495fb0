// Command gen brings the prices in the model sheet up to date with the public price data of
// genai-prices (MIT, see NOTICE): the file prices/data.json of its repository at a release.
// Download that file and run in the root of this module
//
//	go run ./internal/sheet/gen -date 2026-09-23 -version 0.1.8 data.json
//
// with the version and the day of the release. It changes internal/sheet/sheet.json in place.
// The same sheet, file, version and day make the same sheet, byte for byte.
//
// It sets the prices of rows that the data has, at the price that holds on that day, and those
// that the data announces, and leaves everything else of each row as it is. Rows that the data
// does not have stay. Models of Anthropic, OpenAI and Google that the sheet does not have, answer
// a conversation in text and are not deprecated are added, as members of the family that their
// name begins like. How a name is matched is decided in package sheet, more strictly than by the
// source, which would take claude-sonnet-5-5 for claude-sonnet-5.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
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

// want are the models of a provider that hold a conversation; other are those
// among them that are priced by more than text tokens, are retired, or are made for something else.
var want = map[string]*regexp.Regexp{
	"anthropic": regexp.MustCompile(`^claude-(3-[57]|[a-z]+-\d)`),
	"openai":    regexp.MustCompile(`^(gpt-[4-9]|o\d)`),
	"google":    regexp.MustCompile(`^gemini-[2-9]`),
}

var other = regexp.MustCompile(`audio|realtime|image|tts|transcribe|live|search|vision|deep-research|:|\.ft-|computer|gpt-4-32k|gpt-4\.5|o1-preview|o1-mini`)

func main() {
	date := flag.String("date", "", "the day the prices were published, as 2006-01-02")
	version := flag.String("version", "unversioned", "the release of genai-prices")
	file := flag.String("sheet", "internal/sheet/sheet.json", "the model sheet")
	flag.Parse()
	if err := run(*file, flag.Arg(0), *date, *version); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(file, source, date, version string) error {
	if _, err := time.Parse(time.DateOnly, date); err != nil {
		return fmt.Errorf("want -date YYYY-MM-DD: %w", err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	var providers []provider
	if err := json.Unmarshal(data, &providers); err != nil {
		return fmt.Errorf("read the price data: %w", err)
	}
	s, err := read(text)
	if err != nil {
		return fmt.Errorf("read the model sheet: %w", err)
	}
	if date < s.asOf {
		return fmt.Errorf("the data is of %s, and the sheet is newer, of %s", date, s.asOf)
	}
	known := false
	for _, p := range providers {
		for _, m := range p.Models {
			if keep := want[p.ID]; keep == nil || !keep.MatchString(m.ID) || other.MatchString(m.ID) {
				continue
			}
			if known = true; sheet.Retired(p.ID, m.ID) {
				continue
			}
			if err := s.update(p.ID, m, date); err != nil {
				return fmt.Errorf("%s/%s: %w", p.ID, m.ID, err)
			}
		}
	}
	if !known {
		return errors.New("no model of a known provider in the price data")
	}
	if err := os.WriteFile(file, s.text(date, "genai-prices "+version), 0o644); err != nil { //nolint:gosec // a source file
		return err
	}
	return sheet.Use(file) // which checks it
}

// rates reads a price list.
func rates(on map[string]json.RawMessage) (r sheet.Rates, err error) {
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
	if far.From != 0 {
		r.Long = far
	}
	return r, nil
}

// dated is a price list with the day from which it holds; empty: it holds from the beginning.
type dated struct {
	from string
	sheet.Rates
}

// all returns the price lists of a model, in the order of their days.
func (m model) all() ([]dated, error) {
	var plain map[string]json.RawMessage
	var list []conditional
	if json.Unmarshal(m.Prices, &plain) == nil {
		list = []conditional{{Prices: plain}}
	} else if err := json.Unmarshal(m.Prices, &list); err != nil {
		return nil, fmt.Errorf("read prices: %w", err)
	}
	var all []dated
	for _, c := range list {
		d := dated{}
		if c.Constraint != nil {
			if d.from = c.Constraint.StartDate; d.from == "" { // the package names the type of a constraint, the repository does not
				return nil, fmt.Errorf("prices depend on %s, which the sheet cannot say", cmp.Or(c.Constraint.Type, "the time of day"))
			}
		}
		var err error
		if d.Rates, err = rates(c.Prices); err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	slices.SortStableFunc(all, func(a, b dated) int { return strings.Compare(a.from, b.from) })
	return all, nil
}

// aliases are the other names of a model.
func (m model) aliases() (all []string) {
	for _, name := range m.Match.names() {
		if name != m.ID && !slices.Contains(all, name) && !other.MatchString(name) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
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
