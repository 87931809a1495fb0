package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/pawl-run/pawl/cmd/internal/screen"
)

// The commands in the files of deploy have flags that there are.
func TestDeployFlags(t *testing.T) {
	n := 0
	check := func(file string, args []string) {
		t.Helper()
		n++
		a := &app{console: console{in: strings.NewReader(""), out: new(bytes.Buffer), err: screen.NewWriter(new(bytes.Buffer))}}
		c, rest, err := a.root().Find(args)
		if err == nil {
			err = c.ParseFlags(rest)
		}
		if err == nil {
			err = c.Args(c, c.Flags().Args())
		}
		if err != nil || c.Name() != args[0] {
			t.Errorf("%s: pawl %s: %v", file, strings.Join(args, " "), err)
		}
	}
	files, err := filepath.Glob("../../../deploy/*/*.service")
	must(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		for line := range strings.Lines(string(text)) {
			if args, ok := strings.CutPrefix(line, "ExecStart=/usr/local/bin/pawl "); ok {
				check(file, strings.Fields(args))
			}
		}
	}
	for _, file := range []string{"compose.yaml", "kubernetes/server.yaml", "kubernetes/worker.yaml"} {
		text, err := os.ReadFile("../../../deploy/" + file)
		must(t, err)
		text = bytes.ReplaceAll(text, []byte("$(PAWL_KEEP)"), []byte("90d")) // as the kustomization does
		for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
			var v any
			if err := yaml.Unmarshal(document, &v); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			arguments(v, func(args []string) { check(file, args) })
		}
	}
	if n != 7 {
		t.Errorf("%d commands were found", n)
	}
}

// arguments calls do with each list of a document that is a command of pawl.
func arguments(v any, do func([]string)) {
	switch v := v.(type) {
	case map[string]any:
		for _, one := range v {
			arguments(one, do)
		}
	case []any:
		var args []string
		for _, one := range v {
			if text, ok := one.(string); ok {
				args = append(args, text)
			}
			arguments(one, do)
		}
		if len(args) == len(v) && len(args) > 1 && (args[0] == "serve" || args[0] == "worker") {
			do(args)
		}
	}
}
