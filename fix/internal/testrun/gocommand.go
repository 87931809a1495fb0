package testrun

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/internal/excerpt"
	"github.com/pawl-run/pawl/internal/process"
)

// IsGoTest reports whether a test command is go test, whose tests have names and separate
// verdicts.
func IsGoTest(argv []string) bool {
	return len(argv) > 1 && filepath.Base(argv[0]) == "go" && argv[1] == "test"
}

// GoCommand is a go test command taken apart, to make others of it that build
// the same way.
type GoCommand struct {
	Build    []string // flags that the build and the tests need
	Vet      []string // the flag that says what go vet looks for before the tests run
	Packages []string
	Args     []string // -args and what follows it
}

// separate lists the flags of go build and go test whose value may stand in an
// argument of its own; see go help build and go help testflag.
var separate = []string{
	"C", "p", "asmflags", "buildmode", "compiler", "gccgoflags", "gcflags", "installsuffix", "ldflags", "mod", "modfile",
	"overlay", "pgo", "pkgdir", "tags", "toolexec", "covermode", "coverpkg", "coverprofile", "run", "skip", "bench",
	"benchtime", "blockprofile", "blockprofilerate", "count", "cpu", "cpuprofile", "fuzz", "fuzztime", "fuzzminimizetime",
	"list", "memprofile", "memprofilerate", "mutexprofile", "mutexprofilefraction", "outputdir", "parallel", "timeout",
	"trace", "vet", "exec", "o", "shuffle",
}

// own lists the flags that the commands made here set themselves, or that
// would have several of them write the same file.
var own = []string{
	"json", "v", "c", "o", "list", "timeout", "count", "vet", "p", "failfast", "fullpath", "artifacts",
	"cover", "covermode", "coverpkg", "coverprofile", "bench", "benchtime", "benchmem", "fuzz", "fuzztime", "fuzzminimizetime",
	"blockprofile", "cpuprofile", "memprofile", "mutexprofile", "trace", "outputdir",
}

// A Flag is a flag of a go command.
type Flag struct {
	Name  string // without dashes and "test."
	Value string
	Given bool     // it has a value
	As    []string // how it is written: one argument, or two
}

// flagAt reads the flag that stands at a place among arguments.
func flagAt(args []string, i int) Flag {
	f := Flag{As: args[i : i+1]}
	f.Name, f.Value, f.Given = strings.Cut(strings.TrimLeft(args[i], "-"), "=")
	f.Name = strings.TrimPrefix(f.Name, "test.")
	if !f.Given && slices.Contains(separate, f.Name) && i+1 < len(args) {
		f.Value, f.Given, f.As = args[i+1], true, args[i:i+2]
	}
	return f
}

// Flags reads a list of nothing but flags.
func Flags(args []string) (list []Flag) {
	for i := 0; i < len(args); i += len(list[len(list)-1].As) {
		list = append(list, flagAt(args, i))
	}
	return list
}

// ParseGoCommand reads the arguments after go test.
func ParseGoCommand(argv []string) (GoCommand, error) {
	var g GoCommand
	for i := 0; i < len(argv); {
		if !strings.HasPrefix(argv[i], "-") {
			g.Packages = append(g.Packages, argv[i])
			i++
			continue
		}
		f := flagAt(argv, i)
		switch {
		case f.Name == "args":
			g.Args, f.As = slices.Clone(argv[i:]), argv[i:]
		case f.Name == "overlay" || f.Name == "C":
			return GoCommand{}, fmt.Errorf("the test command has -%s, which cannot be combined with this; use edit_file and run_tests", f.Name)
		case f.Name == "vet":
			g.Vet = f.As
		case !slices.Contains(own, f.Name):
			g.Build = append(g.Build, f.As...)
		}
		i += len(f.As)
	}
	if len(g.Packages) == 0 {
		g.Packages = []string{"."}
	}
	return g, nil
}

// Bounds on one go command of these tools.
const (
	floodLimit = 64 << 20        // bytes of output; real tests print thousands of times less
	buildLimit = 5 * time.Minute // for the build before the tests run
	StartSlack = 2 * time.Second // beyond the tests' own time-out
)

var (
	errFlood = errors.New("it printed without end and was stopped")
	// ErrStuck is why a command was stopped that took too long.
	ErrStuck = errors.New("its tests did not end and were stopped")
)

// GoTested is the result of a go test command.
type GoTested struct {
	Report  gotest.Report
	Slowest time.Duration // of the packages that ended by themselves
	Ran     bool          // some tests were started
	Stopped error         // why it was ended from here: errFlood, errStuck or errMemory

	exit process.Exit
	ends endings
}

// GoTest runs go test -json with the arguments, each package's tests no longer
// than limit, using at most the given memory in bytes; zero is what guard says.
func (s *Suite) GoTest(ctx context.Context, args []string, limit time.Duration, memory int64) (GoTested, error) {
	argv := slices.Concat([]string{s.Argv[0], "test", "-json", "-timeout=" + limit.String()}, args)
	return s.Tested(ctx, TestCommand{Argv: argv, Dir: s.Dir, Env: s.Env, Limit: limit, Ahead: buildLimit, Memory: memory})
}

// TestCommand is a command that prints what go test -json does.
type TestCommand struct {
	Argv   []string
	Dir    string
	Env    []string
	Limit  time.Duration // of the tests of one package
	Ahead  time.Duration // of the build before the first of them; zero: neither time nor output is limited
	Memory int64
	Alone  string                     // the only package, if the command's output does not name it
	Seen   func(packages, failed int) // called as packages end; may be nil
}

// Tested runs such a command.
func (s *Suite) Tested(ctx context.Context, c TestCommand) (GoTested, error) {
	inner, end := context.WithCancelCause(ctx)
	defer end(nil)
	r, w := io.Pipe()
	ends := endings{seen: c.Seen}
	output, started := int64(math.MaxInt64), func() {}
	if c.Ahead > 0 {
		// The tests' own time-out cannot be relied on: it does not count what runs before main.
		timer := time.AfterFunc(c.Ahead, func() { end(ErrStuck) })
		defer timer.Stop()
		output, started = floodLimit, func() { timer.Reset(c.Limit + StartSlack) }
	}
	type parsed struct {
		report gotest.Report
		err    error
	}
	done := make(chan parsed, 1)
	go func() {
		from := &io.LimitedReader{R: r, N: output}
		report, err := gotest.Parse(from, s.module, func(e gotest.Event) {
			ends.add(e)
			if e.Action == "start" { // the tests of a package
				started()
			}
		})
		if from.N == 0 {
			end(errFlood)
		}
		_, _ = io.Copy(io.Discard, r) // the command must not wait for a reader that gave up
		done <- parsed{report, err}
	}()
	exit, err := process.Run(inner, process.Command{
		Argv: c.Argv, Dir: c.Dir, Env: c.Env, Stdout: w, Stderr: w, Grace: 700 * time.Millisecond,
		Started: func(pid int) { go Guard(inner, pid, c.Memory, end) },
	})
	if c.Alone != "" && exit.Code != 0 { // which test2json leaves out when a test dies
		fmt.Fprintf(w, "\n{\"Action\":\"fail\",\"Package\":%q}\n", c.Alone)
	}
	_ = w.Close()
	got := <-done
	why := context.Cause(inner)
	switch {
	case ctx.Err() != nil:
		return GoTested{}, context.Cause(ctx)
	case err != nil && why == nil:
		return GoTested{}, err
	case got.err != nil:
		return GoTested{}, fmt.Errorf("read the tests' output: %w", got.err)
	}
	return GoTested{Report: got.report, Slowest: ends.slowest, Ran: ranAny(got.report), Stopped: why, exit: exit, ends: ends}, nil
}

// ranAny reports whether a test binary was built and run.
func ranAny(r gotest.Report) bool {
	return slices.ContainsFunc(r.Packages, func(p gotest.Package) bool {
		return p.Status != gotest.StatusSkip && p.FailedBuild == "" && !slices.ContainsFunc(r.Failures, func(x gotest.Failure) bool {
			return x.Package == p.Path && (x.Kind == gotest.KindBuild || x.Kind == gotest.KindSetup)
		})
	})
}

// GoTool runs a go command that prints something to be read, such as go list,
// and returns its standard output.
func (s *Suite) GoTool(ctx context.Context, args ...string) ([]byte, error) {
	inner, end := context.WithTimeoutCause(ctx, buildLimit, ErrStuck)
	defer end()
	var out bounded
	said := excerpt.New(16 << 10)
	exit, err := process.Run(inner, process.Command{
		Argv: append([]string{s.Argv[0]}, args...), Dir: s.Dir, Env: s.Env, Stdout: &out, Stderr: said, Grace: 700 * time.Millisecond,
	})
	switch {
	case inner.Err() != nil:
		return nil, context.Cause(inner)
	case err != nil:
		return nil, err
	case exit.Code != 0:
		return nil, fmt.Errorf("go %s: %s: %s", args[0], exit, strings.TrimSpace(said.String()))
	}
	return out.Bytes(), nil
}

// Converter is the command that turns the output of a test binary into events. The toolchain
// builds that program on demand, and checking whether it is current takes longer than most
// tests; so converter asks for its path once, and again only if the file is gone. It is not
// safe for concurrent use.
func (s *Suite) Converter(ctx context.Context) []string {
	if There(s.converts) {
		return []string{s.converts}
	}
	out, err := s.GoTool(ctx, "tool", "-n", "test2json")
	if s.converts = strings.TrimSpace(string(out)); err != nil || !There(s.converts) {
		return []string{s.Argv[0], "tool", "test2json"}
	}
	return []string{s.converts}
}

// There reports whether a program exists.
func There(program string) bool {
	info, err := os.Stat(program)
	return err == nil && info.Mode().IsRegular()
}

// Undescribed are the flags that leave debug information out of a test binary, as go test does
// unless it keeps the binary; writing it takes a quarter of such a build. They come before the
// flags of the test command, and are omitted if the environment has linker flags, which they
// would override.
func (s *Suite) Undescribed(ctx context.Context) []string {
	if s.linking == nil {
		out, err := s.GoTool(ctx, "env", "GOFLAGS")
		if err != nil {
			return nil
		}
		set := strings.Contains(string(out), "ldflags")
		s.linking = &set
	}
	if *s.linking {
		return nil
	}
	return []string{"-ldflags=-s -w"}
}

// bounded is a buffer that fails rather than grow without end.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > floodLimit {
		return 0, errFlood
	}
	return b.Buffer.Write(p)
}

// Listed is a package of the main module, as go list reports it.
type Listed struct {
	ImportPath, ForTest string
	Dir                 string // relative to the project's root
	Imports             []string
}

// Modules lists the packages of the main module, or of the workspace, that the named ones and
// their tests depend on.
func (s *Suite) Modules(ctx context.Context, g GoCommand, packages []string) ([]Listed, error) {
	args := slices.Concat([]string{"list", "-e", "-deps", "-test", "-json=ImportPath,ForTest,Dir,Imports,Module,Standard"},
		Listable(g.Build), []string{"--"}, packages)
	out, err := s.GoTool(ctx, args...)
	if err != nil {
		return nil, err
	}
	root := s.Dir
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	var list []Listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Listed

			Standard bool
			Module   *struct{ Main bool }
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, fmt.Errorf("read what go list says: %w", err)
		}
		if p.Standard || p.Module == nil || !p.Module.Main {
			continue
		}
		for _, from := range []string{root, s.Dir} {
			if rel, err := filepath.Rel(from, p.Dir); err == nil && filepath.IsLocal(rel) {
				p.Dir = filepath.ToSlash(rel)
				break
			}
		}
		list = append(list, p.Listed)
	}
}

// Listable drops the flags that go list does not know.
func Listable(flags []string) []string {
	var out []string
	for _, f := range Flags(flags) {
		switch f.Name {
		case "tags", "race", "msan", "asan", "mod", "modfile", "compiler", "buildvcs":
			out = append(out, f.As...)
		}
	}
	return out
}
