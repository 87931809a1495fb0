package spec

import (
	"context"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/tool"
)

// A program's tool with the name of another is refused where a spec names it, and nil is no tool.
func TestProgramTools(t *testing.T) {
	own := func(name string) pawl.Tool {
		return tool.Func(name, "Own.", func(context.Context, struct{}) (string, error) { return "", nil }, pawl.Read)
	}
	r := &Registry{Tools: []pawl.Tool{nil, own("read_file"), own("twin"), own("twin"), own("mine")}}
	for name, want := range map[string]string{"read_file": "there is another tool", "twin": "there is another tool", "mine": "", "min": "no builtin tool"} {
		got := checked(t, t.TempDir(), "name: a\nmodel: mechanic\ntools:\n  - {builtin: ["+name+"]}\n", r)
		if strings.Contains(got, "tool \"") != (want != "") || !strings.Contains(got, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
