package spec

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/beneath"
	"github.com/pawl-run/pawl/internal/expr"
	"github.com/pawl-run/pawl/tool/skill"
)

// The keys of the head of a SKILL.md. Keys of other programs are ignored.
var skillKeys = &table{name: "skill", title: "the head of a skill", one: "the skill", about: "The YAML header of a `SKILL.md`. Other keys are ignored.", keys: []key{
	{name: "name", needed: true, value: shape{says: "up to 64 letters a-z, digits, -", schema: object{"type": "string"}}, about: "name of its directory", inGo: "skill.Skill.Name"},
	{name: "description", needed: true, value: aText, about: "purpose, and when to use it, in at most 1024 bytes", inGo: "skill.Skill.Description"},
	{name: "allowed-tools", value: either(aText, wordList), otherwise: "any", about: "names or patterns of permitted tools, separated by spaces in a text", inGo: "skill.Skill.Allowed"},
	{name: "license", value: anyText, about: "for people", inGo: "skill.Skill"},
	{name: "compatibility", value: anyText, about: "for people", inGo: "skill.Skill"},
	{name: "metadata", value: shape{says: "mapping", schema: object{"type": "object"}}, about: "for people", inGo: "skill.Skill"},
}}

// Limits of a skill's name and description.
var skillName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

const (
	longestSkill = 64
	longestUse   = 1024
	mostSkills   = 100
)

// Skills returns the skills of a folder: the folder itself if it has a
// SKILL.md, else its subfolders that have one. The error is [Problems], at
// their places in the files.
func Skills(dir string) ([]skill.Skill, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	s := &Spec{base: abs, path: filepath.Join(dir, skill.File), family: &family{files: map[string]string{}}}
	d := &document{src: newSource(dir, "")}
	s.skillsIn(d, &node{kind: text, text: ".", place: place{1, 1}})
	if err := d.problems.sorted().asError(); err != nil {
		return nil, err
	}
	return s.skills, nil
}

// readSkills reads the folders under skills.
func (s *Spec) readSkills(f fields) {
	_, at := f.words("skills", "[./skills]")
	for _, n := range at {
		s.skillsIn(f.document, n)
	}
	switch {
	case len(s.skills) > mostSkills:
		f.problem(f.n.get("skills").place, "there are %d skills (at most %d)", len(s.skills), mostSkills)
	case len(s.skills) > 0:
		s.reads = skill.Tool(s.skills...)
	}
}

// skillsIn adds the skills of a folder.
func (s *Spec) skillsIn(d *document, at *node) {
	dir := filepath.Clean(at.text)
	shown := dir
	if !filepath.IsAbs(dir) {
		dir, shown = filepath.Join(s.base, dir), filepath.Join(filepath.Dir(s.path), dir)
	}
	folders, err := s.family.folders(dir)
	switch {
	case err != nil:
		if broken, ok := errors.AsType[*fs.PathError](err); ok {
			err = broken.Err
		}
		d.problem(at.place, "skills %s: %v (name a folder of skills)", at.text, err)
		return
	case len(folders) == 0:
		d.problem(at.place, "there are no skills in %s (put folders there, each with a %s)", at.text, skill.File)
		return
	}
	for _, folder := range folders {
		rel, err := filepath.Rel(dir, folder)
		if err != nil {
			rel = "."
		}
		text, err := s.family.readSkill(folder)
		if err != nil {
			d.problem(at.place, "skills %s: %v", at.text, err)
			continue
		}
		one, problems := readSkill(filepath.Join(shown, rel, skill.File), folder, text)
		d.problems = append(d.problems, problems...)
		switch {
		case len(problems) > 0:
		case slices.ContainsFunc(s.skills, func(k skill.Skill) bool { return k.Name == one.Name }):
			d.problem(at.place, "there are two skills called %s (give each a name of its own)", one.Name)
		default:
			s.skills = append(s.skills, one)
		}
	}
}

// folders returns the folders with a skill: the directory itself or some of its
// subfolders.
func (m *family) folders(dir string) (all []string, err error) {
	if m.known {
		for path := range m.files {
			folder, name := filepath.Split(path)
			folder = filepath.Clean(folder)
			if name == skill.File && (folder == dir || filepath.Dir(folder) == dir) {
				all = append(all, folder)
			}
		}
		slices.Sort(all)
		return all, nil
	}
	if m.has(filepath.Join(dir, skill.File)) {
		return []string{dir}, nil
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if folder := filepath.Join(dir, e.Name()); m.has(filepath.Join(folder, skill.File)) {
			all = append(all, folder)
		}
	}
	return all, err
}

// readSkill reads a SKILL.md, whose path must not leave its folder.
func (m *family) readSkill(folder string) (string, error) {
	path := filepath.Join(folder, skill.File)
	if _, ok := m.files[path]; ok || m.known {
		return m.read(path)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return "", err
	}
	defer root.Close()
	data, _, err := beneath.Read(root, skill.File)
	if err != nil {
		return "", err
	}
	m.files[path] = string(data)
	return string(data), nil
}

// readSkill reads the head of a SKILL.md.
func readSkill(path, dir, content string) (one skill.Skill, problems Problems) {
	head, _, ok := skill.Split(content)
	if !ok {
		return one, Problems{{path, 1, 1, "the skill has no head (begin it with ---, name and description, and --- again)"}}
	}
	d, root := readDocument(path, "\n"+head) // the line break keeps the line numbers
	if root == nil || root.kind == 0 {
		return one, d.problems.sorted()
	}
	if root.kind == mapping {
		root.pairs = slices.DeleteFunc(root.pairs, func(p pair) bool {
			return !slices.Contains(skillKeys.names(), p.key) && expr.Nearest(p.key, skillKeys.names()) == ""
		})
	}
	f := d.fields(skillKeys, root)
	one.Dir = dir
	f.text("name", &one.Name)
	f.text("description", &one.Description)
	switch name := root.get("name"); {
	case one.Name == "":
	case !skillName.MatchString(one.Name) || len(one.Name) > longestSkill:
		f.problem(name.place, "name is %q (use up to %d lower-case letters, digits and single hyphens)", one.Name, longestSkill)
	case one.Name != filepath.Base(dir):
		f.problem(name.place, "name is %s, but its folder is %s (call both the same)", one.Name, filepath.Base(dir))
	}
	if n := len(one.Description); n > longestUse {
		f.problem(root.get("description").place, "description has %d bytes (at most %d; the rest belongs below the head)", n, longestUse)
	}
	one.Allowed = f.allowedTools()
	return one, d.problems.sorted()
}

// allowedTools reads names separated by spaces, or a list of names.
func (f fields) allowedTools() []string {
	const key = "allowed-tools"
	n := f.n.get(key)
	var names []string
	switch {
	case n == nil:
		return nil
	case n.kind == list:
		names, _ = f.words(key, "[read_file]")
	default:
		line := ""
		f.text(key, &line)
		names = strings.Fields(line)
	}
	for _, name := range names {
		if strings.ContainsAny(name, "(),:") {
			f.problem(n.place, "%s has %s (only tools can be told apart, not their arguments: write their names between spaces)", key, name)
		}
	}
	return append([]string{}, names...)
}
