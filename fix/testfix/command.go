package testfix

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// command is a test command taken apart as people write it: NAME=VALUE go test ./...,
// env NAME=VALUE go test ./..., and go test -C DIR ./... .
type command struct {
	env  []string // NAME=VALUE, in order
	dir  string   // relative to the project; empty: the project itself
	argv []string
}

var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

func parseCommand(argv []string) (command, error) {
	c := command{argv: slices.Clone(argv)}
	if len(argv) > 1 && filepath.Base(argv[0]) == "env" && assignment.MatchString(argv[1]) {
		c.argv = c.argv[1:]
	}
	for len(c.argv) > 0 && assignment.MatchString(c.argv[0]) {
		c.env = append(c.env, c.argv[0])
		c.argv = c.argv[1:]
	}
	if len(c.argv) == 0 || c.argv[0] == "" {
		return c, errors.New("the test command is empty; give a program and its arguments, such as go test ./")
	}
	if !isGo(c.argv[0]) {
		return c, nil
	}
	// The go command takes -C only as the first flag, before or after the word test.
	for _, at := range []int{1, 2} {
		if at == 2 && (len(c.argv) < 2 || c.argv[1] != "test") || len(c.argv) <= at {
			continue
		}
		flag, value, whole := strings.Cut(c.argv[at], "=")
		if flag != "-C" && flag != "--C" {
			continue
		}
		end := at + 1
		if !whole {
			if len(c.argv) <= end {
				return c, errors.New("the test command has -C without a directory")
			}
			value = c.argv[end]
			end++
		}
		c.dir = filepath.Clean(filepath.FromSlash(value))
		if !filepath.IsLocal(c.dir) {
			return c, fmt.Errorf("-C %s leads out of the project; name that directory as the project instead", value)
		}
		c.argv = slices.Delete(c.argv, at, end)
		break
	}
	return c, nil
}

func isGo(program string) bool { return filepath.Base(program) == "go" }

// variables checks what --env names and returns NAME, for a variable to pass on, or
// NAME=VALUE.
func variables(list []string) ([]string, error) {
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
