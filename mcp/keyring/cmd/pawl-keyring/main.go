// Command pawl-keyring prints, in base64, the key that seals tokens of MCP servers. Pawl starts
// it. The argument create makes a key if the keyring has none.
package main

import (
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/pawl-run/pawl/mcp/keyring"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, out, errs io.Writer) int {
	create := slices.Equal(args, []string{"create"})
	if !create && !slices.Equal(args, []string{"get"}) {
		fmt.Fprintln(errs, "pawl-keyring is started by pawl: see pawl docs mcp")
		return 2
	}
	key, err := keyring.Key(create)
	if err != nil {
		fmt.Fprintln(errs, err)
		return 1
	}
	fmt.Fprintln(out, base64.StdEncoding.EncodeToString(key))
	return 0
}
