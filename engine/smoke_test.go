package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

type add struct{}

func (add) Info() pawl.ToolInfo {
	return pawl.ToolInfo{Name: "add", Description: "Add.", Effect: pawl.Read, Input: json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]}`)}
}
func (add) Run(_ context.Context, inv pawl.Invocation) (pawl.Output, error) {
	var a struct{ A, B int }
	if err := json.Unmarshal(inv.Args, &a); err != nil {
		return pawl.Output{}, err
	}
	return pawl.Output{JSON: fmt.Appendf(nil, "%d", a.A+a.B)}, nil
}

func adder(n int) pawl.Agent {
	return pawl.Agent{Name: "adder", Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		k := 0
		for _, m := range r.Messages {
			if m.Role == pawl.Assistant {
				k++
			}
		}
		if k == n || r.Purpose == pawl.PurposeLanding {
			return pawl.Say("done"), nil
		}
		return pawl.Do(pawl.Call{Tool: "add", Args: fmt.Appendf(nil, `{"a":%d,"b":1}`, k)}), nil
	}), Tools: []pawl.Tool{add{}}}
}

func TestSmoke(t *testing.T) {
	for _, n := range []int{0, 2, 30} {
		j := memory.New()
		e := engine.New(j, nil)
		run, err := e.Start(t.Context(), adder(n), "go", nil)
		if err != nil {
			t.Fatal(err)
		}
		for en, err := range run.Entries(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if n == 2 {
				b, _ := json.Marshal(en)
				fmt.Println(string(b))
			}
		}
		res, err := run.Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b, _ := json.Marshal(res)
		if n <= 2 {
			fmt.Println(string(b))
		} else {
			fmt.Println(res.Status, res.Verdict, res.Iterations, res.Answer)
		}
		steps, err := e.Replay(t.Context(), adder(n), run.ID())
		fmt.Println("replay", steps, err)
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			a := adder(n)
			a.Limits.Iterations = 2000
			a.Limits.Tokens = 1 << 40
			b.ReportAllocs()
			for b.Loop() {
				r, err := engine.Run(b.Context(), a, "go")
				if err != nil || r.Status != pawl.Success {
					b.Fatal(r, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/iter")
		})
	}
}
