package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pawl-run/pawl"
)

// MemoryOptions are the options of [Memory].
type MemoryOptions struct {
	// Label is the label of runs whose value owns the memories, such as user: a run with
	// user=ann reads what other runs with user=ann, of any agent, have remembered, and no
	// others. Empty: the memories are those of the agent.
	Label string `json:"label,omitempty" usual:"the agent's own" about:"label whose value owns the memories, such as 'user' or 'tenant'"`
	Max   int    `json:"max,omitempty" usual:"1000" about:"most memories of one owner"`
}

const (
	mostMemories = 1000
	mostMemory   = 2000 // letters of a memory
)

// Memory returns the tools remember, recall and forget, with which the runs of an agent pass on
// what they learned.
//
// A memory is a run of an agent called memory that ends at once: its input is the text. So a
// memory is found by its words with the search of the journal, and is listed, exported and
// deleted as runs are. Its labels have the label of the owner and the id of the run that
// remembered it. A memory that a run stores after it has read untrusted text is untrusted:
// recalling it taints the run; see [pawl.State.Tainted]. An owner has a text only once, however
// often it is remembered, and however often a call is repeated after a crash. Forgetting
// deletes the memory's run. The text remains in the log of the run that remembered it.
func Memory(o *MemoryOptions) []pawl.Tool {
	o = cmp.Or(o, &MemoryOptions{})
	most := o.Max
	most = cmp.Or(most, mostMemories)
	return []pawl.Tool{memory{"remember", o.Label, most}, memory{"recall", o.Label, most}, memory{"forget", o.Label, most}}
}

// memory is one of the tools. An engine performs it, since it has the journal.
type memory struct {
	op, label string
	most      int
}

// Info declares the tool.
func (m memory) Info() pawl.ToolInfo {
	info := pawl.ToolInfo{Name: m.op, Effect: pawl.Idempotent, Version: fmt.Sprintf("label: %s\nmax: %d", m.label, m.most)}
	switch m.op {
	case "remember":
		info.Description = "Remember something beyond this conversation: a fact or a preference that later conversations need. Write it so that it can be understood alone."
		info.Input = fmt.Appendf(nil, `{"type":"object","properties":{"text":{"type":"string","minLength":1,"maxLength":%d}},"required":["text"]}`, mostMemory)
	case "recall":
		info.Effect = pawl.Read
		info.Description = "Recall what was remembered in earlier conversations: the memories that have most of the given words, or without any the latest."
		info.Input = json.RawMessage(`{"type":"object","properties":{"words":{"type":"string","description":"words that the memories may have"},"max":{"type":"integer","minimum":1,"maximum":20,"description":"5 if left out"}}}`)
	case "forget":
		info.Description = "Forget a memory, by its id, because it is wrong or somebody asks for it."
		info.Input = json.RawMessage(`{"type":"object","properties":{"id":{"type":"string","minLength":1}},"required":["id"]}`)
	}
	return info
}

// Check reports options that cannot be meant.
func (m memory) Check(pawl.Agent) error {
	if m.most < 0 {
		return fmt.Errorf("tool %q: Max is %d; it may not be negative", m.op, m.most)
	}
	return nil
}

// Memory returns what the engine needs to perform the tool.
func (m memory) Memory() (op, label string, most int) { return m.op, m.label, m.most }

// Run fails: only an engine has the journal that memories are in.
func (memory) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	return pawl.Output{}, errors.New("memories are in a journal, so an engine must run this")
}
