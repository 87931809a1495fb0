package testrun

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/beneath"
)

// mostPlaces bounds how many places of an output are listed.
const mostPlaces = 20

// placed are the ways in which compilers, interpreters and test runners name a
// line of a file: file:line and file:line:column as most do, file(line,column)
// as Microsoft's do, File "file", line 5 as Python does, "at file line 5" as
// Perl does.
var placed = []*regexp.Regexp{
	regexp.MustCompile(`([\w.@+~/-][\w.@+~ /-]*\.\w+):(\d+)`),
	regexp.MustCompile(`([\w.@+~/-]+\.\w+)\((\d+)(?:,\d+)?\)`),
	regexp.MustCompile(`[Ff]ile "([^"\n]+)", line (\d+)`),
	regexp.MustCompile(`([\w.@+~/-]+\.\w+),? line (\d+)`),
}

// places picks the lines of the project's files that an output names, in its order.
func (s *Suite) places(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		for _, re := range placed {
			for _, m := range re.FindAllStringSubmatch(line, -1) {
				file := s.within(m[1])
				if place := file + ":" + m[2]; file != "" && !slices.Contains(out, place) && len(out) < mostPlaces {
					out = append(out, place)
				}
			}
		}
	}
	return out
}

// within returns the path of a file of the project as the tools take it. A
// name may stand behind words, which end with a space.
func (s *Suite) within(name string) string {
	for {
		if p, err := beneath.Local(strings.TrimPrefix(name, "./")); err == nil && s.exists(p) {
			return path.Clean(p)
		}
		_, after, more := strings.Cut(name, " ")
		if !more {
			return ""
		}
		name = strings.TrimLeft(after, " ")
	}
}

// exists reports whether a path is a file or directory of the project.
func (s *Suite) exists(name string) bool {
	p, err := beneath.Local(name)
	if err != nil {
		return false
	}
	_, err = os.Stat(filepath.Join(s.Dir, filepath.FromSlash(p)))
	return err == nil
}
