package window_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit/fakeprovider"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/anthropic"
	"github.com/pawl-run/pawl/tool"
)

// A block is what Anthropic caches by: prompt and tools, or one part of a message.
type block struct {
	text string
	mark bool
}

func blocks(t *testing.T, body []byte) (list []block) {
	var doc struct {
		System   []json.RawMessage
		Tools    json.RawMessage
		Messages []struct {
			Role    string
			Content []json.RawMessage
		}
	}
	must(t, json.Unmarshal(body, &doc))
	add := func(prefix string, raw []byte) {
		list = append(list, block{prefix + string(mark.ReplaceAll(raw, nil)), bytes.Contains(raw, []byte("cache_control"))})
	}
	add("tools", doc.Tools)
	for _, s := range doc.System {
		add("system", s)
	}
	for _, m := range doc.Messages {
		for _, c := range m.Content {
			add(m.Role, c)
		}
	}
	return list
}

// TestMarks: under the rules by which Anthropic finds the beginning of a request
// in its cache, it finds nearly all that two requests share, also of a turn with
// more calls than it looks back, and where results were left out.
func TestMarks(t *testing.T) {
	turn := 0
	brain := pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		if r.Purpose == pawl.PurposeSummary {
			return pawl.Say(strings.Repeat("It was looked for. ", 250)), nil
		}
		if turn++; turn > 60 {
			return pawl.Say("Done."), nil
		}
		n := 1
		if turn%7 == 0 {
			n = 15 // thirty blocks
		}
		reply := pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: strings.Repeat("Let me look. ", 60)}}}
		for i := range n {
			reply.Parts = append(reply.Parts, pawl.Call{Tool: "look", Args: json.RawMessage(fmt.Sprintf(`{"n":%d}`, 100*turn+i))})
		}
		return reply, nil
	})
	fake := fakeprovider.New(brain, nil)
	srv := httptest.NewServer(fake)
	defer srv.Close()
	defer fake.Close()
	look := tool.Func("look", "Look.", func(_ context.Context, in struct {
		N int `json:"n"`
	}) (string, error) {
		return strings.Repeat(fmt.Sprintf("%d ", in.N), 900), nil
	}, pawl.Read)
	e := engine.New(memory.New(), nil)
	defer e.Close()
	run, err := e.Start(t.Context(), pawl.Agent{
		Name: "marks", Prompt: strings.Repeat("Be thorough. ", 900), Tools: []pawl.Tool{look},
		Model:  anthropic.New("claude-sonnet-5-5", &anthropic.Options{APIKey: "key", BaseURL: srv.URL, Price: &pawl.Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75}}),
		Limits: pawl.Limits{Iterations: 61, Tokens: 1 << 40},
	}, strings.Repeat("Look at everything. ", 50), nil)
	must(t, err)
	if r, err := run.Wait(t.Context()); err != nil || r.Status != pawl.StatusSuccess || len(fake.Problems()) > 0 {
		t.Fatal(r.Status, r.Reason, fake.Problems(), err)
	}
	written := map[string]bool{}
	var last []block
	shared, missed, cuts := 0, 0, 0
	for _, r := range fake.Requests() {
		now := blocks(t, r.Body)
		prefixes, whole := make([]string, 0, len(now)), ""
		for _, b := range now {
			whole += b.text + "\x00"
			prefixes = append(prefixes, whole)
		}
		common := 0
		for common < len(last) && common < len(now) && last[common].text == now[common].text {
			common++
		}
		if common < len(last) {
			cuts++
		}
		hit := 0
		for i, b := range now {
			for k := i; b.mark && k >= 0 && k > i-20; k-- {
				if written[prefixes[k]] {
					hit = max(hit, len(prefixes[k]))
					break
				}
			}
		}
		for i, b := range now {
			if b.mark {
				written[prefixes[i]] = true
			}
		}
		if common > 0 {
			shared += len(prefixes[common-1])
			missed += max(0, len(prefixes[common-1])-hit)
		}
		last = now
	}
	t.Logf("%d requests, cut %d times: of %d bytes that were shared, %d were not found", len(fake.Requests()), cuts, shared, missed)
	if cuts < 3 || missed > shared/200 {
		t.Error("too much of what was shared is not found, or nothing was ever cut")
	}
}
