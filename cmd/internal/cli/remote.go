package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/cmd/internal/screen"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/retry"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/server/client"
	"github.com/pawl-run/pawl/spec"
	"github.com/pawl-run/pawl/team"
)

// remotely marks a command that also works with --server, except for the flags but.
func remotely(c *cobra.Command, but ...string) *cobra.Command {
	c.Annotations = map[string]string{"server": strings.Join(but, " ")}
	return c
}

// localOnly refuses --server for commands and flags that do not support it.
func (env *environment) localOnly(c *cobra.Command, _ []string) error {
	if env.server == "" {
		return nil
	}
	but, ok := c.Annotations["server"]
	switch {
	case env.database != "":
		return &failure{misuse("--database and --server exclude each other; give one of them")}
	case !ok:
		return &failure{misuse("pawl %s works on the database or on local files; leave out --server", c.Name())}
	}
	var wrong error
	c.Flags().Visit(func(f *pflag.Flag) {
		if wrong == nil && slices.Contains(strings.Fields(but), f.Name) {
			wrong = &failure{misuse("--%s has no effect with --server, which drives the run; leave it out", f.Name)}
		}
	})
	return wrong
}

// toServer makes the client for the server of --server.
func (a *app) toServer() error {
	c, err := client.New(a.server, a.getenv("PAWL_TOKEN"), nil)
	if err != nil {
		return misuse("--server: %w", err)
	}
	a.far = c
	return nil
}

// A desk sends signals and messages to runs: an engine, or a server.
type desk interface {
	runs.Sender
	Say(ctx context.Context, run, by, text string, o *engine.SayOptions) error
	Cancel(ctx context.Context, run, by, reason string) error
}

// deskOf is the desk for a run.
func (a *app) deskOf(ctx context.Context, j pawl.Journal, run string) (desk, error) {
	if a.far != nil {
		return a.far, nil
	}
	s, err := engine.Load(ctx, j, run)
	if err != nil {
		return nil, err
	}
	return engine.New(j, a.options(s.Declaration().Source)), nil
}

// A farRun is a run that a server drives, and that this process watches until ctx ends.
type farRun struct {
	app    *app
	ctx    context.Context //nolint:containedctx // its end ends the watching, as that of the context of engine.Start parks a run
	run    string
	after  uint64 // the last entry before the server drove it
	began  time.Time
	halted pawl.Status // the status at which the log halted; zero: it has not
	result pawl.Result
	err    error
	seen   bool // the run was watched
}

// ID implements ride.
func (f *farRun) ID() string { return f.run }

// Found implements ride. The server does not say.
func (f *farRun) Found() bool { return false }

// Wait implements ride.
func (f *farRun) Wait(ctx context.Context) (pawl.Result, error) {
	if !f.seen {
		f.Entries(ctx)(func(pawl.Entry, error) bool { return true })
	}
	return f.result, f.err
}

// Entries implements ride.
func (f *farRun) Entries(context.Context) iter.Seq2[pawl.Entry, error] {
	return func(yield func(pawl.Entry, error) bool) {
		run, last, after := f.run, uint64(0), f.after
		f.seen = true
		for looks := 0; ; looks++ {
			f.result, f.err = f.app.far.Watch(f.ctx, run, last, func(e pawl.Entry) {
				if e.Seq > 0 {
					last, f.halted = e.Seq, haltOf(e.Event)
				}
				yield(e, nil) // the only reader reads to the end
			})
			if f.err != nil {
				f.broken(run)
				return
			}
			if i := slices.Index(f.result.Legs, run) + 1; i > 0 && i < len(f.result.Legs) {
				run, last, after, f.halted, looks = f.result.Legs[i], 0, 0, 0, 0
				continue
			}
			if !f.changes(last > after) || looks == mostLooks {
				return
			}
			_ = retry.Wait(f.ctx, lookForAnswer) // if ctx has ended, watching fails
		}
	}
}

// How often, and how many times, a run is polled that is about to change.
const (
	lookForAnswer = 50 * time.Millisecond
	mostLooks     = 40
)

// changes reports whether the log and the result show that the run is about to go on: its agent
// has handed over, the server resumes it with an answer, or it has halted after the last entry.
func (f *farRun) changes(moved bool) bool {
	if _, handed := team.HandedIn(f.result); handed {
		return true
	}
	if f.halted.Waiting() {
		return slices.ContainsFunc(f.result.Pending, func(p pawl.Pending) bool { return p.AnsweredAt != nil })
	}
	return f.result.Status.Waiting() && moved
}

// broken says what becomes of a run that is watched no more.
func (f *farRun) broken(run string) {
	_, refused := errors.AsType[*client.Problem](f.err)
	switch a := f.app; {
	case f.ctx.Err() == nil && !refused && f.halted != 0:
		f.err = &fault{exitCode(f.halted), fmt.Errorf("run %s is %v; the connection to the server failed: %w", run, f.halted, f.err)}
	case f.ctx.Err() != nil && !a.quiet:
		a.sayf("run %s continues at the server (started here %s ago); watch it: %s; cancel it: %s", run, display.Lasting(time.Since(f.began)),
			a.typed("pawl", "events", run, "--follow"), a.typed("pawl", "cancel", run))
	}
}

// haltOf is the status at which a log halts with an event; zero: it does not.
func haltOf(event pawl.Event) pawl.Status {
	switch e := event.(type) {
	case pawl.RunPaused:
		return e.Status
	case pawl.RunStopped:
		return e.Status
	}
	return 0
}

// driveFar has a server start or resume a run, and watches the run until it has no owner.
func (a *app) driveFar(ctx context.Context, d *driving, after uint64, request func(ctx context.Context) (pawl.Result, error)) (int, error) {
	began := time.Now()
	watch := func(ctx context.Context, run string, after uint64) *farRun {
		return &farRun{app: a, ctx: ctx, run: run, after: after, began: began}
	}
	resume := func(ctx context.Context, run string, after uint64) (ride, error) { return watch(ctx, run, after), nil }
	begin := func(ctx context.Context) (ride, error) {
		r, err := request(ctx)
		if err != nil {
			return nil, err
		}
		return watch(ctx, r.Run, after), nil
	}
	view := func() screen.View { return a.liveView(a.progress) }
	r, err := a.drive(ctx, d, trip{begin: begin, resume: resume, view: view, after: after, announce: func(ctx context.Context, run string) {
		s, err := engine.Load(ctx, a.current(), run)
		if d := s.Declaration(); err == nil && !a.quiet {
			a.sayf("%s: model %s, driven by %s; at most %s", d.Agent, d.ModelInfo.Name, a.server, limitsText(s.Limits()))
		}
	}})
	if err != nil {
		return 0, err
	}
	return a.conclude(ctx, r)
}

// runRemote asks a server to run one of its agents, or the spec in a file.
func runRemote(ctx context.Context, a *app, d *driving, name string, rest []string, o *engine.StartOptions, queue bool) (int, error) {
	limits, err := sentLimits(d.limit, false)
	if err != nil {
		return 0, err
	}
	labels, err := parseLabels(d.label)
	if err != nil {
		return 0, err
	}
	ask := client.StartRun{Agent: name, Limits: limits, Labels: labels, Thread: o.Thread, IdempotencyKey: o.Key, Queue: queue, Files: o.Files}
	if isFile(name) {
		if ask.Spec, err = sentSpec(name, d); err != nil {
			return 0, err
		}
		ask.Agent = ""
	} else if d.model != "" || d.effort != "" || d.stop != "" {
		return 0, misuse("--model, --effort and --stop need a spec file; %s is an agent of the server, which has its own", name)
	}
	if len(rest) > 0 {
		if ask.Input, err = a.input(ctx, rest, ""); err != nil {
			return 0, err
		}
	}
	start := func(ctx context.Context) (pawl.Result, error) {
		if served := a.serves(ctx, ask.Spec); served != "" {
			ask.Agent, ask.Spec = served, nil
		}
		result, err := a.far.Start(ctx, ask)
		if p, ok := errors.AsType[*client.Problem](err); ok && ask.Spec != nil && p.Status == http.StatusForbidden {
			return result, misuse("sending the spec %s to %s: %w", name, a.server, err)
		}
		return result, err
	}
	return a.reading(ctx, func(pawl.Journal) (int, error) {
		if !queue {
			return a.driveFar(ctx, d, 0, start)
		}
		result, err := start(ctx)
		if err != nil {
			return 0, err
		}
		return 0, a.printQueued(ctx, result)
	})
}

// serves is the name under which the server has an agent of exactly this spec, with the
// programs and files that the spec names; empty: it has none, or does not say.
func (a *app) serves(ctx context.Context, raw json.RawMessage) string {
	if raw == nil {
		return ""
	}
	agents, err := a.far.Agents(ctx)
	if err != nil {
		return "" // starting the run will report the error
	}
	digest := specDigest(raw)
	for _, agent := range agents {
		if agent.Spec == digest {
			return agent.Name
		}
	}
	return ""
}

// specDigest is equal for equal specs.
func specDigest(raw json.RawMessage) string {
	return fmt.Sprintf("%x", sha256.Sum256(raw))
}

// isFile reports whether the argument names a file: the file exists, or the name is
// not a valid agent name.
func isFile(name string) bool {
	if info, err := os.Stat(name); err == nil && !info.IsDir() {
		return true
	}
	return strings.ContainsAny(name, `/\.`)
}

// sentSpec is the spec in a file in the server's form. Its problems are reported here,
// where the file is; only the server knows whether it can run the spec.
func sentSpec(file string, d *driving) (json.RawMessage, error) {
	if _, err := loadSpec(file, &spec.Options{Model: d.model, Effort: d.effort, Stop: d.stop}); err != nil {
		return nil, err
	}
	raw, err := specJSON(file)
	if err != nil || d.model == "" && d.effort == "" && d.stop == "" {
		return raw, err
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, err
	}
	if bytes.Equal(bytes.TrimSpace(fields["type"]), []byte(`"loop"`)) {
		return nil, misuse("--model, --effort and --stop do not apply to a Hyphen loop document; write them into the document")
	}
	for key, value := range map[string]string{"model": d.model, "stop": d.stop} {
		if value != "" {
			fields[key], _ = json.Marshal(value) // a string always marshals
		}
	}
	if d.effort != "" {
		fields["model"] = withEffort(fields["model"], d.effort)
	}
	return json.Marshal(fields)
}

// sentLimits are the limits of the command line in the server's form.
func sentLimits(texts []string, relative bool) (client.Limits, error) {
	limits := client.Limits{}
	_, err := eachLimit(texts, relative, func(name, value string) { limits[name], _ = json.Marshal(value) }) // a string always marshals
	return limits, err
}

// withEffort returns the model of a spec, a name or a mapping, with an effort.
func withEffort(model json.RawMessage, effort string) json.RawMessage {
	m := map[string]json.RawMessage{}
	if json.Unmarshal(model, &m) != nil && model != nil {
		m["name"] = model
	}
	m["effort"], _ = json.Marshal(effort) // strings and valid JSON always marshal
	raw, _ := json.Marshal(m)
	return raw
}

// specJSON is the spec in a file, as JSON.
func specJSON(file string) (json.RawMessage, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, misuse("%s: %w", file, display.WithoutPath(err))
	}
	return spec.JSON(filepath.Base(file), data)
}
