package window_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/tool"
)

// meter is a provider that plays a trace and bills each request by the longest
// beginning that it shares with the one before: that much is read from the
// cache, which is lost after five minutes, and the rest is written to it.
type meter struct {
	trace    []int
	turns    int
	read     float64
	write    float64
	thinks   int  // tokens of thinking in a reply
	bound    bool // it takes them back only behind what it saw
	bill     float64
	most     int // tokens of the largest request
	requests int
	made     int // summaries
	masked   int // times that results were left out
	cached   []segment
	last     time.Time
	turn     int
	seen     func(pawl.Request)
}

// segment is a piece of a request that is cached or not as a whole.
type segment struct {
	text   string
	tokens float64
}

func (m *meter) Describe() pawl.ModelInfo {
	return pawl.ModelInfo{Name: "meter", Bound: m.bound, Price: &pawl.Price{Input: 1, Output: simOutput, CacheRead: m.read, CacheWrite: m.write}}
}

func (m *meter) segments(r pawl.Request) (all []segment) {
	add := func(kind, text string) {
		all = append(all, segment{kind + text, float64(len(text)) / 4})
	}
	system := r.System
	for _, t := range r.Tools {
		system += t.Name + t.Description + string(t.Input)
	}
	add("system", system)
	for _, msg := range r.Messages {
		for _, p := range msg.Parts {
			switch p := p.(type) {
			case pawl.Text:
				add(msg.Role.String(), p.Text)
			case pawl.Call:
				add("call "+p.ID, p.Tool+string(p.Args))
			case pawl.ToolResult:
				add("result "+p.Call, p.Text())
			}
		}
	}
	return all
}

func (m *meter) reply(_ context.Context, r pawl.Request) (pawl.Reply, error) {
	all := m.segments(r)
	size := 0.0
	for _, s := range all {
		size += s.tokens
	}
	if m.seen != nil {
		m.seen(r)
	}
	m.most = max(m.most, int(size))
	for i := range min(len(all), len(m.cached)) {
		if strings.HasPrefix(all[i].text, "result") && all[i] != m.cached[i] && strings.Contains(all[i].text, "left out") {
			m.masked++
			break
		}
	}
	if time.Since(m.last) > 5*time.Minute {
		m.cached = nil
	}
	hit := 0.0
	for i := 0; i < len(all) && i < len(m.cached) && all[i] == m.cached[i]; i++ {
		hit += all[i].tokens
	}
	m.bill += m.read*hit + m.write*(size-hit)
	m.cached, m.last = all, time.Now()
	m.requests++
	usage := pawl.Usage{Input: int(size), CacheRead: int(hit), CacheWrite: int(size - hit)}
	if r.Purpose == pawl.PurposeSummary {
		m.made++
		m.bill += simOutput * simSummary
		usage.Output = simSummary
		reply := pawl.Say(strings.Repeat("sum ", simSummary))
		reply.Usage = usage
		return reply, nil
	}
	m.turn++
	usage.Output, usage.Reasoning = simReply, m.thinks
	if m.turn == m.turns {
		reply := pawl.Say("done")
		reply.Usage = usage
		return reply, nil
	}
	args := fmt.Sprintf(`{"n":%d}`, m.turn)
	reply := pawl.Reply{Usage: usage, Parts: []pawl.Part{
		pawl.Text{Text: strings.Repeat("I th", simReply-1)[:4*simReply-len("look")-len(args)]},
		pawl.Call{Tool: "look", Args: json.RawMessage(args)},
	}}
	return reply, nil
}

func (m *meter) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return pawl.ModelFunc(m.reply).Stream(ctx, r)
}

// roomy lets a tool say more.
type roomy struct{ pawl.Tool }

func (r roomy) Info() pawl.ToolInfo {
	info := r.Tool.Info()
	info.MaxOutput, info.Timeout = 64<<10, time.Hour
	return info
}

// agent plays the trace. Before a turn the cache is lost with a probability.
func (m *meter) agent(ceiling int, loss float64, policies ...pawl.Policy) pawl.Agent {
	chance := rand.New(rand.NewPCG(uint64(m.trace[0]), uint64(len(m.trace))))
	look := tool.Func("look", "Look.", func(_ context.Context, in struct {
		N int `json:"n"`
	}) (string, error) {
		if chance.Float64() < loss {
			time.Sleep(6 * time.Minute)
		}
		text := strings.Repeat("data", m.trace[(in.N-1)%len(m.trace)])
		return text[:len(text)-4] + fmt.Sprintf("%04d", in.N%10000), nil
	}, pawl.Read)
	return pawl.Agent{
		Name: "meter", Model: m, Prompt: strings.Repeat("rule", simSystem-30), Tools: []pawl.Tool{roomy{look}}, Policies: policies,
		Limits: pawl.Limits{Iterations: ceiling, Tokens: 1 << 40, Time: 10000 * time.Hour},
	}
}

// play runs the agent to its end and returns the entries it wrote.
func play(t testing.TB, a pawl.Agent) (entries []pawl.Entry) {
	j := memory.New()
	eng := engine.New(j, nil)
	defer eng.Close()
	run, err := eng.Start(t.Context(), a, strings.Repeat("task", simTask), nil)
	must(t, err)
	result, err := run.Wait(t.Context())
	if err != nil || result.Status != pawl.StatusSuccess {
		t.Fatal(result.Status, result.Reason, err)
	}
	for e, err := range engine.Entries(t.Context(), j, run.ID(), 1) {
		must(t, err)
		entries = append(entries, e)
	}
	return entries
}
