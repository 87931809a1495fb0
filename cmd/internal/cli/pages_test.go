package cli_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A block is a fenced block of a page: ```LANGUAGE [skip] [file=NAME].
type block struct {
	page, language, file string
	skip                 bool // a deliberate exception: it needs what a test has not
	text                 string
}

var fenced = regexp.MustCompile("(?ms)^```(\\w+)([^\n]*)\n(.*?)^```$")

// blocks lists the blocks of a page of the documentation, in order.
func blocks(t *testing.T, page string) (all []block) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../..", page))
	must(t, err)
	for _, m := range fenced.FindAllStringSubmatch(string(text), -1) {
		b := block{page: page, language: m[1], text: m[3]}
		for word := range strings.FieldsSeq(m[2]) {
			if name, ok := strings.CutPrefix(word, "file="); ok {
				b.file = name
			} else if b.skip = word == "skip"; !b.skip {
				t.Errorf("%s: a block of %s has %q; write skip or file=NAME", page, m[1], word)
			}
		}
		all = append(all, b)
	}
	return all
}

// TestPages does what pages that can be followed say: it writes their files, runs their
// commands in one shell, and looks for each line of the outputs shown in what the
// commands before it printed.
func TestPages(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one process after another, in which the race detector sees nothing")
	}
	for _, page := range []string{"docs/tutorial.md", "docs/go.md", "docs/scripts.md", "docs/teams.md"} {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			follow(t, page)
		})
	}
}

func follow(t *testing.T, page string) {
	dir, port := t.TempDir(), freePort(t)
	var script strings.Builder
	var want []string // what each part of the output is to have
	for i, b := range blocks(t, page) {
		switch {
		case b.skip:
		case b.file != "":
			kept := filepath.Join(dir, fmt.Sprintf("block%d", i))
			must(t, os.WriteFile(kept, []byte(b.text), 0o600))
			fmt.Fprintf(&script, "cp %s %s\n", kept, b.file)
		case b.language == "sh":
			fmt.Fprintf(&script, "echo '== part'\n%s", b.text)
			want = append(want, "")
		case b.language == "text":
			want[len(want)-1] = b.text
		}
	}
	root, err := filepath.Abs("../../..")
	must(t, err)
	c := exec.Command("sh", "-c", strings.ReplaceAll(script.String(), "127.0.0.1:8080", port))
	c.Dir = filepath.Join(dir, "work")
	must(t, os.Mkdir(c.Dir, 0o700))
	c.Env = append(os.Environ(), "XDG_STATE_HOME="+dir, "PAWL_SOURCE="+root, "AS_MAIN=yes", "PAWL_MODEL=", "PAWL_DATABASE=", "PAWL_TOKEN=", "GOWORK=off", "GOFLAGS=-mod=mod -trimpath", "NO_COLOR=1")
	out, err := c.CombinedOutput()
	parts := strings.Split(string(out), "== part\n")[1:]
	if err != nil || len(parts) != len(want) {
		t.Fatalf("%v: %d parts of %d:\n%s", err, len(parts), len(want), out)
	}
	for i, part := range parts {
		rest := part
		for line := range strings.Lines(want[i]) {
			line = strings.TrimSuffix(strings.TrimSpace(line), "…")
			_, after, ok := strings.Cut(rest, line)
			if !ok {
				t.Errorf("part %d does not print %q:\n%s", i+1, line, part)
				break
			}
			rest = after
		}
	}
}

// freePort returns an address of this machine that nothing listens at.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().String()
}

// pages lists the pages for users.
func pages(t *testing.T) []string {
	t.Helper()
	all := []string{"README.md"}
	for _, pattern := range []string{"docs/*.md", "docs/howto/*.md", "docs/reference/*.md"} {
		found, err := filepath.Glob(filepath.Join("../../..", pattern))
		must(t, err)
		for _, name := range found {
			rel, _ := filepath.Rel("../../..", name)
			all = append(all, filepath.ToSlash(rel))
		}
	}
	return all
}

// TestSpecsOfPages checks each spec that a page shows.
func TestSpecsOfPages(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one process after another")
	}
	checked := 0
	for _, page := range pages(t) {
		dir := t.TempDir()
		files := map[string]bool{}
		for i, b := range blocks(t, page) {
			if b.language != "yaml" || b.skip {
				continue
			}
			name := b.file
			if name == "" {
				name = fmt.Sprintf("block%d.yaml", i)
			}
			files[name] = regexp.MustCompile(`(?m)^name: `).MatchString(b.text) && !regexp.MustCompile(`(?m)^cases: `).MatchString(b.text) // an evaluation has a name too
			must(t, os.WriteFile(filepath.Join(dir, name), []byte(b.text), 0o600))
		}
		for name, spec := range files {
			if !spec {
				continue
			}
			checked++
			c := exec.Command("pawl", "check", name)
			c.Dir = dir
			c.Env = append(os.Environ(), "PAWL_MODEL=anthropic/claude-sonnet-5-5", "HOOK_SECRET=x") // the model of agents that have their caller's
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", page, err, out)
			}
		}
	}
	if checked == 0 {
		t.Error("no spec was checked")
	}
}
