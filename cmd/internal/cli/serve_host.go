package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/budget"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/internal/wire"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/runs/worker"
	"github.com/pawl-run/pawl/server"
	"github.com/pawl-run/pawl/server/client"
	"github.com/pawl-run/pawl/spec"
	"github.com/pawl-run/pawl/team"
	"github.com/pawl-run/pawl/webhook"
)

// The file names in messages about a spec that a client sent, as JSON or as text.
const (
	inlineSpec = "<spec>.json"
	inlineText = "<spec>.yaml"
)

// A serveHost makes the agents that are served: one per spec, and separate ones for
// runs that began with another agent.
type serveHost struct {
	app     *app
	service *service
	settings

	log     *slog.Logger
	dir     string // where the commands of clients' specs run
	specs   []*spec.Spec
	digests []string          // of the specs
	models  map[string]string // of the served agents, as specs name them, by the name they are shown under

	journal store
	served  []servedAgent

	mu      sync.Mutex
	secrets map[string]string // of all agents, by name
	tell    func(pawl.Result) // delivers webhooks, once that has begun
	threads engine.Threads
}

// servedAgent is an agent that all of its runs share.
type servedAgent struct {
	about   client.Agent
	work    worker.Work
	upgrade engine.Upgrade
	unready error // keys of its models are missing; nil: none is
}

// title is the agent's name, with its version if it has one.
func (s *servedAgent) title() string {
	if s.about.Version == "" {
		return s.about.Name
	}
	return s.about.Name + "@" + s.about.Version
}

// ready is its work, if its models have their keys.
func (s *servedAgent) ready() (worker.Work, error) {
	if s.unready != nil {
		return worker.Work{}, s.unready
	}
	return s.work, nil
}

// hosting reads the specs to serve, and reports all of their problems. what is a word for the process.
func hosting(a *app, s *service, args []string, what string) (*serveHost, error) {
	if err := s.parks(what); err != nil {
		return nil, err
	}
	set, err := s.settings()
	if err != nil {
		return nil, err
	}
	h := &serveHost{app: a, service: s, settings: set, secrets: map[string]string{}, log: a.serverLog(s.verbose)}
	if h.dir, err = os.Getwd(); err != nil {
		return nil, err
	}
	files, specs, err := a.loadSpecs(args, *h.options(nil))
	if err != nil {
		return nil, err
	}
	var problems spec.Problems
	of := map[string]string{}
	for i, made := range specs {
		file := files[i]
		if other, twice := of[made.Name+"@"+made.Version]; twice {
			problems = append(problems, spec.Problem{File: file, Line: 1, Column: 1, Message: fmt.Sprintf("the name %[2]q is already used by %[1]s (rename one of them, or give each a version of its own)", other, made.Name)})
		}
		of[made.Name+"@"+made.Version] = file
		for _, other := range h.specs { // a new version may have other figures
			if err := budget.Check(slices.Concat(other.Budgets, made.Budgets)); err != nil && other.Name != made.Name {
				problems = append(problems, spec.Problem{File: file, Line: 1, Column: 1, Message: fmt.Sprintf("agent %s is served too: %v", other.Name, err)})
				break
			}
		}
		digest := ""
		if raw, err := specJSON(file); err == nil {
			digest = specDigest(raw)
		}
		h.specs, h.digests = append(h.specs, made), append(h.digests, digest)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return h, nil
}

func (h *serveHost) options(r *spec.Registry) *spec.Options {
	return &spec.Options{Registry: r, Model: h.service.model, Effort: h.service.effort, Limits: h.limits}
}

// loadSpecs reads the specs in files and directories, and reports the problems of all of them.
func (a *app) loadSpecs(args []string, o spec.Options) (files []string, specs []*spec.Spec, err error) {
	if files, err = specFiles(args); err != nil {
		return nil, nil, err
	}
	var problems spec.Problems
	for _, file := range files {
		o.Registry = a.registry()
		s, err := loadSpec(file, &o)
		bad, _ := errors.AsType[spec.Problems](err) // it is no other
		specs, problems = append(specs, s), append(problems, bad...)
	}
	if len(problems) > 0 {
		return nil, nil, problems
	}
	return files, specs, nil
}

// specFiles expands the arguments: files, and the specs in directories.
func specFiles(args []string) (files []string, err error) {
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil || !info.IsDir() {
			files = append(files, arg) // its problems are reported with all others
			continue
		}
		entries, err := os.ReadDir(arg)
		if err != nil {
			return nil, refused(err)
		}
		n := len(files)
		for _, e := range entries {
			file := filepath.Join(arg, e.Name())
			switch ext := filepath.Ext(file); {
			case e.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, ext):
			case named(file):
				files = append(files, file)
			}
		}
		if len(files) == n {
			return nil, misuse("%s contains no spec (a file that ends in .yaml, .yml or .json and has a name)", arg)
		}
	}
	return files, nil
}

// aName matches the key name of a spec, or type of a Hyphen document, at the top level
// of a file.
var aName = regexp.MustCompile(`(?m)^["']?(name|type)["']?[ \t]*:|\A\s*\{(?s:.*)["']?\b(name|type)["']?\s*:`)

// named reports whether a file in a directory of specs may be a spec: scripts, policies
// and lists of tools are in the directory, too. Unreadable files are reported later.
func named(file string) bool {
	text, err := os.ReadFile(file)
	return err != nil || aName.Match(wire.Unmarked(text))
}

// open makes the agents.
func (h *serveHost) open(ctx context.Context, j store) error {
	h.journal, h.models = j, map[string]string{}
	for i, made := range h.specs {
		registry := h.app.registry()
		agent, err := h.app.agentOf(ctx, made, registry)
		if err != nil {
			return err
		}
		h.app.warn(made, registry)
		w, err := h.work(agent, h.policy, made)
		if err != nil {
			return err
		}
		m, err := pawl.NewMachine(w.Agent)
		if err != nil {
			return refused(err)
		}
		d := m.Declaration()
		about := client.Agent{Name: agent.Name, Version: agent.Version, Description: made.Description, Model: d.ModelInfo.Name, Loop: d.Loop, Tools: []string{}, Input: made.Input.Text, Spec: h.digests[i]}
		for _, t := range d.Tools {
			about.Tools = append(about.Tools, t.Name)
		}
		h.models[d.ModelInfo.Name] = made.ModelName(registry)
		for _, mate := range team.Of(&agent)[1:] {
			if mate.Name != agent.Name {
				about.Team = append(about.Team, mate.Name)
			}
		}
		h.served = append(h.served, servedAgent{about, w, made.Upgrade, h.refusal(http.StatusUnprocessableEntity, ready(made, registry))})
	}
	return nil
}

// triggers are those of the specs, with their secrets.
func (h *serveHost) triggers() (all []server.Trigger, err error) {
	for _, made := range h.specs {
		for _, t := range made.Triggers {
			secret := h.app.getenv(t.Secret)
			if t.Webhook != "" && secret == "" {
				return nil, misuse("the trigger %s of %s: the variable %s is not set; set it to what the sender signs with", t.Webhook, made.Name, t.Secret)
			}
			zone, err := t.Location()
			if err != nil {
				return nil, err
			}
			all = append(all, server.Trigger{
				Agent: made.Name, Cron: t.Cron, Zone: zone, MakeUp: t.Missed == "once", Webhook: t.Webhook, Sign: t.Sign, Secret: []byte(secret),
				When: t.When, Key: t.Key, Signal: t.Signal, Watch: t.Watch, Input: cmp.Or(t.Start, t.Input),
			})
		}
	}
	return all, nil
}

// attend delivers the webhooks of runs of some agents (nil: of all), deletes old runs and counts
// those that wait, until quit. Call rests with a run that this process releases.
func (h *serveHost) attend(ctx context.Context, j store, agents []string, o *webhook.Options) (rests func(pawl.Result), quit func(), err error) {
	quitGC := h.service.gc.schedule(ctx, j, h.log)
	o.Log = h.log
	rests, quitHooks, err := deliverAll(ctx, h.app, j, agents, o)
	if err != nil {
		quitGC()
		return nil, nil, err
	}
	h.mu.Lock()
	h.tell = rests
	h.mu.Unlock()
	h.app.watchBacklog(ctx, j, workHost{h})
	return rests, func() { quitHooks(); quitGC() }, nil
}

// close closes the engines, which suspends their runs.
func (h *serveHost) close() {
	for _, one := range h.served {
		_ = one.work.Engine.Close()
	}
}

// work is an agent under a policy, ready to run.
func (h *serveHost) work(agent pawl.Agent, policy *spec.Policy, made *spec.Spec) (worker.Work, error) {
	agent, err := under(policy, agent)
	if err != nil {
		return worker.Work{}, err
	}
	agent.Labels = runs.Labels(agent.Labels, h.labels)
	w := worker.Work{Agent: agent, Engine: h.engine(agent)}
	if made != nil {
		w.Input, w.Files, w.Thread = made.Input.Text, made.Input.Files, made.Thread
	}
	if policy != nil {
		w.Lower = policy.Lower
	}
	return w, nil
}

// engine makes an engine for an agent. Recorded output of commands is cleaned of the
// secrets of all agents, because it is all in one directory.
func (h *serveHost) engine(agent pawl.Agent) *engine.Engine {
	o := h.app.options(agent.Source)
	for _, made := range h.specs { // a run that began under another figure is held to the present one
		if made.Name == agent.Name {
			o.Budgets = made.Budgets
			if h.policy != nil {
				o.Budgets = append(slices.Clip(o.Budgets), h.policy.Budgets()...)
			}
		}
	}
	o.Approver = h.app.approver(h.service.approvals, infos(agent))
	o.Patience = -1
	h.mu.Lock()
	defer h.mu.Unlock()
	before := len(h.secrets)
	maps.Copy(h.secrets, o.Secrets)
	if before == 0 || len(h.secrets) > before {
		h.app.recordCalls(&engine.Options{Secrets: h.secrets})
	}
	o.Grace = h.service.grace
	o.Watchers, o.Log, o.Threads = h.app.watchers(true), h.log, &h.threads
	if h.app.webhooks(agent.Source) != nil {
		o.Watchers = append(o.Watchers, noticeWatcher{h})
	}
	return engine.New(h.journal, o)
}

// A noticeWatcher has webhooks delivered when a run gives a notice, since it goes on for a while.
type noticeWatcher struct{ host *serveHost }

func (w noticeWatcher) Entry(_ context.Context, s *pawl.State, e pawl.Entry) {
	if _, notice := e.Event.(pawl.NoticeGiven); !notice || engine.ParentOf(s) != "" {
		return
	}
	w.host.mu.Lock()
	tell := w.host.tell
	w.host.mu.Unlock()
	if tell != nil {
		tell(s.Result())
	}
}

func (noticeWatcher) Within(ctx context.Context, _ string, _ uint64) context.Context { return ctx }
func (noticeWatcher) Left(context.Context, string, error)                            {}

// named finds an agent by its name, the newest of several versions, or by NAME@VERSION.
func (h *serveHost) named(name string) (found *servedAgent) {
	name, version, exact := strings.Cut(name, "@")
	for i := range h.served {
		one := &h.served[i]
		switch {
		case one.about.Name != name || exact && one.about.Version != version:
		case found == nil || newer(one.about.Version, found.about.Version):
			found = one
		}
	}
	return found
}

// versions says which agents there are in place of an unknown one.
func (h *serveHost) versions() string {
	var all []string
	for _, one := range h.served {
		all = append(all, one.title())
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// versioned finds the agent to resume a run with: of the version that the run has, or else
// the newest, if its rule moves runs of other versions. Nil: neither is served.
func (h *serveHost) versioned(d pawl.Declaration) *servedAgent {
	if one := h.named(d.Agent + "@" + d.Version); one != nil && d.Version != "" {
		return one
	}
	if one := h.named(d.Agent); one != nil && one.about.Version != d.Version && one.upgrade > engine.UpgradeRefuse {
		return one
	}
	return nil
}

// Agents lists what may be started.
func (h *serveHost) Agents(context.Context) ([]client.Agent, error) {
	var all []client.Agent
	for _, one := range h.served {
		all = append(all, one.about)
	}
	slices.SortFunc(all, func(a, b client.Agent) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), compareVersions(b.Version, a.Version))
	})
	return all, nil
}

// Start makes the agent with a name, or of a spec that a client sent.
func (h *serveHost) Start(ctx context.Context, name string, raw json.RawMessage) (worker.Work, error) {
	switch one := h.named(name); {
	case raw == nil && one == nil:
		return worker.Work{}, problem(http.StatusUnprocessableEntity, fmt.Sprintf("agent %q does not exist; there is %s", name, h.versions()))
	case raw == nil:
		return one.ready()
	case !h.service.specs:
		return worker.Work{}, problem(http.StatusForbidden, "this server does not accept specs from clients; name one of its agents, or serve with --allow-specs")
	}
	beside := h.app.beside()
	registry := beside.registry()
	file, text := inlineSpec, ""
	if json.Unmarshal(raw, &text) == nil && text != "" {
		file, raw = inlineText, json.RawMessage(text)
	}
	made, err := spec.Parse(file, raw, h.options(registry))
	if problems, bad := errors.AsType[spec.Problems](err); bad {
		err = flagged(problems)
	} else if err == nil {
		err = ready(made, registry)
	}
	var w worker.Work
	if err == nil {
		w, err = h.made(ctx, beside, made, registry)
	}
	return w, h.refusal(http.StatusUnprocessableEntity, err)
}

// refusal is an error of usage as clients are told it. Other errors are returned unchanged.
func (h *serveHost) refusal(status int, err error) error {
	unready, keyless := errors.AsType[*unreadyError](err)
	switch {
	case err == nil, errors.As(err, new(*client.Problem)), codeOf(err) != exitUsage:
		return err
	case keyless: // clients cannot set keys
		said := make([]string, len(unready.problems))
		for i, p := range unready.problems {
			said[i] = p.Message
		}
		return problem(http.StatusUnprocessableEntity, fmt.Sprintf("agent %s cannot run on this server: %s in the server's environment", unready.agent, strings.Join(said, "; ")))
	}
	// Clients need not know where the directory of the server is.
	return problem(status, strings.ReplaceAll(err.Error(), strings.TrimSuffix(h.dir, "/")+"/", ""))
}

// made makes the agent of a spec for one run.
func (h *serveHost) made(ctx context.Context, beside *app, made *spec.Spec, registry *spec.Registry) (worker.Work, error) {
	agent, err := beside.agentOf(ctx, made, registry)
	var w worker.Work
	if err == nil {
		w, err = h.work(agent, h.policy, made)
	}
	if err != nil {
		beside.disconnect()
		return w, err
	}
	return h.alone(w, beside), nil
}

// alone is a work whose agent is made for one run.
func (h *serveHost) alone(w worker.Work, beside *app) worker.Work {
	w.Done = func() {
		_ = w.Engine.Close()
		beside.disconnect()
	}
	return w
}

// Again rebuilds the agent of a run. If it is exactly the agent of a spec, Again
// returns that one.
func (h *serveHost) Again(ctx context.Context, s *pawl.State, fork *server.Change) (worker.Work, error) {
	change := server.Change{}
	if fork != nil {
		change = *fork
	}
	model, err := h.changed(change.Model)
	if err != nil {
		return worker.Work{}, err
	}
	source := s.Declaration().Source
	start, _ := s.Start()
	for _, one := range h.served {
		if one.work.Agent.Source == source && start.Parent == "" && change == (server.Change{}) { // a child has inherited policies
			return one.ready()
		}
	}
	_, called := runs.Called(source)
	if one := h.versioned(s.Declaration()); one != nil && !called && start.Parent == "" && fork == nil {
		w, err := one.ready()
		w.Upgrade = one.upgrade
		return w, err
	}
	if _, is, err := copyOf(source); is || err != nil {
		return worker.Work{}, elsewhere(fmt.Sprintf("run %s works in a copy of a project, which is not here or which this server does not share; on the machine that has it, resume it with: %s", s.Run(), h.app.typed("pawl", "resume", s.Run())))
	}
	if !ofPawl(s) {
		return worker.Work{}, elsewhere(fmt.Sprintf("run %s was not started from a spec, so its agent is not known here; resume it with the program that started it", s.Run()))
	}
	beside := h.app.beside()
	w, err := beside.workOf(ctx, h.journal, s, remake{policy: h.policy, asWas: fork != nil, prompt: change.Prompt, model: model})
	if err != nil {
		beside.disconnect()
		status := http.StatusUnprocessableEntity
		if change == (server.Change{}) {
			status, err = http.StatusConflict, fmt.Errorf("cannot rebuild the agent of run %s here: %w", s.Run(), err)
		}
		return worker.Work{}, h.refusal(status, err)
	}
	work := worker.Work{Agent: w.agent, Engine: h.engine(w.agent), Upgrade: w.upgrade}
	if w.policy != nil {
		work.Lower = w.policy.Lower
	}
	return h.alone(work, beside), nil
}

// changed is the model that a client wants for a fork, as specs name it. A client cannot name
// a file of the server.
func (h *serveHost) changed(model string) (string, error) {
	if known, ok := h.models[model]; ok {
		return known, nil
	}
	if strings.HasPrefix(model, "script:") || strings.HasPrefix(model, "script/") {
		return "", problem(http.StatusUnprocessableEntity, fmt.Sprintf("model is %q; name the model of one of the server's agents, or PROVIDER/NAME", model))
	}
	return model, nil
}

// Replay replays a run with each agent that it has had.
func (h *serveHost) Replay(ctx context.Context, run string) (client.Replayed, error) {
	beside := h.app.beside()
	defer beside.disconnect()
	out, err := replayRun(ctx, beside, h.journal, run)
	if err != nil {
		err = h.refusal(http.StatusConflict, fmt.Errorf("cannot rebuild the agent of run %s here: %w", run, err))
	}
	return out, err
}

// Desk is an engine that sends signals to a run.
func (h *serveHost) Desk(s *pawl.State) *engine.Engine {
	return engine.New(h.journal, h.app.options(s.Declaration().Source))
}

// beside is an invocation for one agent, whose connections end with it.
func (a *app) beside() *app {
	return &app{console: a.console, environment: a.environment, reports: a.reports}
}

// elsewhere is the error for a run that must be resumed elsewhere.
func elsewhere(detail string) error {
	return fmt.Errorf("%w: %w", runs.ErrElsewhere, problem(http.StatusConflict, detail))
}

func problem(status int, detail string) error {
	return &client.Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: redact.Text(display.Clean(detail))}
}
