package cli

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pawl-run/pawl/internal/naming"
)

// usageText is an error of cobra about the command line, in our words: what is wrong,
// what would be right, and where to read more.
func usageText(c *cobra.Command, err error) string {
	text := err.Error()
	unknown, isUnknown := errors.AsType[*pflag.NotExistError](err)
	missing, isMissing := errors.AsType[*pflag.ValueRequiredError](err)
	wrong, isWrong := errors.AsType[*pflag.InvalidValueError](err)
	syntax, isSyntax := errors.AsType[*pflag.InvalidSyntaxError](err)
	switch {
	case isUnknown:
		name := dashed(unknown.GetSpecifiedName(), unknown.GetSpecifiedShortnames())
		text = fmt.Sprintf("%s is no flag of %s%s", name, c.CommandPath(), meant(name, flagNames(c)))
	case isMissing:
		text = fmt.Sprintf("%s needs a value: %s", flagName(missing.GetFlag()), flagUsage(missing.GetFlag()))
	case isWrong:
		text = fmt.Sprintf("%s cannot be %q: %s", flagName(wrong.GetFlag()), wrong.GetValue(), wanted(wrong))
	case isSyntax:
		text = fmt.Sprintf("%q is no flag; write --NAME or --NAME=VALUE", syntax.GetSpecifiedFlag())
	default:
		if m := together.FindStringSubmatch(text); m != nil {
			text = flagList(m[1], " and ") + " exclude each other; give one of them"
		} else if m := oneOf.FindStringSubmatch(text); m != nil {
			text = "give one of " + flagList(m[1], " and ")
		} else if m := needed.FindStringSubmatch(text); m != nil {
			flag := c.Flags().Lookup(m[1])
			text = fmt.Sprintf("--%s is needed: %s", flag.Name, flagUsage(flag))
		}
	}
	return fmt.Sprintf("%s; see %s --help", text, c.CommandPath())
}

// The errors of cobra that have no type.
var (
	together = regexp.MustCompile(`none of the others can be; \[(.*)\] were all set$`)
	oneOf    = regexp.MustCompile(`^at least one of the flags in the group \[(.*)\] is required$`)
	needed   = regexp.MustCompile(`^required flag\(s\) "([^"]+)"`)
)

// flagList is names of flags in a sentence.
func flagList(names, and string) string {
	return "--" + strings.Join(strings.Fields(names), and+"--")
}

func dashed(name, shorthands string) string {
	if shorthands != "" {
		return "-" + name
	}
	return "--" + name
}

func flagName(f *pflag.Flag) string { return "--" + f.Name }

func flagUsage(f *pflag.Flag) string {
	_, usage := pflag.UnquoteUsage(f)
	return usage
}

// wanted is what a flag takes.
func wanted(e *pflag.InvalidValueError) string {
	switch e.GetFlag().Value.Type() {
	case "bool":
		return "write true or false"
	case "int", "uint", "uint64":
		return "write a whole number"
	case "duration":
		return "write a duration, such as 30s or 5m"
	}
	return e.Unwrap().Error() // of our own types
}

func flagNames(c *cobra.Command) (names []string) {
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, flagName(f)) })
	return names
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
