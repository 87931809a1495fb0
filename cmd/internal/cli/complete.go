package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/mechanic"
	"github.com/pawl-run/pawl/internal/sheet"
	"github.com/pawl-run/pawl/spec"
)

// completer lists what a shell may complete: VALUE, or VALUE, a tab and a description.
type completer func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective)

// completions tells shells what flags and arguments take.
func (a *app) completions(root *cobra.Command) {
	flags := map[string]completer{
		"model":     models,
		"status":    fixed(statuses()...),
		"approvals": fixed("ask\task here", "park\tsuspend the run", "deny\tdeny them"),
		"scope":     fixed("call\tthis call", "run\tevery equal call of the run"),
		"keep":      fixed("best\tthe state in which the fewest tests failed"),
		"format":    fixed(reviewFormats...),
		"limit":     unspaced("iterations=", "tokens=", "time=", "cost="),
		"loop":      fixed("react", "single", "workflow", "graph"),
		"stop":      a.completeStop,
		"spec":      specs, "policy": specs, "tools": specs,
		"schema": extensions("json"), "events": files, "file": files, "attach": files, "token-file": files, "link-key": files, "socket": files,
		"database":  unspaced("sqlite:", "postgres://"),
		"workflows": directories,
	}
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) { register(root, f, flags) })
	for _, c := range root.Commands() {
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { register(c, f, flags) })
		switch c.Name() {
		case "run", "check", "mcp", "serve", "worker":
			c.ValidArgsFunction = specs
		case "review", "repro":
			c.ValidArgsFunction = files
		case "fix", "refactor":
			c.ValidArgsFunction = directories
		case "import":
			c.ValidArgsFunction = cobra.CompletionFunc(extensions("jsonl"))
		default:
			if slices.Contains(strings.Fields(c.Use), "RUN") {
				c.ValidArgsFunction = cobra.NoFileCompletions
			}
		}
	}
}

func register(c *cobra.Command, f *pflag.Flag, flags map[string]completer) {
	complete := flags[f.Name]
	if f.Value.Type() == "bool" {
		return
	}
	if complete == nil { // a number, a time or free text: no file name
		complete = fixed()
	}
	if err := c.RegisterFlagCompletionFunc(f.Name, cobra.CompletionFunc(complete)); err != nil {
		panic(err) // the flag was registered twice
	}
}

func fixed(values ...string) completer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values, cobra.ShellCompDirectiveNoFileComp
	}
}

func unspaced(values ...string) completer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

func extensions(names ...string) completer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return names, cobra.ShellCompDirectiveFilterFileExt
	}
}

func specs(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt
}

func files(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

func directories(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// models completes the models of the model sheet, with their prices.
func models(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	names := []string{"script:\tread replies from a file", "script:" + demo + "\tscripted answers", mechanic.Name + "\trepairs Go code without a model"}
	for _, r := range sheet.All() {
		names = append(names, fmt.Sprintf("%s/%s\t%s", r.Provider, r.Name, priceText(r)))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// priceText is a model's price in a few words.
func priceText(r sheet.Model) string {
	now := r.On(time.Now())
	return fmt.Sprintf("$%g in, $%g out per million tokens", now.Input, now.Output)
}

func statuses() (all []string) {
	for s := pawl.StatusSuccess; ; s++ {
		if _, err := s.MarshalText(); err != nil {
			return all
		}
		all = append(all, s.String())
	}
}

// completeStop completes conditions, with the tools of the spec on the line.
func (a *app) completeStop(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	conditions := []string{"done\tthe model answered", "iterations >= ", "tokens >= ", "cost >= ", "elapsed >= ", "confidence >= ", "tool_errors >= "}
	if len(args) > 0 && isFile(args[0]) {
		registry := a.registry()
		if s, err := spec.Load(args[0], &spec.Options{Registry: registry}); err == nil {
			if agent, err := s.Agent(registry); err == nil {
				for _, t := range agent.Tools {
					info := t.Info()
					conditions = append(conditions, fmt.Sprintf("tool_called(%q)\t%s", info.Name, oneLine(strings.TrimSpace(info.Description))))
				}
			}
		}
	}
	return conditions, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
