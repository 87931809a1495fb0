package testrun

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Overlay writes texts in place of files of the project to a directory, which it makes, and returns the
// flag with which the go command takes them (see -overlay in go help build). The text of the first path in order is in 0.go,
// that of the second in 1.go and so on; an empty text stands for no file. Paths are slash-separated and
// relative to the go command's directory, which may have another name there.
func Overlay(dir string, texts map[string]string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("write an overlay: %w", err)
	}
	replace := map[string]string{}
	for i, name := range slices.Sorted(maps.Keys(texts)) {
		file := ""
		if texts[name] != "" {
			file = filepath.Join(dir, fmt.Sprintf("%d.go", i))
			if err := os.WriteFile(file, []byte(texts[name]), 0o600); err != nil {
				return "", fmt.Errorf("write an overlay: %w", err)
			}
		}
		replace[filepath.FromSlash(name)] = file
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	at := filepath.Join(dir, "overlay.json")
	if err == nil {
		err = os.WriteFile(at, list, 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("write an overlay: %w", err)
	}
	return "-overlay=" + at, nil
}
