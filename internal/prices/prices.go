// Package prices is a dated table of models with their prices. The rows come
// from the public genai-prices data (see NOTICE); the command in gen generates
// the table and documents how to update it.
package prices

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

//go:embed prices.json
var data []byte

// A Row is one model. Prices are dollars per million tokens; a zero CacheRead
// or CacheWrite means that the provider has no separate price for it.
type Row struct {
	Provider   string   `json:"provider"`          // anthropic, openai or google
	Name       string   `json:"name"`              // the provider's name of the model
	Aliases    []string `json:"aliases,omitempty"` // other names of the same model
	Input      float64  `json:"input"`
	Output     float64  `json:"output"`
	CacheRead  float64  `json:"cache_read,omitempty"`
	CacheWrite float64  `json:"cache_write,omitempty"`
	CacheLong  float64  `json:"cache_long,omitempty"`   // to keep it for an hour; zero: it is not kept
	Long       Long     `json:"long,omitzero"`          // zero: the price does not depend on length
	Search     float64  `json:"web_search,omitempty"`   // of one, in dollars
	Session    float64  `json:"code_session,omitempty"` // of one, in dollars; zero: no charge that a reply tells of
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

type table struct {
	Day    string `json:"as_of"`
	Source string `json:"source"`
	Rows   []Row  `json:"rows"`
	asOf   time.Time
}

var load = sync.OnceValue(func() *table {
	t := &table{}
	err := json.Unmarshal(data, t)
	if err == nil {
		t.asOf, err = time.Parse(time.DateOnly, t.Day)
	}
	if err != nil { // the table is part of the program and tested with it
		panic(fmt.Sprintf("prices: the embedded table is broken: %v", err))
	}
	return t
})

// All returns the whole table, for people to choose from.
func All() []Row {
	var rows []Row
	for _, r := range load().Rows {
		rows = append(rows, r.clone())
	}
	return rows
}

// Source returns the source of the table, with its version.
func Source() string { return load().Source }

// AsOf returns the day of the table's prices, in UTC.
func AsOf() time.Time { return load().asOf }

// dated matches the suffixes of versions of the same model at the same price: a
// date, a three-digit release or the word latest.
var dated = regexp.MustCompile(`[-@](\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|latest)$`)

// Lookup finds a provider's model by its name, an alias, or either of them with
// a date or "-latest" appended. A row with the exact name wins, because some
// dated versions have a different price. Prefixes of names do not match: the
// next version of a model is another model.
func Lookup(provider, name string) (Row, bool) {
	for _, n := range []string{name, dated.ReplaceAllString(name, "")} {
		for _, r := range load().Rows {
			if r.Provider == provider && r.called(n) {
				return r.clone(), true
			}
		}
	}
	return Row{}, false
}

// Find lists the models that a name without a provider may mean: none if it is
// unknown, several if more than one provider has it.
func Find(bare string) []Row {
	var found []Row
	for _, p := range []string{"anthropic", "openai", "google"} {
		if r, ok := Lookup(p, bare); ok {
			found = append(found, r)
		}
	}
	return found
}

// Near lists the models whose names are similar to an unknown one, for
// suggestions: those that contain it, or else those that share its first word.
func Near(bare string) []Row {
	bare = strings.ToLower(bare)
	word, _, _ := strings.Cut(bare, "-")
	for _, part := range []string{bare, word} {
		var found []Row
		for _, r := range load().Rows {
			if part != "" && strings.Contains(r.Name, part) {
				found = append(found, r.clone())
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
	"anthropic": "claude-sonnet-5",
	"openai":    "gpt-6-sol",
	"google":    "gemini-3.8-flash",
}

// Default returns the model to use if only a provider's key is set; it has a
// row. Empty: the provider is unknown.
func Default(provider string) string { return defaults[provider] }

func (r Row) called(name string) bool { return r.Name == name || slices.Contains(r.Aliases, name) }

// clone prevents changes to the table through a returned row.
func (r Row) clone() Row {
	r.Aliases = slices.Clone(r.Aliases)
	return r
}
