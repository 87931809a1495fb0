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

// modelLine is a row of the model sheet with its prices of today, and what is known of it here.
type modelLine struct {
	ID       string  `json:"model"`
	Ready    bool    `json:"ready"` // it has what it needs to be called
	Default  bool    `json:"default"`
	Endpoint string  `json:"endpoint"`
	Price    *string `json:"price"` // where the prices come from: table or list; null: none is known
	AsOf     string  `json:"prices_as_of"`
	sheet.Model
}

func modelLineOf(m pawl.Model, r sheet.Model) modelLine {
	info := describes(m)
	line := modelLine{ID: r.Provider + "/" + r.Name, Endpoint: info.Endpoint, Ready: true, AsOf: day(sheet.AsOf()), Model: r}
	line.Rates = r.On(time.Now())
	if keyed, ok := m.(spec.Readiness); ok {
		line.Ready = keyed.Ready() == nil
	}
	if info.Price != nil {
		line.Price = &info.PriceFrom
	}
	return line
}

// String returns the model as a row of cells.
func (l modelLine) String() string {
	temperature := "yes"
	switch {
	case l.Sampling == sheet.Always:
	case l.Sampling == sheet.NeverSample || !slices.Contains(l.Efforts, "none"): // it always thinks
		temperature = "no"
	default:
		temperature = "off"
	}
	return strings.Join([]string{l.ID, perMillion(l.Input), perMillion(l.Output), perMillion(l.CacheRead), thousands(l.Window), thousands(l.Reply), l.efforts(), temperature}, "\t")
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

func perMillion(v float64) string {
	if v == 0 {
		return "-"
	}
	return pawl.Decimal(v).String()
}

// day is the day of a time.
func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
