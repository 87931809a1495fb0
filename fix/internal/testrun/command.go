package testrun

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// ParseCommand takes a test command apart as people write it: NAME=VALUE go test ./..., with or without env
// before it.
func ParseCommand(argv []string) (env, command []string, err error) {
	command = slices.Clone(argv)
	if len(argv) > 1 && filepath.Base(argv[0]) == "env" && assignment.MatchString(argv[1]) {
		command = command[1:]
	}
	for len(command) > 0 && assignment.MatchString(command[0]) {
		env, command = append(env, command[0]), command[1:]
	}
	switch {
	case len(command) == 0 || command[0] == "":
		return nil, nil, errors.New("the test command is empty; give a program and its arguments, such as go test ./")
	case isGo(command[0]) && hasFlag(command[1:], "C"):
		return nil, nil, errors.New("the test command has -C; name that directory as the project instead")
	}
	return env, command, nil
}

// Variables checks what --env names and returns NAME, for a variable to pass on, or
// NAME=VALUE.
func Variables(list []string) ([]string, error) {
	for _, v := range list {
		name, _, given := strings.Cut(v, "=")
		switch {
		case !assignment.MatchString(name + "="):
			return nil, fmt.Errorf("%q is not the name of a variable; write NAME to pass one on, or NAME=VALUE", v)
		case given:
			continue
		}
		if _, set := os.LookupEnv(name); !set {
			return nil, fmt.Errorf("%s is not set; set it, or write %s=VALUE", name, name)
		}
	}
	return list, nil
}

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
