package mechanic

import (
	"context"
	"fmt"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl/fix/internal/goedit"
)

// longestList bounds how long the go command may take to describe the packages that the code
// imports, most of which it has just built for the tests.
const longestList = time.Minute

// outside returns an importer for the imported packages that are not part of the code, or nil
// if they cannot be listed: then their types are unknown, and more of the proposed edits do
// not compile. The go command runs in a directory of its own, which holds the module's
// requirements and those imports but no code, and without network access.
func outside(files memory) types.Importer {
	gomod, list := files["go.mod"], imports(files)
	if gomod == "" || len(list) == 0 {
		return nil
	}
	dir, err := os.MkdirTemp("", "pawl-types-")
	if err != nil {
		return nil
	}
	defer os.RemoveAll(dir)
	var code strings.Builder
	code.WriteString("package outside\n\nimport (\n")
	for _, p := range list {
		fmt.Fprintf(&code, "\t_ %q\n", p)
	}
	code.WriteString(")\n")
	for name, text := range map[string]string{"go.mod": gomod, "outside.go": code.String()} {
		if os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600) != nil {
			return nil
		}
	}
	ctx, stop := context.WithTimeout(context.Background(), longestList)
	defer stop()
	found, err := goedit.Exports(ctx, dir, append(os.Environ(), "GOWORK=off", "GOPROXY=off", "GOSUMDB=off", "GOTOOLCHAIN=local", "GOFLAGS=-mod=mod"))
	if err != nil {
		return nil
	}
	return found
}

// imports lists the files' imports from outside their module.
func imports(files memory) []string {
	module := goedit.ModulePath([]byte(files["go.mod"]))
	found := map[string]bool{}
	for name, text := range files {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
		if err != nil {
			continue
		}
		for _, s := range f.Imports {
			p, err := strconv.Unquote(s.Path.Value)
			if err == nil && p != "C" && p != "unsafe" && p != module && !strings.HasPrefix(p, module+"/") {
				found[p] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}
