package testfix_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/fix/mechanic"
	"github.com/pawl-run/pawl/fix/testfix"
	"github.com/pawl-run/pawl/journal/memory"
)

// person is a fault that somebody made, and fixed in the next version of a public module: the
// module as it is in the next version, but for one file.
type person struct{ set, module, old, new, file string }

func people(t *testing.T) []person {
	t.Helper()
	text, err := os.ReadFile("../../testdata/people.txt")
	if err != nil {
		t.Fatal(err)
	}
	var list []person
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		if len(f) != 5 {
			t.Fatalf("%q: want a set, a module, two versions and a file", line)
		}
		list = append(list, person{f[0], f[1], f[2], f[3], f[4]})
	}
	// Mixed, so that the first of them say something of all.
	slices.SortFunc(list, func(a, b person) int {
		x, y := sha256.Sum256([]byte(fmt.Sprint(a))), sha256.Sum256([]byte(fmt.Sprint(b)))
		return bytes.Compare(x[:], y[:])
	})
	return list
}

// someProof is how many faults the long checks take; PEOPLE names a set of them, or is part of
// a module/file@version, and PEOPLE_TIME limits the search for each.
const someProof = 8

// TestPeople fixes faults of people's making without a model, and compares what it calls
// success with what the people did. It downloads the modules.
func TestPeople(t *testing.T) {
	set := os.Getenv("PEOPLE")
	if os.Getenv("PAWL_PROOF") == "" && set == "" {
		t.Skip("set PAWL_PROOF to download modules and fix them")
	}
	var rows []string
	count := map[string]int{}
	for i, p := range people(t) {
		if set != "" && p.set != set && !strings.Contains(p.module+"/"+p.file+"@"+p.new, set) || set == "" && i >= someProof {
			continue
		}
		began := time.Now()
		verdict, tried := p.fix(t)
		count[verdict]++
		count["all"]++
		rows = append(rows, fmt.Sprintf("%-40s %-9s %-9s %-34s %5.0f s %4d edits  %s", p.module, p.old, p.new, p.file, time.Since(began).Seconds(), tried, verdict))
		t.Log(rows[len(rows)-1])
	}
	t.Logf("%v\n%s", count, strings.Join(rows, "\n"))
	fixed := count["all"] - count["not fixed"] - count["skipped"]
	if fixed*10 < count["all"]-count["skipped"] {
		t.Errorf("%d of %d are fixed", fixed, count["all"]-count["skipped"])
	}
	if sure := count["sure, the same code"] + count["sure, the same for all inputs"] + count["sure, another program"]; count["sure, another program"]*3 > sure {
		t.Errorf("of %d fixes without plausible, %d are other programs", sure, count["sure, another program"])
	}
}

// fix returns what became of a fault, and how many edits were tried for it.
func (p person) fix(t *testing.T) (verdict string, tried int) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), path.Base(p.module))
	was, now := p.download(t, p.old), p.download(t, p.new)
	if err := os.CopyFS(dir, os.DirFS(now)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		put(t, filepath.Join(dir, "go.mod"), "module "+p.module+"\n\ngo 1.16\n")
	}
	old, err1 := os.ReadFile(filepath.Join(was, filepath.FromSlash(p.file)))
	right, err2 := os.ReadFile(filepath.Join(now, filepath.FromSlash(p.file)))
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	put(t, filepath.Join(dir, filepath.FromSlash(p.file)), string(old))
	pkg := "./" + path.Dir(p.file)

	most, _ := time.ParseDuration(os.Getenv("PEOPLE_TIME")) // zero: the agent's own
	f, err := testfix.New(t.Context(), dir, counting{mechanic.New(), &tried}, &testfix.Options{
		Test: []string{"go", "test", "-vet=off", pkg}, Env: []string{"GOWORK=off", "GOFLAGS=-mod=mod"}, StateDir: t.TempDir(),
		Limits: pawl.Limits{Time: most},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if c, err := f.Check(t.Context(), nil); err != nil || len(c.Open) == 0 {
		t.Logf("%s %s: %v, %d open", p.module, p.new, err, len(c.Open))
		return "skipped", 0 // the tests depend on the machine
	}
	run, err := engine.New(memory.New(), nil).Start(t.Context(), f.Agent(), f.Input(), nil)
	if err != nil {
		t.Fatal(err)
	}
	result, err := run.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if result.Status != pawl.StatusSuccess {
		t.Logf("%s", result.Verdict.Detail)
		return "not fixed", tried
	}
	a, err := f.Appraise(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d, err := f.Diff(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v\n%s", a.Evidence, d)
	sure := "sure, "
	if a.Plausible {
		sure = "plausible, "
	}
	return sure + testfix.CompareForTest(t, f, d, p.file, string(right)), tried
}

// counting counts the edits that a model has tried.
type counting struct {
	pawl.Model

	tried *int
}

func (c counting) Describe() pawl.ModelInfo { return c.Model.(pawl.Describer).Describe() }

func (c counting) Limits() pawl.Limits { return c.Model.(interface{ Limits() pawl.Limits }).Limits() }

func (c counting) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	edits := map[string]int{}
	*c.tried = 0
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case pawl.Call:
				var args struct{ Edits []any }
				if json.Unmarshal(p.Args, &args) == nil {
					edits[p.ID] = len(args.Edits)
				}
			case pawl.ToolResult:
				var told struct {
					NotTried []int `json:"not_tried"`
				}
				if json.Unmarshal(p.Content, &told) == nil {
					*c.tried += edits[p.Call] - len(told.NotTried)
				}
			}
		}
	}
	return c.Model.Stream(ctx, r)
}

// download returns the directory of a version in the module cache.
func (p person) download(t *testing.T, version string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", p.module+"@"+version)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	out, err := cmd.Output()
	var m struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &m); err != nil || jsonErr != nil || m.Dir == "" {
		t.Fatalf("%s@%s: %v %s", p.module, version, err, m.Error)
	}
	return m.Dir
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.Chmod(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(name) // what was copied may be read-only
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
