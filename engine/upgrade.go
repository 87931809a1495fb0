package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/naming"
	"github.com/pawl-run/pawl/team"
)

// Upgrade is the rule for a run whose agent has changed since the run began.
type Upgrade int

// The rules.
const (
	UpgradeRefuse     Upgrade = 1 + iota // the run is not resumed; also the zero Upgrade
	UpgradeCompatible                    // the run is resumed if the change is compatible, which is recorded
	UpgradeFork                          // a fork of the run is resumed; the run stays as it is
)

var upgrades = naming.NewEnum[Upgrade]("upgrade", []string{"refuse", "compatible", "fork"})

// String returns the rule's name, as in a spec.
func (u Upgrade) String() string { return upgrades.String(max(u, UpgradeRefuse)) }

// UnmarshalText reads a rule's name.
func (u *Upgrade) UnmarshalText(b []byte) error { return upgrades.Unmarshal(u, b) }

// An UpgradePlan says what a changed agent means for a run.
type UpgradePlan struct {
	Run      string
	Agent    string
	From, To string   // versions of the agent; empty: it has none
	Changed  []string // the parts that differ, such as "prompt" or "tool search"; empty: only the version may
	Rule     Upgrade
	// Refused says why the run stays as it is; empty: it does not.
	Refused string
	// Fork is the run that continues in its place; empty: the run itself continues.
	Fork string
}

// PlanUpgrade says what [Engine.Upgrade] would do, and writes nothing.
func (e *Engine) PlanUpgrade(ctx context.Context, agent pawl.Agent, run string, rule Upgrade) (UpgradePlan, error) {
	s, err := Load(ctx, e.journal, run)
	if err != nil {
		return UpgradePlan{}, err
	}
	if err := s.Internals().CheckMachine(); err != nil {
		return UpgradePlan{}, err
	}
	began := s.Declaration()
	m, err := e.machine(team.Member(agent, began))
	if err != nil {
		return UpgradePlan{}, err
	}
	now := m.Declaration()
	p := UpgradePlan{Run: run, Agent: began.Agent, From: began.Version, To: now.Version, Changed: began.Differences(now), Rule: max(rule, UpgradeRefuse)}
	if len(p.Changed) == 0 || tightened(began, now, p.Changed) {
		return p, nil
	}
	switch p.Rule {
	case UpgradeCompatible:
		if parts := incompatible(s, now, p.Changed); len(parts) > 0 {
			p.Refused = "not compatible: " + strings.Join(parts, ", ")
		}
	case UpgradeFork:
		p.Fork = forkFor(run, &now)
		begun, err := e.begun(ctx, p.Fork)
		if err != nil {
			return UpgradePlan{}, err
		}
		if begun {
			p.Refused = "it was forked for this version already; continue with run " + p.Fork
		}
	case UpgradeRefuse:
		p.Refused = "the agent's rule is upgrade: refuse"
	}
	return p, nil
}

// Upgrade moves a suspended run to a changed agent, as the rule says, and drives nothing:
// the run, or its fork, is suspended again. What a run waits for, and the tokens for it,
// stay as they are; a fork asks again when it is resumed.
func (e *Engine) Upgrade(ctx context.Context, agent pawl.Agent, run string, rule Upgrade) (UpgradePlan, error) {
	p, err := e.PlanUpgrade(ctx, agent, run, rule)
	if err != nil || p.Refused != "" || len(p.Changed) == 0 && p.From == p.To {
		return p, err
	}
	d, err := e.reopen(ctx, agent, run, &ResumeOptions{Upgrade: rule, AllowSpent: true})
	if err != nil {
		return p, err
	}
	err = d.rec.lease.caught(d.park)
	e.left(d.rec.base, d.rec.lease.Run, err)
	return p, err
}

// park suspends a run that was resumed, without any effect: as waiting, if that is what the
// machine decides, as queued, if it was that, and else as paused.
func (d *driver) park() error {
	r := &d.rec
	for range 8 { // as often as the policies of a step may record something
		at := r.state.Seq()
		switch step := r.machine.Decide(r.state).(type) {
		case pawl.Record:
			r.append(at, step.Events...)
			continue
		case pawl.Await:
			r.append(at, pawl.RunPaused{Status: step.Status, Reason: step.Reason, WakeAt: step.Until})
			return d.end()
		}
		break
	}
	paused := pawl.RunPaused{Status: pawl.StatusPaused, Reason: "moved to another version of its agent"}
	if d.was == pawl.StatusQueued {
		paused.Status = pawl.StatusQueued
	}
	r.appendNow(paused)
	return d.end()
}

// forkFor is the id of the fork that continues a run under another agent. It is derived, so
// that of several processes one makes it, once.
func forkFor(run string, now *pawl.Declaration) string {
	parts := []string{"upgrade", run, now.Version}
	for _, part := range (pawl.Declaration{}).Differences(*now) {
		parts = append(parts, part+"="+now.Digests[part])
	}
	return derivedID(parts...)
}

// resumeFork resumes, in place of a run, its fork under another agent. It makes the fork, unless
// there is one, at the last entry at which nothing is in flight.
func (e *Engine) resumeFork(ctx context.Context, agent pawl.Agent, run string, o *ResumeOptions) (*driver, error) {
	p, err := e.PlanUpgrade(ctx, agent, run, UpgradeFork)
	if err != nil {
		return nil, err
	}
	if p.Refused != "" {
		return nil, fmt.Errorf("run %s: %s", run, p.Refused)
	}
	s, last := new(pawl.State), uint64(0)
	for entry, err := range entriesFor(ctx, e.journal, run, s) {
		if err != nil {
			return nil, err
		}
		if s.Fold(entry); !s.InFlight() {
			last = entry.Seq
		}
	}
	d, err := e.fork(ctx, agent, run, last, &ForkOptions{ID: p.Fork, Stop: o.Stop, Limits: o.Limits, AllowSpent: o.AllowSpent, AllowChange: true})
	if err == nil {
		d.requests.reissue = true
	}
	return d, err
}

// incompatible returns the parts of a change with which a run cannot continue, and why. What
// the log holds must mean the same to the changed agent: so the loop, its steps, the strategy,
// the goal, what is observed and the rules for approvals stay, policies and distrust are only
// added, and a tool with an open call stays as it is.
func incompatible(s *pawl.State, now pawl.Declaration, parts []string) (wrong []string) {
	was := s.Declaration()
	open := map[string]string{}
	for c := range s.Open() {
		open[c.Tool] = c.ID
	}
	for _, part := range parts {
		kind, tool, _ := strings.Cut(part, " ")
		tool, _, _ = strings.Cut(tool, " ") // without the lines of its version
		switch kind {
		case "prompt", "model", "sampling", "stop", "output", "serial":
		case "policies":
			if !tightened(was, now, nil) {
				wrong = append(wrong, "policies (one was removed or changed)")
			}
		case "tool":
			if open[tool] != "" {
				wrong = append(wrong, fmt.Sprintf("tool %s (its call %s is open)", tool, open[tool]))
			}
		case "trust", "flow":
			added := was.Digests[kind+" "+tool] == ""
			if fresh := was.Digests["tool "+tool] == ""; !fresh && (kind == "flow" || !added) {
				wrong = append(wrong, part)
			}
		default: // agent, loop, steps, strategy, goal, observes, approvals
			wrong = append(wrong, part)
		}
	}
	return wrong
}
