package survive

import (
	"context"
	"encoding/json"
	"maps"
	"sync"

	"github.com/pawl-run/pawl"
)

// A World is what tools act on. It outlives the processes that act on it, and remembers
// every effect by its idempotency key.
type World struct {
	mu      sync.Mutex
	effects map[string]*effect
}

type effect struct {
	tool   string
	times  int
	result json.RawMessage
}

// Tool makes a tool that acts on the world; do computes the result of a call from its arguments. A
// call with a known key gets the earlier result, unless the tool is a Write, which acts again.
func (w *World) Tool(info pawl.ToolInfo, do func(args json.RawMessage) any) pawl.Tool {
	return worldTool{w, info, do}
}

type worldTool struct {
	world *World
	info  pawl.ToolInfo
	do    func(json.RawMessage) any
}

func (t worldTool) Info() pawl.ToolInfo { return t.info }

func (t worldTool) Run(_ context.Context, inv pawl.Invocation) (pawl.Output, error) {
	w := t.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if e := w.effects[inv.Key]; e != nil {
		if t.info.Effect == pawl.Write {
			e.times++
		}
		return pawl.Output{JSON: e.result}, nil
	}
	result, err := json.Marshal(t.do(inv.Args))
	if err != nil {
		return pawl.Output{}, err
	}
	if w.effects == nil {
		w.effects = map[string]*effect{}
	}
	w.effects[inv.Key] = &effect{inv.Tool, 1, result}
	return pawl.Output{JSON: result}, nil
}

// result returns the result of the call with a key, and whether the call took place.
func (w *World) result(key string) (json.RawMessage, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := w.effects[key]
	if e == nil {
		return nil, false
	}
	return e.result, true
}

// tally counts the effects by key: a key that was acted on twice counts twice.
func (w *World) tally() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := map[string]int{}
	for e := range maps.Values(w.effects) {
		n[e.tool] += e.times
	}
	return n
}
