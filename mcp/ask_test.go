package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/process"
)

// asking is a server whose tool asks twice before it deploys.
func asking() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "asking", Version: "1"}, nil)
	form := map[string]any{"type": "object", "required": []string{"size"}, "properties": map[string]any{
		"size": map[string]any{"type": "integer", "minimum": 1, "description": "how many machines"},
	}}
	more := map[string]any{"type": "object", "required": []string{"place"}, "properties": map[string]any{
		"place": map[string]any{"type": "string", "enum": []string{"here", "there"}},
		"night": map[string]any{"type": "boolean", "default": true},
	}}
	sdk.AddTool(s, &sdk.Tool{Name: "deploy"}, func(_ context.Context, r *sdk.CallToolRequest, _ none) (*sdk.CallToolResult, any, error) {
		asks := func(p *sdk.ElicitParams, state string) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"q": p}, RequestState: state}, nil, nil
		}
		said, _ := r.Params.InputResponses["q"].(*sdk.ElicitResult)
		switch {
		case said == nil:
			return asks(&sdk.ElicitParams{Message: "How\x1b[31m many?", RequestedSchema: form}, "")
		case said.Action != "accept":
			return text(said.Action), nil, nil
		case r.Params.RequestState == "":
			return asks(&sdk.ElicitParams{Message: "Where?", RequestedSchema: more}, fmt.Sprint(said.Content["size"]))
		}
		return text(fmt.Sprint(r.Params.RequestState, " ", said.Content["place"], " ", said.Content["night"])), nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "think"}, func(context.Context, *sdk.CallToolRequest, none) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"m": &sdk.CreateMessageParams{MaxTokens: 1}}}, nil, nil //nolint:staticcheck // servers still ask so
	})
	return s
}

// asksWithin is a server of the protocol's revision before, which asks while the call is open.
func asksWithin() {
	lines := bufio.NewScanner(os.Stdin)
	answer := func(id json.RawMessage, result string) {
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result)
	}
	for lines.Scan() {
		var r request
		if json.Unmarshal(lines.Bytes(), &r) != nil || len(r.ID) == 0 {
			continue
		}
		switch r.Method {
		case "initialize":
			answer(r.ID, hello)
		case "tools/list":
			answer(r.ID, `{"tools":[{"name":"deploy","inputSchema":{"type":"object"}}]}`)
		case "tools/call":
			fmt.Println(`{"jsonrpc":"2.0","id":"e","method":"elicitation/create","params":{"message":"Deploy?","requestedSchema":{"type":"object","properties":{}}}}`)
			lines.Scan()
			var said struct{ Result struct{ Action string } }
			_ = json.Unmarshal(lines.Bytes(), &said)
			answer(r.ID, `{"content":[{"type":"text","text":"it was: `+said.Result.Action+`"}]}`)
		default:
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown method"}}`+"\n", r.ID)
		}
	}
}

// What a server asks is asked of a person, by a call that runs again with the answers so far.
func TestAsks(t *testing.T) {
	for _, tt := range []struct {
		part, tool string
		answers    []string
		asks       []string // parts of the questions
		want       string
	}{
		{
			"asking", "deploy", []string{"many", "3", "there", `{"place":"there"}`},
			[]string{
				"The MCP server peer asks: How[31m many? Answer with size (integer): how many machines, or decline.", "The answer does not fit: ",
				`Where? Answer with a JSON object, or decline. Its fields: place (string, one of ["here","there"]); night (boolean, optional).`, "it is not a JSON object",
			}, `"3 there true"`,
		},
		{"asking", "deploy", []string{"Decline"}, []string{"many?"}, `"decline"`},
		{"asking", "think", nil, nil, "error: the server wants to use the model"},
		{"asks within", "deploy", []string{"accept"}, []string{"Deploy? Answer accept or decline."}, `"it was: accept"`},
		{"asks within", "deploy", []string{"maybe", "decline"}, []string{"Deploy?", "neither accept nor decline"}, `"it was: decline"`},
		{"asks within", "deploy", strings.Split("a b c d e f g h i j", " "), make([]string, 10), "error: the server asks a person more than 10 times"},
	} {
		tool := pick(t, connect(t, tt.part, nil), "peer__"+tt.tool)
		inv := pawl.Invocation{Run: "r", Call: "c", Tool: "peer__" + tt.tool, Key: "key", Answers: map[string]string{}}
		for i := 0; ; i++ {
			out, err := tool.Run(t.Context(), inv)
			ask, asked := errors.AsType[pawl.AskPerson](err)
			switch {
			case asked && i < len(tt.asks) && strings.Contains(ask.Question, tt.asks[i]) && inv.Answers[ask.Key] == "":
				inv.Answers[ask.Key] = tt.answers[i]
				continue
			case asked:
				t.Errorf("%s %v: question %d is %q", tt.part, tt.answers, i, ask.Question)
			case i < len(tt.asks):
				t.Errorf("%s %v: %d questions, then %s, %v", tt.part, tt.answers, i, out.JSON, err)
			case err != nil && !strings.Contains("error: "+err.Error(), tt.want), err == nil && string(out.JSON) != tt.want:
				t.Errorf("%s %v: %s, %v, want %s", tt.part, tt.answers, out.JSON, err, tt.want)
			}
			break
		}
	}
}

// reporting is a server whose tool says how far it is, also when it must not.
func reporting() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "reporting", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "count"}, func(ctx context.Context, r *sdk.CallToolRequest, _ none) (*sdk.CallToolResult, any, error) {
		token := r.Params.GetProgressToken()
		said := []sdk.ProgressNotificationParams{{ProgressToken: token, Progress: 12, Total: 30, Message: "files\u202e"}, {ProgressToken: "another call", Message: "no"}}
		for range 20_000 {
			said = append(said, sdk.ProgressNotificationParams{ProgressToken: token, Progress: 7})
		}
		for _, p := range append(said, sdk.ProgressNotificationParams{ProgressToken: token, Progress: 30, Total: 30, Message: "last"}) {
			if err := r.Session.NotifyProgress(ctx, &p); err != nil {
				return nil, nil, err
			}
		}
		<-ctx.Done() // the result of a call may overtake what it reported last
		return nil, nil, ctx.Err()
	})
	return s
}

// The notifications of the SDK's own server reach the call whose token they have.
func TestProgress(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	over, stop := context.WithCancelCause(ctx)
	done := errors.New("done")
	n := map[string]int{}
	_, err := pick(t, connect(t, "reporting", nil), "peer__count").Run(process.WithReporter(over, func(fraction float64, text string) {
		if n[fmt.Sprint(fraction, text)]++; text == "last" {
			stop(done)
		}
	}), pawl.Invocation{Run: "r", Call: "c", Tool: "peer__count", Args: json.RawMessage(`{}`), Key: "key"})
	if !errors.Is(err, done) || len(n) != 3 || n["0.4files"] != 1 || n["+Inf7"] != 20_000 || n["1last"] != 1 {
		t.Errorf("%v: told %v", err, n)
	}
}
