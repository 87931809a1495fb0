package gotest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxLine bounds one line of the stream; the rest of a longer one is dropped.
const maxLine = 1 << 20

// Event is one line of go test -json: a TestEvent or, with ImportPath, a
// BuildEvent.
type Event struct {
	Action      string
	Package     string
	Test        string
	Output      string
	Elapsed     float64 // seconds
	ImportPath  string
	FailedBuild string
}

// Parse reads the output of go test -json to its end. Lines that are not events, such as a toolchain's stderr on
// the same pipe, are left out, unless there is nothing else. With the module path, as in go.mod, Locations are
// relative to the module's directory, assuming that go test ran there; without it, those of tests have base names.
//
// A stream that ends early is not an error: its packages are reported as unfinished. The error is the reader's;
// the Report then holds what came before. seen is called with each event as it is read; nil: it is not called.
func Parse(r io.Reader, module string, seen func(Event)) (Report, error) {
	s := &stream{module: module, seen: seen, packages: map[string]*pkg{}, builds: map[string]*build{}}
	br := bufio.NewReaderSize(r, 64<<10)
	var err error
	for err == nil {
		var line string
		line, err = readLine(br)
		if line != "" {
			s.line(line)
		}
	}
	if errors.Is(err, io.EOF) {
		return s.report(), nil
	}
	return s.report(), fmt.Errorf("reading go test's output: %w", err)
}

func readLine(br *bufio.Reader) (string, error) {
	var b []byte
	for {
		part, err := br.ReadSlice('\n')
		if room := maxLine - len(b); room > 0 {
			b = append(b, part[:min(len(part), room)]...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return strings.TrimRight(string(b), "\r\n"), err
		}
	}
}

// stream is the state while reading.
type stream struct {
	module   string
	seen     func(Event)
	packages map[string]*pkg
	builds   map[string]*build
	stray    text
}

type pkg struct {
	path        string
	status      Status
	failedBuild string
	setup       bool // [setup failed]
	unbuilt     bool // [build failed]
	verdict     bool // a PASS or FAIL line: the binary got to its end
	out         text
	tests       map[string]*test
	order       []*test // in order of appearance
	verdicts    int     // number of verdicts
}

type test struct {
	name   string
	status Status
	paused bool
	ended  int // the how manyth verdict of its package, from one; 0 before it
	out    text
}

type build struct {
	path   string // the package that a person would name
	failed bool
	out    text
}

func (s *stream) line(line string) {
	js := line
	if !strings.HasPrefix(js, "{") {
		// The go command's stderr may end without a newline on a shared pipe.
		if i := strings.Index(js, `{"Time":"`); i >= 0 {
			s.stray.add(js[:i] + "\n")
			js = js[i:]
		}
	}
	var e Event
	if !strings.HasPrefix(js, "{") || json.Unmarshal([]byte(js), &e) != nil || e.Action == "" {
		s.stray.add(line + "\n")
		return
	}
	if s.seen != nil {
		s.seen(e)
	}
	if strings.HasPrefix(e.Action, "build-") {
		b := s.build(e.ImportPath)
		b.out.add(e.Output)
		b.failed = b.failed || e.Action == "build-fail"
		return
	}
	if e.Package != "" {
		s.pkg(e.Package).event(e)
	}
}

func (s *stream) pkg(path string) *pkg {
	p := s.packages[path]
	if p == nil {
		p = &pkg{path: path, status: StatusUnfinished, tests: map[string]*test{}}
		s.packages[path] = p
	}
	return p
}

// build finds a build by the name the go command gives it. "p [p.test]" and
// "p_test [p.test]" are variants of p made for its test: one identity.
func (s *stream) build(name string) *build {
	path, variant, _ := strings.Cut(name, " [")
	if base, ok := strings.CutSuffix(strings.TrimSuffix(variant, "]"), ".test"); ok && path == base+"_test" {
		path = base
	}
	b := s.builds[path]
	if b == nil {
		b = &build{path: path}
		s.builds[path] = b
	}
	return b
}

func (p *pkg) event(e Event) {
	if e.Test == "" {
		p.own(e)
		return
	}
	t := p.tests[e.Test]
	if t == nil {
		t = &test{name: e.Test, status: StatusUnfinished}
		p.tests[e.Test] = t
		p.order = append(p.order, t)
	}
	switch e.Action {
	case "run", "cont":
		t.paused = false
	case "pause":
		t.paused = true
	case "output":
		t.out.add(e.Output)
	case "pass", "skip", "fail":
		p.verdicts++
		t.ended = p.verdicts
		// With -count=2 a test has several verdicts; one failure decides.
		if t.status != StatusFail {
			t.status = Status(e.Action)
		}
	}
}

// own handles an event of the package itself.
func (p *pkg) own(e Event) {
	switch e.Action {
	case "output":
		switch line := strings.TrimSpace(e.Output); {
		case line == "PASS" || line == "FAIL":
			p.verdict = true
		case strings.HasPrefix(line, "FAIL\t"):
			p.setup = p.setup || strings.HasSuffix(line, " [setup failed]")
			p.unbuilt = p.unbuilt || strings.HasSuffix(line, " [build failed]")
		case strings.HasPrefix(line, "ok  \t"), strings.HasPrefix(line, "coverage: "):
		default:
			p.out.add(e.Output)
		}
	case "pass", "skip", "fail":
		p.status = Status(e.Action)
		p.failedBuild = e.FailedBuild
	}
}
