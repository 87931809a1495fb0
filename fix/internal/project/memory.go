package project

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Load reads what Save wrote to a state directory, and reports whether there was anything.
func Load(state, name string, v any) (bool, error) {
	data, err := os.ReadFile(filepath.Join(state, name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		return false, fmt.Errorf("recall %s: %w", name, err)
	}
	return true, nil
}

// Save replaces a file of a state directory in one step.
func Save(state, name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("note %s: %w", name, err)
	}
	target := filepath.Join(state, name)
	err = os.WriteFile(target+".new", data, 0o600)
	if err == nil {
		err = os.Rename(target+".new", target)
	}
	if err != nil {
		return fmt.Errorf("note %s: %w", name, err)
	}
	return nil
}
