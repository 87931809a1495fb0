// Package cli is the command pawl as a library, for programs that add tools, loops,
// conditions and policies of their own to it:
//
//	func main() {
//		cli.Main(&spec.Registry{
//			Tools:    []pawl.Tool{tool.Func("quote", "Quote a price.", quote, pawl.Read)},
//			Loops:    map[string]pawl.Loop{"panel": voting.Loop{Votes: 3, Options: ways}},
//			Policies: map[string]pawl.Policy{"house": approval.ForEffect(pawl.Write)},
//		})
//	}
//
// The program has every command of pawl. Its specs name the tools under builtin, a
// loop as loop: panel, and policies as policies: [house]. Any process of a program
// with the same registry can resume its runs. The program in examples/team is a
// complete one. To run agents without a command line, use package engine.
package cli

import (
	"context"
	"net/http"
	"os"

	"github.com/pawl-run/pawl/cmd/internal/cli"
	"github.com/pawl-run/pawl/spec"
	"github.com/pawl-run/pawl/tool"
)

// Main is the main function of such a program: it runs the command that the arguments
// of the process name, and exits with its code. Specs can use what is in the registry
// beside what comes with pawl; its Models replace those of the same name. Its MCP and
// Now are not used. A nil registry adds nothing.
func Main(r *spec.Registry) { MainOn(r, nil) }

// MainOn is Main of a program that reaches by itself what --on names. pawl-temporal is one
// without a registry.
func MainOn(r *spec.Registry, dial Dial) {
	tool.Supervise()
	if t, ok := http.DefaultTransport.(*http.Transport); ok { // many runs call one provider
		t.MaxIdleConnsPerHost = t.MaxIdleConns
	}
	os.Exit(cli.MainOf(context.Background(), r, dial, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
}

// A Dial connects to a system that dispatches runs to workers, as temporal.Dial does.
type Dial = cli.Dial

// A Dispatch is a system that dispatches runs to workers, such as a *temporal.Client.
type Dispatch = cli.Dispatch
