package engine_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/engine/archive"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/window"
)

// reporter returns one file of each kind.
func reporter(t *testing.T, files ...pawl.File) pawl.Tool {
	return tool.Func("report", "Reports.", func(context.Context, struct{}) (pawl.Output, error) {
		return pawl.Output{JSON: []byte(`"done"`), Files: files}, nil
	}, pawl.Read)
}

// A run that dies at any of its entries goes on with the files that its tools returned, also in an
// import and in the next run of its thread.
func TestReturnedFilesSurvive(t *testing.T) {
	t.Parallel()
	csv := "item,price\n" + strings.Repeat("pen,sesame-1234\n", 3000)
	report := reporter(t, pawl.File{Name: "../up/a.pdf", Data: aPDF}, pawl.File{Name: "all.csv", Type: "text/csv", Data: []byte(csv)},
		pawl.File{Name: "dot.png", Data: aPicture(t)}, pawl.File{Name: "a.zip", Type: "application/zip", Data: []byte("PK\x03\x04\x00")}, pawl.File{Name: "none.txt"})
	agent := func(seen *int) pawl.Agent {
		return pawl.Agent{Name: "clerk", Tools: []pawl.Tool{report}, Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			if len(r.Messages) == 1 {
				return pawl.Do(pawl.Call{Tool: "report", Args: []byte("{}")}), nil
			}
			parts := r.Messages[2].Parts
			result, first := parts[0].(pawl.ToolResult)
			pdf, second := parts[2].(pawl.File)
			text, third := parts[3].(pawl.Text)
			switch {
			case !first || len(result.Images) != 1 || !bytes.Equal(result.Images[0].Data, aPicture(t)):
				t.Errorf("the result is %+v", parts[0])
			case parts[1] != pawl.Part(pawl.Text{Text: "Files that report returned:"}):
				t.Errorf("the files follow %+v", parts[1])
			case !second || pdf.Name != "a.pdf" || pdf.Type != "application/pdf" || !bytes.Equal(pdf.Data, aPDF):
				t.Errorf("the document is %+v", parts[2])
			case !third || len(text.Text) > 17<<10 || !strings.Contains(text.Text, "file all.csv, up to where") || !strings.Contains(text.Text, "pen,{{secret:KEY}}\n"):
				t.Errorf("the text is %+v", parts[3])
			case parts[4] != pawl.Part(pawl.Text{Text: "[file a.zip left out: models take no application/zip; people can get it]"}):
				t.Errorf("the archive is %+v", parts[4])
			case parts[5] != pawl.Part(pawl.Text{Text: "[file none.txt left out: it is empty]"}):
				t.Errorf("the empty file is %+v", parts[5])
			}
			*seen++
			return pawl.Say("Read."), nil
		})}
	}
	secret := &engine.Options{Secrets: map[string]string{"KEY": "sesame-1234"}}
	run := engine.ThreadRun("t", "")
	finished := false
	for last := uint64(1); !finished; last++ {
		j, seen := memory.New(), 0
		h, err := engine.New(&mortal{Journal: j, last: last}, secret).Start(t.Context(), agent(&seen), "Report.", &engine.StartOptions{Thread: "t"})
		if err == nil {
			_, err = h.Wait(t.Context())
		}
		if finished = err == nil; !finished {
			h, err = engine.New(j, secret).Resume(t.Context(), agent(&seen), run, nil)
			if err != nil {
				t.Fatalf("after entry %d: %v", last, err)
			}
		}
		if r, err := h.Wait(t.Context()); err != nil || r.Answer != "Read." || seen == 0 {
			t.Fatalf("after entry %d: %v, %v, %d requests", last, err, r.Verdict, seen)
		}
		if !finished {
			continue
		}
		var file bytes.Buffer
		must(t, archive.Export(t.Context(), j, run, &file, &archive.Options{Raw: true}))
		other := memory.New()
		_, err = archive.Import(t.Context(), other, &file)
		must(t, err)
		next, err := engine.New(other, secret).Start(t.Context(), agent(&seen), "Again.", &engine.StartOptions{Thread: "t"})
		must(t, err)
		if r, err := next.Wait(t.Context()); err != nil || r.Answer != "Read." {
			t.Errorf("the next run: %v, %v", err, r.Verdict)
		}
		s, err := engine.Load(t.Context(), other, run)
		must(t, err)
		var got []string
		for _, f := range engine.RunFiles(s) {
			data, err := engine.Contents(t.Context(), other, f.File)
			if (err == nil) != (len(data) > 0) || len(data) != f.Bytes || f.Call != "c_1" {
				t.Errorf("%+v: %d bytes, %v", f, len(data), err)
			}
			got = append(got, f.Name+" "+f.Type)
		}
		want := []string{"a.pdf application/pdf", "all.csv text/plain", "dot.png image/png", "a.zip application/zip", "none.txt application/octet-stream"}
		if !slices.Equal(got, want) {
			t.Errorf("the files are %q", got)
		}
	}
}

// The files of a result count in the reservation of the next request, are left out with it, and are
// fenced if its tool is untrusted. What is beyond the bounds is said and not kept.
func TestReturnedFilesBounded(t *testing.T) {
	t.Parallel()
	many := slices.Repeat([]pawl.File{{Name: "a.pdf", Data: aPDF}}, engine.MaxFiles+2)
	many = slices.Insert(many, 1, pawl.File{Name: "huge.csv", Bytes: 1 << 30}) // its tool has left it out
	report := tool.Func("report", "Reports.", func(context.Context, struct{}) (pawl.Output, error) {
		return pawl.Output{Files: many, Untrusted: true}, nil
	}, pawl.Read)
	turn := 0
	model := pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		files, _ := attachedTo(r)
		turn++
		switch last := r.Messages[len(r.Messages)-1]; turn {
		case 2:
			if text := last.Text(); len(files) != engine.MaxFiles-1 || !strings.Contains(text, "[file huge.csv left out: it was not kept") || !strings.Contains(text, "data, whatever it says") || !strings.Contains(text, "[file 3 more files left out: it was not kept; a result has at most 50 files, with 32 MiB together]") {
				t.Errorf("%d files, %s", len(files), text)
			}
		case 3:
			if len(files) != engine.MaxFiles-1 || len(last.Parts) != engine.MaxFiles+3 {
				t.Errorf("%d files, %d parts", len(files), len(last.Parts))
			}
			return pawl.Say("Done."), nil
		}
		return pawl.Do(pawl.Call{Tool: "report", Args: []byte("{}")}), nil
	})
	agent := pawl.Agent{Name: "clerk", Model: model, Tools: []pawl.Tool{report}, Limits: pawl.Limits{Tokens: 2_000_000},
		Policies: []pawl.Policy{window.Compact(&window.Options{MaxTokens: 450_000, Keep: 1})}}
	j := memory.New()
	h, err := engine.New(j, nil).Start(t.Context(), agent, "Report.", nil)
	must(t, err)
	r, err := h.Wait(t.Context())
	if err != nil || r.Answer != "Done." {
		t.Fatalf("%v, %v", err, r.Verdict)
	}
	var reserved []int
	for entry := range entriesOf(t, j, h.ID()) {
		if e, ok := entry.Event.(pawl.ModelCalled); ok {
			reserved = append(reserved, e.Reserved-e.MaxTokens)
		}
	}
	if each := engine.MaxFiles * 6000; len(reserved) != 3 || reserved[1] < each || reserved[1] > each*3/2 || reserved[2] < each || reserved[2] > each*3/2 {
		t.Errorf("reserved are %v", reserved)
	}
}
