package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/sheet"
	"github.com/pawl-run/pawl/spec"
)

func modelsCommand(a *app) *cobra.Command {
	all := false
	c := a.command("models [flags]", "List the models that can be called, with their prices", cobra.NoArgs,
		func(context.Context, []string) (int, error) { return 0, a.listModels(all) })
	c.Long = `List the providers, each with its endpoint and whether its key is set, and then the
models of the price table whose provider has a key. Other models of a provider work as
well, but have no price unless a spec sets one under prices.`
	c.Example = `  pawl models
  pawl models --all --json`
	c.Flags().BoolVar(&all, "all", false, "also list models whose provider has no key")
	return looking(c)
}

// modelLine is a model of the price table. Prices are dollars per million tokens; null:
// none is known where the model is called.
type modelLine struct {
	Model     string        `json:"model"`
	Ready     bool          `json:"ready"` // it has what it needs to be called
	Default   bool          `json:"default"`
	Endpoint  string        `json:"endpoint"`
	Input     *pawl.Decimal `json:"input"`
	Output    *pawl.Decimal `json:"output"`
	CacheRead *pawl.Decimal `json:"cache_read"`
	AsOf      string        `json:"prices_as_of"`
}

func (a *app) listModels(all bool) error {
	registry := a.registry()
	var lines []modelLine
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PROVIDER\tKEY\tENDPOINT")
	provider := func(name, variable, module string, m pawl.Model) {
		key, at := "needs no key", describes(m).Endpoint
		switch {
		case variable != "" && a.getenv(variable) == "":
			key = variable + " is not set"
		case module != "":
			key, at = readiness(m, module)
		case variable != "":
			key = variable + " is set"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", name, key, at)
	}
	for _, p := range providers {
		shown := false
		for _, r := range sheet.All() {
			if r.Provider != p.name {
				continue
			}
			m, err := registry.Models[p.name](r.Name)
			if err != nil { // a program's own provider may not have all
				continue
			}
			if !shown {
				provider(p.name, p.key, "", m)
				shown = true
			}
			line := modelLineOf(m, r)
			if line.Default = line.Model == a.namedModel(""); line.Ready || all {
				lines = append(lines, line)
			}
		}
	}
	for _, name := range slices.Compact(slices.Sorted(maps.Values(adapters))) {
		if m, err := registry.Models[name]("-"); err == nil {
			provider(name, "", name, m)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.endpoints())) {
		e := a.endpoints()[name]
		if m, err := a.wired(e, "-"); err == nil {
			provider(name, e.Key, adapters[e.Wire], m)
		}
	}
	if a.json {
		for _, line := range lines {
			if err := printJSON(a.out, line); err != nil {
				return err
			}
		}
		return nil
	}
	if len(lines) == 0 {
		fmt.Fprintln(w, "\nNo key is set; --all lists the models of the price table.")
		return w.Flush()
	}
	fmt.Fprintf(w, "\nMODEL\tINPUT\tOUTPUT\tCACHED\t\n")
	for _, l := range lines {
		note := ""
		if l.Default {
			note = "default"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", l.Model, perMillion(l.Input), perMillion(l.Output), perMillion(l.CacheRead), note)
	}
	fmt.Fprintf(w, "\nDollars per million tokens, of %s (%s).\n", sheet.AsOf().Format("2006-01-02"), sheet.Source())
	return w.Flush()
}

// readiness says whether the models of an adapter's program can be called, and where, or why not.
func readiness(m pawl.Model, module string) (key, at string) {
	if keyed, ok := m.(spec.Readiness); ok {
		switch err := keyed.Ready(); {
		case errors.Is(err, exec.ErrNotFound):
			return "not installed", "the program pawl-" + module + " serves its models"
		case err != nil:
			return "not ready", err.Error()
		}
	}
	return "ready", describes(m).Endpoint
}

func modelLineOf(m pawl.Model, r sheet.Model) modelLine {
	line := modelLine{Model: r.Provider + "/" + r.Name, AsOf: sheet.AsOf().Format("2006-01-02")}
	info := describes(m)
	line.Endpoint, line.Ready = info.Endpoint, true
	if keyed, ok := m.(spec.Readiness); ok {
		line.Ready = keyed.Ready() == nil
	}
	if p := info.Price; p != nil {
		dollars := func(v float64) *pawl.Decimal { return new(pawl.Decimal(v)) }
		line.Input, line.Output = dollars(p.Input), dollars(p.Output)
		if p.CacheRead > 0 {
			line.CacheRead = dollars(p.CacheRead)
		}
	}
	return line
}

func perMillion(v *pawl.Decimal) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%g", float64(*v))
}
