package goedit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/tools/go/gcexportdata"
)

// Exports builds what the module in dir and its tests import, if needed, and returns an
// importer of those packages for [Options.Importer]. It calls the go command, as go/packages
// does: reading export data takes a millisecond where the source would take a hundred. The
// importer does not read dir later, and stays valid until the module's requirements change;
// edits of the module's own packages do not matter.
//
// env is the environment of the go command, as in exec.Cmd: nil means that of this process.
// The error is that of the go command, with its output. Packages that do not build are left
// out; importing them is an error.
//
// more are build flags, such as -tags, and then packages that the module may not import any more. The importer is safe for concurrent use and caches what it has read.
func Exports(ctx context.Context, dir string, env []string, more ...string) (types.Importer, error) {
	args := slices.Concat([]string{"list", "-e", "-export", "-deps", "-test", "-json=ImportPath,Export,ForTest"}, more, []string{"./..."})
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, env
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("list the imports of the module in %s: %w: %s", dir, err, tail(stderr.String()))
	}
	e := &exports{files: map[string]string{}, fset: token.NewFileSet(), read: map[string]*types.Package{}}
	for dec := json.NewDecoder(&stdout); ; {
		var p struct{ ImportPath, Export, ForTest string }
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("reading what go list says of the module in %s: %w", dir, err)
		}
		if p.Export != "" && p.ForTest == "" {
			e.files[p.ImportPath] = p.Export
		}
	}
	if len(e.files) == 0 {
		return nil, fmt.Errorf("go list built nothing in %s: want the root of a Go module that has a package that builds: %s", dir, tail(stderr.String()))
	}
	return e, nil
}

// exports reads the compiler's export data.
type exports struct {
	mu    sync.Mutex
	files map[string]string // by import path
	fset  *token.FileSet
	read  map[string]*types.Package
}

// Import implements [types.Importer].
func (e *exports) Import(path string) (*types.Package, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if p := e.read[path]; p != nil && p.Complete() {
		return p, nil
	}
	name, ok := e.files[path]
	if !ok {
		return nil, fmt.Errorf("package %s was not built: the module did not import it, or it has errors", path)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := gcexportdata.NewReader(f) //nolint:staticcheck // for these files there is no other reader; go/packages has this one, too
	if err != nil {
		return nil, fmt.Errorf("export data of %s: %w", path, err)
	}
	return gcexportdata.Read(r, e.fset, e.read, path)
}

// tail is the end of a long text, which says what went wrong.
func tail(s string) string {
	const enough = 400
	s = strings.TrimSpace(s)
	if len(s) > enough {
		s = "…" + s[len(s)-enough:]
	}
	return s
}
