package oracle

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/runs/worker"
	"github.com/pawl-run/pawl/server"
	"github.com/pawl-run/pawl/server/client"
	"github.com/pawl-run/pawl/tool"
)

// payer is a host of an agent that pays 5 when somebody approves.
type payer struct{ journal *sqlite.Journal }

func (payer) Agents(context.Context) ([]client.Agent, error) {
	return []client.Agent{{Name: "payer"}}, nil
}

func (p payer) Start(context.Context, string, json.RawMessage) (worker.Work, error) {
	pay := tool.Func("pay", "Pay.", func(context.Context, struct{}) (string, error) { return "paid", nil }, pawl.Write)
	return worker.Work{Engine: p.Desk(nil), Agent: pawl.Agent{
		Name: "payer", Model: script.Replies(pawl.Do(pawl.Call{Tool: "pay", Args: json.RawMessage(`{}`)}), pawl.Say("I paid 5.")),
		Tools: []pawl.Tool{pay}, Policies: []pawl.Policy{approval.For("pay")},
	}}, nil
}

func (p payer) Again(ctx context.Context, _ *pawl.State, _ *server.Change) (worker.Work, error) {
	return p.Start(ctx, "", nil)
}

func (p payer) Desk(*pawl.State) *engine.Engine { return engine.New(p.journal, nil) }

// TestAgentAsModel has the SDK of OpenAI talk to an agent at a server: streamed and not, over an
// approval in the middle of the conversation.
func TestAgentAsModel(t *testing.T) {
	j, err := sqlite.Open(t.Context(), t.TempDir()+"/runs.db", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	s, err := server.New(j, payer{j}, []server.Key{{Token: "secret", Name: "ann"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	at := httptest.NewServer(s)
	defer at.Close()
	defer func() { _ = s.Close() }()
	sdk := openai.NewClient(option.WithBaseURL(at.URL+"/v1"), option.WithAPIKey("secret"))
	models, err := sdk.Models.List(t.Context())
	if err != nil || len(models.Data) != 1 || models.Data[0].ID != "payer" {
		t.Fatal(models, err)
	}

	_, err = sdk.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{Model: "payer"})
	if e := new(openai.Error); !errors.As(err, &e) || e.Message != "the last message must have the role user" {
		t.Error(err, e)
	}
	talk := openai.ChatCompletionNewParams{Model: "payer", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Pay 5.")}}
	reply, err := sdk.Chat.Completions.New(t.Context(), talk)
	if err != nil || reply.Choices[0].FinishReason != "stop" {
		t.Fatalf("%+v, %v", reply, err)
	}
	waits, run := reply.Choices[0].Message.Content, strings.TrimPrefix(reply.ID, "chatcmpl-")
	if !strings.Contains(waits, at.URL+"/#/runs/"+run) {
		t.Error(waits)
	}
	if err := errors.Join(engine.New(j, nil).Approve(t.Context(), run, "c_1", "", nil), s.GoOn(t.Context(), run)); err != nil {
		t.Fatal(err)
	}

	talk.Messages = append(talk.Messages, openai.AssistantMessage(waits), openai.UserMessage("It is approved."))
	talk.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
	var whole openai.ChatCompletionAccumulator
	stream := sdk.Chat.Completions.NewStreaming(t.Context(), talk)
	for stream.Next() {
		if !whole.AddChunk(stream.Current()) {
			t.Fatalf("the chunk %+v does not fit", stream.Current())
		}
	}
	if err := stream.Err(); err != nil || whole.Choices[0].Message.Content != "I paid 5." || whole.ID != reply.ID || whole.Usage.TotalTokens == 0 {
		t.Errorf("%+v %v", whole, err)
	}
}
