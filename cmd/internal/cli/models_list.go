package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/sheet"
	"github.com/pawl-run/pawl/spec"
)

func modelsCommand(a *app) *cobra.Command {
	all := false
	c := a.command("models [flags]", "List the models that can be called: prices, limits, what they accept, retirement", cobra.NoArgs,
		func(context.Context, []string) (int, error) { return 0, a.listModels(all) })
	c.Long = `List the providers, each with its endpoint and whether its key is set, and then the
models of the model sheet whose provider has a key: dollars per million tokens, the most
tokens of a request and of a reply, the efforts with the default in parentheses, and
whether a temperature is taken. Announced prices and retirements follow. Other models of
a provider work as well, but have no price unless a spec sets one under prices.

PAWL_MODELS=FILE replaces the model sheet of this program by a newer one.`
	c.Example = `  pawl models
  pawl models --all --json`
	c.Flags().BoolVar(&all, "all", false, "also list models whose provider has no key, and retired ones")
	return looking(c)
}

func (a *app) listModels(all bool) error {
	registry := a.registry()
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PROVIDER\tKEY\tENDPOINT")
	lines := a.listed(w, registry, all)
	a.otherProviders(w, registry)
	switch {
	case a.json:
		for _, line := range lines {
			if err := printJSON(a.out, line); err != nil {
				return err
			}
		}
		return nil
	case len(lines) == 0:
		fmt.Fprintln(w, "\nNo key is set; --all lists the models of the model sheet.")
		return w.Flush()
	}
	fmt.Fprintln(w, "\nMODEL\tIN\tOUT\tCACHED\tWINDOW\tREPLY\tEFFORT\tTEMP")
	for _, l := range lines {
		fmt.Fprintln(w, l)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	a.announced(lines)
	for _, l := range lines {
		if l.Default {
			fmt.Fprintf(a.out, "\nThe default is %s.\n", l.ID)
		}
	}
	fmt.Fprintf(a.out, "\nIN, OUT and CACHED are dollars per million tokens, of %s (%s).\nTEMP says whether a temperature is taken; off: only with effort none.\n", day(sheet.AsOf()), sheet.Source())
	if time.Since(sheet.AsOf()) > spec.Outdated {
		a.sayf("pawl: warning: the model sheet is of %s, more than 30 days ago; use a newer pawl, or name a newer sheet in PAWL_MODELS", day(sheet.AsOf()))
	}
	return nil
}

// listed prints the providers of the sheet, and returns their models: those that can be called
// and are not retired, or all.
func (a *app) listed(w io.Writer, registry *spec.Registry, all bool) (lines []modelLine) {
	for _, p := range providers {
		shown := false
		show := func(m pawl.Model, err error) {
			if shown || err != nil { // a program's own provider may not have all
				return
			}
			shown = true
			key := p.key + " is set"
			if a.getenv(p.key) == "" {
				key = p.key + " is not set"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\n", p.name, key, describes(m).Endpoint)
		}
		show(registry.Models[p.name](sheet.Default(p.name)))
		for _, r := range sheet.All() {
			if r.Provider != p.name {
				continue
			}
			m, err := registry.Models[p.name](r.Name)
			if show(m, err); err != nil {
				continue
			}
			line := modelLineOf(m, r)
			line.Default = line.ID == a.namedModel("")
			if left, known := r.Until(time.Now()); all || line.Ready && (!known || left > 0 || line.Default) {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// otherProviders prints the clouds and the providers of the user's file.
func (a *app) otherProviders(w io.Writer, registry *spec.Registry) {
	for _, name := range clouds {
		key, at := readiness(registry.Models[name]("-"))
		fmt.Fprintf(w, "%s\t%s\t%s\n", name, key, at)
	}
	for _, name := range slices.Sorted(maps.Keys(a.endpoints())) {
		e := a.endpoints()[name]
		m, err := a.wired(e, "-")
		if err != nil { // what the file says of the prices of one listed above
			continue
		}
		key, at := "needs no key", describes(m).Endpoint
		switch {
		case e.Key != "" && a.getenv(e.Key) == "":
			key = e.Key + " is not set"
		case slices.Contains(clouds, e.Wire):
			key, at = readiness(m, nil)
		case e.Key != "":
			key = e.Key + " is set"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", name, key, at)
	}
}

// announced prints the prices and retirements that are to come.
func (a *app) announced(lines []modelLine) {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	said := false
	say := func(model, format string, args ...any) {
		if !said {
			fmt.Fprintln(w, "\nAnnounced:")
			said = true
		}
		fmt.Fprintf(w, "%s\t%s\n", model, fmt.Sprintf(format, args...))
	}
	for _, l := range lines {
		for _, c := range l.Next {
			if c.From > day(time.Now()) {
				say(l.ID, "%v in, %v out from %s", pawl.Decimal(c.Input), pawl.Decimal(c.Output), c.From)
			}
		}
		if l.Retires != "" && l.Successor != "" {
			say(l.ID, "retires on %s; its successor is %s", l.Retires, l.Successor)
		} else if l.Retires != "" {
			say(l.ID, "retires on %s", l.Retires)
		}
	}
	_ = w.Flush() // to the same writer as all of the output
}

// readiness says whether a model of a cloud can be called, and where, or why not.
func readiness(m pawl.Model, err error) (key, at string) {
	if keyed, ok := m.(spec.Readiness); ok && err == nil {
		err = keyed.Ready()
	}
	if err != nil {
		return "not ready", err.Error()
	}
	return "ready", describes(m).Endpoint
}

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
