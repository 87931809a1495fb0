package cli

import (
	"context"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// approvalsMode is the value of --approvals; empty: not given.
type approvalsMode string

const (
	modeAsk  approvalsMode = "ask"
	modePark approvalsMode = "park"
	modeDeny approvalsMode = "deny"
)

// set reads a mode from the command line.
func (m *approvalsMode) set(text string) error {
	switch mode := approvalsMode(text); mode {
	case modeAsk, modePark, modeDeny:
		*m = mode
		return nil
	}
	return fmt.Errorf("write ask, park or deny")
}

// engine makes the engine that drives a run of the agent under the given flags.
func (a *app) engine(j pawl.Journal, d *driving, agent pawl.Agent) *engine.Engine {
	o := a.options(agent.Source)
	a.shown = a.asks(d.approvals)
	a.recordCalls(o)
	o.Approver = a.approver(d.approvals, infos(agent))
	o.Patience = -1 // a person may take until the request expires
	o.Watchers = a.watchers(false)
	if to := a.reporting(false); to != nil {
		o.Log = to.Log
	}
	return engine.New(j, o)
}

// approver decides calls at the terminal; nil: others decide them.
func (a *app) approver(mode approvalsMode, tools []pawl.ToolInfo) engine.Approver {
	switch {
	case a.asks(mode):
		return a.asker(tools)
	case mode == modeDeny:
		return engine.ApproverFunc(func(_ context.Context, r engine.Request) (engine.Decision, error) {
			a.sayf("%s %s is denied by --approvals deny", r.Call, r.Tool)
			return engine.Decision{Reason: "approvals are denied where this run is driven", By: "--approvals deny"}, nil
		})
	}
	return nil
}

// asks reports whether this process asks for what a run waits for.
func (con *console) asks(mode approvalsMode) bool {
	return mode == modeAsk || mode == "" && con.attended()
}

// attended reports whether a person can be asked: input and error output are both
// terminals.
func (con *console) attended() bool {
	return isTerminal(con.in) && isTerminal(con.err.under())
}
