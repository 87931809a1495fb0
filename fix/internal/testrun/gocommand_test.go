package testrun

import (
	"os"
	"os/exec"
	"slices"
	"testing"
)

// Flags for the linker that the environment has are not undone, and the place
// of the converter is asked for again only when it is gone.
func TestBuildsOfItsOwn(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil && os.Getenv("CI") == "" {
		t.Skip("there is no go command to ask for flags and programs")
	}
	for flags, want := range map[string][]string{
		"":                              {"-ldflags=-s -w"},
		"-trimpath":                     {"-ldflags=-s -w"},
		"-ldflags=-X=example.com/m.n=1": nil,
	} {
		t.Setenv("GOFLAGS", flags)
		s, err := New(t.TempDir(), []string{"go", "test", "./..."}, nil, 0, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got := s.Undescribed(t.Context()); !slices.Equal(got, want) {
				t.Errorf("with GOFLAGS=%s: %q, want %q", flags, got, want)
			}
		}
		first := s.Converter(t.Context())
		if len(first) != 1 || s.converts != first[0] {
			t.Errorf("the converter is %q, want one program that is remembered", first)
		}
		s.converts = t.TempDir()
		if again := s.Converter(t.Context()); !slices.Equal(first, again) {
			t.Errorf("the converter is %q, want %q as before", again, first)
		}
	}
}
