package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if is, err := crowded(context.Background(), os.Stdout); is {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// Every row measures something, with a hundredth of the work.
func TestRows(t *testing.T) {
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			var out strings.Builder
			if err := run(t.Context(), []string{"-small", "-rounds", "1", "-rows", "^" + r.name + "$"}, &out); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")[2:]
			if len(lines) == 0 || strings.Contains(out.String(), "–") {
				t.Errorf("something was not measured:\n%s", &out)
			}
		})
	}
}
