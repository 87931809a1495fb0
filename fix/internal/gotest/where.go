package gotest

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const maxLocations = 20

var (
	logged   = regexp.MustCompile(`^\s*([^\s:]+\.go):(\d+): `)
	compiled = regexp.MustCompile(`^(?:vet: )?([^\s:][^:]*\.go):(\d+)(?::\d+)?: `)
	frameAt  = regexp.MustCompile(`^(\s+)(\S.*\.(?:go|s)):(\d+)(?: .*)?$`)
	funcArgs = regexp.MustCompile(`\((?:0x[0-9a-f]+\??|[{}.,? ]|0x)+\)`)
)

// locate fills in f.Locations.
func (s *stream) locate(f *Failure, lines []string) {
	line := logged
	dir := s.dirOf(f.Package)
	if f.Kind == KindBuild || f.Kind == KindSetup {
		line, dir = compiled, ""
	}
	for i, l := range lines {
		if fn, ok := frameFunc(lines, i); ok {
			m := frameAt.FindStringSubmatch(l)
			if s.ours(funcPackage(fn)) {
				f.at(s.frameFile(fn, m[2]), m[3])
			}
		} else if m := line.FindStringSubmatch(l); m != nil && m[1] != "testing.go" {
			file := path.Clean(strings.ReplaceAll(m[1], `\`, "/"))
			if !strings.Contains(file, "/") {
				file = path.Join(dir, file)
			}
			f.at(file, m[2])
		}
	}
}

func (f *Failure) at(file, line string) {
	n, err := strconv.Atoi(line)
	l := Location{File: file, Line: n}
	if err == nil && len(f.Locations) < maxLocations && !slices.Contains(f.Locations, l) {
		f.Locations = append(f.Locations, l)
	}
}

// frameFunc returns the function line above line i when the two are a frame
// of a stack trace.
func frameFunc(lines []string, i int) (string, bool) {
	if i == 0 || !frameAt.MatchString(lines[i]) {
		return "", false
	}
	fn := strings.TrimSpace(lines[i-1])
	if after, ok := strings.CutPrefix(fn, "created by "); ok {
		fn, _, _ = strings.Cut(after, " in goroutine")
		return fn, true
	}
	return fn, strings.HasSuffix(fn, ")") && (strings.Contains(fn, ".") || strings.HasPrefix(fn, "panic("))
}

// funcPackage returns the import path of a function as traces write it, in
// which dots of the path's last element are escaped.
func funcPackage(fn string) string {
	slash := strings.LastIndexByte(fn[:strings.IndexByte(fn+"(", '(')], '/') + 1
	dot := strings.IndexByte(fn[slash:], '.')
	if dot < 0 {
		return fn
	}
	p := fn[:slash+dot]
	if un, err := url.PathUnescape(p); err == nil {
		p = un
	}
	return p
}

// ours reports whether a package belongs to the tested code rather than the toolchain: the go
// command's own packages are neither in the module nor in the stream, and no other import path
// begins without a dot.
func (s *stream) ours(pkg string) bool {
	if s.packages[pkg] != nil || s.packages[strings.TrimSuffix(pkg, "_test")] != nil || s.inModule(pkg) {
		return true
	}
	first, _, _ := strings.Cut(pkg, "/")
	return strings.Contains(first, ".")
}

func (s *stream) inModule(pkg string) bool {
	return s.module != "" && (pkg == s.module || strings.HasPrefix(pkg, s.module+"/"))
}

// dirOf returns a package's directory relative to the module's, or "" when it
// is the module's own or not known.
func (s *stream) dirOf(pkg string) string {
	if !s.inModule(pkg) {
		return ""
	}
	return strings.TrimPrefix(strings.TrimPrefix(pkg, s.module), "/")
}

// frameFile goes by the function's package rather than by the file's absolute
// path, which depends on where the module was copied to.
func (s *stream) frameFile(fn, file string) string {
	file = strings.ReplaceAll(file, `\`, "/")
	p := funcPackage(fn)
	if s.packages[p] == nil && s.packages[strings.TrimSuffix(p, "_test")] != nil {
		p = strings.TrimSuffix(p, "_test")
	}
	if !s.inModule(p) {
		return file
	}
	return path.Join(s.dirOf(p), path.Base(file))
}

// cleanTrace drops the frames of the runtime and of testing, and what differs from run to run: addresses,
// goroutine numbers.
func (s *stream) cleanTrace(lines []string) []string {
	var out []string
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		if i+1 < len(lines) {
			if fn, ok := frameFunc(lines, i+1); ok {
				i++
				if !s.ours(funcPackage(fn)) {
					continue
				}
				m := frameAt.FindStringSubmatch(lines[i])
				l, _, _ = strings.Cut(funcArgs.ReplaceAllString(l, "(...)"), " in goroutine ")
				at := m[1] + s.frameFile(fn, m[2]) + ":" + m[3]
				// One frame describes an endless recursion as well as a hundred.
				if n := len(out); n < 2 || out[n-2] != l || out[n-1] != at {
					out = append(out, l, at)
				}
				continue
			}
		}
		if n := len(out); l == "" && n > 0 && strings.HasPrefix(out[n-1], "goroutine [") {
			out = out[:n-1] // none of its frames is ours
		}
		l = fleeting.ReplaceAllString(goroutine.ReplaceAllString(l, "${1}oroutine"), "")
		again := l == "" && (len(out) == 0 || out[len(out)-1] == "")
		if !again && !strings.HasPrefix(l, "runtime: sp=") && !orphan.MatchString(l) {
			out = append(out, l)
		}
	}
	for n := len(out); n > 0 && (out[n-1] == "" || strings.HasPrefix(out[n-1], "goroutine [")); n-- {
		out = out[:n-1]
	}
	return out
}

var (
	goroutine = regexp.MustCompile(`\b([Gg])oroutine \d+(?: gp=\S+ m=\S+(?: mp=\S+)?)?`)
	fleeting  = regexp.MustCompile(` (?:pc=|at )0x[0-9a-f]+`)
	// orphan is the second line of a frame whose first was cut off.
	orphan = regexp.MustCompile(`^\s+\S.*\.(?:go|s):\d+ \+0x[0-9a-f]+`)
)
