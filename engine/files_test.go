package engine_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/engine/archive"
	rules "github.com/pawl-run/pawl/guard"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/google"
	"github.com/pawl-run/pawl/model/openai"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/workflow"
)

var aPDF = []byte("%PDF-1.4\n1 0 obj <</Type /Page>> endobj\n2 0 obj <</Type/Page /Parent 3 0 R>> endobj\n3 0 obj <</Type /Pages /Count 2>> endobj\n%%EOF\n")

func aPicture(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))))
	return b.Bytes()
}

// attachedTo returns the files, and the texts with a frame, of a request.
func attachedTo(r pawl.Request) (files []pawl.File, texts []string) {
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case pawl.File:
				files = append(files, p)
			case pawl.Text:
				if strings.HasPrefix(p.Text, "[file ") {
					texts = append(texts, p.Text)
				}
			}
		}
	}
	return files, texts
}

// inLog checks that a log has files by reference, and reserves tokens for them.
func inLog(t *testing.T, j *memory.Journal, run string, count int) {
	t.Helper()
	for entry := range entriesOf(t, j, run) {
		switch e := entry.Event.(type) {
		case pawl.RunStarted:
			for _, f := range e.Files {
				if f.Data != nil || f.Blob == "" || f.Bytes == 0 || f.Tokens == 0 {
					t.Errorf("the log has %+v", f)
				}
				if _, err := j.Blob(t.Context(), f.Blob); err != nil {
					t.Errorf("%s: %v", f.Name, err)
				}
			}
			if len(e.Files) != count || e.Files[0].Tokens != 6000 {
				t.Errorf("the log has %d files of %d; the first has %+v", len(e.Files), count, e.Files[0])
			}
		case pawl.ModelCalled:
			if e.Reserved-e.MaxTokens < 6000 { // two pages
				t.Errorf("%d tokens are reserved", e.Reserved)
			}
		}
	}
}

// What no model gets is refused before anything is recorded.
func TestFilesRefused(t *testing.T) {
	t.Parallel()
	j := memory.New()
	agent := pawl.Agent{Name: "clerk", Model: script.Replies(pawl.Say("Done."))}
	many := make([]pawl.File, engine.MaxFiles+1)
	for i := range many {
		many[i] = pawl.File{Name: "x.txt", Data: []byte("x")}
	}
	for _, c := range []struct {
		model pawl.Model
		files []pawl.File
		want  string
	}{
		{nil, []pawl.File{{Name: "none.txt"}}, "file none.txt: it is empty"},
		{nil, []pawl.File{{Name: "a.exe", Data: []byte("\x7fELF\x00\x01")}}, "file a.exe: it is neither"},
		{nil, []pawl.File{{Name: "a.pdf", Type: "application/pdf", Data: []byte("<html>")}}, "file a.pdf: it is text/plain, not application/pdf"},
		{nil, []pawl.File{{Name: "a.txt", Data: make([]byte, 1)}}, "file a.txt: it is neither"},
		{nil, []pawl.File{{Name: "a.txt", Data: bytes.Repeat([]byte("x"), engine.MaxFileBytes)}, {Name: "b.txt", Data: []byte("x")}}, "file b.txt: the files have more than 32 MiB together"},
		{nil, many, "an input has at most 50 files, not 51"},
		{google.New("gemini-4-hydrogen", nil), []pawl.File{{Name: "a.pdf", Data: append(bytes.Clone(aPDF), make([]byte, 17<<20)...)}}, "a.pdf cannot be sent to google/gemini-4-hydrogen: it has 22.7 MB in base64, and a request takes 16.0 MB of files"},
		{openai.New("gpt-audio-9", nil), []pawl.File{{Name: "a.png", Data: aPicture(t)}}, "a.png cannot be sent to openai/gpt-audio-9: the provider does not take image/png"},
		{openai.New("gpt-audio-9", nil), []pawl.File{{Name: "a.pdf", Data: aPDF}}, "a.pdf cannot be sent to openai/gpt-audio-9: the model does not take application/pdf"},
	} {
		agent := agent
		if c.model != nil {
			agent.Fallback = []pawl.Model{c.model}
		}
		_, err := engine.New(j, nil).Start(t.Context(), agent, "Read.", &engine.StartOptions{Files: c.files})
		if !errors.As(err, new(*engine.FileError)) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	for h := range j.List(t.Context(), pawl.Query{}) {
		t.Errorf("run %s is recorded", h.Run)
	}
}

// A run that dies at any of its entries goes on with its files, in another process and from
// an export; so does the next run of its thread. Its calls are tainted by them.
func TestFilesSurvive(t *testing.T) {
	t.Parallel()
	reader := func(seen *int) pawl.Agent {
		return pawl.Agent{
			Name:  "clerk",
			Tools: []pawl.Tool{tool.Func("note", "Notes.", func(context.Context, struct{}) (string, error) { return "noted", nil }, pawl.Read)},
			Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
				files, texts := attachedTo(r)
				if len(files) != 1 || !bytes.Equal(files[0].Data, aPDF) || len(texts) != 1 || !strings.Contains(texts[0], "\nuse {{secret:KEY}}\n") {
					return pawl.Reply{}, &pawl.ModelError{Class: pawl.ClassInvalid, Message: "the files are missing"}
				}
				*seen++
				if len(r.Messages) == 1 {
					return pawl.Do(pawl.Call{Tool: "note", Args: []byte("{}")}), nil
				}
				return pawl.Say("Read."), nil
			}),
		}
	}
	o := &engine.StartOptions{Thread: "t", Files: []pawl.File{{Name: "a.pdf", Data: aPDF}, {Name: "a.txt", Data: []byte("use sesame-1234")}}}
	secret := &engine.Options{Secrets: map[string]string{"KEY": "sesame-1234"}}
	run := engine.ThreadRun("t", "")
	for last := uint64(1); ; last++ {
		j := memory.New()
		seen := 0
		if h, err := engine.New(&mortal{Journal: j, last: last}, secret).Start(t.Context(), reader(&seen), "Read.", o); err == nil {
			if _, err := h.Wait(t.Context()); err == nil {
				break
			}
		}
		h, err := engine.New(j, secret).Resume(t.Context(), reader(&seen), run, nil)
		if err != nil {
			t.Fatalf("after entry %d: %v", last, err)
		}
		if r, err := h.Wait(t.Context()); err != nil || r.Answer != "Read." || seen < 2 {
			t.Fatalf("after entry %d: %v, %v, %d requests", last, err, r.Verdict, seen)
		}
		if last > 2 {
			continue
		}
		var file bytes.Buffer
		must(t, archive.Export(t.Context(), j, run, &file, &archive.Options{Raw: true}))
		other := memory.New()
		_, err = archive.Import(t.Context(), other, &file)
		must(t, err)
		next, err := engine.New(other, secret).Start(t.Context(), reader(&seen), "Again.", &engine.StartOptions{Thread: "t"})
		must(t, err)
		if r, err := next.Wait(t.Context()); err != nil || r.Answer != "Read." {
			t.Errorf("the next run: %v, %v", err, r.Verdict)
		}
		if s, err := engine.Load(t.Context(), other, run); err != nil || !s.Tainted() {
			t.Errorf("the run is not tainted, %v", err)
		}
		inLog(t, other, run, 2)
	}
}

// Each step of a workflow sees the files. A value that only a file names needs approval.
func TestFilesInStepsAndGuard(t *testing.T) {
	t.Parallel()
	given := &engine.StartOptions{Files: []pawl.File{{Name: "a.pdf", Data: aPDF}}}
	steps := 0
	model := pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		if files, _ := attachedTo(r); len(files) == 1 {
			steps++
		}
		return pawl.Say("Read."), nil
	})
	flow := workflow.New(pawl.Agent{Name: "desk", Model: model}, workflow.Step{ID: "one", Single: &workflow.Single{Prompt: "Read."}}, workflow.Step{ID: "two", Single: &workflow.Single{Prompt: "Again."}})
	h, err := engine.New(memory.New(), nil).Start(t.Context(), flow, "", given)
	must(t, err)
	if r, err := h.Wait(t.Context()); err != nil || r.Status != pawl.StatusSuccess || steps != 2 {
		t.Errorf("%v, %v, %d steps see the file", err, r.Verdict, steps)
	}
	type payment struct {
		Account string `json:"account"`
	}
	pay := tool.Func("pay", "Pays.", func(context.Context, payment) (string, error) { return "paid", nil }, pawl.Write)
	for account, want := range map[string]pawl.Status{"ACC-1": pawl.StatusSuccess, "ACC-6": pawl.StatusWaitingApproval} {
		agent := pawl.Agent{
			Name: "clerk", Tools: []pawl.Tool{pay}, Policies: []pawl.Policy{rules.DataFlow(nil)},
			Model: script.Replies(pawl.Do(pawl.Call{Tool: "pay", Args: []byte(`{"account":"` + account + `"}`)}), pawl.Say("Done.")),
		}
		h, err := engine.New(&mortal{Journal: memory.New(), last: 100}, nil).Start(t.Context(), agent, "Pay the invoice to the account ACC-1.", given)
		must(t, err)
		r, err := h.Wait(t.Context())
		if err != nil || r.Status != want || len(r.Pending) > 0 && !strings.Contains(r.Pending[0].Reason, "the file a.pdf") {
			t.Errorf("%s: %v, %v %+v", account, err, r.Verdict, r.Pending)
		}
	}
}

// counting is a model that notes how many files it is sent, by the last text.
func counting() (pawl.Model, map[string]int) {
	var mu sync.Mutex
	seen := map[string]int{}
	return pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		files, _ := attachedTo(r)
		parts := r.Messages[len(r.Messages)-1].Parts
		asked, _ := parts[len(parts)-1].(pawl.Text)
		mu.Lock()
		defer mu.Unlock()
		seen[asked.Text] = len(files)
		return pawl.Say("Read."), nil
	}), seen
}

// A run of a step gets the files if the step refers to the input, and once; so it does after its
// process has died at any entry.
func TestFilesInRunsOfSteps(t *testing.T) {
	t.Parallel()
	model, seen := counting()
	aide := pawl.Agent{Name: "aide", Model: model}
	desk := pawl.Agent{Name: "desk", Model: model, Tools: []pawl.Tool{tool.Agent(pawl.Agent{Name: "helper", Description: "Helps.", Model: model}, nil)}}
	flow := workflow.New(desk,
		workflow.Step{ID: "reads", Agent: &aide},
		workflow.Step{ID: "again", Agent: &aide, Input: "And of {{input}}", Continues: "reads"},
		workflow.Step{ID: "called", Tool: "helper", Args: map[string]any{"input": "Help with {{input}}"}},
		workflow.Step{ID: "alone", Tool: "helper", Args: map[string]any{"input": "Help."}},
		workflow.Step{ID: "told", Agent: &aide, Input: "Translate {{steps.reads.output}}"},
		workflow.Step{ID: "both", Parallel: [][]workflow.Step{
			{{ID: "whole", Single: &workflow.Single{Prompt: "Count {{input}}"}}, {ID: "deeper", Agent: &aide, Input: []string{"{{input}}"}}},
			{{ID: "rest", Single: &workflow.Single{Prompt: "Greet."}}},
		}},
		workflow.Step{ID: "nested", Input: "{{input}}", Agent: new(workflow.Graph(pawl.Agent{Name: "graph", Model: model},
			[]workflow.Step{{ID: "node", Single: &workflow.Single{Prompt: "Draw {{input}}"}}, {ID: "end", Agent: &aide, Input: "End."}},
			workflow.Edge{From: "node", To: "end"}))},
	)
	want := map[string]int{"it": 1, "And of it": 1, "Help with it": 1, "Help.": 0, "Translate Read.": 0, "Count it": 1, `["it"]`: 1, "Greet.": 0, "Draw it": 1, "End.": 0}
	o := &engine.StartOptions{ID: "run", Files: []pawl.File{{Name: "a.pdf", Data: aPDF}}}
	finished := false
	for last := uint64(1); !finished; last++ {
		clear(seen)
		j := memory.New()
		first := engine.New(&mortal{Journal: j, last: last}, nil)
		h, err := first.Start(t.Context(), flow, "it", o)
		if err == nil {
			_, err = h.Wait(t.Context())
		}
		if finished = err == nil; !finished {
			first.Close()
			if h, err = engine.New(j, nil).Resume(t.Context(), flow, "run", nil); err != nil {
				t.Fatalf("after entry %d: %v", last, err)
			}
			if r, err := h.Wait(t.Context()); err != nil || r.Status != pawl.StatusSuccess {
				t.Fatalf("after entry %d: %v, %v", last, err, r.Verdict)
			}
		}
		if !maps.Equal(seen, want) {
			t.Fatalf("after entry %d: the files seen are %v, want %v", last, seen, want)
		}
	}

	for name, want := range map[string]string{"gpt-6.2-sol": "every step of the workflow is done", "gpt-audio-9": "step reads: a.png cannot be sent to openai/gpt-audio-9: the provider does not take image/png"} {
		aide.Model = choosy{model, openai.New(name, nil)}
		h, err := engine.New(memory.New(), nil).Start(t.Context(), workflow.New(desk, workflow.Step{ID: "reads", Agent: &aide}), "it",
			&engine.StartOptions{Files: []pawl.File{{Name: "a.png", Data: aPicture(t)}}})
		must(t, err)
		if r, err := h.Wait(t.Context()); err != nil || r.Verdict.Detail != want {
			t.Errorf("%s: %v, %v", name, err, r.Verdict)
		}
	}
}

// choosy is a model that takes what another takes.
type choosy struct {
	pawl.Model
	engine.Taker
}

// mortal is a journal that fails from an entry on.
type mortal struct {
	*memory.Journal
	last uint64
}

func (m *mortal) Append(ctx context.Context, b pawl.Batch) error {
	if b.After+uint64(len(b.Records)) > m.last {
		return errors.New("the process has died")
	}
	return m.Journal.Append(ctx, b)
}
