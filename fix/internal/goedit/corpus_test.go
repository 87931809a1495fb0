package goedit

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"
)

// A faulty module of the corpus: the files with one fault, the right text of
// the file at fault, and what its tests said when they were run.
type faulty struct {
	files fstest.MapFS
	file  string // at fault
	right string
	hints Hints
}

func readFaulty(t testing.TB, name string) faulty {
	t.Helper()
	a, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	c := faulty{files: fstest.MapFS{}}
	for _, f := range a.Files {
		if file, ok := strings.CutPrefix(f.Name, "right/"); ok {
			c.file, c.right = file, string(f.Data)
		} else if f.Name == "hints" {
			c.hints = parseHints(t, string(f.Data))
		} else {
			c.files[f.Name] = &fstest.MapFile{Data: f.Data}
		}
	}
	if c.file == "" || len(c.hints.Failures) == 0 {
		t.Fatalf("%s lacks the right text or the hints", name)
	}
	return c
}

// parseHints reads lines: fail PACKAGE TEST, then its at FILE:LINE, got Q want
// Q and | MESSAGE; pass PACKAGE TEST; cover FILE FROM-TO FAILED/PASSED.
func parseHints(t testing.TB, s string) Hints {
	var h Hints
	for line := range strings.Lines(s) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		a, b, _ := strings.Cut(rest, " ")
		var f *Failure
		if n := len(h.Failures); n > 0 {
			f = &h.Failures[n-1]
		}
		switch word {
		case "pass":
			h.Passed = append(h.Passed, Test{a, b})
		case "fail":
			h.Failures = append(h.Failures, Failure{Package: a, Test: b})
		case "at":
			file, line, _ := strings.Cut(rest, ":")
			n, err := strconv.Atoi(line)
			if err != nil {
				t.Fatal(err)
			}
			f.Locations = append(f.Locations, Location{File: file, Line: n})
		case "cover": // FILE FROM-TO FAILED/PASSED
			var file string
			var from, to int
			var s Spectrum
			if _, err := fmt.Sscanf(strings.NewReplacer("-", " ", "/", " ").Replace(rest), "%s %d %d %d %d", &file, &from, &to, &s.Failed, &s.Passed); err != nil {
				t.Fatal(err)
			}
			if h.Spectra == nil {
				h.Spectra = map[Location]Spectrum{}
			}
			for n := from; n <= to; n++ {
				h.Spectra[Location{File: file, Line: n}] = s
			}
		case "got":
			if _, err := fmt.Sscanf(rest, "%q want %q", &f.Got, &f.Want); err != nil {
				t.Fatal(err)
			}
		case "|":
			f.Output += rest + "\n"
		}
	}
	return h
}

// rankOf returns the place of the right edit, from one, or 0.
func (c faulty) rankOf(edits []Edit) int {
	src := c.files[c.file].Data
	return 1 + slices.IndexFunc(edits, func(e Edit) bool {
		if e.File != c.file {
			return false
		}
		got, err := Apply(src, e)
		return err == nil && string(got) == c.right
	})
}

func corpus(t testing.TB) []string {
	t.Helper()
	names, err := filepath.Glob("testdata/corpus/*.txtar")
	if err != nil || len(names) < 20 {
		t.Fatalf("%d faulty modules in the corpus, want at least 20 (%v)", len(names), err)
	}
	return names
}
