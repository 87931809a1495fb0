package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/fix/review"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/tool/agentsmd"
)

// reviewing holds the options of pawl review.
type reviewing struct {
	driving

	format string
}

var reviewFormats = []string{"text", "json", "github"}

func reviewCommand(a *app) *cobra.Command {
	v := &reviewing{}
	c := a.command("review [REF..REF|FILE.patch] [DIR] [flags]", "Review a change and print what is wrong with it", cobra.MaximumNArgs(2), func(ctx context.Context, args []string) (int, error) {
		what, dir := reviewed(args)
		return reviewChange(ctx, a, v, what, dir)
	})
	c.Flags().StringVar(&v.format, "format", "", "how to print the findings: text, json or github, for annotations of GitHub Actions (default: text, or json with --json)")
	v.flag(c, "model", "limit", "label", "events", "policy")
	return c
}

// reviewed tells the change from the project. One argument that is a directory is the project.
func reviewed(args []string) (what, dir string) {
	switch len(args) {
	case 0:
		return "", "."
	case 1:
		if info, err := os.Stat(args[0]); err == nil && info.IsDir() {
			return "", args[0]
		}
		return args[0], "."
	}
	return args[0], args[1]
}

func reviewChange(ctx context.Context, a *app, v *reviewing, what, dir string) (int, error) {
	if v.format == "" {
		v.format = map[bool]string{true: "json", false: "text"}[a.json]
	}
	switch err := isProject(dir); {
	case !slices.Contains(reviewFormats, v.format):
		return 0, misuse("--format %s: write %s", v.format, strings.Join(reviewFormats, ", "))
	case a.json && v.format != "json":
		return 0, misuse("--json and --format %s exclude each other; give one of them", v.format)
	case err != nil:
		return 0, err
	}
	set, err := v.settings()
	if err != nil {
		return 0, err
	}
	name, err := a.thinking(v.model, "reviews nothing")
	if err != nil {
		return 0, err
	}
	model, err := readyModel(a.model(name))
	if err != nil {
		return 0, err
	}
	change, err := review.Open(ctx, dir, what, a.in, a.environ)
	if err != nil {
		return 0, unlessStopped(ctx, err)
	}
	defer change.Close()
	source := change.Source(name)
	if len(source.Files) == 0 {
		if !a.quiet {
			a.sayf("nothing to review: the change has no line that a model should read")
		}
		return printReview(a, source.Report(nil), v.format)
	}
	shown := printing{Format: v.format}
	if shown.Notes, err = a.notes(dir); err != nil {
		return 0, err
	}
	agent, err := under(set.policy, reviewAgent(source, model, set.limits, shown))
	if err != nil {
		return 0, err
	}
	return a.with(ctx, func(j store) (int, error) {
		return driveNew(ctx, a, j, &v.driving, reviewWork(a, source, agent, v.format), change.Input(), &engine.StartOptions{Labels: set.labels})
	})
}

// unlessStopped turns an error into one of usage, unless the command was interrupted.
func unlessStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return refused(err)
}

// printing is how a review is printed, and the AGENTS.md of its project; nil: none. It is stored in the
// agent's source.
type printing struct {
	Format string          `json:"format"`
	Notes  *agentsmd.Notes `json:"notes,omitempty"`
}

func reviewAgent(source review.Source, model pawl.Model, limits pawl.Limits, p printing) pawl.Agent {
	agent := p.Notes.On(review.Agent(source, model, limits))
	agent.Source = withMembers(agent.Source, p)
	return agent
}

func reviewWork(a *app, source review.Source, agent pawl.Agent, format string) *work {
	conclude := func(ctx context.Context, r pawl.Result) (int, error) {
		return concludeReview(ctx, a, source, r, format)
	}
	return &work{agent: agent, conclude: conclude, drop: func() {}}
}

// reopenReview makes the agent of a review again. The log has everything that it needs.
func reopenReview(a *app, source review.Source, s *pawl.State, r remake) (*work, error) {
	if r.model != "" {
		source.Model = r.model
	}
	var p printing
	if err := json.Unmarshal([]byte(s.Declaration().Source), &p); err != nil {
		return nil, err
	}
	model, err := a.model(source.Model)
	if !r.declared {
		model, err = readyModel(model, err)
	}
	if err != nil {
		return nil, err
	}
	return reviewWork(a, source, reviewAgent(source, model, s.Limits(), p), p.Format), nil
}

// concludeReview prints what a run found.
func concludeReview(ctx context.Context, a *app, source review.Source, result pawl.Result, format string) (int, error) {
	ctx = context.WithoutCancel(ctx) // the results are paid for
	if result.Status == pawl.StatusSuccess {
		endingSince(ctx, a, &result, "every finding is in the change")
	} else {
		ending(ctx, a, &result)
	}
	j := a.current()
	if j == nil {
		return 0, errors.New("the database is closed")
	}
	s, err := engine.Load(ctx, j, result.Run)
	if err != nil {
		return 0, err
	}
	r := source.Report(s)
	r.Result = &result
	code, err := printReview(a, r, format)
	if result.Status != pawl.StatusSuccess {
		code = exitCode(result.Status)
	}
	return code, err
}

// printReview prints findings. The exit code is 1 if there are some.
func printReview(a *app, r *review.Report, format string) (int, error) {
	if !a.quiet {
		saySkipped(a, r.Skipped)
		a.sayf("%s in %s", display.Count(len(r.Findings), "finding"), display.Count(len(r.Reviewed), "file"))
	}
	code, text := min(len(r.Findings), 1), r.Text()
	switch format {
	case "json":
		return code, printJSON(a.out, r)
	case "github":
		text = r.GitHub()
	}
	_, err := io.WriteString(a.out, display.Clean(text))
	return code, err
}

// saySkipped names the files that were not reviewed, a line for each reason.
func saySkipped(a *app, skipped []review.Skipped) {
	const most = 5
	var reasons []string
	files := map[string][]string{}
	for _, s := range skipped {
		if files[s.Why] == nil {
			reasons = append(reasons, s.Why)
		}
		files[s.Why] = append(files[s.Why], s.File)
	}
	for _, why := range reasons {
		list := files[why]
		more := ""
		if n := len(list); n > most {
			list, more = list[:most], fmt.Sprintf(" and %d more", n-most)
		}
		a.sayf("not reviewed (%s): %s%s", why, strings.Join(list, ", "), more)
	}
}
