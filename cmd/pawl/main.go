// Command pawl runs agents and manages their runs; pawl --help lists its commands.
package main

import (
	"context"
	"os"

	"github.com/pawl-run/pawl/cmd/internal/cli"
	"github.com/pawl-run/pawl/tool"
)

func main() {
	tool.Supervise()
	os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
}
