// Command compare prints where models.dev, a public table of models, says something else than the
// model sheet. Download its api.json and run in the root of this module
//
//	go run ./internal/sheet/compare api.json
//
// It only prints. What holds is for a person to find out at the provider.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl/internal/sheet"
)

func main() {
	flag.Parse()
	data, err := os.ReadFile(flag.Arg(0))
	if err == nil {
		err = compare(os.Stdout, data, time.Now())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1) //nolint:forbidigo // this is main
	}
}

// A model is what models.dev says of one; zero: it says nothing.
type model struct {
	Status string `json:"status"`
	Cost   struct {
		Input      float64 `json:"input"`
		Output     float64 `json:"output"`
		CacheRead  float64 `json:"cache_read"`
		CacheWrite float64 `json:"cache_write"`
	} `json:"cost"`
	Limit struct {
		Context float64 `json:"context"`
		Output  float64 `json:"output"`
	} `json:"limit"`
}

// talks are the models of the three providers that hold conversations, as far as names tell; other
// are those among them that are made for something else.
var (
	talks = map[string]*regexp.Regexp{
		"anthropic": regexp.MustCompile(`^claude-[a-z]+-\d`),
		"openai":    regexp.MustCompile(`^gpt-[5-9]`),
		"google":    regexp.MustCompile(`^gemini-[3-9]`),
	}
	other = regexp.MustCompile(`audio|realtime|image|tts|transcribe|live|embedding|deep-research|computer|latest|:|@`)
)

// compare prints one line for each model that differs on a day, and one for each that the sheet does
// not have.
func compare(out io.Writer, data []byte, day time.Time) error {
	var providers map[string]struct {
		Models map[string]model `json:"models"`
	}
	if err := json.Unmarshal(data, &providers); err != nil {
		return err
	}
	seen := false
	for _, provider := range slices.Sorted(maps.Keys(talks)) {
		models := providers[provider].Models
		for _, name := range slices.Sorted(maps.Keys(models)) {
			if !talks[provider].MatchString(name) || other.MatchString(name) {
				continue
			}
			seen = true
			row, ok := sheet.Lookup(provider, name)
			switch {
			case models[name].Status == "deprecated" || sheet.Retired(provider, name):
			case !ok:
				fmt.Fprintf(out, "%s/%s: models.dev has it, and the sheet does not\n", provider, name)
			default:
				if odd := models[name].differs(&row, day); odd != "" {
					fmt.Fprintf(out, "%s/%s: models.dev has %s\n", provider, name, odd)
				}
			}
		}
	}
	if !seen {
		return errors.New("no model of a known provider in the data")
	}
	return nil
}

// differs lists what the model has in place of what its row has.
func (m model) differs(row *sheet.Model, day time.Time) string {
	var odd []string
	rates := row.On(day)
	for _, f := range []struct {
		what       string
		ours, told float64
	}{
		{"input", rates.Input, m.Cost.Input},
		{"output", rates.Output, m.Cost.Output},
		{"cache_read", rates.CacheRead, m.Cost.CacheRead},
		{"cache_write", rates.CacheWrite, m.Cost.CacheWrite},
		{"window", float64(row.Window), m.Limit.Context},
		{"reply", float64(row.Reply), m.Limit.Output},
	} {
		if f.told != 0 && f.told != f.ours {
			odd = append(odd, fmt.Sprintf("%s %.10g in place of %.10g", f.what, f.told, f.ours))
		}
	}
	return strings.Join(odd, ", ")
}
