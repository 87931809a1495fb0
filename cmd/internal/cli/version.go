package cli

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// build describes this build.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
}

func versionCommand(a *app) *cobra.Command {
	return looking(a.command("version", "Print version, commit and Go version", cobra.NoArgs, func(context.Context, []string) (int, error) {
		return 0, a.version()
	}))
}

func (con *console) version() error {
	b := thisBuild()
	if con.json {
		return printJSON(con.out, b)
	}
	_, err := fmt.Fprintf(con.out, "pawl %s, commit %s, %s\n", b.Version, b.Commit, b.Go)
	return err
}

func thisBuild() build {
	b := build{Version: "(devel)", Commit: "unknown", Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	changed := false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			changed = s.Value == "true"
		}
	}
	if changed {
		b.Commit += " (with changes)"
	}
	return b
}
