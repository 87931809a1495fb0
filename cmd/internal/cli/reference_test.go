package cli

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var rewrite = flag.Bool("rewrite", false, "write the reference of commands again")

const reference = "../../../docs/command.md"

// The reference has every command and every flag that there is, as they say of
// themselves.
func TestReference(t *testing.T) {
	a := &app{console: console{in: strings.NewReader(""), out: new(bytes.Buffer), err: &lockedWriter{w: new(bytes.Buffer)}}}
	root := a.root()
	data, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	text := put(t, string(data), "commands", commandTable(root))
	text = put(t, text, "flags", flagTable(root))
	current(t, reference, text)
	current(t, "../../../docs/reference/commands.md", commandPages(root))
}

// current holds that a page has a text, or writes it with -rewrite.
func current(t *testing.T, page, text string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(data) != text {
		t.Errorf("%s is not up to date (run the test with -rewrite):\n%s", page, cmp.Diff(string(data), text))
	}
}

// commandPages describes each command as its help does.
func commandPages(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# Commands\n\nEach command as `pawl COMMAND --help` describes it, in alphabetical order. [The command line](../command.md) explains what they have in common: exit codes,\n" +
		"conditions, conversations, policies. This page is made from the code.\n")
	flags := func(title string, set *pflag.FlagSet) {
		if usages := set.FlagUsages(); usages != "" {
			fmt.Fprintf(&b, "\n%s:\n\n```text\n%s```\n", title, usages)
		}
	}
	for _, c := range root.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		text := c.Long
		if text == "" {
			text = c.Short + "."
		}
		fmt.Fprintf(&b, "\n## pawl %s\n\n%s\n\n```text\n%s\n```\n", c.Name(), strings.TrimSpace(text), c.UseLine())
		if c.Example != "" {
			fmt.Fprintf(&b, "\nExamples:\n\n```text\n%s\n```\n", strings.Trim(c.Example, "\n"))
		}
		flags("Flags", c.LocalNonPersistentFlags())
	}
	b.WriteString("\n## Flags of all commands\n")
	flags("These work with every command", root.PersistentFlags())
	return b.String()
}

// put puts a part of the reference in the place of what is there.
func put(t *testing.T, text, part, what string) string {
	t.Helper()
	begin := "<!-- " + part + ", written by the tests of package cli -->\n"
	before, rest, ok := strings.Cut(text, begin)
	_, after, ended := strings.Cut(rest, "<!-- end -->\n")
	if !ok || !ended {
		t.Fatalf("the reference has no part for the %s", part)
	}
	return before + begin + what + "<!-- end -->\n" + after
}

func commandTable(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("| command | description |\n|---|---|\n")
	for _, c := range root.Commands() {
		use := strings.ReplaceAll(strings.TrimSuffix(c.Use, " [flags]"), "|", `\|`)
		fmt.Fprintf(&b, "| `pawl %s` | %s |\n", use, c.Short)
	}
	return b.String()
}

// flagTable lists the flags by name. One that says the same of several commands
// is listed once.
func flagTable(root *cobra.Command) string {
	type row struct{ flag, usage string }
	commands := map[row][]string{}
	var rows []row
	add := func(command string, f *pflag.Flag) {
		kind, usage := pflag.UnquoteUsage(f)
		if name, ok := kindNames[kind]; ok {
			kind = name
		}
		r := row{"`--" + f.Name + strings.TrimRight(" "+kind, " ") + "`", usage}
		if f.NoOptDefVal != "" && f.Value.Type() != "bool" {
			r.flag = "`--" + f.Name + "[=" + kind + "]`"
		}
		if r.usage = strings.ReplaceAll(r.usage, "|", `\|`); f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "[]" && f.DefValue != "0s" {
			r.usage += " (default: " + f.DefValue + ")"
		}
		if !slices.Contains(rows, r) {
			rows = append(rows, r)
		}
		commands[r] = append(commands[r], command)
	}
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) { add("all", f) })
	root.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { add("pawl", f) })
	for _, c := range root.Commands() {
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { add(c.Name(), f) })
	}
	slices.SortStableFunc(rows, func(a, b row) int { return strings.Compare(a.flag, b.flag) })
	var b strings.Builder
	b.WriteString("| flag | commands | description |\n|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r.flag, strings.Join(commands[r], ", "), r.usage)
	}
	return b.String()
}

// kindNames are the kinds of values as the reference has them.
var kindNames = map[string]string{
	"": "", "string": "TEXT", "strings": "TEXT", "stringArray": "TEXT", "int": "N", "uint": "N", "float": "N", "duration": "D", "ask|park|deny": `ask\|park\|deny`,
}

// TestCommandsOfPages parses each pawl command that a page shows.
func TestCommandsOfPages(t *testing.T) {
	files, err := filepath.Glob("../../../docs/*.md")
	for _, more := range []string{"../../../docs/howto/*.md", "../../../README.md"} {
		found, err := filepath.Glob(more)
		if err != nil {
			t.Fatal(err)
		}
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
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range block.FindAllStringSubmatch(string(data), -1) {
			for _, m := range command.FindAllStringSubmatch(b[1], -1) {
				args := word.FindAllString(strings.ReplaceAll(m[1], "\\\n", " "), -1)
				a := &app{console: console{in: strings.NewReader(""), out: new(bytes.Buffer), err: &lockedWriter{w: new(bytes.Buffer)}}}
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
