package pawl

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/jsonschema"
	"github.com/pawl-run/pawl/internal/naming"
	"github.com/pawl-run/pawl/internal/usercode"
)

// A Machine is a prepared agent: checked, declared, its schemas compiled. It is
// immutable; any number of runs may share it.
type Machine struct {
	agent     Agent
	decl      Declaration
	loop      Loop
	tools     map[string]*armed
	auxiliary []Model    // as declared
	offer     []ToolInfo // the tools, in declaration order
	core      []ToolInfo // those that are not deferred
	index     *naming.Index
	output    *jsonschema.Schema
	base      int    // bytes of prompt and tools
	weight    burden // of core
	options   int    // bytes of the sampling's options
	single    bool
}

// armed is a tool with its schema compiled.
type armed struct {
	tool   Tool
	info   ToolInfo
	schema *jsonschema.Schema
	pure   *builtin
	waiter Waiter // nil: it runs

	agent *Agent // whose runs its calls are, if ask is set
	ask   func(args json.RawMessage) (string, error)
	waits bool // the agent does; see [Machine.Waits]
	asks  bool // the agent does; see [Machine.Asks]
}

// maxStrikes is how many replies of one iteration may be rejected: one plan
// and two more tries. maxRejected such iterations in a row end the run.
// maxRetries is how often hooks may have one call run again: as often as a
// reply is asked for again. maxVoided is how many approvals of one call may be void
// before it is refused.
const (
	maxRejections = 3
	maxRejected   = 2
	maxRetries    = 2
	maxVoided     = 3
)

var agentName = regexp.MustCompile(`^[a-z0-9-]+$`)

// NewMachine prepares an agent. The error joins every contradiction found, one
// a line, each naming what it is about and what would be right.
func NewMachine(a Agent) (*Machine, error) {
	m := &Machine{agent: a, loop: a.Loop, tools: map[string]*armed{}}
	if m.loop == nil {
		m.loop = ReAct{}
	}
	_, m.single = m.loop.(SingleCall)
	m.agent.Strategy = cmp.Or(a.Strategy, StrategyNative)
	var errs []error
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	refuse(!agentName.MatchString(a.Name), "agent name %q: use lower-case letters, digits and hyphens", a.Name)
	refuse(a.Model == nil, "model: none is set; set Agent.Model")
	model := describe(a.Model)
	a.Limits.check(model.Price, refuse)
	priced := func(what string, info ModelInfo) {
		refuse(a.Limits.Cost > 0 && model.Price != nil && info.Price == nil,
			"limits: Cost is $%v, but the %s %s has no price; give it one, or drop it or the ceiling", Decimal(a.Limits.Cost), what, info.Name)
	}
	var fallback []ModelInfo
	for i, f := range a.Fallback {
		refuse(f == nil, "fallback %d: there is no model; drop it", i+1)
		fallback = append(fallback, describe(f))
		priced("fallback", fallback[i])
	}
	auxiliary, advice, wrong := a.auxiliary()
	m.auxiliary, errs = auxiliary, append(errs, wrong...)
	for _, info := range advice {
		priced("auxiliary model", info)
	}
	errs = append(errs, m.arm()...)
	if m.single {
		refuse(len(a.Tools) > 0, "loop single: it offers no tools, but the agent has %d; use the react loop or drop them", len(a.Tools))
		refuse(a.Builtins, "loop single: it offers no tools; drop Builtins")
		refuse(a.Strategy == StrategyJSON, "loop single: the json strategy is a way to call tools; use native")
	}
	refuse(a.Goal != nil && (a.Goal.Metric == nil || a.Goal.Success == nil), "goal: it needs both a Metric and a Success condition")
	if a.Output != nil {
		var err error
		m.output, err = jsonschema.Compile(a.Output, nil)
		refuse(err != nil, "output: %w", err)
	}
	m.checkSampling(refuse)
	refuse(a.MaxParallel < 0, "max_parallel: MaxParallel is %d; it may not be negative", a.MaxParallel)
	refuse(a.MaxParallel > 1 && a.Serial, "max_parallel: MaxParallel is %d, but a Serial agent makes one call at a time; drop one of them", a.MaxParallel)
	refuse(a.Approvals.TTL < 0, "approvals: TTL is %v; it may not be negative", a.Approvals.TTL)
	errs = append(errs, m.check()...)
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("agent %q: %w", a.Name, err)
	}

	m.declare(model, fallback, advice)
	m.core = core(m.offer)
	m.weigh()
	return m, nil
}

// declare fills in what is declared of the agent.
func (m *Machine) declare(model ModelInfo, fallback, auxiliary []ModelInfo) {
	a := &m.agent
	m.decl = Declaration{
		Agent: a.Name, Version: a.Version, Description: a.Description, Prompt: a.Prompt, ModelInfo: model, Fallback: fallback, Auxiliary: auxiliary,
		Loop: m.loop.Name(), Strategy: m.agent.Strategy, Tools: m.offer, Limits: a.Limits.withDefaults(),
		Observes: a.observes(), Output: a.Output, Sampling: a.Sampling, Serial: a.Serial, MaxParallel: a.MaxParallel, Approvals: a.Approvals, Instructs: a.Instruct != nil, Notices: a.Notices, Trace: a.Trace, ResultKey: a.ResultKey,
		Source: a.Source, Machine: MachineNumber,
	}
	if k, ok := m.loop.(interface{ Steps() json.RawMessage }); ok {
		m.decl.Steps = k.Steps()
	}
	if a.Stop != nil {
		m.decl.Stop = a.Stop.String()
	}
	if a.Goal != nil {
		m.decl.Goal = a.Goal.Success.String()
	}
	for _, p := range a.Policies {
		kind, _, _ := strings.Cut(p.String(), "(")
		info := PolicyInfo{Kind: kind}
		if p, ok := p.(interface{ Parameters() json.RawMessage }); ok {
			info.Parameters = p.Parameters()
		}
		m.decl.Policies, m.decl.PolicyInfo = append(m.decl.Policies, p.String()), append(m.decl.PolicyInfo, info)
	}
	m.decl.Digests = m.decl.digest()
}

// Agent returns the agent the machine was made of.
func (m *Machine) Agent() Agent { return m.agent }

// Under returns the machine with the prices of a recorded declaration, which otherwise equals
// its own, and, unless nil, with another stop condition.
func (m *Machine) Under(d Declaration, stop Condition) *Machine {
	now := *m
	now.decl.ModelInfo.Price, now.decl.Fallback, now.decl.Auxiliary = d.ModelInfo.Price, d.Fallback, d.Auxiliary
	if stop != nil {
		now.agent.Stop = stop
	}
	return &now
}

// Asked returns the model that t asks, and its declaration.
func (m *Machine) Asked(t Think) (Model, ModelInfo) {
	for i := range m.auxiliary {
		if info := m.decl.Auxiliary[i]; t.Model != "" && info.Name == t.Model {
			return m.auxiliary[i], info
		}
	}
	if t.Fallback == 0 {
		return m.agent.Model, m.decl.ModelInfo
	}
	return m.agent.Fallback[t.Fallback-1], *m.decl.model("", t.Fallback)
}

// auxiliary gathers the models that policies and the loop bring, each name once.
func (a *Agent) auxiliary() (models []Model, infos []ModelInfo, errs []error) {
	parts := []any{a.Loop}
	for _, p := range a.Policies {
		parts = append(parts, p)
	}
	for _, part := range parts {
		brings, ok := part.(Auxiliary)
		if !ok {
			continue
		}
		for _, model := range brings.AuxiliaryModels() {
			info := describe(model)
			switch i := slices.IndexFunc(infos, func(i ModelInfo) bool { return i.Name == info.Name }); {
			case model == nil:
				errs = append(errs, errors.New("auxiliary models: one of them is nil"))
			case i < 0:
				models, infos = append(models, model), append(infos, info)
			case !reflect.TypeOf(model).Comparable() || models[i] != model:
				errs = append(errs, fmt.Errorf("auxiliary models: there are two models called %q; have one describe itself otherwise", info.Name))
			}
		}
	}
	return models, infos, errs
}

func describe(m Model) ModelInfo {
	d, ok := m.(Describer)
	if !ok {
		return ModelInfo{Name: "func"}
	}
	info := d.Describe()
	if p := info.Price; p != nil && p.Long.From <= 0 { // which is no price
		info = usercode.Copy(info)
		info.Price.Long = Tier{}
	}
	return info
}

// Declaration returns the part of the agent that is data. It must not be changed.
func (m *Machine) Declaration() Declaration { return m.decl }

// Tool returns the tool of a name.
func (m *Machine) Tool(name string) (Tool, ToolInfo, bool) {
	t, ok := m.tools[name]
	if !ok {
		return nil, ToolInfo{}, false
	}
	return t.tool, t.info, true
}

// arm prepares the tools, the machine's own ones after the agent's.
func (m *Machine) arm() (errs []error) {
	none := func(t Tool) bool { return t == nil }
	if slices.ContainsFunc(m.agent.Tools, none) {
		errs = append(errs, errors.New("tools: one of them is nil"))
		// The parts that are asked about the agent need not look out for it.
		m.agent.Tools = slices.DeleteFunc(slices.Clone(m.agent.Tools), none)
	}
	for _, t := range m.agent.Tools {
		errs = append(errs, m.add(t, false))
	}
	if m.agent.Core != nil {
		errs = append(errs, m.deferTools())
	}
	if m.agent.Builtins || m.agent.Strategy == StrategyJSON {
		for _, t := range builtins() {
			// Under the json strategy every turn is an action, so there must be one that ends the run.
			if m.agent.Builtins || t.info.Name == completeTool {
				errs = append(errs, m.add(t, true))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.agent.Trust)) {
		if errors.Join(errs...) == nil && m.tools[name] == nil {
			errs = append(errs, fmt.Errorf("trust: there is no tool %q to label", name))
		}
	}
	return errs
}

// add prepares a tool.
func (m *Machine) add(t Tool, own bool) error {
	if err := m.agent.asks(t); err != nil {
		return err
	}
	a := &armed{tool: t, info: t.Info().withDefaults()}
	info := &a.info
	switch {
	case !naming.ToolName().MatchString(info.Name):
		return fmt.Errorf("tool %q: a name has 1 to 64 letters, digits, _ or -", info.Name)
	case strings.HasPrefix(info.Name, "__") && !own:
		return fmt.Errorf("tool %q: names that begin with __ belong to the machine", info.Name)
	case m.tools[info.Name] != nil:
		return fmt.Errorf("tool %q: there are two of that name", info.Name)
	case info.Timeout < 0 || min(info.MaxOutput, info.MaxCalls, info.MaxParallel, info.Weight) < 0:
		return fmt.Errorf("tool %q: Timeout, MaxOutput, MaxCalls, MaxParallel and Weight may not be negative", info.Name)
	}
	var err error
	if a.schema, err = jsonschema.Compile(info.Input, &jsonschema.Options{Closed: true}); err != nil {
		return fmt.Errorf("tool %q: input: %w", info.Name, err)
	}
	if label, ok := m.agent.Trust[info.Name]; ok {
		info.Trust = label
	}
	if info.Trust < 0 || info.Trust > Untrusted {
		return fmt.Errorf("tool %q: %d is no label; use Trusted or Untrusted", info.Name, int(info.Trust))
	}
	a.pure, _ = t.(*builtin)
	a.waiter, _ = t.(Waiter)
	if d, ok := t.(Delegate); ok {
		if err := m.delegate(d, a); err != nil {
			return err
		}
	}
	if info.Trust == Trusted { // which goes without saying
		info.Trust, info.Foreign = 0, false
	}
	m.tools[info.Name] = a
	m.offer = append(m.offer, *info)
	return nil
}

// check asks the parts that can tell what is wrong with them.
func (m *Machine) check() (errs []error) {
	parts := []any{m.agent.Stop, m.agent.Loop}
	if m.agent.Goal != nil {
		parts = append(parts, m.agent.Goal.Success)
	}
	for i, p := range m.agent.Policies {
		if p == nil {
			errs = append(errs, errors.New("policies: one of them is nil"))
		} else if i >= m.agent.inherited {
			parts = append(parts, p)
		}
	}
	for _, part := range parts {
		errs = append(errs, m.agent.asks(part))
	}
	return errs
}

// asks asks a part of the agent what is wrong, if it can tell.
func (a *Agent) asks(part any) error {
	if c, ok := part.(Checker); ok {
		return c.Check(*a)
	}
	return nil
}

// Waits reports whether a run of the agent can be suspended until someone
// outside answers: because of a client tool, or a policy or tool with a method
// Waits() bool that returns true. Such an agent needs a journal that outlives
// the process, unless it waits only for approvals and the process decides them
// itself. Where no journal does, __pause_for_human__ reads that nobody answers.
func (m *Machine) Waits() bool { return m.halts(true) }

// Asks reports whether a run can wait for more than approvals: an answer, or the
// result of a client tool. A policy that waits for approvals only has a method
// Approves() bool that says so.
func (m *Machine) Asks() bool { return m.halts(false) }

func (m *Machine) halts(approvals bool) bool {
	waits := func(part any) bool {
		w, ok := part.(interface{ Waits() bool })
		if a, only := part.(interface{ Approves() bool }); !approvals && only && a.Approves() {
			return false
		}
		return ok && w.Waits()
	}
	for _, t := range m.tools {
		own := t.info.Client || t.asks || approvals && t.waits
		if own || waits(t.tool) {
			return true
		}
	}
	return slices.ContainsFunc(m.agent.Policies, func(p Policy) bool { return waits(p) })
}

func (l Limits) check(price *Price, refuse func(wrong bool, format string, args ...any)) {
	refuse(l.Iterations < 0, "limits: iterations is %d; it must be positive", l.Iterations)
	refuse(l.Iterations > maxIterations, "limits: iterations is %s; the most is %s", display.Group(l.Iterations), display.Group(maxIterations))
	refuse(l.Tokens < 0, "limits: tokens is %d; it must be positive", l.Tokens)
	refuse(l.Time < 0, "limits: time is %v; it must be positive", l.Time)
	refuse(l.Cost < 0 || l.Cost != l.Cost, "limits: cost is %v; it must be positive", l.Cost)
	refuse(l.Cost > 0 && price == nil, "limits: cost is $%v, but the model has no price; give it one or drop the ceiling", Decimal(l.Cost))
	refuse(l.ToolErrors < 0 || l.Attempts < 0, "limits: tool_errors and attempts must be positive")
	refuse(l.Margin < 0 || l.Margin > 10 || l.Margin != l.Margin, "limits: margin is %v; it is a fraction such as 0.1", l.Margin)
}

// validate lists what is wrong with a call's arguments, for the model to read.
func (t *armed) validate(args json.RawMessage) string {
	switch {
	case bytes.HasPrefix(args, []byte(`"`+repaired)):
		return "they had bytes that are not UTF-8; write the call again"
	case len(args) == 0 || args[0] != '{':
		return "arguments must be one JSON object"
	}
	var lines []string
	for _, p := range t.schema.Validate(args) {
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "; ")
}
