package pawl_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/pawltest"
	"github.com/pawl-run/pawl/tool"
)

// shop are 178 tools, as several servers of a company offer them together.
func shop() (tools []pawl.Tool) {
	things := strings.Fields("order invoice customer vendor refund parcel contract ticket meeting employee")
	for i := range 178 {
		verb, thing := []string{"create", "list", "update", "archive", "export"}[i/len(things)%5], things[i%len(things)]
		tools = append(tools, deed{nil, pawl.ToolInfo{
			Name:        fmt.Sprintf("region%d__%s_%s", i/50, verb, thing),
			Description: fmt.Sprintf("Use this to %s one or several of the %ss of region %d. It returns their ids and their state, and the reason where one could not be found.", verb, thing, i/50),
			Effect:      pawl.Read,
			Input: json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"%[1]s_ids":{"type":"array","items":{"type":"string"},"description":"the ids of the %[1]ss"},`+
				`"fields":{"type":"array","items":{"type":"string"},"description":"what to return"},"limit":{"type":"integer","minimum":1,"maximum":100}},"required":["%[1]s_ids"]}`, thing)),
		}})
	}
	return tools
}

// TestToolsAtHello measures what tools cost before anything was done.
func TestToolsAtHello(t *testing.T) {
	tokens := func(core []string) (n int) {
		model := pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) { return pawl.Say("Hello."), nil })
		j := memory.New()
		h, err := engine.New(j, nil).Start(t.Context(), pawl.Agent{Name: "clerk", Model: model, Tools: shop(), Core: core}, "hello", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		for e, err := range engine.Entries(t.Context(), j, h.ID(), 1) {
			if err != nil {
				t.Fatal(err)
			}
			if called, ok := e.Event.(pawl.ModelCalled); ok {
				n = called.Reserved - called.MaxTokens
			}
		}
		return n
	}
	all, some := tokens(nil), tokens([]string{"region0__list_*"})
	t.Logf("tokens at hello: %d with 178 tools, %d with a core of 10 and a search: %.1f %%", all, some, 100*float64(some)/float64(all))
	if some*12 > all {
		t.Errorf("%d tokens of %d are not below a twelfth", some, all)
	}
}

// TestSearchKills: whatever entry the process dies after, the model is shown the tools
// that it had found, and a tool that is found and then called acts once.
func TestSearchKills(t *testing.T) {
	log := pawltest.KillEverywhere(t, func() pawl.Agent {
		paid := 0
		pay := func(context.Context, struct{}) (string, error) { paid++; return fmt.Sprint("payment ", paid), nil }
		model := pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			switch shown := len(r.Tools); {
			case len(r.Messages) == 1 && shown == 1:
				return pawl.Do(pawl.Call{Tool: "tool_search", Args: []byte(`{"query":"refund a customer","max":1}`)}), nil
			case len(r.Messages) == 3 && shown == 2 && r.Tools[1].Name == "refund":
				return pawl.Do(pawl.Call{Tool: "refund", Args: []byte(`{}`)}), nil
			case shown != 2:
				return pawl.Say(fmt.Sprintf("I am shown %d tools.", shown)), nil
			}
			return pawl.Say("Refunded."), nil
		})
		return pawl.Agent{Name: "clerk", Model: model, Core: []string{}, Tools: append(shop(), tool.Func("refund", "Refund a customer.", pay, pawl.Write))}
	}, "Refund.", nil)
	if last, ok := log[len(log)-1].Event.(pawl.RunStopped); !ok || last.Status != pawl.StatusSuccess || len(log) != 12 {
		t.Errorf("the log has %d entries and ends with %+v", len(log), last)
	}
}

// TestUnknownCore: a pattern that names no tool is an error with the nearest names.
func TestUnknownCore(t *testing.T) {
	model := pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) { return pawl.Say("Hello."), nil })
	_, err := pawl.NewMachine(pawl.Agent{Name: "clerk", Model: model, Tools: shop(), Core: []string{"region0__list_oder"}})
	if err == nil || !strings.Contains(err.Error(), `there is no tool "region0__list_oder"; the nearest names are region0__list_order`) {
		t.Error(err)
	}
}
