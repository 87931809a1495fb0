//go:build linux || darwin

package tool_test

import (
	"strconv"
	"testing"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/tool"
)

// A command reports on stderr, with and without a wrapper, and the model reads nothing of it.
func TestCommandProgress(t *testing.T) {
	for _, wrapped := range []bool{false, true} {
		if wrapped {
			supervised(t, map[string]string{"KEY": "hunter2hunter2"})
		}
		for i, c := range []struct{ script, last, want string }{
			{`echo "##progress 1 a"; echo "##progress 0.4 12 of 30" >&2`, "40 %: 12 of 30", `"##progress 1 a"`},
			{`printf "##progress - hunter2hunter2" >&2`, map[bool]string{false: "hunter2hunter2", true: "{{secret:KEY}}"}[wrapped], `""`},
			{`echo "##progress 0.4 half" >&2; echo broken >&2; exit 3`, "40 %: half", "exit status 3: broken"},
			{`i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo "##progress - $i"; done >&2; echo "##progress 1 last" >&2`, "100 %: last", `""`},
			{`(printf "##progress 1 "; head -c 1000000 /dev/zero | tr '\0' ' '; echo) >&2`, "100 %", `""`},
		} {
			last := make(chan string, 1)
			ctx := process.WithReporter(t.Context(), func(fraction float64, text string) {
				select {
				case <-last:
				default:
				}
				last <- display.Progress(fraction, text)
			})
			out, err := tool.Command("count", "Count.", []string{"/bin/sh", "-c", c.script}, nil).Run(ctx, attempt(strconv.Itoa(i)))
			got := string(out.JSON)
			if err != nil {
				got = err.Error()
			}
			if told := <-last; got != c.want || told != c.last {
				t.Errorf("%s, wrapped %v: %s, told %q", c.script, wrapped, got, told)
			}
		}
	}
}
