package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/fix/mechanic"
	"github.com/pawl-run/pawl/fix/review"
	"github.com/pawl-run/pawl/internal/terminal"
	"github.com/pawl-run/pawl/spec"
)

// reviewing holds the options of pawl review.
type reviewing struct {
	driving

	format string
}

// The formats of pawl review.
const (
	formatText   = "text"
	formatJSON   = "json"
	formatSARIF  = "sarif"
	formatGitHub = "github"
)

var reviewFormats = []string{formatText, formatJSON, formatSARIF, formatGitHub}

func reviewCommand(a *app) *cobra.Command {
	v := &reviewing{}
	c := a.command("review [REF..REF|FILE.patch] [DIR] [flags]", "Review a change and print what is wrong with it", cobra.MaximumNArgs(2), func(ctx context.Context, args []string) (int, error) {
		what, dir := reviewed(args)
		return reviewChange(ctx, a, v, what, dir)
	})
	c.Flags().StringVar(&v.format, "format", "", "how to print the findings: text, json, sarif (2.1.0) or github, for annotations of GitHub Actions (default: text, or json with --json)")
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
		v.format = formatText
		if a.json {
			v.format = formatJSON
		}
	}
	switch info, err := os.Stat(dir); {
	case !slices.Contains(reviewFormats, v.format):
		return 0, misuse("--format %s: write %s", v.format, strings.Join(reviewFormats, ", "))
	case a.json && v.format != formatJSON:
		return 0, misuse("--json and --format %s exclude each other; give one of them", v.format)
	case err != nil:
		return 0, refused(err)
	case !info.IsDir():
		return 0, misuse("%s is not a directory; write the change first and then the project's directory", dir)
	}
	asked, err := v.reader(a)
	if err != nil {
		return 0, err
	}
	change, err := review.Open(ctx, dir, what, &review.Options{Stdin: a.in, Environ: a.environ})
	if err != nil {
		return 0, unlessStopped(ctx, err)
	}
	defer change.Close()
	r := review.New(change)
	if len(change.Files) == 0 {
		if !a.quiet {
			a.sayf("nothing to review: %s does not differ", change.What)
		}
		return printReview(a, r, v.format)
	}
	if err := change.Rules(ctx, r); err != nil {
		return 0, unlessStopped(ctx, err)
	}
	if asked == nil {
		return reviewByRules(ctx, a, change, r, v.format)
	}
	return asked.review(ctx, a, v, change, r)
}

// A reader is the model of a review and what holds for its run.
type reader struct {
	settings

	name  string
	model pawl.Model
}

// reader reads the flags; nil: no model is named, and no key is set.
func (v *reviewing) reader(a *app) (*reader, error) {
	set, err := v.settings()
	if err != nil {
		return nil, err
	}
	d := &reader{settings: set, name: a.namedModel(v.model)}
	switch d.name {
	case "":
		return nil, nil
	case mechanic.Name:
		return nil, misuse("%s: the mechanic repairs code and cannot review it; name another model, or none for a review by rules", modelSetting)
	}
	if d.model, err = a.model(d.name); err == nil {
		err = readyModel(d.model)
	}
	return d, err
}

// unlessStopped turns an error into one of usage, unless the command was interrupted.
func unlessStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return refused(err)
}

// reviewByRules concludes a review without a model.
func reviewByRules(ctx context.Context, a *app, change *review.Change, r *review.Report, format string) (int, error) {
	isGo, err := change.IsGo(ctx)
	if err != nil {
		return 0, unlessStopped(ctx, err)
	}
	if !isGo {
		return 0, misuse("%s has no Go module, and the rules that need no model know only Go; set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or name a model in PAWL_MODEL", change.Dir)
	}
	for _, f := range change.Files {
		if f.Skip == "" && !strings.HasSuffix(f.Path, ".go") {
			r.Skipped = append(r.Skipped, review.Skipped{File: f.Path, Why: "no rule is about it"})
		}
	}
	if !a.quiet {
		a.sayf("no key is set and PAWL_MODEL names no model: no model is asked, and only fixed rules look at the code; a model also finds faults that no rule describes")
	}
	return printReview(a, r, format)
}

// review has the model review what is not known from an earlier review.
func (d *reader) review(ctx context.Context, a *app, v *reviewing, change *review.Change, r *review.Report) (int, error) {
	r.Model = d.name
	key := func(f *review.File) string { return review.Key(f, d.name, d.model) }
	cache := a.reviewCache()
	files := cache.Take(change.Ask(r), key, r)
	if len(files) == 0 {
		if !a.quiet {
			a.sayf("no model is asked: every file is as in an earlier review")
		}
		return printReview(a, r, v.format)
	}
	input, err := review.Input(files)
	if err != nil {
		return 0, err
	}
	source := review.Source{Dir: change.Dir, Model: d.name, Format: v.format, Report: *r}
	for _, f := range files {
		source.Files = append(source.Files, review.Reviewing{Path: f.Path, Key: key(f)})
	}
	agent, err := reviewAgent(source, d.model, d.limits, d.policy)
	if err != nil {
		return 0, err
	}
	limits, err := ceilings(agent)
	if err != nil {
		return 0, err
	}
	if to := describes(d.model).Endpoint; to != "" && !a.quiet {
		a.sayf("the changed functions of %s are sent to %s", counted(len(files), "file"), to)
	}
	return a.with(ctx, func(j store) (int, error) {
		w := reviewWork(a, source, agent)
		w.limits = limits
		return driveWork(ctx, a, &v.driving, w, 0, func(ctx context.Context) (*engine.Handle, error) {
			return a.engine(j, &v.driving, agent).Start(ctx, agent, input, &engine.StartOptions{Labels: d.labels})
		})
	})
}

// reviewAgent makes the agent of a review with its source, under a policy if there is one.
func reviewAgent(source review.Source, model pawl.Model, limits pawl.Limits, policy *spec.Policy) (pawl.Agent, error) {
	agent := review.Agent(model, limits)
	agent.Source = source.String()
	return under(policy, agent)
}

// reviewCache is where results of reviews are kept, next to the runs; nil: the place is unknown.
func (env *environment) reviewCache() *review.Cache {
	own, err := env.ownDatabase()
	if err != nil {
		return nil
	}
	c := &review.Cache{Dir: filepath.Join(filepath.Dir(own), "review")}
	_ = c.Prune(time.Now()) // what it cannot remove does no harm
	return c
}

func reviewWork(a *app, source review.Source, agent pawl.Agent) *work {
	return &work{
		agent: agent,
		conclude: func(ctx context.Context, r pawl.Result) (int, error) {
			return concludeReview(ctx, a, source, r, a.reviewCache())
		},
		drop: func() {},
	}
}

// concludeReview prints what a run found, and keeps it in the cache.
func concludeReview(ctx context.Context, a *app, source review.Source, result pawl.Result, cache *review.Cache) (int, error) {
	ctx = context.WithoutCancel(ctx) // the results are paid for
	if result.Status == pawl.StatusSuccess {
		endingSince(ctx, a, &result, "every file is reviewed")
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
	results, err := review.Collect(s, len(source.Files))
	if err != nil {
		return 0, err
	}
	r, open := source.Conclude(results, cache)
	r.Result = &result
	for _, file := range open {
		r.Skipped = append(r.Skipped, review.Skipped{File: file, Why: "the run did not come to its end"})
	}
	code, err := printReview(a, r, source.Format)
	if result.Status != pawl.StatusSuccess {
		code = exitCode(result.Status)
	}
	return code, err
}

// Exit codes of a review that came to its end.
const (
	exitClean    = 0
	exitFindings = 1
)

func printReview(a *app, r *review.Report, format string) (int, error) {
	if !a.quiet {
		saySkipped(a, r.Skipped)
		for _, note := range r.Notes {
			a.sayf("%s", note)
		}
		a.sayf("%s", r.Summary())
	}
	code := exitClean
	if len(r.Findings) > 0 {
		code = exitFindings
	}
	switch format {
	case formatJSON:
		return code, printJSON(a.out, r)
	case formatSARIF:
		raw, err := r.SARIF()
		if err == nil {
			_, err = fmt.Fprintf(a.out, "%s\n", raw)
		}
		return code, err
	case formatGitHub:
		_, err := io.WriteString(a.out, terminal.Clean(r.GitHub()))
		return code, err
	}
	_, err := io.WriteString(a.out, terminal.Clean(r.Text()))
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
