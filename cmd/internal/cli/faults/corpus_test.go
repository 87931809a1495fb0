package faults

import (
	"regexp"
	"strings"
	"testing"
)

var kindLine = regexp.MustCompile(`(?m)^Kind: .+\.$`)

// Every archive is a module of a believable size whose right files differ from
// the given ones. TestCorpusRuns compiles and runs it.
func TestCorpus(t *testing.T) {
	all := corpus(t)
	if len(all) < 40 {
		t.Errorf("%d modules, want at least 40", len(all))
	}
	for _, m := range all {
		t.Run(m.name, func(t *testing.T) {
			if !kindLine.MatchString(m.head) || strings.Index(m.head, "Kind:") < 20 {
				t.Errorf("its head does not say what is wrong, and of which kind:\n%s", m.head)
			}
			lines := 0
			for _, text := range m.files {
				lines += strings.Count(text, "\n")
			}
			if lines < 60 || lines > 250 {
				t.Errorf("it has %d lines, want 60 to 250", lines)
			}
			if len(m.right) != 1 {
				t.Errorf("the fault is in %d files, want 1", len(m.right))
			}
			for name, text := range m.right {
				if given, ok := m.files[name]; !ok || given == text || strings.HasSuffix(name, "_test.go") {
					t.Errorf("right/%s fixes nothing", name)
				}
			}
		})
	}
}

// The tests of every module fail with the fault and pass without. With the fault the
// module compiles, unless that is what is wrong.
func TestCorpusRuns(t *testing.T) {
	if !proof() {
		t.Skip("set PAWL_PROOF to run every module twice")
	}
	needGo(t)
	for _, m := range corpus(t) {
		t.Run(m.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, m.files)
			out, err := tests(t, dir)
			if err == nil {
				t.Errorf("its tests pass with the fault:\n%s", out)
			}
			if strings.Contains(m.head, "build failure") != strings.Contains(out, "[build failed]") {
				t.Errorf("its kind is another:\n%s", out)
			}
			write(t, dir, m.right)
			if out, err := tests(t, dir); err != nil {
				t.Errorf("its tests fail without the fault: %v\n%s", err, out)
			}
		})
	}
}
