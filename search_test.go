package pawl_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
)

// shop are 178 tools, as several servers of a company offer them together.
func shop() (tools []pawl.Tool) {
	things := strings.Fields("order invoice customer vendor refund parcel contract ticket meeting employee")
	for i := range 178 {
		verb, thing := []string{"create", "list", "update", "archive", "export"}[i/len(things)%5], things[i%len(things)]
		tools = append(tools, deed{pawl.ToolInfo{
			Name:        fmt.Sprintf("region%d__%s_%s", i/50, verb, thing),
			Description: fmt.Sprintf("Use this to %s one or several of the %ss of region %d. It returns their ids and their state, and the reason where one could not be found.", verb, thing, i/50),
			Effect:      pawl.Read,
			Input: json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"%[1]s_ids":{"type":"array","items":{"type":"string"},"description":"the ids of the %[1]ss"},`+
				`"fields":{"type":"array","items":{"type":"string"},"description":"what to return"},"limit":{"type":"integer","minimum":1,"maximum":100}},"required":["%[1]s_ids"]}`, thing)),
		}})
	}
	return tools
}

// TestUnknownCore: a pattern that names no tool is an error with the nearest names.
func TestUnknownCore(t *testing.T) {
	model := pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) { return pawl.Say("Hello."), nil })
	_, err := pawl.NewMachine(pawl.Agent{Name: "clerk", Model: model, Tools: shop(), Core: []string{"region0__list_oder"}})
	if err == nil || !strings.Contains(err.Error(), `there is no tool "region0__list_oder"; the nearest names are region0__list_order`) {
		t.Error(err)
	}
}
