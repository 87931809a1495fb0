package spec_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/pawl-run/pawl/spec"
)

// A spec says the same as JSON as it does as it is written.
func TestJSON(t *testing.T) {
	for name, text := range map[string]string{
		"a.yaml": "# about\nname: \"yes\"\nlimits: {cost: 2.00}\nstop: iterations >= 1\nbuiltins: true\nprompt: |\n  two\n  lines\n",
		"a.json": `{"name": "yes", "limits": {"cost": 2.00}, "stop": "iterations >= 1", "builtins": true, "prompt": "two\nlines\n"}`,
	} {
		got, err := spec.JSON(name, []byte(text))
		if want := `{"name":"yes","limits":{"cost":2.00},"stop":"iterations >= 1","builtins":true,"prompt":"two\nlines\n"}`; err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, want)
		}
	}
	if _, err := spec.JSON("a.yaml", []byte("name: [")); !errors.As(err, new(spec.Problems)) || !strings.HasPrefix(err.Error(), "a.yaml:1:") {
		t.Error(err)
	}
}
