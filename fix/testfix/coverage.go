package testfix

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/fix/internal/project"
	"github.com/pawl-run/pawl/fix/internal/testrun"
	"github.com/pawl-run/pawl/internal/excerpt"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/tool"
)

// Bounds on coverage. Each test counts is a run of a binary that is built once
// for each package.
const (
	mostCoverFailing  = 6
	mostCoverPassing  = 40
	mostCoverPackages = 3
	coverTime         = 2 * time.Minute
	coverLimit        = 40 << 10 // bytes of lines in the result
)

type coverArgs struct {
	Run string `json:"run,omitempty" jsonschema:"a regular expression that picks among the failing tests by name; all when left out"`
}

// coverage is the tool's result.
type coverage struct {
	Summary string            `json:"summary"`
	Failing int               `json:"failing"` // tests with a profile
	Passing int               `json:"passing"`
	Lines   map[string]string `json:"lines"`
	Left    int               `json:"left,omitempty"` // lines left out
	Without []string          `json:"without,omitempty"`
	Runs    int               `json:"runs"`
}

func (f *Fix) coverageTool() pawl.Tool {
	return tool.FuncWith("coverage", "Find out which lines the failing tests execute and the passing ones do not. "+
		"Each failing test is run alone with coverage, and so are some of the passing ones. For each file, lines gives ranges with the number of failing "+
		"and of passing tests that execute them: \"12-15:2/0\" says that lines 12 to 15 are executed by 2 failing tests and by no passing one. "+
		"The fault is most likely where the first number is high and the second low. Lines that no failing test executes are left out.",
		f.cover, pawl.Read, &tool.Options{MaxOutput: testrun.MaxResult, Timeout: 15 * time.Minute, External: true, Alone: true})
}

// cover makes the spectrum of the failing tests.
func (f *Fix) cover(ctx context.Context, a coverArgs) (coverage, error) {
	pick, err := regexp.Compile(a.Run)
	if err != nil {
		return coverage{}, fmt.Errorf("run: %w", err)
	}
	now, err := f.current(ctx)
	if err != nil {
		return coverage{}, err
	}
	base := now.ran
	command, err := testrun.ParseGoCommand(f.Suite.Argv[2:])
	if err != nil {
		return coverage{}, err
	}
	failing, passing := coverable(base.Report, pick)
	var out coverage
	for _, x := range base.Report.Failures {
		if deadly(x.Kind) && x.Test != "" && pick.MatchString(x.Test) {
			out.Without = append(out.Without, x.ID)
		}
	}
	if len(failing) == 0 && len(out.Without) == 0 {
		return coverage{}, whyNotCoverable(base.Report)
	}
	f.Running.Lock()
	defer f.Running.Unlock()
	dir, err := os.MkdirTemp(f.Tree.StateDir(), "cover-")
	if err != nil {
		return coverage{}, fmt.Errorf("measure coverage: %w", err)
	}
	defer os.RemoveAll(dir)

	c := &covering{suite: f.Suite, command: command, dir: dir, limit: f.patience(), lines: map[place]counts{}}
	timed, stop := context.WithTimeoutCause(ctx, coverTime, errEnough)
	defer stop()
	if slices.ContainsFunc(base.Report.Failures, func(x gotest.Failure) bool { return x.Kind == gotest.KindPanic }) {
		c.survive = f.Files
	}
	if err := c.build(timed, f, failing); err != nil && !errors.Is(err, errEnough) {
		return coverage{}, err
	}
	for _, u := range failing {
		switch hit, err := c.run(timed, u, true); {
		case err != nil:
			return coverage{}, err
		case hit != nil:
			out.Failing++
			c.count(hit, counts{Failed: 1})
		default:
			out.Without = append(out.Without, testName(u))
		}
	}
	for _, u := range passing {
		if out.Failing == 0 {
			break // nothing to compare with
		}
		switch hit, err := c.run(timed, u, false); {
		case err != nil:
			return coverage{}, err
		case hit != nil:
			out.Passing++
			c.count(hit, counts{Passed: 1})
		}
	}
	if ctx.Err() != nil {
		return coverage{}, context.Cause(ctx)
	}
	f.learn(c.slowest)
	f.Mu.Lock()
	f.seen = seenLines{now.state, c.lines}
	f.Mu.Unlock()
	out.Lines, out.Left = spectrum(c.lines, out.Failing, coverLimit)
	out.Runs = c.runs
	out.Summary = fmt.Sprintf("lines executed by %d failing tests, against %d that pass; %d runs of one test each", out.Failing, out.Passing, c.runs)
	if len(out.Without) > 0 {
		out.Summary += "; those under without have no profile, since they end their process, do not end, or pass when run alone"
	}
	return out, nil
}

// unit is one test, run alone.
type unit struct{ pkg, test string }

func testName(u unit) string { return u.pkg + "." + u.test }

// deadly reports whether a failure ends a test's process before it writes a profile.
func deadly(k gotest.Kind) bool { return k == gotest.KindTimeout }

// coverable picks the tests to run: the failing ones and, in their packages, passing tests.
// Those nearest to a failing one come first, its sibling subtests before others: they share
// most of the code.
func coverable(r gotest.Report, pick *regexp.Regexp) (failing, passing []unit) {
	var packages []string
	beside := map[unit]bool{} // parents of failing tests
	for _, x := range r.Failures {
		u := unit{x.Package, x.Test}
		if x.Test == "" || deadly(x.Kind) || !pick.MatchString(x.Test) || len(failing) == mostCoverFailing {
			continue
		}
		if !slices.Contains(packages, x.Package) {
			if len(packages) == mostCoverPackages {
				continue
			}
			packages = append(packages, x.Package)
		}
		failing = append(failing, u)
		for name := x.Test; strings.Contains(name, "/"); {
			name = name[:strings.LastIndexByte(name, '/')]
			beside[unit{x.Package, name}] = true
		}
	}
	var near, far []unit
	for _, p := range r.Packages {
		if !slices.Contains(packages, p.Path) {
			continue
		}
		above := map[string]bool{} // names that have subtests
		for _, t := range p.Tests {
			if i := strings.LastIndexByte(t.Name, '/'); i >= 0 {
				above[t.Name[:i]] = true
			}
		}
		for _, t := range p.Tests {
			u := unit{p.Path, t.Name}
			top := true
			for name := t.Name; strings.Contains(name, "/"); { // a name may have strokes of its own
				top = false
				name = name[:strings.LastIndexByte(name, '/')]
				if beside[unit{p.Path, name}] && t.Status == gotest.StatusPass && !above[t.Name] {
					near = append(near, u)
					break
				}
			}
			if top && t.Status == gotest.StatusPass {
				far = append(far, u)
			}
		}
	}
	near, far = spread(near, mostCoverPassing/2), spread(far, mostCoverPassing-min(len(near), mostCoverPassing/2))
	return failing, slices.Concat(near, far)
}

// spread picks some of many, evenly.
func spread(list []unit, most int) []unit {
	if len(list) <= most {
		return list
	}
	out := make([]unit, most)
	for i := range out {
		out[i] = list[i*len(list)/most]
	}
	return out
}

func whyNotCoverable(r gotest.Report) error {
	for _, x := range r.Failures {
		if x.Kind == gotest.KindBuild {
			return fmt.Errorf("%s does not build, so its tests execute nothing; fix the build first", x.Package)
		}
	}
	if len(r.Failures) == 0 {
		return errors.New("no test fails, so there is nothing to compare")
	}
	return errors.New("no failing test can be run by its name here; read the message of run_tests instead")
}

// covering is one use of the tool.
type covering struct {
	suite   *testrun.Suite
	command testrun.GoCommand
	survive *project.Files // to have panics caught; nil: there are none
	dir     string
	limit   time.Duration
	lines   map[place]counts
	dirs    map[string]string // of packages, by import path
	bins    map[string]string // by import path
	runs    int
	slowest time.Duration
}

func (c *covering) count(hit map[place]bool, by counts) {
	for p := range hit {
		n := c.lines[p]
		c.lines[p] = counts{Failed: n.Failed + by.Failed, Passed: n.Passed + by.Passed}
	}
}

// build makes a test binary for each package, with counters in every package
// of the module that it is made of.
func (c *covering) build(ctx context.Context, f *Fix, units []unit) error {
	c.dirs, c.bins = map[string]string{}, map[string]string{}
	var packages []string
	for _, u := range units {
		if !slices.Contains(packages, u.pkg) {
			packages = append(packages, u.pkg)
		}
	}
	list, err := f.affected(ctx, c.command, packages)
	if err != nil {
		return fmt.Errorf("measure coverage: %w", err)
	}
	for p, dir := range list.dirs {
		if !strings.Contains(p, " ") && !strings.HasSuffix(p, ".test") { // else it is made for a test
			c.dirs[p] = dir
		}
	}
	covered := slices.Sorted(maps.Keys(c.dirs))
	var overlay []string
	if c.survive != nil {
		var tested []string
		for _, pkg := range packages {
			if dir, ok := c.dirs[pkg]; ok {
				tested = append(tested, dir)
			}
		}
		flag, err := survivors(c.survive, tested, filepath.Join(c.dir, "survive"))
		if err != nil {
			return err
		}
		if flag != "" {
			overlay = []string{flag}
		}
	}
	for i, pkg := range packages {
		bin := filepath.Join(c.dir, fmt.Sprintf("%d.test", i))
		args := slices.Concat([]string{"test", "-c", "-vet=off", "-covermode=set", "-coverpkg=" + strings.Join(covered, ","), "-o", bin},
			c.suite.Undescribed(ctx), runFlags(c.command.Build, false), overlay, []string{pkg})
		if race(c.command.Build) {
			args[3] = "-covermode=atomic"
		}
		if _, err := c.suite.GoTool(ctx, args...); err != nil {
			return fmt.Errorf("%s does not build with coverage: %w", pkg, err)
		}
		c.bins[pkg] = bin
	}
	return nil
}

func race(flags []string) bool {
	return slices.ContainsFunc(flags, func(f string) bool { return strings.TrimLeft(f, "-") == "race" })
}

// testFlags are those of the flags kept that are the test binary's and not the
// build's.
var testFlags = []string{"run", "skip", "short", "cpu", "parallel", "shuffle", "blockprofilerate", "memprofilerate", "mutexprofilefraction"}

// runFlags returns the flags that are for the test binary, as it takes them,
// or those that are not, which the build takes.
func runFlags(flags []string, binary bool) []string {
	var out []string
	for _, f := range testrun.Flags(flags) {
		switch {
		case slices.Contains(testFlags, f.Name) != binary:
		case !binary:
			out = append(out, f.As...)
		case f.Name == "run": // ours goes before it
		case f.Given:
			out = append(out, "-test."+f.Name+"="+f.Value)
		default:
			out = append(out, "-test."+f.Name)
		}
	}
	return out
}

// run runs one test and returns the lines it executed; nil when it left no
// profile, or did not end as it did among the others.
func (c *covering) run(ctx context.Context, u unit, fails bool) (map[place]bool, error) {
	bin := c.bins[u.pkg]
	if bin == "" || ctx.Err() != nil {
		return nil, nil //nolint:nilnil // no profile is an answer
	}
	profile := filepath.Join(c.dir, "profile")
	if err := os.Remove(profile); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("measure coverage: %w", err)
	}
	argv := slices.Concat([]string{bin, "-test.run=" + only(u.test), "-test.count=1", "-test.coverprofile=" + profile, "-test.timeout=" + c.limit.String(), "-test.paniconexit0"},
		runFlags(c.command.Build, true))
	if len(c.command.Args) > 0 {
		argv = append(argv, c.command.Args[1:]...)
	}
	inner, stop := context.WithTimeoutCause(ctx, c.limit+testrun.StartSlack, testrun.ErrStuck)
	defer stop()
	ending, end := context.WithCancelCause(inner)
	defer end(nil)
	out := excerpt.New(1)
	exit, err := process.Run(ending, process.Command{
		Argv: argv, Dir: filepath.Join(c.suite.Dir, filepath.FromSlash(c.dirs[u.pkg])), Env: c.suite.Env,
		Stdout: out, Stderr: out, Grace: 200 * time.Millisecond,
		Started: func(pid int) { go testrun.Guard(ending, pid, c.suite.Memory, end) },
	})
	c.runs++
	switch {
	case ctx.Err() != nil || exit.Killed:
		return nil, nil //nolint:nilnil // as above
	case err != nil:
		return nil, fmt.Errorf("measure coverage: %w", err)
	}
	if exit.Code == 0 || exit.Code == 1 { // else it died, perhaps of its time-out
		c.slowest = max(c.slowest, exit.Duration)
	}
	if fails != (exit.Code != 0) {
		return nil, nil //nolint:nilnil // as above
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		return nil, nil //nolint:nilnil // the test's process died before it wrote one
	}
	return readProfile(text, c.dirs), nil
}

// only is the pattern that picks one test or subtest.
func only(test string) string {
	parts := strings.Split(test, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}
