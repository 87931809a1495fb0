package project

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// load reads what save wrote to a state directory, if there is anything.
func load(state, name string, v any) error {
	data, err := os.ReadFile(filepath.Join(state, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		return fmt.Errorf("recall %s: %w", name, err)
	}
	return nil
}

// save replaces a file of a state directory in one step.
func save(state, name string, v any) error {
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
