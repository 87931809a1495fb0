//go:build linux || darwin

package tool_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/tool"
)

const ledgerToken = `led"ger/token+0123zebra`

func secret(t *testing.T, argv []string, most int) pawl.Tool {
	t.Setenv("LEDGER_TOKEN", ledgerToken)
	t.Setenv("LEDGER_PIN", "12")
	return command(argv, &tool.CommandOptions{Secrets: []string{"LEDGER_TOKEN", "LEDGER_PIN", "NOT_SET_ANYWHERE"}, MaxOutput: most})
}

// A reference in the arguments is the value to the command, and to nobody else.
func TestCommandGetsItsSecretsBack(t *testing.T) {
	file := filepath.Join(t.TempDir(), "in")
	args := `{"token": "{{secret:LEDGER_TOKEN}}", "other": "{{secret:LEDGER_PIN}} {{secret:OTHER}}"}`
	_, err := secret(t, part(t, "read", file), 0).Run(t.Context(), pawl.Invocation{Args: []byte(args)})
	must(t, err)
	got, err := os.ReadFile(file)
	if want := `{"token":"led\"ger/token+0123zebra","other":"{{secret:LEDGER_PIN}} {{secret:OTHER}}"}` + "\n"; err != nil || string(got) != want {
		t.Errorf("the command reads %s, want %s: %v", got, want, err)
	}
	out, err := secret(t, part(t, "cat"), 0).Run(t.Context(), pawl.Invocation{Args: []byte(args)})
	if want := `{"token":"{{secret:LEDGER_TOKEN}}","other":"{{secret:LEDGER_PIN}} {{secret:OTHER}}"}`; err != nil || string(out.JSON) != want {
		t.Errorf("the model reads %s, want %s: %v", out.JSON, want, err)
	}
}

// What is left out of a long output does not cut a secret in two.
func TestCommandSecretsAreOutBeforeTheCut(t *testing.T) {
	for at := 41; at < 75; at += 4 {
		text := strings.Repeat("x", at) + ledgerToken + strings.Repeat("y", 200)
		for _, argv := range [][]string{part(t, "say", text), part(t, "say", "", text, "1")} {
			out, err := secret(t, argv, 128).Run(t.Context(), pawl.Invocation{})
			got := string(out.JSON)
			if err != nil {
				got = err.Error()
			}
			if strings.Contains(got, "led") || strings.Contains(got, "bra") || !strings.Contains(got, "left out") {
				t.Fatalf("%d before it: %s", at, got)
			}
		}
	}
}
