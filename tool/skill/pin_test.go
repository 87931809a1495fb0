package skill_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/tool/skill"
)

// Whatever changes in a folder changes the version, of that skill only.
func TestPins(t *testing.T) {
	for name, change := range map[string]func(dir string) error{
		"nothing":      func(string) error { return nil },
		"git's own":    func(dir string) error { return os.WriteFile(filepath.Join(dir, ".git", "index"), []byte("2"), 0o600) },
		"instructions": func(dir string) error { return os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(text+"."), 0o600) },
		"a file": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "scripts/fill.py"), []byte("exit()"), 0o600)
		},
		"a new file": func(dir string) error { return os.WriteFile(filepath.Join(dir, "scripts/new"), nil, 0o600) },
		"a name": func(dir string) error {
			return os.Rename(filepath.Join(dir, "FORMS.md"), filepath.Join(dir, "forms.md"))
		},
		"a file gone": func(dir string) error { return os.Remove(filepath.Join(dir, "FORMS.md")) },
		"all gone":    os.RemoveAll,
		"to a link": func(dir string) error {
			_ = os.Remove(filepath.Join(dir, "FORMS.md"))
			return os.Symlink("../secret.txt", filepath.Join(dir, "FORMS.md"))
		},
	} {
		dir, _ := folder(t)
		other, _ := folder(t)
		must(t, os.Mkdir(filepath.Join(dir, ".git"), 0o700))
		version := func() []string {
			return strings.Split(skill.Tool(skill.Skill{Name: "pdf", Dir: dir}, skill.Skill{Name: "other", Dir: other}).Info().Version, "\n")
		}
		before := version()
		must(t, change(dir))
		after := version()
		if same := name == "nothing" || name == "git's own"; (before[0] == after[0]) != same || before[1] != after[1] || !strings.HasPrefix(after[0], "pdf: ") {
			t.Errorf("%s: %q, then %q", name, before, after)
		}
	}
}

// A folder that is too large is a problem of the agent, told before it runs.
func TestLargeFolder(t *testing.T) {
	dir, _ := folder(t)
	file := filepath.Join(dir, "disk.img")
	must(t, os.WriteFile(file, nil, 0o600))
	if err := os.Truncate(file, 1<<40); err != nil {
		t.Skip(err)
	}
	_, err := pawl.NewMachine(pawl.Agent{Name: "a", Model: pawl.ModelFunc(nil), Tools: []pawl.Tool{skill.Tool(skill.Skill{Name: "pdf", Dir: dir})}})
	if err == nil || !strings.Contains(err.Error(), "the skill pdf has more than 20000 files or 512 MiB") {
		t.Error(err)
	}
}

// What differs is named when a run is taken up.
func TestPinsAreNamed(t *testing.T) { // Promises: T8.
	dir, _ := folder(t)
	other, _ := folder(t)
	declared := func() pawl.Declaration {
		a := pawl.Agent{Name: "a", Model: pawl.ModelFunc(nil), Tools: []pawl.Tool{skill.Tool(skill.Skill{Name: "pdf", Dir: dir}, skill.Skill{Name: "other", Dir: other})}}
		m, err := pawl.NewMachine(a)
		must(t, err)
		return m.Declaration()
	}
	before := declared()
	must(t, os.WriteFile(filepath.Join(other, "FORMS.md"), nil, 0o600))
	if got := fmt.Sprint(before.Differences(declared())); got != "[tool read_skill (other)]" {
		t.Error(got)
	}
}

// What has changed since the tool was made is not read, nor what was not there.
func TestChangedIsNotRead(t *testing.T) {
	dir, _ := folder(t)
	one := skill.Tool(skill.Skill{Name: "pdf", Dir: dir})
	for name, content := range map[string]string{"SKILL.md": text + "Do other things.", "FORMS.md": "other forms", "new.md": "more"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	for args, want := range map[string]string{
		`{"skill":"pdf"}`:                          "SKILL.md has changed since this agent was made",
		`{"skill":"pdf","file":"FORMS.md"}`:        "FORMS.md has changed since this agent was made",
		`{"skill":"pdf","file":"new.md"}`:          "new.md is not among the files",
		`{"skill":"pdf","file":"gone.md"}`:         "the skill pdf has no file gone.md; read it without one",
		`{"skill":"pdf","file":"scripts/fill.py"}`: "",
	} {
		out, err := one.Run(t.Context(), pawl.Invocation{Args: []byte(args)})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %s, %v", args, out.JSON, err)
		}
	}
	// Another look at it by a person makes another tool.
	if got, err := use(t, skill.Skill{Name: "pdf", Dir: dir}, map[string]string{"skill": "pdf", "file": "FORMS.md"}); err != nil || got != "other forms" {
		t.Errorf("%q, %v", got, err)
	}
}

var must = check.Must
