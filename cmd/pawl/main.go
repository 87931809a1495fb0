// Command pawl runs agents and manages their runs; pawl --help lists its commands.
package main

import "github.com/pawl-run/pawl/cmd/cli"

func main() { cli.Main(nil) }
