//go:build linux || darwin

package tool_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
)

// leave leaves files of each kind, and prints where.
const leave = `cd "$PAWL_FILES"; printf "item,token\npen,$LEDGER_TOKEN\n" >all.csv; printf '\211PNG\r\n\032\n' >dot.png; : >none
mkdir dir; echo x >dir/x; ln -s /etc/passwd passwd; ln -s all.csv link; mkfifo pipe; pwd`

// summary is a line for each file of a result.
func summary(out pawl.Output) (lines []string) {
	for _, f := range out.Files {
		lines = append(lines, fmt.Sprintf("%s %q %d", f.Name, f.Data, f.Bytes))
	}
	return lines
}

// The regular files that a command leaves are those of its result, without its secrets, and the
// directory is gone then. A command that fails returns none.
func TestCommandReturnsFiles(t *testing.T) {
	argv := []string{"sh", "-c", leave}
	cmd := secret(t, argv, 0)
	inv := attempt("c")
	if s, ok := cmd.(interface{ Supervised(pawl.Invocation) string }); ok {
		inv.Supervised = s.Supervised(inv)
	}
	out, err := cmd.Run(t.Context(), inv)
	must(t, err)
	want := []string{`all.csv "item,token\npen,{{secret:LEDGER_TOKEN}}\n" 39`, `dot.png "\x89PNG\r\n\x1a\n" 8`, `none "" 0`}
	if got := summary(out); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(strings.Trim(string(out.JSON), `"`)); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", out.JSON, err)
	}
	if inv.Supervised != "" { // another process finds the files, too
		again, happened, err := cmd.(pawl.Reconciler).Reconcile(t.Context(), inv)
		if got := summary(again); err != nil || !happened || !slices.Equal(got, want) {
			t.Errorf("reconciled are %q, %v, %v", got, happened, err)
		}
	}
	out, err = command([]string{"sh", "-c", leave + "; exit 1"}, nil).Run(t.Context(), attempt("failed"))
	if err == nil || out.Files != nil {
		t.Errorf("failed: %q, %v", summary(out), err)
	}
}

// What is beyond the bounds is named and not read. A directory that was put in place of the one for
// the files is another one.
func TestCommandReturnsTooMuch(t *testing.T) {
	run := func(script string) []string {
		out, err := command([]string{"sh", "-c", `cd "$PAWL_FILES"; ` + script}, nil).Run(t.Context(), attempt("c"))
		must(t, err)
		return summary(out)
	}
	if got := run(`dd if=/dev/zero of=b bs=1 count=1 seek=33554431 2>/dev/null; cp b c; printf a >a; printf d >d`); len(got) != 4 ||
		got[0] != `a "a" 1` || got[1] != `b "" 33554432` || got[2] != `c "" 33554432` || got[3] != `d "d" 1` {
		t.Errorf("%.200q", got)
	}
	if got := run(`i=100; while [ $i -lt 152 ]; do printf x >$i; i=$((i+1)); done`); len(got) != 52 || got[49] != `149 "x" 1` || got[50] != `150 "" 0` {
		t.Errorf("%q", got)
	}
	if got := run(`cd ..; mv "$PAWL_FILES" "$PAWL_FILES.away"; ln -s /etc "$PAWL_FILES"; rm -r "$PAWL_FILES.away"`); got != nil {
		t.Errorf("%q", got)
	}
}
