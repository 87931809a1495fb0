package spec

import (
	"path/filepath"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/progress"
)

// readInput reads the default input: a text, or a mapping with files.
func (s *Spec) readInput(f fields) {
	n := f.n.get("input")
	if n == nil || n.kind != mapping {
		f.text("input", &s.Input)
		return
	}
	in := f.fields(inputKeys, n)
	in.text("text", &s.Input)
	files, _ := in.words("files", "[invoice.pdf]")
	for _, file := range files {
		s.Files = append(s.Files, s.at(file))
	}
}

// read reads the keys of the top level.
func (s *Spec) read(f fields) {
	f.text("name", &s.Name)
	if s.Name != "" && !agentName.MatchString(s.Name) {
		f.problem(f.n.get("name").place, "name is %q (use lower-case letters, digits and hyphens)", s.Name)
	}
	f.text("description", &s.Description)
	f.text("version", &s.Version)
	choose(f, "upgrade", &s.Upgrade)
	s.readInput(f)
	f.text("thread", &s.Thread)
	s.alone(f)
	f.text("prompt", &s.prompt)
	s.readLabels(f)
	s.readModel(f)
	s.output = f.schema("output")
	s.readEnv(f)
	dir := "."
	f.text("dir", &dir)
	if s.dir = dir; !filepath.IsAbs(dir) {
		s.dir = filepath.Join(s.base, dir)
	}
	f.flag("builtins", &s.builtin)
	s.serial = f.off("parallel")
	f.count("max_parallel", &s.maxParallel, 1, "10")
	s.readCage(f)
	s.readLoop(f) // the steps run in the cage
	s.readTools(f)
	s.readSearch(f)
	s.readSkills(f)
	s.readHandoffs(f)
	if s.stop = f.value("stop", text, `a condition such as iterations >= 10`); s.opt.Stop != "" {
		s.stop = nil
	}
	f.flag("trace", &s.trace)
	s.readLimits(f)
	s.readApprovals(f)
	f.flag("board", &s.board)
	s.readMemory(f)
	f.flag("plan", &s.plan)
	s.plan = s.plan || s.opt.Plan
	s.readPolicies(f)
	s.readProgress(f)
	s.observe = s.readCommand(f, "observe", "[./report.sh]")
	s.readGoal(f)
	s.readGuard(f)
	s.readFetch(f)
	s.readJudge(f)
	s.readContext(f)
	s.readHooks(f)
	s.readWebhooks(f)
	s.readProviders(f)
	f.budgets(&s.Budgets)
	s.readTriggers(f)
	s.prices = f.prices()
	s.stale = staleWarn
	choose(f, "price_staleness", &s.stale)
}

func (s *Spec) readLabels(f fields) {
	n := f.value("labels", mapping, "a mapping such as {team: ops}")
	if n == nil {
		return
	}
	s.Labels = map[string]string{}
	for _, p := range n.pairs {
		if p.key == "" || strings.Contains(p.key, "=") {
			f.problem(p.place, "label %q cannot be asked for as KEY=VALUE (give it a name without =)", p.key)
			continue
		}
		if p.value.kind != text {
			f.problem(p.value.place, "label %s is %v (write text; put it in quotes if it looks like something else)", p.key, p.value.kind)
			continue
		}
		s.Labels[p.key] = p.value.text
	}
}

func (s *Spec) readEnv(f fields) {
	names, at := f.words("env", "[LEDGER_TOKEN]")
	for i, name := range names {
		if !variable.MatchString(name) {
			f.problem(at[i].place, "env has %q (write the name of a variable, whose value is taken from the environment)", name)
			continue
		}
		s.Env = append(s.Env, name)
	}
}

func (s *Spec) readLimits(f fields) {
	l := f.fields(limitKeys, f.n.get("limits"))
	l.ceilings(&s.limits)
	if l.measure("margin", &s.limits.Margin, "0.1") && (s.limits.Margin == 0 || s.limits.Margin > mostMargin) {
		l.problem(l.n.get("margin").place, "margin is %v (write a fraction above 0, such as 0.1)", s.limits.Margin)
	}
	l.count("handoffs", &s.limits.Handoffs, 1, "5")
	l.count("rounds", &s.limits.Rounds, 1, "5")
}

// ceilings reads the limits that are stricter the lower they are.
func (f fields) ceilings(to *pawl.Limits) {
	f.count("iterations", &to.Iterations, 1, "20")
	if to.Iterations > mostIterations {
		f.problem(f.n.get("iterations").place, "iterations is %d (the most is %d)", to.Iterations, mostIterations)
	}
	f.count("tokens", &to.Tokens, 1, "500000")
	f.duration("time", &to.Time)
	if f.measure("cost", &to.Cost, "2.00") && to.Cost == 0 {
		f.problem(f.n.get("cost").place, "cost is 0 (it must be positive; leave it out for no limit)")
	}
	f.count("tool_errors", &to.ToolErrors, 1, "3")
	f.count("depth", &to.Depth, 1, "10")
}

func (s *Spec) readProgress(f fields) {
	n := f.n.get("no_progress")
	if n == nil {
		return
	}
	p := f.fields(progressKeys, n)
	window, then, hint := progress.Window, progress.Fail, ""
	p.count("window", &window, 0, "3")
	choose(p, "then", &then)
	p.text("hint", &hint)
	policy := progress.NoProgress(window, then, hint)
	s.stuck = &policy
}

func (s *Spec) readGoal(f fields) {
	n := f.n.get("goal")
	if n == nil {
		return
	}
	g := f.fields(goalKeys, n)
	s.goal = &goal{metric: s.readCommand(g, "metric", "[./score.sh]"), success: g.value("success", text, "a condition such as metric >= 0")}
}

// prices reads what models cost, by name.
func (f fields) prices() map[string]pawl.Price {
	n := f.value("prices", mapping, "a mapping such as {my-model: {input: 1.0, output: 4.0}}")
	if n == nil {
		return nil
	}
	all := map[string]pawl.Price{}
	for _, p := range n.pairs {
		row := f.titled("the price of "+p.key, priceKeys, p.value)
		var price pawl.Price
		row.measure("input", &price.Input, "1.0")
		row.measure("output", &price.Output, "4.0")
		row.measure("cache_read", &price.CacheRead, "0.1")
		row.measure("cache_write", &price.CacheWrite, "1.25")
		row.measure("cache_long", &price.CacheLong, "2.0")
		row.measure("web_search", &price.Search, "0.01")
		row.measure("code_session", &price.Session, "0.03")
		if n := row.value("long", mapping, "a mapping such as {from: 200000, input: 2.0, output: 6.0}"); n != nil {
			long := row.fields(longKeys, n)
			long.count("from", &price.Long.From, 1, "200000")
			long.measure("input", &price.Long.Input, "2.0")
			long.measure("output", &price.Long.Output, "6.0")
			long.measure("cache_read", &price.Long.CacheRead, "0.2")
			long.measure("cache_write", &price.Long.CacheWrite, "2.5")
			long.measure("cache_long", &price.Long.CacheLong, "4.0")
		}
		all[p.key] = price
	}
	return all
}
