package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

const about = `pawl runs agents: loops of a model and its tools that cannot run away, cannot
overshoot their budget, cannot lose or repeat what they did, can wait for a person
and go on in another process, and can always say why they stopped.

RUN is the id of a run, the beginning of one, or the word last.`

// execute runs the command that args name and returns the exit code.
func (a *app) execute(ctx context.Context, args []string) int {
	defer a.reported()
	defer a.disconnect()
	ctx = a.asked(ctx)
	root := a.root()
	strictHelp(root)
	root.SetArgs(joinKeep(args))
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := root.ExecuteContext(ctx)
	var failed *failure
	switch {
	case err == nil:
		return a.code
	case errors.As(err, &failed):
		return a.report(ctx, failed.err)
	}
	// The remaining errors are cobra's, about the command line.
	a.sayf("pawl: %v", err)
	a.sayf("pawl --help lists the commands, pawl COMMAND --help their flags")
	return exitUsage
}

// strictHelp makes help about an unknown command a usage error.
func strictHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() == "help" {
			c.Args = func(_ *cobra.Command, args []string) error {
				_, _, err := root.Find(args)
				return err
			}
		}
	}
}

// failure is an error of a command, as opposed to a usage error of cobra.
type failure struct{ err error }

func (f *failure) Error() string { return f.err.Error() }

func (a *app) root() *cobra.Command {
	version := false
	root := &cobra.Command{
		Use: "pawl", Short: "Run agents and manage their runs", Long: about,
		SilenceErrors: true, SilenceUsage: true,
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
	root.AddCommand(
		runCommand(a), askCommand(a), fixCommand(a),
		planCommand(a), runsCommand(a), showCommand(a), eventsCommand(a), waitCommand(a), explainCommand(a),
		resumeCommand(a), answerCommand(a), approveCommand(a), denyCommand(a), submitCommand(a), settleCommand(a), cancelCommand(a),
		forkCommand(a), replayCommand(a), recordCommand(a), exportCommand(a), importCommand(a), gcCommand(a), checkCommand(a), serveCommand(a), mcpCommand(a), initCommand(a), schemaCommand(a), docsCommand(a), versionCommand(a),
	)
	return root
}

// command makes a command from a function that returns the exit code.
func (a *app) command(use, short string, args cobra.PositionalArgs, do func(ctx context.Context, args []string) (int, error)) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: args, DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			code, err := do(c.Context(), args)
			if err != nil {
				return &failure{err}
			}
			a.code = code
			return nil
		},
	}
}
