package testfix

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-run/pawl/fix/internal/goedit"
	"github.com/pawl-run/pawl/fix/internal/testrun"
	"github.com/pawl-run/pawl/internal/excerpt"
	"github.com/pawl-run/pawl/internal/process"
)

// Bounds on finding out where two programs differ.
const (
	mostProbes   = 48
	probeLimit   = 2 * time.Second // for the tests of one probe
	differTime   = 5 * time.Second
	mostPrinted  = 32 << 10
	mostWitness  = 120 // bytes of what is shown of a difference
	probesAtOnce = 2   // for each core; they are short
)

// prober runs the tests of one package with other inputs than the author's. A program that
// prints the same for all of them is taken for the same program.
type prober struct {
	fix     *Fix
	command testrun.GoCommand
	pkg     string // the import path
	dir     string // relative to the module
	tests   string // the pattern of the tests that failed
	probes  []goedit.Probe
	files   map[string]string // test files that take probes

	mu      sync.Mutex
	printed map[int]string // what the fix prints, by probe
}

func (f *Fix) prober(pkg, dir string, tests []string, o *goedit.Options) (*prober, error) {
	command, err := testrun.ParseGoCommand(f.Suite.Argv[2:])
	if err != nil {
		return nil, err
	}
	probes, files, err := goedit.Probes(f.Root.FS(), dir, o)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(tests))
	for i, t := range tests {
		names[i] = regexp.QuoteMeta(t)
	}
	p := &prober{fix: f, command: command, pkg: pkg, dir: dir, files: files, printed: map[int]string{}, tests: "^(" + strings.Join(names, "|") + ")$"}
	for _, x := range probes {
		if x.Test == "" || x.Literal == "" || slices.Contains(tests, x.Test) {
			p.probes = append(p.probes, x)
		}
	}
	p.probes = p.probes[:min(len(p.probes), mostProbes)]
	return p, nil
}

// build builds the tests with files of the module in place of its own, once for a state of the
// files; empty: it does not build.
func (p *prober) build(ctx context.Context, instead map[string]string) string {
	all := maps.Clone(p.files)
	maps.Copy(all, instead)
	state, err := p.fix.stateWith(ctx, all)
	if err != nil {
		return ""
	}
	state += p.pkg
	p.fix.Mu.Lock()
	bin := p.fix.probing[state]
	p.fix.Mu.Unlock()
	if testrun.There(bin) {
		return bin
	}
	dir, err := os.MkdirTemp(p.fix.Tree.StateDir(), "probe-")
	if err != nil {
		return ""
	}
	overlay, err := testrun.Overlay(dir, all)
	if err != nil {
		return ""
	}
	bin = filepath.Join(dir, "tests")
	args := slices.Concat([]string{"test", "-c", "-vet=off", overlay, "-o", bin}, p.fix.Suite.Undescribed(ctx), p.command.Build, []string{p.pkg})
	if _, err := p.fix.Suite.GoTool(ctx, args...); err != nil || !testrun.There(bin) {
		return ""
	}
	p.fix.Mu.Lock()
	defer p.fix.Mu.Unlock()
	p.fix.probing[state] = bin
	return bin
}

// both builds two programs at once.
func (p *prober) both(ctx context.Context, one, other map[string]string) (a, b string) {
	p.fix.Suite.Undescribed(ctx) // which is not safe for that, and keeps its answer
	var group sync.WaitGroup
	group.Go(func() { a = p.build(ctx, one) })
	group.Go(func() { b = p.build(ctx, other) })
	group.Wait()
	return a, b
}

// Parts of what a test prints that say nothing about the program.
var fleeting = regexp.MustCompile(`\(\d+\.\d+s\)|0x[0-9a-f]+|\+0x|/tmp/\S*|goroutine \d+`)

// run returns what the tests print for a probe; nil: none.
func (p *prober) run(ctx context.Context, bin string, x *goedit.Probe) string {
	env := slices.Clone(p.fix.Suite.Env)
	pattern := p.tests
	if x != nil {
		env = append(env, goedit.ProbeVars[0]+"="+x.Literal, goedit.ProbeVars[1]+"="+x.Value)
		if x.Test != "" {
			pattern = only(x.Test)
		}
	}
	out := excerpt.New(mostPrinted)
	inner, end := context.WithTimeout(ctx, probeLimit)
	defer end()
	exit, err := process.Run(inner, process.Command{
		Argv: slices.Concat([]string{bin, "-test.v", "-test.count=1", "-test.paniconexit0", "-test.run=" + pattern}, runFlags(p.command.Build, true)),
		Dir:  filepath.Join(p.fix.Suite.Dir, filepath.FromSlash(p.dir)), Env: env, Stdout: out, Stderr: out, Grace: 100 * time.Millisecond,
		Started: func(pid int) { go testrun.Guard(inner, pid, p.fix.Suite.Memory, func(error) { end() }) },
	})
	if err != nil || exit.Killed || inner.Err() != nil {
		return "it did not end"
	}
	text, _, panicked := strings.Cut(out.String(), "\ngoroutine ")
	if panicked {
		text += "\npanicked"
	}
	return fleeting.ReplaceAllString(text, "")
}

// fixed returns what the fix prints for a probe.
func (p *prober) fixed(ctx context.Context, bin string, i int) string {
	p.mu.Lock()
	text, known := p.printed[i]
	p.mu.Unlock()
	if known {
		return text
	}
	text = p.run(ctx, bin, &p.probes[i])
	p.mu.Lock()
	defer p.mu.Unlock()
	p.printed[i] = text
	return text
}

// witness is a probe for which two programs differ.
type witness struct {
	probe      goedit.Probe
	one, other string
}

func (w witness) String() string {
	return fmt.Sprintf("with %s in place of %s at %s:%d, the fix prints %q and the other edit %q", w.probe.New, w.probe.Old, path.Base(w.probe.File), w.probe.Line, w.one, w.other)
}

// differ returns up to some probes for which two programs print something else, in their order.
func (p *prober) differ(ctx context.Context, one, other string, most int) []witness {
	ctx, end := context.WithTimeout(ctx, differTime)
	defer end()
	var mu sync.Mutex
	found := map[int]witness{}
	next := 0
	var group sync.WaitGroup
	for range probesAtOnce * slots() {
		group.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				enough := len(found) >= most
				mu.Unlock()
				if i >= len(p.probes) || enough || ctx.Err() != nil {
					return
				}
				x := &p.probes[i]
				a, b := p.fixed(ctx, one, i), p.run(ctx, other, x)
				if a == b || ctx.Err() != nil || a != p.run(ctx, one, x) || b != p.run(ctx, other, x) {
					continue // or it is not the same twice
				}
				c, d := apart(a, b)
				mu.Lock()
				found[i] = witness{*x, c, d}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	var list []witness
	for _, i := range slices.Sorted(maps.Keys(found)) {
		list = append(list, found[i])
	}
	return list[:min(len(list), most)]
}

// apart returns the first lines in which two texts differ.
func apart(a, b string) (string, string) {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	i := 0
	for i < len(x) && i < len(y) && x[i] == y[i] {
		i++
	}
	line := func(l []string) string {
		if i >= len(l) {
			return ""
		}
		return excerpt.Clip(strings.TrimSpace(l[i]), mostWitness)
	}
	return line(x), line(y)
}
