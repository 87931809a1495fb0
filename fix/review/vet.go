package review

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// tools runs go vet and staticcheck on the packages of the files.
func (c *Change) tools(ctx context.Context, files []*File, r *Report) error {
	goCommand, err := c.lookPath("go")
	if err != nil {
		r.Notes = append(r.Notes, "the go command is not installed, so go vet did not run")
		return nil
	}
	state, err := c.state(ctx)
	if err != nil {
		return err
	}
	if state, err = filepath.EvalSymlinks(state); err != nil { // as the tools print it
		return err
	}
	s := &session{c: c, r: r, root: state, ranges: map[string][]Range{}}
	packages := map[string][]string{} // by module
	for _, f := range files {
		s.ranges[f.Path] = f.Ranges()
		dir := path.Dir(f.Path)
		if module, ok := moduleOf(state, dir); ok {
			rel, err := filepath.Rel(filepath.FromSlash(module), filepath.FromSlash(dir))
			if err != nil {
				return err
			}
			if name := "./" + filepath.ToSlash(rel); !slices.Contains(packages[module], name) {
				packages[module] = append(packages[module], name)
			}
		}
	}
	static, err := c.lookPath("staticcheck")
	if err != nil {
		static = ""
	}
	for _, module := range slices.Sorted(maps.Keys(packages)) {
		list := packages[module]
		dir := filepath.Join(state, filepath.FromSlash(module))
		slices.Sort(list)
		if err := s.vet(ctx, dir, goCommand, list); err != nil {
			return err
		}
		if static != "" {
			if err := s.staticcheck(ctx, dir, static, list); err != nil {
				return err
			}
		}
	}
	return nil
}

// lookPath finds a program in the PATH of the environment.
func (c *Change) lookPath(name string) (string, error) {
	for _, v := range c.git.env {
		list, ok := strings.CutPrefix(v, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			if !filepath.IsAbs(dir) { // not what the project brings
				continue
			}
			if file, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
				return file, nil
			}
		}
	}
	return "", exec.ErrNotFound
}

// moduleOf returns the directory of the module that has a package, both relative to the project.
func moduleOf(state, dir string) (string, bool) {
	for ; ; dir = path.Dir(dir) {
		if info, err := os.Stat(filepath.Join(state, filepath.FromSlash(dir), "go.mod")); err == nil && info.Mode().IsRegular() {
			return dir, true
		}
		if dir == "." {
			break
		}
	}
	// The project may be part of a module.
	for up := filepath.Dir(state); ; up = filepath.Dir(up) {
		if info, err := os.Stat(filepath.Join(up, "go.mod")); err == nil && info.Mode().IsRegular() {
			return ".", true
		}
		if up == filepath.Dir(up) {
			return "", false
		}
	}
}

// A session is what the tools find in one state of the project.
type session struct {
	c      *Change
	r      *Report
	root   string
	ranges map[string][]Range // by file
}

// run runs a tool. It may fail because it found something.
func (s *session) run(ctx context.Context, dir, name string, args ...string) (out, said string, failed bool, err error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, s.c.git.env, stopping
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	if ctx.Err() != nil {
		return "", "", false, context.Cause(ctx)
	}
	if _, failed = errors.AsType[*exec.ExitError](err); err != nil && !failed {
		return "", "", false, fmt.Errorf("%s: %w", name, err)
	}
	return stdout.String(), stderr.String(), failed, nil
}

// place is where a tool found something, as FILE:LINE:COLUMN.
var place = regexp.MustCompile(`^(.+?):(\d+)(?::\d+)?$`)

// add adds a finding if it is in the difference.
func (s *session) add(dir, at, rule, severity, title string) (added bool) {
	m := place.FindStringSubmatch(at)
	if m == nil {
		return false
	}
	file := m[1]
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	rel, err := filepath.Rel(s.root, file)
	line, wrong := strconv.Atoi(m[2])
	if name := filepath.ToSlash(rel); err == nil && wrong == nil && within(s.ranges[name], line) {
		s.r.Findings = append(s.r.Findings, Finding{File: name, Line: line, Severity: severity, Title: title, Evidence: s.source(name, line), Rule: rule})
		return true
	}
	return false
}

// source is a line of a file.
func (s *session) source(name string, line int) string {
	for i := range s.c.Files {
		if f := &s.c.Files[i]; f.Path == name {
			if lines := strings.Split(f.text, "\n"); line <= len(lines) {
				return strings.TrimSpace(lines[line-1])
			}
		}
	}
	return ""
}

// vetFailure is what go vet says of a package that does not compile.
var vetFailure = regexp.MustCompile(`(?m)^(?:vet: )?(.+?\.go:\d+(?::\d+)?): (.+)$`)

func (s *session) vet(ctx context.Context, dir, goCommand string, packages []string) error {
	// With -trimpath, which GOFLAGS may have, the go command repeats what it found in equal
	// files of another directory.
	out, said, failed, err := s.run(ctx, dir, goCommand, append([]string{"vet", "-trimpath=false", "-json"}, packages...)...)
	if err != nil {
		return err
	}
	for _, one := range documents(out + "\n" + said) { // an older go vet prints them to standard error
		var byPackage map[string]map[string]json.RawMessage
		if json.Unmarshal([]byte(one), &byPackage) != nil {
			continue
		}
		for _, byAnalyzer := range byPackage {
			for analyzer, raw := range byAnalyzer {
				var list []struct{ Posn, Message string }
				if json.Unmarshal(raw, &list) != nil {
					continue // the analyzer failed
				}
				for _, d := range list {
					s.add(dir, d.Posn, "vet/"+analyzer, Warning, d.Message)
				}
			}
		}
	}
	failures := vetFailure.FindAllStringSubmatch(said, -1)
	for _, m := range failures {
		if !s.add(dir, m[1], "go/compile", Error, "it does not compile: "+m[2]) {
			s.r.Notes = append(s.r.Notes, fmt.Sprintf("go vet could not check a package that does not compile: %s: %s", m[1], m[2]))
		}
	}
	if failed && len(failures) == 0 {
		s.r.Notes = append(s.r.Notes, "go vet could not check everything: "+oneLine(said))
	}
	return nil
}

// documents are the JSON objects among other lines.
func documents(text string) (list []string) {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "{") || b.Len() > 0 {
			b.WriteString(line)
		}
		if strings.HasPrefix(line, "}") || strings.HasPrefix(line, "{") && strings.HasSuffix(strings.TrimSpace(line), "}") {
			list = append(list, b.String())
			b.Reset()
		}
	}
	return list
}

// staticcheck adds what the checks for faults (SA) find; those for style do not count here.
func (s *session) staticcheck(ctx context.Context, dir, name string, packages []string) error {
	out, _, _, err := s.run(ctx, dir, name, append([]string{"-f", "json"}, packages...)...)
	if err != nil {
		return err
	}
	for line := range strings.Lines(out) {
		var d struct {
			Code, Severity, Message string
			Location                struct {
				File string
				Line int
			}
		}
		if json.Unmarshal([]byte(line), &d) != nil || !strings.HasPrefix(d.Code, "SA") {
			continue
		}
		s.add(dir, fmt.Sprintf("%s:%d", d.Location.File, d.Location.Line), "staticcheck/"+d.Code, Warning, d.Message)
	}
	return nil
}
