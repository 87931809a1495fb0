package cli

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// What a build without the repository at hand says of itself, as a packager's: set with
// -ldflags='-X github.com/pawl-run/pawl/cmd/internal/cli.version=v1.2.3', and the others likewise.
var version, commit, date string

// build describes this build.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`
	Date     string `json:"date,omitempty"`     // of the commit
	Modified bool   `json:"modified,omitempty"` // the sources differed from the commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
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
	_, err := fmt.Fprintln(con.out, b)
	return err
}

func (b build) String() string {
	from := b.Commit
	if b.Date != "" {
		from += " of " + b.Date
	}
	if b.Modified {
		from += " (with changes)"
	}
	return fmt.Sprintf("pawl %s, commit %s, %s, %s", b.Version, from, b.Go, b.Platform)
}

func thisBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return buildOf(info)
}

// buildOf prefers what the linker was given to what Go recorded. Go records the version with go
// install, and the commit with go build in a clone; with go run it records neither.
func buildOf(info *debug.BuildInfo) build {
	said := map[string]string{}
	for _, s := range info.Settings {
		said[s.Key] = s.Value
	}
	return build{
		Version: cmp.Or(version, info.Main.Version, "(devel)"), Commit: cmp.Or(commit, said["vcs.revision"], "unknown"),
		Date: cmp.Or(date, said["vcs.time"]), Modified: commit == "" && said["vcs.modified"] == "true",
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
}
