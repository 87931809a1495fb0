package faults

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Modules that others have written, which those who build pawl have in their
// module cache, and which need nothing else for their tests.
var real = []string{
	"github.com/spf13/pflag",
	"github.com/buger/jsonparser",
	"github.com/aymanbagabas/go-udiff",
}

const (
	faultsEach = 3
	mostDraws  = 60 // until a fault is found that tests notice
)

var stillFailing = regexp.MustCompile(`Still failing: (.+?)[.]?$`)

// Real modules with a fault that chance has sown are mended, or left untouched
// with a true explanation.
func TestReal(t *testing.T) {
	if !proof() {
		t.Skip("set PAWL_PROOF to sow faults into real modules")
	}
	var table []string
	for _, p := range real {
		t.Run(filepath.Base(p), func(t *testing.T) {
			files := cached(t, p)
			all := seeds(t, files)
			kinds := slices.Sorted(maps.Keys(all))
			next := draw(all, kinds, rand.New(rand.NewPCG(4, 4)))
			for n := range faultsEach {
				t.Run(fmt.Sprint(n), func(t *testing.T) {
					s, sown := noticed(t, files, next)
					table = append(table, mend(t, p, s, sown))
				})
			}
		})
	}
	t.Log("\n" + strings.Join(table, "\n"))
}

// cached reads the files of a module from the module cache.
func cached(t *testing.T, p string) map[string]string {
	t.Helper()
	needGo(t)
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", p)
	cmd.Env = append(os.Environ(), "GOPROXY=off")
	out, err := cmd.Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		t.Skipf("%s is not in the module cache; go mod download %s brings it there", p, p)
	}
	files := map[string]string{}
	err = filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(at)
		rel, _ := filepath.Rel(dir, at)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	whole := t.TempDir()
	write(t, whole, files)
	if out, err := tests(t, whole); err != nil {
		t.Skipf("the tests of %s do not pass here as they are: %v\n%s", p, err, out)
	}
	return files
}

// noticed sows faults until one builds and makes tests fail in time.
func noticed(t *testing.T, files map[string]string, next func() (seed, bool)) (seed, map[string]string) {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files)
	for range mostDraws {
		s, ok := next()
		if !ok {
			break
		}
		write(t, dir, map[string]string{s.file: s.sow(files)})
		out, err := tests(t, dir)
		if err != nil && strings.Contains(out, "--- FAIL") && !strings.Contains(out, "build failed") && !strings.Contains(out, "test timed out") {
			sown := maps.Clone(files)
			sown[s.file] = s.sow(files)
			return s, sown
		}
		write(t, dir, map[string]string{s.file: files[s.file]})
	}
	t.Skip("chance has sown no fault that the tests notice")
	return seed{}, nil
}

// mend runs pawl fix on a module with a fault and returns a row of a table.
func mend(t *testing.T, p string, s seed, sown map[string]string) string {
	t.Helper()
	u := newUser(t, filepath.Base(p), sown)
	before := print(t, u.project)
	f := u.fix()
	changed := differing(before, print(t, u.project))
	where := fmt.Sprintf("%s:%d", s.file, 1+strings.Count(sown[s.file][:s.start], "\n"))
	row := fmt.Sprintf("%-34s %-20s %-9s %-12s %6.1f s %4d runs %4d edits  %s", p, where, s.kind, f.Status, f.took.Seconds(), f.runs, f.edits, change(f.Diff))
	t.Log(row)
	if f.Status == "success" {
		if out, err := tests(t, u.project); err != nil {
			t.Errorf("it is no success: %v\n%s", err, out)
		}
		for _, name := range changed {
			if strings.HasSuffix(name, "_test.go") || !strings.HasSuffix(name, ".go") {
				t.Errorf("%s is changed", name)
			}
		}
		return row
	}
	t.Log(f.Reason.Detail)
	if len(changed) > 0 {
		t.Errorf("%s, but %v are touched", f.Status, changed)
	}
	u.explains(f.Reason.Detail)
	return row
}

// explains checks that the tests that an explanation names as failing do fail.
func (u *user) explains(why string) {
	u.t.Helper()
	if why == "" {
		u.t.Error("it does not say why it failed")
		return
	}
	named := stillFailing.FindStringSubmatch(strings.TrimSpace(why))
	if named == nil {
		return // it is about something else: a ceiling, or time
	}
	out, err := tests(u.t, u.project)
	if err == nil {
		u.t.Errorf("it says %q, but all tests pass", why)
	}
	for id := range strings.SplitSeq(named[1], ", ") {
		_, name, ok := strings.Cut(filepath.Base(id), ".")
		if ok && !strings.Contains(out, name) && !strings.Contains(out, "panic:") { // after a panic the rest is not run
			u.t.Errorf("it says that %s fails, which nothing shows", id)
		}
	}
}
