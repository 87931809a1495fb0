// Package prices is a dated table of what models cost, and of which names there
// are. The rows come from the public genai-prices data (see NOTICE); the
// command in gen makes the table and says how to bring it up to date.
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

// A Row is one model. Prices are dollars a million tokens; a zero CacheRead or
// CacheWrite means that the provider names no price of its own for it.
type Row struct {
	Provider   string   `json:"provider"` // anthropic, openai or google
	Name       string   `json:"name"`     // the provider's name of the model
	Aliases    []string `json:"aliases"`  // other names of the same model
	Input      float64  `json:"input"`
	Output     float64  `json:"output"`
	CacheRead  float64  `json:"cache_read"`
	CacheWrite float64  `json:"cache_write"`
	Long       Long     `json:"long"` // zero: the price does not depend on length
}

// Long are the prices of a request whose input has more than From tokens,
// cached or not. They hold for all of it, not for what is above From.
type Long struct {
	From       int     `json:"from"`
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cache_read"`
	CacheWrite float64 `json:"cache_write"`
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

// AsOf is the day the table's prices were published, in UTC.
func AsOf() time.Time { return load().asOf }

// Source names what the table was made of, with its version.
func Source() string { return load().Source }

// dated is what providers append to a name for a version of the same model at
// the same price: a date, a three-digit release or the word latest.
var dated = regexp.MustCompile(`[-@](\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|latest)$`)

// Lookup finds a provider's model by its name, an alias, or either of them with
// a date or "-latest" appended. A row of the exact name wins, because some
// dated versions have a price of their own. Beginnings of names do not count:
// the next version of a model is another model.
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

// Find lists the models that a name without a provider may mean: none when it
// is unknown, several when more than one provider has it.
func Find(bare string) []Row {
	var found []Row
	for _, p := range []string{"anthropic", "openai", "google"} {
		if r, ok := Lookup(p, bare); ok {
			found = append(found, r)
		}
	}
	return found
}

// Near lists the models whose names have something of an unknown name in them,
// for an error that suggests: those that contain it, or else those that share
// its first word. It is empty when nothing is near.
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

// defaults are models of the middle: able to run a loop of tools, and not the
// dearest of their provider.
var defaults = map[string]string{
	"anthropic": "claude-sonnet-5",
	"openai":    "gpt-6-sol",
	"google":    "gemini-3.8-flash",
}

// Default is the model to use of a provider when only its key is set; it has a
// row. Empty: the provider is unknown.
func Default(provider string) string { return defaults[provider] }

func (r Row) called(name string) bool { return r.Name == name || slices.Contains(r.Aliases, name) }

// clone keeps the table from being changed through a row handed out.
func (r Row) clone() Row {
	r.Aliases = slices.Clone(r.Aliases)
	return r
}
