package spec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/tool/skill"
)

// tree writes files beneath a new directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	check.Write(t, dir, files)
	return dir
}

func TestSkills(t *testing.T) { // Promises: D11.
	dir := tree(t, map[string]string{
		"b/SKILL.md":       "---\nname: b\ndescription: >-\n  Does b,\n  well.\nallowed-tools: read_file  delete_*\nversion: 3\nmetadata: {author: me}\n---\nbody\n",
		"a/SKILL.md":       "---\nname: a\ndescription: Does a.\n---\n",
		"none/README.md":   "no skill",
		"deep/c/SKILL.md":  "---\nname: c\ndescription: Too deep to be found.\n---\n",
		"list/SKILL.md":    "---\nname: list\ndescription: d\nallowed-tools: [x]\n---\n",
		"nothing/SKILL.md": "---\nname: nothing\ndescription: d\nallowed-tools: []\n---\n",
	})
	got, err := Skills(dir)
	must(t, err)
	want := []skill.Skill{
		{Name: "a", Description: "Does a.", Dir: filepath.Join(dir, "a")},
		{Name: "b", Description: "Does b, well.", Dir: filepath.Join(dir, "b"), Allowed: []string{"read_file", "delete_*"}},
		{Name: "list", Description: "d", Dir: filepath.Join(dir, "list"), Allowed: []string{"x"}},
		{Name: "nothing", Description: "d", Dir: filepath.Join(dir, "nothing"), Allowed: []string{}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, err = Skills(filepath.Join(dir, "a")); err != nil || len(got) != 1 || got[0].Name != "a" {
		t.Error(got, err)
	}
	if _, err = Skills(filepath.Join(dir, "none")); err == nil || !strings.Contains(err.Error(), "there are no skills in") {
		t.Error(err)
	}
}

// What is wrong with a skill is told at its place in its own file.
func TestSkillProblems(t *testing.T) {
	dir := tree(t, map[string]string{
		"headless/SKILL.md": "# Just text\n",
		"empty/SKILL.md":    "---\n---\n",
		"Upper/SKILL.md":    "---\nname: Upper\ndescription: \"\"\n---\n",
		"other/SKILL.md":    "---\nname: another\ndescription: d\nallowed_tools: x\n---\n",
		"args/SKILL.md":     "---\nname: args\ndescription: 5\nallowed-tools: Bash(git:*) Read\n---\n",
		"long/SKILL.md":     "---\nname: long\ndescription: " + strings.Repeat("long ", 300) + "\n---\n",
		"broken/SKILL.md":   "---\nname: [\n---\n",
		"spec.yaml":         "name: a\nmodel: mechanic\nskills: [., ./gone, 5]\n",
	})
	_, err := Load(filepath.Join(dir, "spec.yaml"), &Options{Registry: registry()})
	if err == nil {
		t.Fatal("nothing is wrong")
	}
	got := strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "")
	want := `Upper/SKILL.md:2:7: name is "Upper" (use up to 64 lower-case letters, digits and single hyphens)
Upper/SKILL.md:3:14: description is blank (write something or leave it out)
args/SKILL.md:3:14: description is a number (write text; put it in quotes if it looks like something else)
args/SKILL.md:4:16: allowed-tools has Bash(git:*) (only tools can be told apart, not their arguments: write their names between spaces)
broken/SKILL.md:2:7: ] is missing at the end of this (write [VALUE, VALUE])
empty/SKILL.md:1:1: the head of a skill is empty (write a mapping with name, description, allowed-tools)
headless/SKILL.md:1:1: the skill has no head (begin it with ---, name and description, and --- again)
long/SKILL.md:3:14: description has 1499 bytes (at most 1024; the rest belongs below the head)
other/SKILL.md:2:7: name is another, but its folder is other (call both the same)
other/SKILL.md:4:1: unknown key allowed_tools in the skill (did you mean allowed-tools?)
spec.yaml:3:13: skills ./gone: no such file or directory (name a folder of skills)
spec.yaml:3:21: skills has a number in its list (write text; put it in quotes if it looks like something else)`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A skill that is carried out with a tool the agent does not have is likely not meant.
func TestSkillWarnings(t *testing.T) {
	dir := tree(t, map[string]string{
		"s/k/SKILL.md": "---\nname: k\ndescription: d\nallowed-tools: Read ask_*\n---\n",
		"spec.yaml":    "name: a\nmodel: mechanic\nskills: [./s]\ntools: [{builtin: [ask_human]}]\n",
	})
	s, err := Load(filepath.Join(dir, "spec.yaml"), &Options{Registry: registry()})
	must(t, err)
	w := s.Warnings(registry())
	if len(w) != 1 || w[0].Message != "the skill k needs the tool Read, which the agent does not have" {
		t.Error(w)
	}
}

// A skill whose instructions are somebody else's file, or none, is told.
func TestSkillLeadsOut(t *testing.T) {
	dir := tree(t, map[string]string{"secret.md": "---\nname: a\ndescription: d\n---\nsecret\n", "s/a/x": ""})
	if err := os.Symlink("../../secret.md", filepath.Join(dir, "s", "a", "SKILL.md")); err != nil {
		t.Skip("there are no symbolic links here: ", err)
	}
	if _, err := Skills(filepath.Join(dir, "s")); err == nil || !strings.Contains(err.Error(), "escapes") {
		t.Error(err)
	}
}
