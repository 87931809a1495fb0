package cli_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pawl-run/pawl/cmd/internal/cli"
	"github.com/pawl-run/pawl/internal/testkit/check"
)

// Commands do at a server what they do on a database: each of these scripts is
// run with both. What is served, it says itself by `served DIR FLAGS…`; with a
// database that does nothing. $EXT is what stands behind the name of an agent to
// make it the name of its spec.
func TestScriptsOnBoth(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"database", "server"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && at == "database" {
				t.Skip("one command after another: -short")
			}
			p := scripts("testdata/both")
			only(&p, "at_live", "at_run")
			setup := p.Setup
			p.Setup = func(e *testscript.Env) error {
				e.Setenv("EXT", map[string]string{"database": ".yaml", "server": ""}[at])
				return setup(e)
			}
			p.Condition = func(cond string) (bool, error) { return cond == at, nil }
			if at == "database" {
				p.Cmds["served"] = func(*testscript.TestScript, bool, []string) {}
			}
			testscript.Run(t, p)
		})
	}
}

const token = "a-token-for-tests-0123"

var serving = regexp.MustCompile(`(?m)^serving at (\S+)$`)

// begin starts a command in this process, which is to say something that a pattern matches. end has
// it end.
func begin(environ []string, pattern *regexp.Regexp, args ...string) (found []string, end func() (code int, stderr string), err error) {
	ctx, cancel := context.WithCancel(context.Background())
	told, done := &check.Log{}, make(chan int, 1)
	go func() { done <- cli.Main(ctx, args, strings.NewReader(""), io.Discard, told, environ) }()
	end = sync.OnceValues(func() (int, string) {
		cancel()
		code := <-done
		http.DefaultClient.CloseIdleConnections()
		return code, told.String()
	})
	if !soon(func() bool { found = pattern.FindStringSubmatch(told.String()); return found != nil }) {
		end()
		return nil, nil, fmt.Errorf("pawl %q does not say that it serves: %s", args, told)
	}
	return found, end, nil
}
