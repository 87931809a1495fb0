package engine_test

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/workflow"
)

// survives runs an agent to its end, after its process has died at any entry. Then it checks the run.
func survives(t *testing.T, agent pawl.Agent, check func(last uint64, j *memory.Journal, r pawl.Result)) {
	t.Helper()
	finished := false
	for last := uint64(1); !finished; last++ {
		j := memory.New()
		first := engine.New(&mortal{Journal: j, last: last}, nil)
		h, err := first.Start(t.Context(), agent, "it", &engine.StartOptions{ID: "run"})
		if err == nil {
			_, err = h.Wait(t.Context())
		}
		if finished = err == nil; !finished {
			first.Close()
			if h, err = engine.New(j, nil).Resume(t.Context(), agent, "run", nil); err != nil {
				t.Fatalf("after entry %d: %v", last, err)
			}
		}
		r, err := h.Wait(t.Context())
		if err != nil || r.Status != pawl.StatusSuccess {
			t.Fatalf("after entry %d: %v, %v", last, err, r.Verdict)
		}
		check(last, j, r)
	}
}

// What the tools of a called agent return is of the call's result. Another called agent gets the files that
// its input names.
func TestFilesOfCalledAgents(t *testing.T) {
	t.Parallel()
	given := []pawl.File{{Name: "a.pdf", Data: aPDF}, {Name: "dot.png", Data: aPicture(t)}, {Name: "a.zip", Data: []byte("PK\x03\x04\x00")}}
	report := tool.Func("report", "Reports.", func(context.Context, struct{}) (pawl.Output, error) {
		return pawl.Output{Files: given, Untrusted: true}, nil
	}, pawl.Read)
	clerk := pawl.Agent{Name: "clerk", Description: "Reports.", Tools: []pawl.Tool{report}, Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		if len(r.Messages) == 1 {
			return pawl.Do(pawl.Call{Tool: "report", Args: []byte("{}")}), nil
		}
		return pawl.Say("Reported."), nil
	})}
	var seen []string
	reader := pawl.Agent{Name: "reader", Description: "Reads.", Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		seen = nil
		files, _ := attachedTo(r)
		for _, f := range files {
			seen = append(seen, f.Name+" "+f.Type)
		}
		return pawl.Say("Read."), nil
	})}
	chief := pawl.Agent{Name: "chief", Tools: []pawl.Tool{tool.Agent(clerk, nil), tool.Agent(reader, nil)}, Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		switch files, _ := attachedTo(r); len(r.Messages) {
		case 1:
			return pawl.Do(pawl.Call{Tool: "clerk", Args: []byte(`{"input":"Report."}`)}), nil
		case 3:
			if result, ok := r.Messages[2].Parts[0].(pawl.ToolResult); !ok || len(result.Images) != 1 || len(files) != 1 {
				t.Errorf("the result is %+v", r.Messages[2])
			}
			return pawl.Do(pawl.Call{Tool: "reader", Args: []byte(`{"input":"Read dot.png, and a."}`)}), nil
		}
		return pawl.Say("Done."), nil
	})}
	survives(t, chief, func(last uint64, j *memory.Journal, _ pawl.Result) {
		if !slices.Equal(seen, []string{"dot.png image/png"}) {
			t.Errorf("after entry %d: the reader sees %q", last, seen)
		}
		s, err := engine.Load(t.Context(), j, "run")
		must(t, err)
		if c, _ := s.Call("c_1"); c.Trust != pawl.Untrusted {
			t.Errorf("after entry %d: the result is trusted", last)
		}
		files := engine.RunFiles(s)
		for _, f := range files {
			if data, err := engine.Contents(t.Context(), j, f.File); err != nil || len(data) != f.Bytes || f.Tool != "clerk" {
				t.Errorf("after entry %d: %+v: %v", last, f, err)
			}
		}
		if len(files) != 3 || files[2].Type != "application/octet-stream" {
			t.Errorf("after entry %d: the files are %+v", last, files)
		}
	})
}

// A step gets the files of the steps that it refers to, also of branches and in one.
func TestFilesOfSteps(t *testing.T) {
	t.Parallel()
	model, seen := counting()
	aide := pawl.Agent{Name: "aide", Model: model}
	report := reporter(t, pawl.File{Name: "a.pdf", Data: aPDF}, pawl.File{Name: "dot.png", Data: aPicture(t)})
	flow := workflow.New(pawl.Agent{Name: "desk", Model: model, Tools: []pawl.Tool{report}},
		workflow.Step{ID: "makes", Tool: "report"},
		workflow.Step{ID: "reads", Agent: &aide, Input: "Read {{steps.makes.output}}"},
		workflow.Step{ID: "alone", Agent: &aide, Input: "Of {{input}}"},
		workflow.Step{ID: "both", Parallel: [][]workflow.Step{
			{{ID: "inner", Agent: &aide, Input: "Within {{steps.makes.output}}"}, {ID: "other", Agent: &aide, Input: "Apart."}},
			{{ID: "again", Tool: "report"}},
			{{ID: "none", Agent: &aide, Input: "Without."}},
		}},
		workflow.Step{ID: "after", Agent: &aide, Input: []string{"{{steps.both.output[1]}}"}},
	)
	want := map[string]int{"Read done": 2, "Of it": 0, "Within done": 2, "Apart.": 0, "Without.": 0, `["done"]`: 2}
	survives(t, flow, func(last uint64, _ *memory.Journal, _ pawl.Result) {
		if !maps.Equal(seen, want) {
			t.Fatalf("after entry %d: the files seen are %v, want %v", last, seen, want)
		}
		clear(seen)
	})
}
