package explain_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/explain"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// inJSON are the reports that are held as JSON, too: with what each key can have in it.
var inJSON = []string{"rare", "success-goal", "waiting-input", "judged", "paused-rate-limit"}

func TestGolden(t *testing.T) { // Promises: T13, N10.
	for _, sc := range slices.Concat(scenes, ruts) {
		t.Run(sc.name, func(t *testing.T) {
			log := inLab(t, sc.play)
			r, err := explain.Of(sequence(log), sc.opt)
			must(t, err)
			if r.Status != sc.status {
				t.Errorf("status %v, want %v: %s", r.Status, sc.status, r.Reason.Detail)
			}
			doc, err := json.MarshalIndent(r, "", "  ")
			must(t, err)
			golden(t, sc.name+".md", r.Markdown())
			if slices.Contains(inJSON, sc.name) {
				golden(t, sc.name+".json", string(doc)+"\n")
			}
			holds(t, log, r)
			prefixes(t, log)
		})
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		must(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); go test -update rewrites it\n%s", file, diff)
	}
}

// holds checks what is true of every report.
func holds(t *testing.T, log []pawl.Entry, r explain.Report) {
	t.Helper()
	s := new(pawl.State)
	for _, e := range log {
		s.Fold(e)
	}
	var in, out, calls int
	var dollars float64
	for _, p := range r.Cost {
		in, out, calls = in+p.InputTokens, out+p.OutputTokens, calls+p.ModelCalls
		if p.CostUSD != nil {
			dollars += float64(*p.CostUSD)
		}
	}
	spent, known := s.Cost()
	if !known { // as after a fork to a model without a price
		spent = 0
	}
	if in != s.Usage().Input || out != s.Usage().Output || calls != s.ModelCalls() || math.Abs(dollars-spent) > 1e-12 {
		t.Errorf("the parts add up to %d in, %d out, %d calls, $%g; the run used %+v, %d calls, $%g", in, out, calls, dollars, s.Usage(), s.ModelCalls(), spent)
	}
	children := r.Cost["children"]
	asked := children.InputTokens + children.OutputTokens
	for _, m := range r.Spending.Models {
		asked += m.InputTokens + m.OutputTokens
	}
	if used := s.Usage().Total(); asked != used {
		t.Errorf("the models' tokens add up to %d; the run used %d", asked, used)
	}
	var last uint64
	for _, d := range r.Decisions {
		if d.Seq <= last || d.Step == "" || d.Subject == "" || d.Why == "" && d.Step != "hook" {
			t.Errorf("decision %+v after entry %d", d, last)
		}
		last = d.Seq
	}
	if len(r.Next) == 0 {
		t.Error("there is always something that can be done")
	}
	md := r.Markdown()
	for i, line := range unfenced(md) {
		if strings.HasPrefix(strings.TrimLeft(line, " >-"), "#") && strings.Contains(line, "FORGED") {
			t.Errorf("line %d is a forged heading: %q", i, line)
		}
	}
	for _, c := range "\x01\x02\x03\x04\x1b\r\u202e" {
		if strings.ContainsRune(md, c) {
			t.Errorf("the report contains %q", c)
		}
	}
	if n := strings.Count(md, "\n"); n > 170 {
		t.Errorf("the report has %d lines", n)
	}
}

// unfenced are the lines outside code blocks, as CommonMark has it: a block ends
// at a fence at least as long as the one that began it.
func unfenced(md string) (lines []string) {
	open := 0
	for line := range strings.Lines(md) {
		n := len(line) - len(strings.TrimLeft(line, "`"))
		switch {
		case open > 0 && n >= open && strings.TrimSpace(line[n:]) == "":
			open = 0
		case open > 0:
		case n >= 3:
			open = n
		default:
			lines = append(lines, line)
		}
	}
	return lines
}

// prefixes explains every prefix of a log: at each of them the run may have stood.
func prefixes(t *testing.T, log []pawl.Entry) {
	t.Helper()
	step := 1 + len(log)/200
	for n := 1; n <= len(log); n += step {
		r, err := explain.Of(sequence(log[:n]), &explain.Options{Status: pawl.StatusInterrupted})
		if err != nil {
			t.Fatalf("prefix %d: %v", n, err)
		}
		if r.Markdown() == "" || len(r.Decisions) == 0 || len(r.Next) == 0 {
			t.Errorf("prefix %d says nothing", n)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Errorf("prefix %d: %v", n, err)
		}
	}
}

func TestNothingAndBroken(t *testing.T) {
	r, err := explain.Of(sequence(nil), nil)
	if err == nil || r.Markdown() == "" {
		t.Errorf("an empty log: %v, %q", err, r.Markdown())
	}
	log := inLab(t, scenes[1].play)
	r, err = explain.Of(sequence(append(log[:3:3], log[5])), nil)
	if err == nil || len(r.Decisions) != 2 {
		t.Errorf("a log with a gap: %v, %d decisions", err, len(r.Decisions))
	}
	broken := errors.New("disk on fire")
	_, err = explain.Of(func(yield func(pawl.Entry, error) bool) {
		if yield(log[0], nil) {
			yield(pawl.Entry{}, broken)
		}
	}, nil)
	if !errors.Is(err, broken) {
		t.Errorf("a broken journal: %v", err)
	}
}

// TestResultIsWhole holds the contract: explain --json is the result plus more.
func TestResultIsWhole(t *testing.T) {
	log := inLab(t, scenes[1].play)
	r, err := explain.Of(sequence(log), nil)
	must(t, err)
	s := new(pawl.State)
	for _, e := range log {
		s.Fold(e)
	}
	got, want := keys(t, r), keys(t, s.Result())
	for key, value := range want {
		if !bytes.Equal(got[key], value) {
			t.Errorf("%s is %s, want %s", key, got[key], value)
		}
	}
	for _, key := range []string{"decisions", "ceilings", "cost", "next"} {
		if got[key] == nil {
			t.Errorf("%s is missing", key)
		}
	}
}

func keys(t *testing.T, v any) (m map[string]json.RawMessage) {
	t.Helper()
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	must(t, err)
	return m
}
