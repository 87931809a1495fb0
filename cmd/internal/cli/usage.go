package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pawl-run/pawl/internal/naming"
)

// usageText is an error of cobra about the command line, with what would be right and where to
// read more.
func usageText(c *cobra.Command, err error) string {
	hint := ""
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && unknown.GetSpecifiedShortnames() == "" {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		hint = meant("--"+unknown.GetSpecifiedName(), names)
	}
	return fmt.Sprintf("%s%s; see %s --help", oneLine(err.Error()), hint, c.CommandPath())
}

// meant suggests the name that is most similar.
func meant(name string, names []string) string {
	best := slices.MinFunc(append(names, ""), func(a, b string) int { return naming.Distance(a, name) - naming.Distance(b, name) })
	if best == "" || naming.Distance(best, name) > 1+len(name)/5 {
		return ""
	}
	return " (did you mean " + best + "?)"
}

// takes replaces cobra's errors about the number of arguments.
func takes(c *cobra.Command, args cobra.PositionalArgs) cobra.PositionalArgs {
	return func(_ *cobra.Command, given []string) error {
		if args == nil || args(c, given) == nil {
			return nil
		}
		return fmt.Errorf("%s got %s; write %s", c.Name(), counted(len(given), "argument"), strings.TrimSuffix(c.CommandPath()+strings.TrimPrefix(c.Use, c.Name()), " [flags]"))
	}
}

// unknownCommand is the error for the first argument of pawl.
func unknownCommand(root *cobra.Command, name string) error {
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	return fmt.Errorf("there is no command %s%s; pawl ask TEXT asks a question", oneLine(name), meant(name, names))
}

func asks(arg string) bool {
	return strings.ContainsFunc(arg, unicode.IsSpace) || strings.HasSuffix(arg, "?")
}

// asQuestion makes `pawl "TEXT"` a question: without a command, the first argument holds a space or
// ends with a question mark. Before it there are only flags and what may be their values: else a
// misspelt command would ask a model.
func asQuestion(root *cobra.Command, args []string) []string {
	flag := func(arg string) bool { return strings.HasPrefix(arg, "-") }
	if c, _, _ := root.Find(args); c != root { // an unknown command is reported when it is run
		return args
	}
	for i, arg := range args {
		switch {
		case asks(arg):
			return append([]string{"ask"}, args...)
		case !flag(arg) && (i == 0 || !flag(args[i-1]) || strings.Contains(args[i-1], "=")):
			return args
		}
	}
	return args
}
