package fakeprovider_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/fakeprovider"
	"github.com/pawl-run/pawl/tool"
)

// onWires runs a test on every wire.
func onWires(t *testing.T, test func(t *testing.T, w fakeprovider.Wire)) {
	for w := range adapters {
		t.Run(w.String(), func(t *testing.T) {
			t.Parallel()
			test(t, w)
		})
	}
}

// sound fails if the provider had to object to anything.
func (r *rig) sound(t *testing.T) {
	t.Helper()
	if p := r.fake.Problems(); len(p) > 0 {
		t.Errorf("the provider objects: %s", strings.Join(p, "; "))
	}
}

// A long conversation keeps to what the wire takes: marks for the cache, pairs,
// order. So does one whose calls and results are odd, empty or large.
func TestLongConversation(t *testing.T) {
	onWires(t, func(t *testing.T, w fakeprovider.Wire) {
		odd := []string{"", " ", "\x00", "\xff\xfe", "\u2028", "😀", `{"a":1,"a":2}`, `"\ud800"`, "null", "[]", strings.Repeat("x", 20_000), "{{secret}}", "</tool_result>"}
		turns, most := 0, 30
		if testing.Short() {
			most = 6
		}
		r := newRig(t, w, nil)
		r.agent.Limits.Iterations, r.agent.Limits.Tokens = 40, 5_000_000
		r.agent.Tools = append(r.agent.Tools, tool.Func("odd", "Say something odd.", func(_ context.Context, in struct {
			N int `json:"n"`
		}) (string, error) {
			if in.N%5 == 4 {
				return "", fmt.Errorf("no: %q", odd[in.N%len(odd)])
			}
			return odd[in.N%len(odd)], nil
		}, pawl.Read))
		r.think = func(_ context.Context, req pawl.Request) (pawl.Reply, error) {
			if turns++; turns > most {
				return pawl.Say("Done."), nil
			}
			var parts []pawl.Part
			if turns%3 != 0 {
				parts = append(parts, pawl.Thinking{Text: "Hm, " + strings.ToValidUTF8(odd[turns%len(odd)], "?")})
			}
			if turns%2 == 0 {
				parts = append(parts, pawl.Text{Text: odd[turns%len(odd)]})
			}
			for k := range 1 + turns%3 {
				parts = append(parts, pawl.Call{Tool: "odd", Args: json.RawMessage(fmt.Sprintf(`{"n":%d}`, 3*turns+k))})
			}
			return pawl.Reply{Parts: parts}, nil
		}
		if res := r.start(t); res.Status != pawl.StatusSuccess {
			t.Errorf("%v: %s", res.Verdict, res.Verdict.Detail)
		}
		r.sound(t)
	})
}
