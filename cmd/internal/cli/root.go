package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pawl-run/pawl/cmd/internal/screen"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/naming"
	"github.com/pawl-run/pawl/internal/sheet"
)

const about = `pawl runs agents: loops of a model and its tools that cannot run away, cannot
overshoot their budget, and cannot lose or repeat what they did. They can wait for a
person and continue in another process, and can always say why they stopped.

pawl "TEXT" asks a model one question, as pawl ask does.

RUN is the id of a run, a unique beginning of an id, or the word last.`

// execute runs the command that args name and returns the exit code.
func (a *app) execute(ctx context.Context, args []string) int {
	if path := a.getenv("PAWL_MODELS"); path != "" {
		if err := sheet.Use(path); err != nil {
			a.sayf("pawl: PAWL_MODELS: %v", err)
			return exitUsage
		}
	}
	defer a.reported()
	defer a.disconnect()
	ctx = a.asked(ctx)
	root := a.root()
	root.SetArgs(joinKeep(asQuestion(root, args)))
	c, err := root.ExecuteContextC(ctx)
	if c == root && len(args) > 0 && !strings.HasPrefix(args[0], "-") && errors.As(err, new(*pflag.NotExistError)) {
		err = unknownCommand(root, args[0]) // which has no flags
	}
	var failed *failure
	switch {
	case err == nil:
		return a.code
	case errors.As(err, &failed):
		return a.report(ctx, failed.err)
	}
	// The remaining errors are cobra's, about the command line.
	a.sayf("pawl: %s", usageText(c, err))
	return exitUsage
}

// failure is an error of a command, as opposed to a usage error of cobra.
type failure struct{ err error }

func (f *failure) Error() string { return f.err.Error() }

func (a *app) root() *cobra.Command {
	version := false
	root := &cobra.Command{
		Use: "pawl", Short: "Run agents and manage their runs", Long: about,
		SilenceErrors: true, SilenceUsage: true,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(c, args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			if version {
				if err := a.version(); err != nil {
					return &failure{err}
				}
				return nil
			}
			fmt.Fprint(a.err, c.UsageString())
			a.code = exitUsage
			return nil
		},
	}
	root.Flags().BoolVar(&version, "version", false, "print version, commit and Go version")
	flags := root.PersistentFlags()
	flags.BoolVar(&a.json, "json", false, "print the result as JSON; lists and streams as JSON lines")
	flags.BoolVar(&a.quiet, "quiet", false, "show no progress")
	flags.StringVar(&a.database, "database", "", "where runs are kept, as sqlite:PATH or postgres://USER@HOST/NAME (default: $PAWL_DATABASE, or pawl/pawl.db in the user's state directory)")
	flags.StringVar(&a.server, "server", "", "use the pawl serve at this address instead of a database, as http://HOST:PORT, https://HOST or unix:///PATH; its token is in $PAWL_TOKEN")
	flags.SortFlags = false
	root.PersistentPreRunE = a.localOnly
	group := func(id, title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: id, Title: title})
		for _, c := range commands {
			c.GroupID = id
			root.AddCommand(c)
		}
	}
	group("run", "Run:", runCommand(a), askCommand(a), chatCommand(a), fixCommand(a), reproCommand(a), reviewCommand(a), refactorCommand(a), resumeCommand(a), forkCommand(a), sayCommand(a), cancelCommand(a))
	group("look", "Look:", runsCommand(a), showCommand(a), eventsCommand(a), explainCommand(a), waitCommand(a), modelsCommand(a), budgetsCommand(a))
	group("decide", "Decide:", approveCommand(a), denyCommand(a), answerCommand(a), submitCommand(a), settleCommand(a), approvalsCommand(a))
	group("serve", "Serve:", serveCommand(a), workerCommand(a), mcpCommand(a), acpCommand(a), doctorCommand(a), upgradeCommand(a))
	group("keep", "Keep:", gcCommand(a), backupCommand(a), exportCommand(a), importCommand(a), verifyCommand(a))
	group("develop", "Develop:", initCommand(a), checkCommand(a), replayCommand(a), recordCommand(a), evalCommand(a), schemaCommand(a), docsCommand(a), versionCommand(a))
	root.SetHelpCommandGroupID("develop")
	root.SetCompletionCommandGroupID("develop")
	usual := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if c == root && c.Flags().NArg() > 0 {
			a.sayf("pawl: %s", usageText(c, unknownCommand(c, c.Flags().Arg(0))))
			a.code = exitUsage
			return
		}
		usual(c, args)
	})
	root.SetIn(a.in)
	root.SetOut(a.out) // before the command that prints completions is made
	root.SetErr(a.err)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	describe(root)
	return root
}

// command makes a command from a function that returns the exit code.
func (a *app) command(use, short string, args cobra.PositionalArgs, do func(ctx context.Context, args []string) (int, error)) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			code, err := do(c.Context(), args)
			if err != nil {
				return &failure{err}
			}
			a.code = code
			return nil
		},
	}
	c.Args = takes(c, args)
	return c
}

// usageText is an error of cobra about the command line, with what would be right and where to
// read more.
func usageText(c *cobra.Command, err error) string {
	hint := ""
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && unknown.GetSpecifiedShortnames() == "" {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		hint = meant("--"+unknown.GetSpecifiedName(), names)
	}
	return fmt.Sprintf("%s%s; see %s --help", screen.OneLine(err.Error()), hint, c.CommandPath())
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
		return fmt.Errorf("%s got %s; write %s", c.Name(), display.Count(len(given), "argument"), strings.TrimSuffix(c.CommandPath()+strings.TrimPrefix(c.Use, c.Name()), " [flags]"))
	}
}

// unknownCommand is the error for the first argument of pawl.
func unknownCommand(root *cobra.Command, name string) error {
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	return fmt.Errorf("there is no command %s%s; pawl ask TEXT asks a question", screen.OneLine(name), meant(name, names))
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
