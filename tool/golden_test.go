package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/tool"
)

type vendorQuery struct {
	Category string   `json:"category" jsonschema:"what is sold" enum:"cloud,paper,travel"`
	Country  *string  `json:"country" jsonschema:"two letters; anywhere when left out"`
	Max      float64  `json:"max_price,omitempty"`
	Tags     []string `json:"tags,omitempty"`
	Limit    int      `json:"limit,omitempty" jsonschema:"at most so many; all when left out"`
}

type vendor struct {
	Name  string `json:"name"`
	Price int    `json:"price"`
}

func searchVendors(_ context.Context, q vendorQuery) ([]vendor, error) {
	if q.Category == "travel" {
		return nil, errors.New("there are no travel vendors; use the agency's desk")
	}
	return []vendor{{"Nimbus <EU>", 120}, {"Cirrus & Co", 90}}, nil
}

type order struct {
	Vendor string `json:"vendor"`
	Lines  []struct {
		Item   string `json:"item"`
		Amount uint8  `json:"amount"`
	} `json:"lines"`
	Due  time.Time      `json:"due"`
	Meta map[string]any `json:"meta,omitempty"`
}

func submitPO(ctx context.Context, o *order) (string, error) {
	inv, _ := tool.InvocationFrom(ctx)
	return fmt.Sprintf("order for %s placed under %s, %d lines", o.Vendor, inv.Key, len(o.Lines)), nil
}

type page struct {
	Title string `json:"title"`
	Kids  []page `json:"kids,omitempty"`
}

type unfit struct {
	C    chan int      `json:"c"`
	Wait time.Duration `json:"wait"`
}

func tools() map[string]pawl.Tool {
	all := map[string]pawl.Tool{}
	for _, t := range []pawl.Tool{
		tool.Func("search_vendors", "Find vendors by category.", searchVendors, pawl.Read),
		tool.FuncWith("submit_po", "Submit a purchase order.", submitPO, pawl.Idempotent, &tool.Options{
			Timeout: 10 * time.Second, MaxOutput: 1 << 10, MaxCalls: 2, Alone: true, Exempt: true, OnDoubt: pawl.DoubtFail, Version: "2",
		}),
		tool.Func("now", "Tell the time.", func(context.Context, struct{}) (any, error) { return nil, nil }, 0),
		tool.Func("outline", "Take an outline.", func(_ context.Context, p page) (page, error) { return p, nil }, pawl.Read),
		tool.Client("pick_cell", "Let the user pick a cell.", json.RawMessage(`{"type":"object","properties":{"sheet":{"type":"string"}},"required":["sheet"]}`), &tool.ClientOptions{
			Effect: pawl.Read, Exempt: true, Version: "3",
		}),
		tool.Client("confirm", "Let the user confirm.", nil, nil),
		tool.Command("lookup_ticket", "Look up a support ticket by id.", []string{"./lookup.sh"}, &tool.CommandOptions{
			Input:  json.RawMessage(`{"type":"object","properties":{"ticket_id":{"type":"string"}},"required":["ticket_id"]}`),
			Effect: pawl.Read, Timeout: 30 * time.Second, MaxOutput: 4 << 10, MaxCalls: 5, Alone: true, Exempt: true, OnDoubt: pawl.DoubtTell, Version: "1",
		}),
		tool.Command("deploy", "Deploy what is on the main branch.", []string{"make", "deploy"}, nil),

		tool.Func("a_channel", "", func(context.Context, unfit) (chan int, error) { return nil, nil }, 7),
		tool.Func("a_list", "Take a list.", func(context.Context, []string) (string, error) { return "", nil }, pawl.Read),
		tool.Func[struct{}, string]("no_function", " ", nil, pawl.Read),
		tool.Func("bad name", "Have a bad name.", func(context.Context, struct{}) (string, error) { return "", nil }, pawl.Read),
		tool.Command("no_command", "Run nothing.", nil, &tool.CommandOptions{Env: []string{"A=1", ""}, Grace: -1, OnDoubt: 9}),
		tool.Command("bad_argument", "Have an argument that cannot be handed over.", []string{"true", "a\x00b"}, &tool.CommandOptions{Effect: -1}),
		tool.Command("bad_schema", "Have a schema of no known type.", []string{"true"}, &tool.CommandOptions{Input: json.RawMessage(`{"type":"objekt"}`)}),
		tool.Client("no_words", "", nil, &tool.ClientOptions{Effect: 4}),
	} {
		all[t.Info().Name] = t
	}
	return all
}

// TestTools reads testdata/tools: "declare" prints what a tool says of itself,
// "check" what is wrong with the tools of an agent, "call" what the model reads
// when a tool was called with the arguments that follow.
func TestTools(t *testing.T) {
	all := tools()
	datadriven.RunTest(t, "testdata/tools", func(t *testing.T, d *datadriven.TestData) string {
		var named []pawl.Tool
		for _, arg := range d.CmdArgs {
			name := strings.ReplaceAll(arg.Key, "~", " ")
			if all[name] == nil {
				d.Fatalf(t, "no tool %q", name)
			}
			named = append(named, all[name])
		}
		switch d.Cmd {
		case "declare":
			i := named[0].Info()
			schema := string(i.Input)
			if schema == "" {
				schema = "no schema"
			}
			i.Input = nil
			return fmt.Sprintf("%s\n%+v", schema, i)
		case "check":
			model := pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) { return pawl.Reply{}, nil })
			if _, err := pawl.NewMachine(pawl.Agent{Name: "a", Model: model, Tools: named}); err != nil {
				return err.Error()
			}
			return "ok"
		case "call":
			return reads(named[0].Run(t.Context(), pawl.Invocation{Key: "key_1", Attempt: 1, Args: json.RawMessage(d.Input)}))
		}
		d.Fatalf(t, "unknown command %s", d.Cmd)
		return ""
	})
}

func reads(out pawl.Output, err error) string {
	switch {
	case err != nil:
		return "error: " + err.Error()
	case out.Truncated:
		return "truncated: " + string(out.JSON)
	}
	return string(out.JSON)
}
