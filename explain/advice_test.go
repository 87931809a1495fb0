package explain

import (
	"flag"
	"os"
	"strings"
	"testing"
)

// The advice is listed in a golden file, which the tests of the command read to run each row.
func TestAdvice(t *testing.T) {
	const file = "testdata/advice.txt"
	var b strings.Builder
	seen := map[string]bool{}
	for _, row := range advice {
		status := "any"
		if row.status != 0 {
			status = row.status.String()
		}
		line := strings.Join([]string{status, row.lacks, row.command, row.why}, "|") + "\n"
		if key := status + row.lacks + row.command; seen[key] {
			t.Errorf("twice: %s", line)
		} else {
			seen[key] = true
		}
		b.WriteString(line)
	}
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || string(want) != b.String() {
		t.Errorf("the advice is not as in %s (%v); go test -update rewrites it", file, err)
	}
}
