// Command pawl-keyring prints, in base64, the key that seals tokens of MCP servers. Pawl starts
// it. The argument create makes a key if the keyring has none.
package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"slices"

	"github.com/pawl-run/pawl/mcp/keyring"
)

func main() {
	args := os.Args[1:]
	create := slices.Equal(args, []string{"create"})
	if !create && !slices.Equal(args, []string{"get"}) {
		fmt.Fprintln(os.Stderr, "pawl-keyring is started by pawl: see pawl docs mcp")
		os.Exit(2)
	}
	key, err := keyring.Key(create)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(base64.StdEncoding.EncodeToString(key))
}
