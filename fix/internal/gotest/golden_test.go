package gotest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl/internal/testkit/check"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files again")

// describe writes down all that a Report says.
func describe(r Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "ok=%v passed=%d failed=%d skipped=%d\n", r.OK, r.Passed, r.Failed, r.Skipped)
	for _, p := range r.Packages {
		fmt.Fprintf(&b, "package %s %s", p.Path, p.Status)
		if p.FailedBuild != "" {
			fmt.Fprintf(&b, " because of %s", p.FailedBuild)
		}
		b.WriteString("\n")
		for _, t := range p.Tests {
			fmt.Fprintf(&b, "  %s %s\n", t.Name, t.Status)
		}
	}
	for _, f := range r.Failures {
		fmt.Fprintf(&b, "\n== %s\npackage %s test %q kind %s at %v\n", f.ID, f.Package, f.Test, f.Kind, f.Locations)
		for l := range strings.Lines(f.Output) {
			b.WriteString("| " + strings.TrimSuffix(l, "\n") + "\n")
		}
	}
	return b.String()
}

// The streams are the toolchain's own, with times, addresses and the
// directory replaced.
func TestRecordedStreams(t *testing.T) {
	files, err := filepath.Glob("testdata/streams/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded streams: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			f, err := os.Open(file)
			must(t, err)
			defer f.Close()
			r, err := Parse(f, "ex.test/m", nil)
			must(t, err)
			got := describe(r) + "\n== summary\n" + r.Summary(1500)
			golden := strings.TrimSuffix(file, ".jsonl") + ".golden"
			if *rewrite {
				must(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			must(t, err)
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("%s reads differently (-want +got):\n%s", file, d)
			}
		})
	}
}

var must = check.Must
