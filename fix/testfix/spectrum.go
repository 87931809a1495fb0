package testfix

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// place is a line of a file, by its path relative to the project's root.
type place struct {
	file string
	line int
}

// counts says how many failing and how many passing tests executed a line.
type counts struct{ failed, passed int }

// readProfile returns the lines that a test executed, from the text of a cover profile, whose
// lines are file:line.column,line.column statements count. The file has its package's import
// path; dirs maps import paths to directories.
func readProfile(text []byte, dirs map[string]string) map[place]bool {
	out := map[place]bool{}
	for line := range bytes.Lines(text) {
		name, rest, ok := strings.Cut(string(bytes.TrimSpace(line)), ".go:")
		f := strings.FieldsFunc(rest, func(r rune) bool { return r == '.' || r == ',' || r == ' ' })
		if !ok || len(f) != 6 || f[5] == "0" {
			continue
		}
		from, err1 := strconv.Atoi(f[0])
		to, err2 := strconv.Atoi(f[2])
		dir, known := dirs[path.Dir(name)]
		if err1 != nil || err2 != nil || !known || to < from || to-from > 1<<16 {
			continue
		}
		if f[3] == "1" && to > from {
			to-- // a block that ends before its last line begins
		}
		for n := from; n <= to; n++ {
			out[place{path.Join(dir, path.Base(name)+".go"), n}] = true
		}
	}
	return out
}

// suspicion is Ochiai's coefficient: the share that failing tests have in a
// line, from 0 to 1. Abreu, Zoeteweij and van Gemund, "On the accuracy of
// spectrum-based fault localization", TAIC PART 2007, found it the best of
// those in use.
func suspicion(c counts, failing int) float64 {
	if c.failed == 0 || failing == 0 {
		return 0
	}
	return float64(c.failed) / math.Sqrt(float64(failing)*float64(c.failed+c.passed))
}

// spectrum describes the lines that failing tests executed: for each file, ranges of
// neighbouring lines with equal counts, such as "12-15:2/0 17:2/3". Above a size the least
// suspicious lines are left out, and counted.
func spectrum(lines map[place]counts, failing, most int) (files map[string]string, left int) {
	kept := make([]place, 0, len(lines))
	for p, c := range lines {
		if c.failed > 0 {
			kept = append(kept, p)
		}
	}
	slices.SortFunc(kept, func(a, b place) int {
		x, y := suspicion(lines[a], failing), suspicion(lines[b], failing)
		switch {
		case x != y && x > y:
			return -1
		case x != y:
			return 1
		case a.file != b.file:
			return strings.Compare(a.file, b.file)
		}
		return a.line - b.line
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
	byFile := map[string][]int{}
	for _, p := range kept {
		byFile[p.file] = append(byFile[p.file], p.line)
	}
	out := map[string]string{}
	for name := range maps.Keys(byFile) {
		numbers := byFile[name]
		slices.Sort(numbers)
		var b strings.Builder
		for i := 0; i < len(numbers); {
			c := lines[place{name, numbers[i]}]
			j := i
			for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 && lines[place{name, numbers[j+1]}] == c {
				j++
			}
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			fmt.Fprint(&b, numbers[i])
			if j > i {
				fmt.Fprintf(&b, "-%d", numbers[j])
			}
			fmt.Fprintf(&b, ":%d/%d", c.failed, c.passed)
			i = j + 1
		}
		out[name] = b.String()
	}
	return out
}
