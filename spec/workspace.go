package spec

import "path/filepath"

// A Workspace is a working copy, made by package workspace, in which the tools of a spec with
// workspace: copy work, and those of its agents.
type Workspace struct {
	State   string `json:"state"`   // its state directory
	Project string `json:"project"` // the directory that was copied, as [Spec.Project] has it
	Dir     string `json:"dir"`     // the copy
}

// readWorkspace reads workspace: copy, after dir.
func (s *Spec) readWorkspace(f fields) {
	copied := f.word("workspace") == "copy"
	s.project = s.dir
	if !s.family.member() {
		if s.Copied = copied; s.Copied && s.opt.Workspace != nil {
			s.family.workspace = s.opt.Workspace
		}
	}
	if w := s.family.workspace; w != nil {
		if rel, err := filepath.Rel(w.Project, s.dir); err == nil && filepath.IsLocal(rel) {
			s.dir = filepath.Join(w.Dir, rel)
		}
	}
}

// Project returns the directory in which commands work and files are read and written, absolute. With
// workspace: copy it is the one that is copied.
func (s *Spec) Project() string { return s.project }

// InCopy reports whether the spec works in a copy that exists.
func (s *Spec) InCopy() bool { return s.family.workspace != nil }

// WorkspaceOf returns the working copy of the agent of a source; nil: it has none.
func WorkspaceOf(source string) *Workspace {
	rec, _ := recordOf(source)
	return rec.Workspace
}
