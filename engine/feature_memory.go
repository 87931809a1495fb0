package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/journals"
)

// MemoryAgent is the agent, and its loop, whose runs are memories: what is remembered is the
// input. See tool.Memory.
const MemoryAgent = "memory"

// Labels of a memory, besides that of its owner.
const (
	memoryFor = "memory.for" // the agent that it is for, if no other label says whose it is
	memoryBy  = "memory.by"  // the agent that remembered
	memoryOf  = "memory.of"  // its run
)

const (
	mostWords  = 16 // of a request, by which memories are looked up
	mostFound  = 50 // memories that are looked up by one word
	usualFound = 5  // memories that are recalled
)

// rememberer is a tool that the engine performs.
type rememberer interface {
	Memory() (op, label string, most int)
}

// memoryCall is a call of one of these tools.
type memoryCall struct {
	pawl.Tool
	host    *host
	head    pawl.Head // of the run
	tainted bool      // the run is
}

// memories perform the calls of these tools.
type memories struct{ rec *recorder }

func (m memories) outfit(t pawl.Tool) pawl.Tool {
	if _, ok := t.(rememberer); !ok {
		return t
	}
	r := m.rec
	return memoryCall{t, r.host, r.state.Head(), r.state.Tainted()}
}

// Run performs the call.
func (m memoryCall) Run(ctx context.Context, inv pawl.Invocation) (pawl.Output, error) {
	op, label, most := m.Tool.(rememberer).Memory()
	owner := map[string]string{memoryFor: m.head.Agent}
	if label != "" {
		value, err := m.value(ctx, label)
		if err != nil {
			return pawl.Output{}, err
		}
		owner = map[string]string{label: value}
	}
	var args struct {
		Text, Words, ID string
		Max             int
	}
	if err := json.Unmarshal(inv.Args, &args); err != nil {
		return pawl.Output{}, err
	}
	switch op {
	case "remember":
		return m.remember(ctx, &inv, args.Text, owner, most)
	case "recall":
		return m.recall(ctx, args.Words, cmp.Or(args.Max, usualFound), owner)
	}
	return m.forget(ctx, &inv, args.ID, owner)
}

// value returns the value of a label of the run, or of the run that it is a child of.
func (m memoryCall) value(ctx context.Context, label string) (string, error) {
	for h := m.head; ; {
		value, ok := h.Labels[label]
		if ok {
			return value, nil
		}
		if h.Parent == "" {
			return "", fmt.Errorf("this run has no label %s, which says whose memories they are; start runs with one", label)
		}
		var err error
		if h, err = m.host.head(ctx, h.Parent); err != nil {
			return "", err
		}
	}
}

func output(v any) (pawl.Output, error) {
	raw, err := json.Marshal(v)
	return pawl.Output{JSON: raw}, err
}

// remember writes the run of a memory, all of it at once. Its id follows from the owner and
// the text, so that a call that is repeated finds it, and a text is remembered once.
func (m memoryCall) remember(ctx context.Context, inv *pawl.Invocation, text string, owner map[string]string, most int) (pawl.Output, error) {
	h := m.host
	parts := []string{MemoryAgent, text}
	for name, value := range owner {
		parts = append(parts, name, value)
	}
	id := derivedID(parts...)
	said := map[string]string{"id": id}
	n := 0
	for found, err := range h.journal.List(ctx, pawl.Query{Agent: MemoryAgent, Labels: owner, Max: most}) {
		if err != nil {
			return pawl.Output{}, err
		}
		if found.Run == id {
			return output(said)
		}
		n++
	}
	if n >= most {
		return pawl.Output{}, fmt.Errorf("there are %d memories, the most that there may be; forget some first", most)
	}
	machine, err := pawl.NewMachine(pawl.Agent{Name: MemoryAgent, Description: "Keeps its input.", Model: nobody{}, Loop: keep{}})
	if err != nil {
		return pawl.Output{}, err
	}
	lease, err := h.begin(ctx, id)
	if errors.Is(err, pawl.ErrRunExists) {
		return output(said)
	}
	if err != nil {
		return pawl.Output{}, err
	}
	r := new(recorder)
	r.open(ctx, h, machine, lease)
	defer r.lease.release()
	labels := map[string]string{memoryBy: m.head.Agent, memoryOf: inv.Run}
	maps.Copy(labels, owner)
	if err := r.lease.caught(func() error {
		r.appendIn(0, 0, pawl.RunStarted{Declaration: machine.Declaration(), Labels: h.names(labels), Owner: lease.Owner, Epoch: lease.Epoch, Input: r.clean.text(text), Untrusted: m.tainted})
		end := machine.Decide(r.state).(pawl.Finish)
		r.appendNow(end.Stopped())
		return r.flush()
	}); err != nil {
		return pawl.Output{}, err
	}
	return output(said)
}

// recalled is a memory as the model reads it.
type recalled struct {
	ID   string    `json:"id"`
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

// recall returns the memories with most of the words, the newest first among equals.
func (m memoryCall) recall(ctx context.Context, words string, most int, owner map[string]string) (out pawl.Output, err error) {
	j, ok := m.host.journal.(interface {
		Search(ctx context.Context, words string, q pawl.Query) iter.Seq2[pawl.Head, error]
	})
	if !ok {
		return out, errors.New("the journal of this run cannot be searched")
	}
	sought := journals.Words(words)
	if len(sought) == 0 {
		sought = []string{""}
	}
	hits := map[string]int{}
	var found []pawl.Head
	for _, word := range sought[:min(len(sought), mostWords)] {
		for h, err := range j.Search(ctx, word, pawl.Query{Agent: MemoryAgent, Labels: owner, Max: mostFound}) {
			if err != nil {
				return out, err
			}
			if hits[h.Run]++; hits[h.Run] == 1 {
				found = append(found, h)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b pawl.Head) int {
		return cmp.Or(cmp.Compare(hits[b.Run], hits[a.Run]), b.Created.Compare(a.Created), cmp.Compare(a.Run, b.Run))
	})
	list := []recalled{}
	untrusted := false
	for _, h := range found[:min(len(found), most)] {
		start, err := firstOf(ctx, m.host.journal, h.Run)
		if errors.Is(err, pawl.ErrUnknownRun) { // it was forgotten in between
			continue
		}
		if err != nil {
			return out, err
		}
		list = append(list, recalled{h.Run, start.Input, h.Created.UTC()})
		untrusted = untrusted || start.Untrusted
	}
	out, err = output(list)
	out.Untrusted = untrusted
	return out, err
}

// forget removes the run of a memory.
func (m memoryCall) forget(ctx context.Context, inv *pawl.Invocation, id string, owner map[string]string) (pawl.Output, error) {
	h := m.host
	remover, ok := h.journal.(pawl.Remover)
	if !ok {
		return pawl.Output{}, errors.New("the journal of this run cannot remove anything")
	}
	known := false
	for found, err := range h.journal.List(ctx, pawl.Query{Run: id, Agent: MemoryAgent, Labels: owner, Max: 1}) {
		if err != nil {
			return pawl.Output{}, err
		}
		known = found.Run == id
	}
	if known {
		lease, err := h.own(ctx, id)
		if err == nil {
			err = remover.Remove(ctx, id, lease.Epoch)
		}
		if err != nil && !errors.Is(err, pawl.ErrUnknownRun) {
			return pawl.Output{}, fmt.Errorf("memory %s: %w", id, err)
		}
	} else if inv.Attempt == 1 { // else an attempt that was cut short may have removed it
		return pawl.Output{}, fmt.Errorf("there is no memory %q", id)
	}
	return output("forgotten")
}

// keep is the loop of a memory: it is over as it begins.
type keep struct{}

// Name returns "memory".
func (keep) Name() string { return MemoryAgent }

// Next ends the run.
func (keep) Next(*pawl.State) pawl.Step {
	return pawl.Finish{Verdict: pawl.Verdict{Holds: true, Status: pawl.StatusSuccess, Condition: MemoryAgent, Leaf: MemoryAgent, Detail: "it is kept"}}
}

// nobody is the model of a memory, which is never asked.
type nobody struct{ pawl.ModelFunc }

// Describe returns a model that costs nothing.
func (nobody) Describe() pawl.ModelInfo { return pawl.ModelInfo{Name: "none", Price: &pawl.Price{}} }
