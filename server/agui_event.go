package server

import (
	"encoding/json"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
)

// aguiEvent is an event of the Agent User Interaction Protocol, version 1.0
// (https://docs.ag-ui.com/concepts/events). Each type uses some of the members.
type aguiEvent struct {
	Type      string `json:"type"`
	Timestamp int64  `json:"timestamp,omitempty"` // milliseconds since 1970

	ThreadID    string       `json:"threadId,omitempty"`
	RunID       string       `json:"runId,omitempty"`
	ParentRunID string       `json:"parentRunId,omitempty"`
	StepName    string       `json:"stepName,omitempty"`
	MessageID   string       `json:"messageId,omitempty"`
	Role        string       `json:"role,omitempty"`
	Delta       string       `json:"delta,omitempty"`
	ToolCallID  string       `json:"toolCallId,omitempty"`
	ToolName    string       `json:"toolCallName,omitempty"`
	ParentID    string       `json:"parentMessageId,omitempty"`
	Content     any          `json:"content,omitempty"` // the text of a result, or an activity
	Activity    string       `json:"activityType,omitempty"`
	Snapshot    *aguiState   `json:"snapshot,omitempty"`
	Messages    []aguiSaid   `json:"messages,omitempty"`
	Name        string       `json:"name,omitempty"`
	Value       any          `json:"value,omitempty"`
	Result      any          `json:"result,omitempty"`
	Outcome     *aguiOutcome `json:"outcome,omitempty"`
	Message     string       `json:"message,omitempty"`
	Code        string       `json:"code,omitempty"`
}

// aguiState is a client's state of a run. A stream can resume after entry Seq.
type aguiState struct {
	Run        string        `json:"run"`
	Agent      string        `json:"agent"`
	Seq        uint64        `json:"seq"`
	Status     pawl.Status   `json:"status"`
	Iteration  int           `json:"iteration"`
	Tokens     int           `json:"tokens"`
	CostUSD    *pawl.Decimal `json:"cost_usd"`
	ElapsedMS  int64         `json:"elapsed_ms"`
	Confidence *float64      `json:"confidence"`
	Limits     aguiCeilings  `json:"limits"`
}

type aguiCeilings struct {
	Iterations int           `json:"iterations"`
	Tokens     int           `json:"tokens"`
	TimeMS     int64         `json:"time_ms"`
	CostUSD    *pawl.Decimal `json:"cost_usd"`
}

// aguiOutcome is how a run ended: success, cancelled, or interrupt with what it waits for.
type aguiOutcome struct {
	Type       string          `json:"type"`
	Interrupts []aguiInterrupt `json:"interrupts,omitempty"`
}

// aguiInterrupt is something that a run waits for. Metadata names the run and the call
// for the answer.
type aguiInterrupt struct {
	ID         string         `json:"id"`
	Reason     string         `json:"reason"`
	Message    string         `json:"message,omitempty"`
	ToolCallID string         `json:"toolCallId,omitempty"`
	ExpiresAt  *time.Time     `json:"expiresAt,omitempty"`
	Metadata   map[string]any `json:"metadata"`
}

// aguiReasons are the protocol's reasons for what a run waits for, if it has one.
var aguiReasons = map[string]string{"approval": "tool_call", "input": "input_required", "client_tool": "pawl:client_tool", "doubt": "pawl:doubt"}

func interruptOf(p pawl.Pending) aguiInterrupt {
	id := aguiID(p.Run, p.Call)
	i := aguiInterrupt{ID: id, Reason: aguiReasons[p.Kind], Message: display.Visible(p.Reason), ExpiresAt: p.ExpiresAt, Metadata: map[string]any{"run": p.Run, "call": p.Call, "kind": p.Kind}}
	if p.Tool != "" {
		i.ToolCallID = id
		i.Metadata["tool"] = p.Tool
	}
	if json.Valid(p.Args) {
		i.Metadata["args"] = p.Args
	}
	return i
}

// aguiID is an id that is unique in a thread: calls are counted per run.
func aguiID(run, what string) string { return run + ":" + what }

// snapshot is the state sent to clients.
func snapshot(s *pawl.State) *aguiState {
	l := s.Limits()
	out := &aguiState{
		Run: s.Run(), Agent: s.Declaration().Agent, Seq: s.Seq(), Status: s.Status(), Iteration: s.Iteration(), Tokens: s.Tokens(), ElapsedMS: s.Elapsed().Milliseconds(),
		Limits: aguiCeilings{Iterations: l.Iterations, Tokens: l.Tokens, TimeMS: l.Time.Milliseconds()},
	}
	if cost, known := s.Cost(); known {
		out.CostUSD = new(pawl.Decimal(cost))
	}
	if c, known := s.Confidence(); known {
		out.Confidence = &c
	}
	if l.Cost > 0 {
		out.Limits.CostUSD = new(pawl.Decimal(l.Cost))
	}
	return out
}
