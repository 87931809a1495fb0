package testrun

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Overlay writes a text in place of a file of the project to a directory, which it makes, and returns the
// flag with which the go command takes it (see -overlay in go help build). The name is slash-separated and
// relative to the go command's directory.
func Overlay(dir, name, text string) (string, error) {
	file, at := filepath.Join(dir, "file.go"), filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.FromSlash(name): file}})
	err = errors.Join(err, os.MkdirAll(dir, 0o700), os.WriteFile(file, []byte(text), 0o600), os.WriteFile(at, list, 0o600))
	if err != nil {
		return "", fmt.Errorf("write an overlay: %w", err)
	}
	return "-overlay=" + at, nil
}
