package pawl

import (
	"context"
	"iter"
	"strings"
	"testing"
)

// TestRoom is the table of how long a reply may be and how much the model is to think, by what is
// known of the model, what the agent says, and whether a reply of the iteration was cut off.
func TestRoom(t *testing.T) {
	for _, c := range []struct {
		what            string
		reply           int    // that the model can write; 0: unknown
		thinks          string // by itself
		effort          string // of the agent
		most, left      int    // of the agent; of tokens
		purpose         Purpose
		asked           int // by a policy
		first, again    int
		lower           string
		cutIsAskedAgain bool
	}{
		{what: "nothing is known", first: 16_384, again: 16_384},
		{what: "short replies", reply: 8_000, first: 8_000, again: 8_000},
		{what: "long replies", reply: 64_000, first: 16_384, again: 64_000, cutIsAskedAgain: true},
		{what: "it thinks", reply: 64_000, thinks: "high", first: 32_768, again: 64_000, lower: "medium", cutIsAskedAgain: true},
		{what: "it is asked to think", reply: 64_000, effort: "max", first: 32_768, again: 64_000, lower: "xhigh", cutIsAskedAgain: true},
		{what: "it is asked to think less than it does", reply: 64_000, thinks: "high", effort: "low", first: 32_768, again: 64_000, lower: "minimal", cutIsAskedAgain: true},
		{what: "it is asked not to think, but may", reply: 64_000, thinks: "high", effort: "none", first: 32_768, again: 64_000, cutIsAskedAgain: true},
		{what: "it does not think", reply: 64_000, effort: "none", first: 16_384, again: 64_000, cutIsAskedAgain: true},
		{what: "it thinks in short replies", reply: 8_000, thinks: "minimal", first: 8_000, again: 8_000, lower: "none", cutIsAskedAgain: true},
		{what: "it thinks, nothing else is known", thinks: "low", first: 32_768, again: 32_768, lower: "minimal", cutIsAskedAgain: true},
		{what: "the agent says less", reply: 64_000, most: 1_000, first: 1_000, again: 1_000},
		{what: "the agent says more than usual", reply: 64_000, most: 50_000, first: 50_000, again: 50_000},
		{what: "the agent says more than the model can", reply: 64_000, most: 100_000, first: 64_000, again: 64_000},
		{what: "few tokens are left", reply: 64_000, left: 20_000, first: 16_384, again: 20_000, cutIsAskedAgain: true},
		{what: "a judge has its own limit", reply: 64_000, purpose: PurposeJudge, asked: 2_048, first: 2_048},
		{what: "a judge that thinks has room for it", reply: 64_000, thinks: "high", purpose: PurposeJudge, asked: 2_048, first: 2_048 + 8_192},
		{what: "a summary that thinks, too", thinks: "high", purpose: PurposeSummary, asked: 2_048, first: 2_048 + 8_192},
		{what: "a vote without a limit is as long as a turn", thinks: "high", purpose: "vote", first: 32_768},
	} {
		info := ModelInfo{Name: "m", Reply: c.reply, Effort: c.thinks}
		m := &Machine{agent: Agent{Sampling: Sampling{MaxTokens: c.most, Effort: c.effort}}, decl: Declaration{ModelInfo: info}}
		s := new(State)
		s.start, s.limits = &RunStarted{Declaration: m.decl}, Limits{Tokens: 1 << 30}
		if c.left > 0 {
			s.limits.Tokens = c.left
		}
		purpose := c.purpose
		if purpose == "" {
			purpose = PurposeTurn
		}
		got := m.fill(s, Think{Purpose: purpose, MaxTokens: c.asked})
		if got.MaxTokens != c.first || got.Effort != "" {
			t.Errorf("%s: %d tokens with effort %q, want %d", c.what, got.MaxTokens, got.Effort, c.first)
		}
		if again := m.fill(s, got); again.MaxTokens != got.MaxTokens {
			t.Errorf("%s: reviewed, it has %d tokens and not %d", c.what, again.MaxTokens, got.MaxTokens)
		}
		if purpose != PurposeTurn {
			continue
		}
		reply := ModelReplied{Purpose: PurposeTurn, Reply: Reply{Parts: []Part{Text{"Once"}}, Stop: StopLength}}
		if failed := m.asksAgain(s, got, &reply); (failed != nil) != c.cutIsAskedAgain {
			t.Errorf("%s: a reply that is cut off: %v", c.what, failed)
		}
		s.iteration, s.asked.Attempt, s.cut = 1, 1, true
		if got = m.fill(s, Think{Purpose: PurposeTurn}); got.MaxTokens != c.again || got.Effort != c.lower {
			t.Errorf("%s: asked again, %d tokens with effort %q, want %d and %q", c.what, got.MaxTokens, got.Effort, c.again, c.lower)
		}
		if failed := m.asksAgain(s, got, &reply); failed != nil {
			t.Errorf("%s: a second reply that is cut off is asked for again: %v", c.what, failed)
		}
	}
}

// TestFirstEstimate: before a model has counted anything, a request counts at least a token for
// three bytes, which is about what the tokenizers of today make of it.
func TestFirstEstimate(t *testing.T) {
	for _, wire := range []Wire{{}, {Frame: 100, Message: 60, Tool: 80, Prompt: 300}} {
		m, err := NewMachine(Agent{Name: "a", Prompt: strings.Repeat("Look. ", 500), Model: described{ModelInfo{Name: "m", Wire: wire}}})
		must(t, err)
		s := new(State)
		s.Fold(Entry{Run: "r", Seq: 1, Event: RunStarted{Declaration: m.Declaration(), Input: strings.Repeat("go ", 1000)}})
		tokens, bytes := m.Estimate(s, &Think{Purpose: PurposeTurn})
		if exact := float64(bytes) / 3 * (1 + s.limits.Margin); bytes < 6000 || float64(tokens) < exact-1 || float64(tokens) > exact+3 {
			t.Errorf("%d tokens of %d bytes, want about %.0f", tokens, bytes, exact)
		}
	}
}

type described struct{ info ModelInfo }

func (d described) Describe() ModelInfo { return d.info }

func (d described) Stream(context.Context, Request) iter.Seq2[Chunk, error] { return nil }
