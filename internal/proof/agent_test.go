//go:build linux || darwin

package proof_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/tool"
)

const input = "Run the errand."

// A world is what processes share and no log holds: what was done to it, and
// what was paid for.
type world struct {
	dir      string
	gate     *gate // nil: nobody stops here
	sabotage string
}

// note adds a line to a file of the world. One write to the end of a file below
// a page is there whole or not at all when its process is killed.
func (w *world) note(file, format string, args ...any) {
	f, err := os.OpenFile(filepath.Join(w.dir, file), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintf(f, format+"\n", args...)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		panic(err)
	}
}

// notes are the lines of a file of the world, in fields.
func (w *world) notes(file string) (lines [][]string) {
	data, _ := os.ReadFile(filepath.Join(w.dir, file)) // none is no lines
	for line := range strings.Lines(string(data)) {
		lines = append(lines, strings.Fields(line))
	}
	return lines
}

// The fields of the ledger, of which there is a line for every effect; of the
// attempts, with one for every time a tool is run; and of the bill, with one for
// every request that a model was sent.
const (
	ledgerRun, ledgerCall, ledgerTool, ledgerKey = 0, 1, 2, 3
	attemptRun, attemptCall, attemptKey          = 0, 1, 3
	billRun, billTurn, billShown                 = 0, 1, 2
)

// happened looks into the world for the effect of a call.
func (w *world) happened(run, call string) bool {
	return slices.ContainsFunc(w.notes("ledger"), func(l []string) bool { return l[ledgerRun] == run && l[ledgerCall] == call })
}

// A turn is what a model says when it was asked often enough.
type turn struct {
	calls []pawl.Call
	text  string
	fails pawl.Class // overloaded: the first time it is sent; too long: until something was left out
}

func do(calls ...string) (list []pawl.Call) {
	for _, c := range calls {
		tool, n, _ := strings.Cut(c, " ")
		list = append(list, pawl.Call{Tool: tool, Args: json.RawMessage(`{"n":` + n + `}`)})
	}
	return list
}

// errand has everything in it that a kill may hit: single calls, a batch of
// Reads and Idempotents, Writes alone and between Reads, one that can report
// its outcome, a provider that is overloaded, a conversation that becomes
// too long, a call that needs approval beside one that needs an answer, one that
// needs neither and a child run that waits for an approval of its own, a
// repetition that is answered from the log, and children beside each other.
var errand = []turn{
	{calls: do("look 1")},
	{calls: do("look 2", "look 3", "put 1"), fails: pawl.ClassOverloaded},
	{calls: do("pay 1", "wire 1")},
	{calls: do("look 4", "put 2", "pay 2", "look 5"), fails: pawl.ClassTooLong},
	{calls: do("send 1", "look 6", "ask 1", "aide 1")},
	{calls: do("put 1", "pay 3", "scout 1", "scout 2")},
	{text: "The errand is run."},
}

// What the children do.
var (
	aid   = []turn{{calls: do("look 7", "put 3")}, {calls: do("pay 4", "send 2")}, {text: "The aide has helped."}}
	scout = []turn{{calls: do("look 8")}, {text: "The scout has looked."}}
)

// paper is a model that reads its lines off a page. Which one it is at it
// learns from the conversation, so that it goes on where a log left off.
type paper struct {
	world *world
	plan  []turn
}

// Describe gives it a price, so that dollars are compared too.
func (paper) Describe() pawl.ModelInfo {
	return pawl.ModelInfo{Name: "paper/one", Price: &pawl.Price{Input: 3, Output: 15}}
}

func (m paper) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		k := 0
		for _, msg := range r.Messages {
			if msg.Role == pawl.RoleAssistant {
				k++
			}
			for _, p := range msg.Parts {
				var left int
				if t, ok := p.(pawl.Text); ok {
					_, _ = fmt.Sscanf(t.Text, "[Replies left out here: %d.", &left) // zero: it is no summary
					k += left
				}
			}
		}
		now, shown := m.plan[k], m.show(r)
		first := !slices.ContainsFunc(m.world.notes("bill"), func(l []string) bool { return l[billRun] == r.Run && l[billTurn] == fmt.Sprint(k) })
		at := func(what string, do func()) { m.world.gate.pass(of(r.Run, "model "+what), do) }
		at("request", func() {
			m.world.note("bill", "%s %d %s", r.Run, k, shown)
		})
		switch {
		case now.fails == pawl.ClassOverloaded && first:
			yield(pawl.Chunk{}, &pawl.ModelError{Class: now.fails, Message: "too busy"})
			return
		case now.fails == pawl.ClassTooLong && !strings.Contains(showed(m.world, shown), "left out here"):
			yield(pawl.Chunk{}, &pawl.ModelError{Class: now.fails, Message: "too long"})
			return
		}
		more := true
		at("stream", func() { more = yield(pawl.Chunk{Text: "Let me"}, nil) })
		if !more {
			return
		}
		reply := pawl.Reply{Usage: pawl.Usage{Input: 40 + 10*k, Output: 7 + k}}
		if now.text != "" {
			reply.Parts = append(reply.Parts, pawl.Text{Text: now.text})
		}
		for _, c := range now.calls {
			reply.Parts = append(reply.Parts, c)
		}
		at("end", func() { yield(pawl.Chunk{Reply: &reply}, nil) })
	}
}

// show keeps what the model is shown, under its digest.
func (m paper) show(r pawl.Request) string {
	var names []string
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	text, err := json.MarshalIndent(struct {
		System   string
		Messages []pawl.Message
		Tools    []string
	}{r.System, r.Messages, names}, "", " ")
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(text)
	name := hex.EncodeToString(sum[:8])
	temp := filepath.Join(m.world.dir, fmt.Sprintf("showing.%d.%s", os.Getpid(), r.Run))
	if err := os.WriteFile(temp, text, 0o600); err != nil {
		panic(err)
	}
	if err := os.Rename(temp, filepath.Join(m.world.dir, "shown."+name)); err != nil {
		panic(err)
	}
	return name
}

func showed(w *world, name string) string {
	text, err := os.ReadFile(filepath.Join(w.dir, "shown."+name))
	if err != nil {
		panic(err)
	}
	return string(text)
}

// A hand is a tool whose effect is a line in the ledger.
type hand struct {
	world  *world
	name   string
	effect pawl.Effect
}

func (h hand) Info() pawl.ToolInfo {
	return pawl.ToolInfo{Name: h.name, Description: "Does " + h.name + ".", Effect: h.effect,
		Input: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)}
}

// result is what a call gives, whenever it is made.
func (h hand) result(inv pawl.Invocation) pawl.Output {
	text := "result of " + inv.Call
	if inv.Call == "c_2" { // long enough to be worth leaving out
		text += strings.Repeat(", and more", 40)
	}
	return pawl.Output{JSON: fmt.Appendf(nil, "%q", text)}
}

func (h hand) Run(_ context.Context, inv pawl.Invocation) (pawl.Output, error) {
	h.world.note("attempts", "%s %s %d %s", inv.Run, inv.Call, inv.Attempt, inv.Key)
	if h.name == "ask" { // a Write by its declaration only, which has it come after the others
		h.world.gate.pass(of(inv.Run, "tool ask"), func() {})
		if to := inv.Answers["to"]; to != "" {
			return pawl.Output{JSON: fmt.Appendf(nil, "%q", to)}, nil
		}
		return pawl.Output{}, pawl.AskPerson{Question: "To whom?", Key: "to"}
	}
	h.world.gate.pass(of(inv.Run, "tool "+h.name), func() {
		if h.effect == pawl.Idempotent && h.world.sabotage != "keyless" && h.done(inv) {
			return
		}
		h.world.note("ledger", "%s %s %s %s", inv.Run, inv.Call, inv.Tool, inv.Key)
	})
	return h.result(inv), nil
}

// done is what the far side of an Idempotent tool knows: that it has seen the key.
func (h hand) done(inv pawl.Invocation) bool {
	return slices.ContainsFunc(h.world.notes("ledger"), func(l []string) bool { return l[ledgerKey] == inv.Key })
}

// A sure hand can report the outcome of a call.
type sure struct{ hand }

func (h sure) Reconcile(_ context.Context, inv pawl.Invocation) (out pawl.Output, happened bool, err error) {
	h.world.gate.pass("reconcile", func() { happened = h.world.happened(inv.Run, inv.Call) })
	if !happened {
		return pawl.Output{}, false, nil
	}
	return h.result(inv), true, nil
}

func (w *world) agent() pawl.Agent {
	with := func(name, prompt string, plan []turn, tools ...pawl.Tool) pawl.Agent {
		return pawl.Agent{Name: name, Description: prompt, Prompt: prompt, Model: paper{w, plan}, Tools: tools}
	}
	look, put := hand{w, "look", pawl.Read}, hand{w, "put", pawl.Idempotent}
	pay, send, ask := hand{w, "pay", pawl.Write}, hand{w, "send", pawl.Write}, hand{w, "ask", pawl.Write}
	child := &tool.AgentOptions{Input: look.Info().Input}
	agent := with("errands", "You run errands.", errand, look, put, pay, send, ask, sure{hand{w, "wire", pawl.Write}},
		tool.Agent(with("aide", "You help.", aid, look, put, pay, send), child),
		tool.Agent(with("scout", "You look.", scout, look), child))
	agent.Policies = []pawl.Policy{approval.For("send")} // the aide inherits it
	return agent
}

// give says what a run waits for: the truth about a doubt, and yes to all else.
func (w *world) give(e *engine.Engine, p pawl.Pending) error {
	ctx := context.Background()
	switch p.Kind {
	case "doubt":
		if w.happened(p.Run, p.Call) == (w.sabotage == "lie") {
			return e.Resolve(ctx, p.Run, p.Call, "boss", engine.DidNotHappen())
		}
		out := hand{}.result(pawl.Invocation{Call: p.Call})
		return e.Resolve(ctx, p.Run, p.Call, "boss", engine.Happened(out.JSON))
	case "approval":
		return e.Approve(ctx, p.Run, p.Call, "boss", nil)
	case "input":
		return e.Answer(ctx, p.Run, p.Call, "boss", "to Ann")
	}
	return fmt.Errorf("nobody knows what to make of %+v", p)
}
