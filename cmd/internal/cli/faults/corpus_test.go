package faults

import (
	"strings"
	"testing"
)

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
