package spec

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/beneath"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/naming"
	"github.com/pawl-run/pawl/tool/agentsmd"
	"github.com/pawl-run/pawl/tool/skill"
)

const (
	longestUse = 1024 // bytes of a skill's description
	mostSkills = 100
)

// Skills returns the skills of a folder: the folder itself if it has a
// SKILL.md, else its subfolders that have one. The error is [Problems], at
// their places in the files.
func Skills(dir string) ([]skill.Skill, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	s := &Spec{base: abs, path: filepath.Join(dir, skill.File), family: &family{files: map[string]string{}}, doc: &document{}}
	s.skillsIn(&node{src: newSource(dir, ""), text: ".", place: place{1, 1}})
	if err := s.doc.problems.err(); err != nil {
		return nil, err
	}
	return s.skills, nil
}

// readSkills reads the folders under skills.
func (s *Spec) readSkills() {
	for _, n := range s.n.get("skills").list() {
		s.skillsIn(n)
	}
	switch {
	case len(s.skills) > mostSkills:
		s.doc.problem(s.at("skills"), "there are %d skills (at most %d)", len(s.skills), mostSkills)
	case len(s.skills) > 0:
		s.reads = skill.Tool(s.skills...)
	}
}

// skillsIn adds the skills of a folder.
func (s *Spec) skillsIn(at *node) {
	dir := filepath.Clean(at.text)
	shown := dir
	if !filepath.IsAbs(dir) {
		dir, shown = filepath.Join(s.base, dir), filepath.Join(filepath.Dir(s.path), dir)
	}
	folders, err := s.family.folders(dir)
	switch {
	case err != nil:
		s.doc.problem(at, "skills %s: %v (name a folder of skills)", at.text, display.WithoutPath(err))
		return
	case len(folders) == 0:
		s.doc.problem(at, "there are no skills in %s (put folders there, each with a %s)", at.text, skill.File)
		return
	}
	for _, folder := range folders {
		text, err := s.family.readSkill(folder)
		if err != nil {
			s.doc.problem(at, "skills %s: %v", at.text, err)
			continue
		}
		one, problems := readSkill(filepath.Join(shown, strings.TrimPrefix(folder, dir), skill.File), folder, text)
		s.doc.problems = append(s.doc.problems, problems...)
		switch {
		case len(problems) > 0:
		case slices.ContainsFunc(s.skills, func(k skill.Skill) bool { return k.Name == one.Name }):
			s.doc.problem(at, "there are two skills called %s (give each a name of its own)", one.Name)
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
			if folder := filepath.Dir(path); filepath.Base(path) == skill.File && (folder == dir || filepath.Dir(folder) == dir) {
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
	if err == nil {
		m.files[path] = string(data)
	}
	return string(data), err
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
	known := definitions()["skill"].PropertyOrder
	root.pairs = slices.DeleteFunc(root.pairs, func(p pair) bool {
		return !slices.Contains(known, p.key.text) && naming.Nearest(p.key.text, known) == ""
	})
	d.check(reference("skill"), root, "the head of a skill")
	w := decoded[skillHead](root)
	one.Dir, one.Name, one.Description = dir, w.Name, w.Description
	if one.Name != "" && one.Name != filepath.Base(dir) {
		d.problem(w.at("name"), "name is %s, but its folder is %s (call both the same)", one.Name, filepath.Base(dir))
	}
	if n := len(one.Description); n > longestUse {
		d.problem(w.at("description"), "description has %d bytes (at most %d; the rest belongs below the head)", n, longestUse)
	}
	switch allowed := w.AllowedTools.(type) {
	case string:
		one.Allowed = strings.Fields(allowed)
	case []any:
		one.Allowed = []string{}
		for _, n := range w.at("allowed-tools").items {
			one.Allowed = append(one.Allowed, n.text)
		}
	}
	for _, name := range one.Allowed {
		if strings.ContainsAny(name, "(),:") {
			d.problem(w.at("allowed-tools"), "allowed-tools has %s (only tools can be told apart, not their arguments: write their names between spaces)", name)
		}
	}
	return one, d.problems.sorted()
}

// readNotes reads the AGENTS.md of the working directory. A run that is resumed has the text of its
// beginning.
func (s *Spec) readNotes() {
	if s.Instructions == "" {
		return
	}
	path := filepath.Join(s.dir, agentsmd.File)
	if text, ok := s.family.files[path]; ok || s.family.known {
		if ok {
			s.notes = (&agentsmd.Notes{Dir: s.dir, Text: text}).Trust(s.opt.Trusted)
		}
		return
	}
	notes, err := agentsmd.Read(s.dir)
	if err != nil {
		s.doc.problem(s.at("instructions"), "%v", display.WithoutPath(err))
	}
	if s.notes = notes.Trust(s.opt.Trusted); notes != nil {
		s.family.files[path] = notes.Text
	}
}

// WorkDir returns the directory in which the tools work.
func (s *Spec) WorkDir() string { return s.dir }

// Notes returns the AGENTS.md that the agent has; nil: none.
func (s *Spec) Notes() *agentsmd.Notes { return s.notes }
