package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// The command compiles for systems where no test runs. The types are checked and no code is made, since
// building for a second system takes twenty times as long. Linux without cgo is what the image has, and its
// test builds it.
func TestPlatforms(t *testing.T) {
	if testing.Short() {
		t.Skip("checks every package that the command needs")
	}
	debug.SetGCPercent(400) // nearly all that is loaded stays
	ours, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for system, arch := range map[string]string{"windows": "amd64", "darwin": "arm64"} {
		t.Run(system, func(t *testing.T) {
			t.Parallel()
			loaded, err := packages.Load(&packages.Config{
				Mode: packages.LoadAllSyntax, // dependencies from source, too
				Env:  append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch),
				ParseFile: func(files *token.FileSet, name string, source []byte) (*ast.File, error) {
					file, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution)
					if err == nil && !strings.HasPrefix(name, ours) {
						declareOnly(file)
					}
					return file, err
				},
			}, ".")
			if err != nil {
				t.Fatal(err)
			}
			packages.Visit(loaded, nil, func(p *packages.Package) {
				if !strings.HasPrefix(p.PkgPath, "github.com/pawl-run/pawl") {
					return
				}
				for _, err := range p.Errors {
					t.Error(err)
				}
			})
		})
	}
}

// declareOnly leaves out what the functions of a dependency do, which is not checked again.
func declareOnly(file *ast.File) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			f.Body = nil
		}
	}
}
