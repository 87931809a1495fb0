package main

import (
	"os"
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
	for system, arch := range map[string]string{"windows": "amd64", "darwin": "arm64"} {
		t.Run(system, func(t *testing.T) {
			t.Parallel()
			loaded, err := packages.Load(&packages.Config{
				Mode: packages.LoadAllSyntax, // dependencies from source, too
				Env:  append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch),
			}, ".")
			if err != nil {
				t.Fatal(err)
			}
			packages.Visit(loaded, nil, func(p *packages.Package) {
				for _, err := range p.Errors {
					t.Error(err)
				}
			})
		})
	}
}
