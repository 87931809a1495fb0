package cli

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pawl-run/pawl/cmd/internal/screen"
	"github.com/pawl-run/pawl/internal/testkit/check"
)

var rewrite = flag.Bool("rewrite", false, "write the reference of commands again")

// TestReference holds that the reference has every command and flag, as their help describes them.
func TestReference(t *testing.T) {
	a := &app{console: console{in: strings.NewReader(""), out: new(bytes.Buffer), err: screen.NewWriter(new(bytes.Buffer))}}
	current(t, "../../../docs/reference/commands.md", commandPages(a.root()))
}

// current holds that a page has a text, or writes it with -rewrite.
func current(t *testing.T, page, text string) {
	t.Helper()
	if *rewrite {
		must(t, os.WriteFile(page, []byte(text), 0o644))
		return
	}
	data, err := os.ReadFile(page)
	must(t, err)
	if string(data) != text {
		t.Errorf("%s is not up to date (run the test with -rewrite):\n%s", page, cmp.Diff(string(data), text))
	}
}

// commandPages describes each command as its help does. Flags that several commands share are
// described once.
func commandPages(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# Commands\n\nThis page has the help of each command. [The command line](../command.md) explains what they have in common. This page is made from the code.\n")
	shared := sharedFlags(root)
	for _, c := range root.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		text := c.Long
		if text == "" {
			text = c.Short + "."
		}
		fmt.Fprintf(&b, "\n## pawl %s\n\n%s\n\n```text\n%s\n", c.Name(), strings.TrimSpace(text), c.UseLine())
		if c.Example != "" {
			fmt.Fprintf(&b, "\n%s\n", strings.Trim(c.Example, "\n"))
		}
		own := pflag.NewFlagSet("", pflag.ContinueOnError)
		var also []string
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if one := shared.Lookup(f.Name); one != nil && one.Usage == f.Usage && one.DefValue == f.DefValue {
				also = append(also, "`--"+f.Name+"`")
			} else {
				own.AddFlag(f)
			}
		})
		if usages := own.FlagUsages(); usages != "" {
			b.WriteString("\n" + usages)
		}
		b.WriteString("```\n")
		if len(also) > 0 {
			fmt.Fprintf(&b, "\n[Shared flags](#shared-flags): %s.\n", strings.Join(also, ", "))
		}
	}
	fmt.Fprintf(&b, "\n## Shared flags\n\nFlags of several commands:\n\n```text\n%s```\n\nFlags of all commands:\n\n```text\n%s```\n", shared.FlagUsages(), root.PersistentFlags().FlagUsages())
	return b.String()
}

// sharedFlags returns the flags that say the same in at least two commands.
func sharedFlags(root *cobra.Command) *pflag.FlagSet {
	type said struct{ name, usage, otherwise string }
	count := map[said]int{}
	shared := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, c := range root.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			one := said{f.Name, f.Usage, f.DefValue}
			if count[one]++; count[one] == 2 && shared.Lookup(f.Name) == nil {
				shared.AddFlag(f)
			}
		})
	}
	return shared
}

// TestCommandsOfPages parses each pawl command that a page shows.
func TestCommandsOfPages(t *testing.T) {
	files, err := filepath.Glob("../../../docs/*.md")
	for _, more := range []string{"../../../docs/howto/*.md", "../../../README.md"} {
		found, err := filepath.Glob(more)
		must(t, err)
		files = append(files, found...)
	}
	if err != nil || len(files) < 10 {
		t.Fatalf("%d pages: %v", len(files), err)
	}
	block := regexp.MustCompile("(?ms)^```sh\\n(.*?)^```$")
	command := regexp.MustCompile(`(?m)^(?:\w+=\S* )*pawl ((?:'[^']*'|"[^"]*"|\$\([^)]*\)|\\\n|[^#;&|<>\n])*)`)
	word := regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`)
	parsed := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		must(t, err)
		for _, b := range block.FindAllStringSubmatch(string(data), -1) {
			for _, m := range command.FindAllStringSubmatch(b[1], -1) {
				args := word.FindAllString(strings.ReplaceAll(m[1], "\\\n", " "), -1)
				a := &app{console: console{in: strings.NewReader(""), out: new(bytes.Buffer), err: screen.NewWriter(new(bytes.Buffer))}}
				for i := range args {
					args[i] = strings.Trim(args[i], `"'`)
				}
				root := a.root()
				c, rest, err := root.Find(joinKeep(asQuestion(root, args)))
				if err == nil {
					err = c.ParseFlags(rest)
				}
				if err == nil {
					err = c.ValidateArgs(c.Flags().Args())
				}
				if err != nil {
					t.Errorf("%s: pawl %s: %v", file, m[1], err)
				}
				parsed++
			}
		}
	}
	if parsed < 30 {
		t.Errorf("only %d commands were parsed", parsed)
	}
}

var must = check.Must
