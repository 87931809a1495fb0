package testfix

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"golang.org/x/tools/cover"

	"github.com/pawl-run/pawl/fix/internal/goedit"
	"github.com/pawl-run/pawl/fix/internal/gotest"
)

// place is a line of a file, by its path relative to the project's root, and counts how many failing and how many
// passing tests executed it.
type (
	place  = gotest.Location
	counts = goedit.Spectrum
)

// readProfile returns the lines that a test executed, from a cover profile. Its files have their
// package's import path; dirs maps import paths to directories.
func readProfile(text []byte, dirs map[string]string) map[place]bool {
	profiles, err := cover.ParseProfilesFromReader(bytes.NewReader(text))
	if err != nil {
		return nil // it was cut short
	}
	out := map[place]bool{}
	for _, p := range profiles {
		dir, known := dirs[path.Dir(p.FileName)]
		for _, b := range p.Blocks {
			if !known || b.Count == 0 {
				continue
			}
			if b.EndCol == 1 && b.EndLine > b.StartLine {
				b.EndLine-- // a block that ends before its last line begins
			}
			for n := b.StartLine; n <= b.EndLine; n++ {
				out[place{File: path.Join(dir, path.Base(p.FileName)), Line: n}] = true
			}
		}
	}
	return out
}

// suspicion is Ochiai's coefficient: the share that failing tests have in a
// line, from 0 to 1. Abreu, Zoeteweij and van Gemund, "On the accuracy of
// spectrum-based fault localization", TAIC PART 2007, found it the best of
// those in use.
func suspicion(c counts, failing int) float64 {
	if c.Failed == 0 || failing == 0 {
		return 0
	}
	return float64(c.Failed) / math.Sqrt(float64(failing)*float64(c.Failed+c.Passed))
}

// spectrum describes the lines that failing tests executed: for each file, ranges of
// neighbouring lines with equal counts, such as "12-15:2/0 17:2/3". Above a size the least
// suspicious lines are left out, and counted.
func spectrum(lines map[place]counts, failing, most int) (files map[string]string, left int) {
	kept := guilty(lines)
	slices.SortFunc(kept, func(a, b place) int {
		return cmp.Or(cmp.Compare(suspicion(lines[b], failing), suspicion(lines[a], failing)), strings.Compare(a.File, b.File), a.Line-b.Line)
	})
	for n := len(kept); ; n = n * 3 / 4 {
		files = ranges(lines, kept[:n])
		size := 0
		for name, text := range files {
			size += len(name) + len(text) + 8
		}
		if size <= most || n == 0 {
			return files, len(kept) - n
		}
	}
}

func ranges(lines map[place]counts, kept []place) map[string]string {
	out := map[string]string{}
	for _, s := range spans(lines, kept) {
		text := fmt.Sprint(s.from)
		if s.to > s.from {
			text += fmt.Sprintf("-%d", s.to)
		}
		if out[s.file] != "" {
			out[s.file] += " "
		}
		out[s.file] += fmt.Sprintf("%s:%d/%d", text, s.Failed, s.Passed)
	}
	return out
}

// span is neighbouring lines with equal counts.
type span struct {
	file     string
	from, to int
	counts
}

// spans joins lines, in the order of files and lines.
func spans(lines map[place]counts, kept []place) []span {
	kept = slices.Clone(kept)
	slices.SortFunc(kept, func(a, b place) int { return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line) })
	var list []span
	for _, p := range kept {
		if n := len(list) - 1; n >= 0 && list[n].file == p.File && list[n].to == p.Line-1 && list[n].counts == lines[p] {
			list[n].to = p.Line
			continue
		}
		list = append(list, span{p.File, p.Line, p.Line, lines[p]})
	}
	return list
}

// guilty are the lines that failing tests executed.
func guilty(lines map[place]counts) []place {
	var list []place
	for p, c := range lines {
		if c.Failed > 0 {
			list = append(list, p)
		}
	}
	return list
}
