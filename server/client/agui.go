package client

import "encoding/json"

// AGUIInput is RunAgentInput of the Agent User Interaction Protocol
// (https://docs.ag-ui.com): the thread, what the user says next, and what resolves the
// interrupts of the thread's last run. Other members, such as the tools of a page, have no effect.
type AGUIInput struct {
	ThreadID string        `json:"threadId"`
	RunID    string        `json:"runId"` // the request's own id: sent again, it finds the run that it started
	Messages []AGUIMessage `json:"messages"`
	Context  []AGUIContext `json:"context,omitempty"`
	Resume   []AGUIResume  `json:"resume,omitempty"`
}

// UnmarshalJSON ignores unknown members.
func (in *AGUIInput) UnmarshalJSON(data []byte) error {
	type members AGUIInput
	return json.Unmarshal(data, (*members)(in))
}

// AGUIMessage is a message of the thread. Content is a text or a list of parts.
type AGUIMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content,omitempty"`
	ToolCallID string          `json:"toolCallId,omitempty"` // of the result of a call
}

// AGUIContext is something that the user sees, for the agent to know.
type AGUIContext struct {
	Description string `json:"description"`
	Value       string `json:"value"`
}

// AGUIResume resolves an interrupt. The payload for an approval is
// {"approved": true, "args": {…}} or {"approved": false, "reason": "…"}, for a question its answer,
// for a client's call its result, for an unknown outcome {"happened": RESULT} or {"did_not_happen": true}.
type AGUIResume struct {
	InterruptID string          `json:"interruptId"`
	Status      string          `json:"status"` // resolved or cancelled
	Payload     json.RawMessage `json:"payload,omitempty"`
}
