package cli

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/repro"
)

func reproCommand(a *app) *cobra.Command {
	f := &projecting{}
	c := a.command("repro (TEXT | FILE) [DIR] [flags]", "Write a test that fails because of a bug, from its description", cobra.RangeArgs(1, 2), func(ctx context.Context, args []string) (int, error) {
		dir := "."
		if len(args) > 1 {
			dir = args[1]
		}
		return reproduce(ctx, a, f, args[0], dir)
	})
	f.flags(c, "go test or pytest, ")
	return c
}

func reproduce(ctx context.Context, a *app, f *projecting, from, dir string) (int, error) {
	text, err := a.description(ctx, from)
	if err != nil {
		return 0, err
	}
	in, err := f.read(a, dir)
	if err != nil {
		return 0, err
	}
	name, err := a.thinking(f.model, "writes no tests")
	if err != nil {
		return 0, err
	}
	return f.drive(ctx, a, in, name, func(model pawl.Model) (blueprint, error) {
		return repro.New(ctx, dir, text, model, f.options(in))
	})
}

// description is the text that describes a bug: of a file, of standard input, or the argument itself.
func (con *console) description(ctx context.Context, from string) (text string, err error) {
	switch info, missing := os.Stat(from); {
	case from == "-":
		text, err = con.stdin(ctx)
	case missing != nil && !strings.ContainsAny(from, " \n") && strings.ContainsAny(from, "./"):
		return "", misuse("file %s does not exist; give the description of a bug, or a file with it", from)
	case missing != nil:
		text = from
	case info.IsDir():
		return "", misuse("%s is a directory; give the description of a bug, or a file with it, before the project's directory", from)
	default:
		var data []byte
		data, err = readContext("the description", from)
		text = string(data)
	}
	if err == nil && strings.TrimSpace(text) == "" {
		err = misuse("the description of the bug is empty; say what happens and what should happen")
	}
	return text, err
}
