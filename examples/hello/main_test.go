package main

import (
	"debug/buildinfo"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A program that embeds an agent pays for what it uses: no provider, no
// database, no command line. The figures leave air above what is needed.
const (
	mostBytes   = 8 << 20
	mostModules = 8 // this one included
)

func TestSize(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("the go command is not here, and CI must have it")
		}
		t.Skip("there is no go command to build with")
	}
	program := filepath.Join(t.TempDir(), "hello")
	build := exec.CommandContext(t.Context(), tool, "build", "-trimpath", "-ldflags=-s -w", "-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	file, err := os.Stat(program)
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	modules := []string{info.Main.Path}
	for _, dep := range info.Deps {
		modules = append(modules, dep.Path)
	}
	t.Logf("hello has %.1f MB and %d modules: %v", float64(file.Size())/(1<<20), len(modules), modules)
	if file.Size() > mostBytes {
		t.Errorf("hello has %d bytes, more than %d", file.Size(), mostBytes)
	}
	if len(modules) > mostModules {
		t.Errorf("hello links %d modules, more than %d: %v", len(modules), mostModules, modules)
	}
	out, err := exec.CommandContext(t.Context(), program).Output()
	if err != nil || string(out) != "Hello, World!\n" {
		t.Errorf("hello says %q, %v", out, err)
	}
}
