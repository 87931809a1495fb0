package approval_test

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
)

// declared is a tool that only declares itself.
type declared pawl.ToolInfo

func (d declared) Info() pawl.ToolInfo { return pawl.ToolInfo(d) }

func (declared) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	return pawl.Output{}, nil
}

// loose takes any arguments.
const loose = `{"type":"object","additionalProperties":true}`

// agent has tools named for what they declare: "search read", "delete_file",
// "pick client".
func agent(tools ...string) pawl.Agent {
	a := pawl.Agent{Name: "test", Model: pawl.ModelFunc(nil), Builtins: true}
	for _, words := range tools {
		name, how, _ := strings.Cut(words, " ")
		info := pawl.ToolInfo{Name: name, Description: name, Input: json.RawMessage(loose)}
		switch how {
		case "read":
			info.Effect = pawl.Read
		case "idempotent":
			info.Effect = pawl.Idempotent
		case "client":
			info.Client = true
		}
		a.Tools = append(a.Tools, declared(info))
	}
	return a
}

// batch is what the machine makes of the calls of one reply, each "TOOL ARGS",
// before any policy has seen them.
func batch(t testing.TB, a pawl.Agent, calls ...string) (*pawl.State, pawl.Act) {
	t.Helper()
	m, err := pawl.NewMachine(a)
	if err != nil {
		t.Fatal(err)
	}
	s := new(pawl.State)
	var seq uint64
	add := func(iteration int, events ...pawl.Event) {
		for _, e := range events {
			seq++
			s.Fold(pawl.Entry{Run: "r", Seq: seq, At: seq - 1, Time: time.Unix(1e9, 0), Iteration: iteration, Event: e})
		}
	}
	add(0, pawl.RunStarted{Declaration: m.Declaration(), Input: "go"})
	parts := make([]pawl.Part, len(calls))
	for i, words := range calls {
		tool, args, _ := strings.Cut(words, " ")
		parts[i] = pawl.Call{ID: "c_" + strconv.Itoa(i+1), Tool: tool, Args: json.RawMessage(args)}
	}
	add(1, pawl.ModelCalled{Purpose: pawl.PurposeTurn, Attempt: 1}, pawl.ModelReplied{Purpose: pawl.PurposeTurn, Reply: pawl.Reply{Parts: parts, Stop: pawl.StopCalls}})
	act, ok := m.Decide(s).(pawl.Act)
	if !ok {
		t.Fatalf("the machine wants %#v", m.Decide(s))
	}
	return s, act
}

// settle asks the policies until none has anything to add, and lists what
// becomes of each call and why.
func settle(t testing.TB, s *pawl.State, act pawl.Act, policies ...pawl.Policy) []string {
	t.Helper()
	for range 8 {
		before := lines(act)
		for _, p := range policies {
			next, ok := p.Review(s, act).(pawl.Act)
			if !ok {
				t.Fatalf("%v gives a %T", p, p.Review(s, act))
			}
			act = next
		}
		if strings.Join(before, "\n") == strings.Join(lines(act), "\n") {
			return before
		}
	}
	t.Fatalf("they do not agree: %q", lines(act))
	return nil
}

func lines(act pawl.Act) []string {
	var all []string
	for _, d := range act.Calls {
		all = append(all, strings.TrimSpace(d.Call.ID+" "+d.Do.String()+" "+d.Why))
	}
	return all
}
