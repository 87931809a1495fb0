package main

import (
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl/internal/sheet"
)

func TestCompare(t *testing.T) {
	day := time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
	row, ok := sheet.Lookup("anthropic", "claude-sonnet-5-5")
	if !ok || row.On(day).Input != 2 || row.Window != 1000000 {
		t.Fatalf("the sheet has %+v; write the test for another model", row)
	}
	const data = `{
		"anthropic": {"models": {
			"claude-sonnet-5-5": {"cost": {"input": 3, "output": 10}, "limit": {"context": 1000000, "output": 64000}},
			"claude-next-9": {"cost": {"input": 1}}, "claude-last-1": {"status": "deprecated"}}},
		"openai": {"models": {"gpt-9-audio": {}}},
		"elsewhere": {"models": {"claude-next-9": {}}}}`
	const want = "anthropic/claude-next-9: models.dev has it, and the sheet does not\n" +
		"anthropic/claude-sonnet-5-5: models.dev has input 3 in place of 2, reply 64000 in place of 128000\n"
	var out strings.Builder
	if err := compare(&out, []byte(data), day); err != nil || out.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, &out, want)
	}
	for _, data := range []string{"", "[]", "{}", `{"anthropic": 1}`, `{"elsewhere": {"models": {"claude-next-9": {}}}}`} {
		if err := compare(&strings.Builder{}, []byte(data), day); err == nil {
			t.Errorf("%q is taken for public data", data)
		}
	}
}
