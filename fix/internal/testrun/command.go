package testrun

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Command is a test command taken apart as people write it: NAME=VALUE go test ./...,
// env NAME=VALUE go test ./..., and go test -C DIR ./... .
type Command struct {
	Env  []string // NAME=VALUE, in order
	Dir  string   // relative to the project; empty: the project itself
	Argv []string
}

var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// ParseCommand takes a test command apart.
func ParseCommand(argv []string) (Command, error) {
	c := Command{Argv: slices.Clone(argv)}
	if len(argv) > 1 && filepath.Base(argv[0]) == "env" && assignment.MatchString(argv[1]) {
		c.Argv = c.Argv[1:]
	}
	for len(c.Argv) > 0 && assignment.MatchString(c.Argv[0]) {
		c.Env = append(c.Env, c.Argv[0])
		c.Argv = c.Argv[1:]
	}
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return c, errors.New("the test command is empty; give a program and its arguments, such as go test ./")
	}
	if !isGo(c.Argv[0]) {
		return c, nil
	}
	// The go command takes -C only as the first flag, before or after the word test.
	for _, at := range []int{1, 2} {
		if at == 2 && (len(c.Argv) < 2 || c.Argv[1] != "test") || len(c.Argv) <= at {
			continue
		}
		flag, value, whole := strings.Cut(c.Argv[at], "=")
		if flag != "-C" && flag != "--C" {
			continue
		}
		end := at + 1
		if !whole {
			if len(c.Argv) <= end {
				return c, errors.New("the test command has -C without a directory")
			}
			value = c.Argv[end]
			end++
		}
		c.Dir = filepath.Clean(filepath.FromSlash(value))
		if !filepath.IsLocal(c.Dir) {
			return c, fmt.Errorf("-C %s leads out of the project; name that directory as the project instead", value)
		}
		c.Argv = slices.Delete(c.Argv, at, end)
		break
	}
	return c, nil
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
