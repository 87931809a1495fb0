package tool_test

import (
	"testing"

	"github.com/pawl-run/pawl/tool"
)

// What a cage costs: the program is started twice, here the test's own.
func BenchmarkCage(b *testing.B) {
	tool.Supervise()
	tool.Unsupervise()
	for name, c := range map[string]*tool.Cage{
		"none": nil, "empty": {}, "files": {Files: &tool.CageFiles{Read: []string{"."}}}, "whole": {Files: &tool.CageFiles{Read: []string{"."}}, NoNetwork: true, Memory: 1 << 30, Processes: 64},
	} {
		b.Run(name, func(b *testing.B) {
			if c != nil && c.Missing() != nil {
				b.Skip(c.Missing())
			}
			run := tool.RunCommand(&tool.RunCommandOptions{Dir: b.TempDir(), Cage: c})
			for b.Loop() {
				if _, err := run.Run(b.Context(), argv(b, "true")); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
