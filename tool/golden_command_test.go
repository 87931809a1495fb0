//go:build linux || darwin

package tool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/tool"
)

// TestCommands reads testdata/commands: "play" prints what the model reads when
// our helper program was run, with an argument a line, "run" the same for any
// program. With "args" the first line is the arguments of the call.
func TestCommands(t *testing.T) {
	t.Setenv("PATH", "/nowhere:/else")
	datadriven.RunTest(t, "testdata/commands", func(t *testing.T, d *datadriven.TestData) string {
		argv := strings.Split(d.Input, "\n")
		o := &tool.CommandOptions{}
		inv := pawl.Invocation{Run: "r", Call: "c", Attempt: 1}
		for _, arg := range d.CmdArgs {
			switch arg.Key {
			case "args":
				inv.Args, argv = json.RawMessage(argv[0]), argv[1:]
			case "max":
				d.ScanArgs(t, "max", &o.MaxOutput)
			case "dir":
				o.Dir = arg.Vals[0]
			default:
				d.Fatalf(t, "unknown argument %s", arg.Key)
			}
		}
		if d.Cmd == "play" {
			argv = part(t, argv[0], argv[1:]...)
		}
		return reads(command(argv, o).Run(t.Context(), inv))
	})
}
