package tool_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-run/pawl/tool"
)

// shellLines are commands of a shell that read or change what is outside of the
// cage, if anything lets them: every way to name it by every way to do it.
func shellLines(dir string) []string {
	targets := []string{"secret", dir + "/secret", "in/link", "out/../secret", "/proc/self/cwd/secret", "in/up/outside/x", `"$(pwd)"/secret`}
	reads := []string{
		"cat %s", "head -c 99 %s", "dd if=%s", "awk 1 %s", "sed -n p %s", "grep . %s", "base64 %s", "sort < %s", "read l < %s; echo $l", ". %s", "sh %s", "tac %s",
		"cp %s out/got", "ln %s out/got", "mv %s out/got", "tar cf out/got.tar %s", "install %s out/got", "diff %s in/a.txt", "exec 3< %s; cat <&3", "ln -sf ../%s out/l; cat out/l",
		"find %s -exec cat {} +", "xargs cat < in/a.txt %s", "tail -f %s & sleep 0.05; kill $!",
	}
	writes := []string{
		"echo x > %s", "echo x >> %s", ": > %s", "tee %s < in/a.txt", "truncate -s 0 %s", "dd if=/dev/zero of=%s count=1", "cp in/a.txt %s", "mv out/b.txt %s", "rm -rf %s",
		"sed -i s/the/no/ %s", "ln -sf /dev/null %s", "sort -o %s in/a.txt", "shred -u %s", "unlink %s", "mkdir %s.d", "mkfifo %s.p", "echo x > %s.new", "exec 3<> %s; echo x >&3",
	}
	var lines []string
	for _, target := range targets {
		for i, form := range append(reads, writes...) {
			line := fmt.Sprintf(form, target)
			switch i % 4 { // by another process, without a terminal, without the environment
			case 1:
				line = "sh -c '" + line + "'"
			case 2:
				line = "env -i PATH=$PATH setsid -w sh -c '" + line + "'"
			}
			lines = append(lines, line)
		}
	}
	return lines
}

func TestCageShell(t *testing.T) {
	p := newPit(t)
	caging(t, p.cage)
	outside := func() string {
		var b strings.Builder
		for _, name := range []string{".", "in", "outside"} {
			entries, err := os.ReadDir(filepath.Join(p.dir, name))
			must(t, err)
			for _, e := range entries {
				text, _ := os.ReadFile(filepath.Join(p.dir, name, e.Name()))
				fmt.Fprintf(&b, "%s/%s %v %q\n", name, e.Name(), e.Type(), text)
			}
		}
		return b.String()
	}
	before := outside()
	lines := shellLines(p.dir)
	if len(lines) < 250 {
		t.Fatalf("only %d attacks", len(lines))
	}
	script := "cat in/a.txt\n"
	for i, line := range lines {
		script += fmt.Sprintf("( %s ) < /dev/null 2>&1 | sed 's/^/%d: /'\n", line, i)
	}
	write(t, filepath.Join(p.dir, "in", "script"), script, 0o644)
	before = strings.Replace(before, "in/up ", fmt.Sprintf("in/script ---------- %q\nin/up ", script), 1)
	run := tool.RunCommand(&tool.CommandOptions{Dir: p.dir, Cage: p.cage, MaxOutput: 1 << 20})
	out, err := run.Run(t.Context(), argv(t, "sh", "in/script"))
	must(t, err)
	got := string(out.JSON)
	if !strings.HasPrefix(got, `"inside`) || strings.Count(got, "ermission denied") < len(lines)/2 {
		t.Errorf("this is no test: %.2000s", got)
	}
	for _, form := range []string{"the secret", "dGhlIHNlY3JldA"} {
		if at := strings.Index(got, form); at >= 0 {
			t.Errorf("it was read: %s", got[max(0, at-200):at+20])
		}
	}
	if after := outside(); after != before {
		t.Errorf("what is outside was\n%s\nand is\n%s", before, after)
	}
	for _, name := range []string{"got", "got.tar", "l"} {
		if text, err := os.ReadFile(filepath.Join(p.dir, "out", name)); err == nil && strings.Contains(string(text), "the secret") && name != "l" {
			t.Errorf("it is in out/%s", name)
		}
	}
}
