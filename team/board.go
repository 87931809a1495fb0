package team

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
)

// Board gives an agent a board of tasks, which it shares with its workers: the agents among its
// tools that choose their calls. The agent and its workers add, read, claim, finish and drop tasks with the tools
// board_add, board_read, board_claim, board_finish and board_drop.
//
//	leader := team.Board(pawl.Agent{Name: "lead", Model: model, Tools: []pawl.Tool{tool.Agent(worker, nil)}})
//
// The board is in the log of the agent's run, as notes by [BoardNote]. A claim is a lease: it ends
// when the run of the worker ends, and a task that the worker did not finish is open again. The
// run cannot end as done while a task is open or claimed: the model reads which. Workers that are
// called in one reply run at once, with equal shares of what is left of the limits.
//
// What is on the board is untrusted if the agent or one of its workers has an untrusted tool.
func Board(a pawl.Agent) pawl.Agent {
	trust := pawl.Trusted
	if untrusted(a) {
		trust = pawl.Untrusted
	}
	tools := make([]pawl.Tool, 0, len(a.Tools)+len(boardOps))
	for _, t := range a.Tools {
		if d, ok := t.(pawl.Delegate); ok && chooses(d.Agent()) {
			w := d.Agent()
			w.Tools = append(slices.Clone(w.Tools), boardTools(trust, false)...)
			t = worker{d, w}
		}
		tools = append(tools, t)
	}
	a.Tools = append(tools, boardTools(trust, true)...)
	a.Policies = append(slices.Clone(a.Policies), tasksLeft{})
	return a
}

// untrusted reports whether a run of an agent may read what nobody vouches for.
func untrusted(a pawl.Agent) bool {
	return slices.ContainsFunc(a.Tools, func(t pawl.Tool) bool {
		info := t.Info()
		trust := info.Trust
		if own, ok := a.Trust[info.Name]; ok {
			trust = own
		}
		d, delegates := t.(pawl.Delegate)
		return trust == pawl.Untrusted || info.Foreign || trust == 0 && delegates && untrusted(d.Agent())
	})
}

// chooses reports whether the model of an agent chooses its calls.
func chooses(a pawl.Agent) bool {
	_, single := a.Loop.(pawl.SingleCall)
	_, steps := a.Loop.(interface{ Steps() json.RawMessage })
	return !single && !steps
}

// worker is an agent as a tool that has the board.
type worker struct {
	pawl.Delegate
	agent pawl.Agent
}

// Agent returns the agent with the tools of the board.
func (w worker) Agent() pawl.Agent { return w.agent }

// Check returns what the tool itself reports.
func (w worker) Check(from pawl.Agent) error {
	if c, ok := w.Delegate.(interface{ Check(pawl.Agent) error }); ok {
		return c.Check(from)
	}
	return nil
}

// boardOp is what a tool of the board does.
type boardOp struct{ name, about, input string }

const (
	boardPrefix = "board_"
	mostTasks   = 1000 // of a board
)

var boardOps = []boardOp{
	{"add", "Add tasks to the board, for anybody who shares it. Write each so that somebody who knows nothing else can do it.",
		`{"type":"object","properties":{"tasks":{"type":"array","minItems":1,"maxItems":100,"items":{"type":"string","minLength":1}}},"required":["tasks"]}`},
	{"read", "Read the tasks of the board: what is open, who has claimed what, and the results.", `{"type":"object","properties":{}}`},
	{"claim", "Claim a task of the board, so that nobody else does it: the first that is open, or the one you name. Finish or drop it before you claim another.",
		`{"type":"object","properties":{"task":{"type":"string","description":"Such as t3."}}}`},
	{"finish", "Hand in the result of the task that you have claimed, or of the one you name.",
		`{"type":"object","properties":{"task":{"type":"string"},"result":{"type":"string","description":"All that the others need to know."}},"required":["result"]}`},
	{"drop", "Drop the task that you have claimed, or the one you name, since it cannot or need not be done.",
		`{"type":"object","properties":{"task":{"type":"string"},"why":{"type":"string","minLength":1}},"required":["why"]}`},
}

func boardTools(trust pawl.Trust, own bool) (tools []pawl.Tool) {
	for _, op := range boardOps {
		tools = append(tools, boardTool{op, trust, own})
	}
	return tools
}

// boardTool is a tool of a board. Its calls are a Read: the engine makes the change of a call once,
// however often it runs the call. The changes of one reply are made in the order of the calls.
type boardTool struct {
	op    boardOp
	trust pawl.Trust // in what is on the board
	own   bool       // the board is in the log of the run itself, else of the run that called it
}

// Info declares the tool.
func (b boardTool) Info() pawl.ToolInfo {
	info := pawl.ToolInfo{Name: boardPrefix + b.op.name, Description: b.op.about, Input: json.RawMessage(b.op.input), Effect: pawl.Read, Alone: true, Exempt: b.op.name != "add"}
	if b.op.name == "read" || b.op.name == "claim" {
		info.Trust = b.trust
	}
	return info
}

// Run fails: only an engine has the log that the board is in.
func (b boardTool) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	return pawl.Output{}, errors.New("the board is in the log of a run, so an engine must run this")
}

// Check reports agents that cannot have a board.
func (b boardTool) Check(from pawl.Agent) error {
	workers := slices.ContainsFunc(from.Tools, func(t pawl.Tool) bool {
		d, ok := t.(pawl.Delegate)
		return ok && chooses(d.Agent())
	})
	switch {
	case !b.own || b.op.name != "add":
		return nil
	case !chooses(from):
		return fmt.Errorf("tool %q: a board is for an agent that chooses its calls, and the loop of %s is %s", boardPrefix+b.op.name, from.Name, from.Loop.Name())
	case !workers:
		return fmt.Errorf("tool %q: nobody shares the board; give %s an agent as a tool", boardPrefix+b.op.name, from.Name)
	}
	return nil
}

// IsBoardTool reports whether a declaration is that of a tool of a board.
func IsBoardTool(info pawl.ToolInfo) bool {
	return slices.ContainsFunc(boardOps, func(op boardOp) bool { return info.Name == boardPrefix+op.name && info.Description == op.about })
}

// OnBoard returns the run whose log has the board that t, a tool of run, works on; false: t is
// not a tool of a board. parent is the run that called run.
func OnBoard(t pawl.Tool, run, parent string) (board string, ok bool) {
	switch b, ok := t.(boardTool); {
	case !ok:
		return "", false
	case b.own:
		return run, true
	}
	return parent, true
}

// tasksLeft is a policy that holds a run that says it is done while its board has tasks.
type tasksLeft struct{}

// String returns the policy as recorded in the log.
func (tasksLeft) String() string { return "board()" }

// Review rejects an answer while tasks of the board are left to do.
func (tasksLeft) Review(s *pawl.State, step pawl.Step) pawl.Step {
	end, ends := step.(pawl.Finish)
	if !ends || end.Verdict.Status != pawl.StatusSuccess {
		return step
	}
	var left []string
	for _, t := range TasksOf(s) {
		if t.Status == TaskOpen || t.Status == TaskClaimed {
			left = append(left, fmt.Sprintf("%s (%s)", t.ID, t.Status))
		}
	}
	if left == nil {
		return step
	}
	why := fmt.Sprintf("the board still has %s: have an agent do what is left, or drop it with board_drop, and answer then", strings.Join(left, ", "))
	if reject, ok := s.Reject([]string{why}); ok {
		return reject
	}
	return step
}
