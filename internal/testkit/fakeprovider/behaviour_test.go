package fakeprovider_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/internal/testkit/fakeprovider"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/anthropic"
	"github.com/pawl-run/pawl/model/google"
	"github.com/pawl-run/pawl/model/openai"
	"github.com/pawl-run/pawl/tool"
)

// adapters makes the model under test on each wire.
var adapters = map[fakeprovider.Wire]func(url string, c *http.Client) pawl.Model{
	fakeprovider.Anthropic: func(url string, c *http.Client) pawl.Model {
		return anthropic.New("claude-sonnet-5-5", &anthropic.Options{BaseURL: url, APIKey: "k", HTTPClient: c})
	},
	fakeprovider.Chat: func(url string, c *http.Client) pawl.Model {
		return openai.New("house", &openai.Options{BaseURL: url + "/v1", APIKey: "k", HTTPClient: c})
	},
	fakeprovider.Responses: func(url string, c *http.Client) pawl.Model {
		return openai.New("gpt-6.2-sol", &openai.Options{API: openai.Responses, BaseURL: url + "/v1", APIKey: "k", HTTPClient: c})
	},
	fakeprovider.Google: func(url string, c *http.Client) pawl.Model {
		return google.New("gemini-4-hydrogen", &google.Options{BaseURL: url, APIKey: "k", HTTPClient: c})
	},
}

// A rig is one run of one agent on one wire, with a provider that goes wrong.
// The agent looks, puts once, and says that it is done; whatever it hears of
// its calls, it tries again until it has put.
type rig struct {
	fake  *fakeprovider.Server
	think pawl.ModelFunc // the brain
	srv   *httptest.Server
	eng   *engine.Engine
	agent pawl.Agent
	run   *engine.Handle
	puts  atomic.Int64
}

const thought = "First I look."

func brain(_ context.Context, r pawl.Request) (pawl.Reply, error) {
	n, put := 1, false
	for _, m := range r.Messages {
		if m.Role == pawl.RoleAssistant {
			n++
		}
		for _, p := range m.Parts {
			if res, ok := p.(pawl.ToolResult); ok && !res.Failed && strings.Contains(res.Text(), "it is put") {
				put = true
			}
		}
	}
	usage := pawl.Usage{Input: 1000, Output: 60, CacheRead: 500, Reasoning: 10}
	if put || len(r.Tools) == 0 {
		return pawl.Reply{Parts: []pawl.Part{pawl.Thinking{Text: "That was all."}, pawl.Text{Text: "Done, and nothing is left to do."}}, Usage: usage}, nil
	}
	args := json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))
	return pawl.Reply{Parts: []pawl.Part{pawl.Thinking{Text: thought}, pawl.Text{Text: "I look, then I put."},
		pawl.Call{Tool: "look", Args: args}, pawl.Call{Tool: "put", Args: args}}, Usage: usage}, nil
}

// TestMain lets more tests run at once than there are processors: most of them
// wait.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// patience is how long the rig waits for a provider that says nothing: longer than a
// sound one needs on a machine that has much else to do.
const patience = 2 * time.Minute

// hangs are the faults after which nothing more comes.
var hangs = []string{"no-answer", "headers-only", "stalled-stream", "pings-for-ever", "endless-error-body"}

// impatient makes an engine that gives a silent provider up soon.
func (r *rig) impatient(t *testing.T) { r.engine(t, 1500*time.Millisecond) }

func (r *rig) engine(t *testing.T, patience time.Duration) {
	r.eng = engine.New(memory.New(), &engine.Options{
		First: patience, Idle: patience, Call: 3 * patience,
		Backoff: func(int) time.Duration { return time.Millisecond },
	})
	t.Cleanup(func() { r.eng.Close() })
}

func newRig(t *testing.T, w fakeprovider.Wire, o *fakeprovider.Options) *rig {
	r := &rig{think: brain}
	r.fake = fakeprovider.New(pawl.ModelFunc(func(ctx context.Context, q pawl.Request) (pawl.Reply, error) { return r.think(ctx, q) }), o)
	r.srv = httptest.NewServer(r.fake)
	transport := &http.Transport{}
	t.Cleanup(func() {
		r.fake.Close()
		transport.CloseIdleConnections()
		r.srv.Close()
	})
	type in struct {
		N *int `json:"n,omitempty"`
	}
	type out struct {
		N int `json:"n"`
	}
	r.agent = pawl.Agent{
		Name: "faulted", Prompt: "You put things.", Model: adapters[w](r.srv.URL, &http.Client{Transport: transport}),
		Sampling: pawl.Sampling{Effort: "high", MaxTokens: 4096},
		Tools: []pawl.Tool{
			tool.Func("look", "Look at it.", func(context.Context, in) (string, error) { return "it is there", nil }, pawl.Read),
			tool.Func("put", "Put it.", func(context.Context, out) (string, error) {
				r.puts.Add(1)
				return "it is put", nil
			}, pawl.Write),
		},
	}
	r.engine(t, patience)
	return r
}

// start runs the agent to where it stops.
func (r *rig) start(t *testing.T) pawl.Result {
	h, err := r.eng.Start(t.Context(), r.agent, "Put it.", nil)
	must(t, err)
	r.run = h
	return finish(t, h)
}

func (r *rig) resume(t *testing.T) pawl.Result {
	h, err := r.eng.Resume(t.Context(), r.agent, r.run.ID(), nil)
	must(t, err)
	r.run = h
	return finish(t, h)
}

func finish(t *testing.T, h *engine.Handle) pawl.Result {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // never, but where something hangs
	defer cancel()
	res, err := h.Wait(ctx)
	must(t, err)
	return res
}

// What Pawl made of a fault, in one word and a class:
//
//	fine          nothing was amiss
//	retry CLASS   the attempt failed and was made again, which went well
//	fail CLASS    the run failed at once
//	park CLASS    the run waits, until the provider takes requests again
//	refuse        the reply stands, those of its calls that cannot run are answered with why
//	reject        none of the reply's calls ran, and the model was asked again
//	refused       the run failed because the model, or its provider, will not answer
//	go on         the turn was sent again, to be gone on with
func (r *rig) verdict(t *testing.T, res pawl.Result) string {
	class, said := "", ""
	for e, err := range r.run.Entries(t.Context()) {
		must(t, err)
		switch e := e.Event.(type) {
		case pawl.ModelFailed:
			class = e.Class.String()
		case pawl.PlanRejected:
			said = "reject"
		case pawl.ToolRefused:
			if said == "" {
				said = "refuse"
			}
		case pawl.ModelReplied:
			if e.Reply.Stop == pawl.StopPause {
				said = "continue"
			}
		}
	}
	switch {
	case res.Status == pawl.StatusPaused:
		return "park " + class
	case res.Status == pawl.StatusFailed && class == "":
		return res.Verdict.Leaf
	case res.Status == pawl.StatusFailed:
		return "fail " + class
	case res.Status != pawl.StatusSuccess:
		return res.Status.String() + ": " + res.Verdict.Detail
	case class != "":
		return "retry " + class
	case said != "":
		return said
	}
	return "fine"
}

var must = check.Must
