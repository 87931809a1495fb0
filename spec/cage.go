package spec

import (
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/tool"
)

// The limits of memory in a cage.
const (
	leastMemory = 1 << 20
	mostMemory  = 1 << 40
)

var cageKeys = &table{name: "cage", title: "cage", about: "[Restrictions](tools.md#the-cage) on every command, MCP server and agent of the spec.", keys: []key{
	{name: "files", value: in(cageFilesKeys), otherwise: "the user's", about: "files that commands may use", inGo: "tool.Cage.Files"},
	{name: "network", value: oneOf("none"), otherwise: "the user's", about: "no connections, even to this machine", inGo: "tool.Cage.NoNetwork"},
	{name: "memory", value: shape{says: "size", schema: object{"anyOf": []any{
		object{"type": "number", "minimum": leastMemory, "maximum": mostMemory},
		object{"type": "string", "pattern": `^\+?[0-9.]+ *([KkMmGg]?[Ii]?[Bb])? *$`},
	}}}, otherwise: "no limit", about: "private memory of each process, and size of a file that it writes", inGo: "tool.Cage.Memory"},
	{name: "processes", value: aCount(1), otherwise: "no limit", about: "processes and threads at once", inGo: "tool.Cage.Processes"},
}}

var cageFilesKeys = &table{name: "cage_files", title: "files", about: "Files and directories, relative to `dir`, or with `./` to the spec's directory.", keys: []key{
	{name: "read", value: wordList, otherwise: "none", about: "readable and executable, besides the system's programs", inGo: "tool.CageFiles.Read"},
	{name: "write", value: wordList, otherwise: "none", about: "also writable", inGo: "tool.CageFiles.Write"},
}}

// readCage reads {files: {read: [.], write: [out]}, network: none, memory: 1GB, processes: 64}.
func (s *Spec) readCage(f fields) {
	defer s.within(f)
	n := f.n.get("cage")
	if n == nil || n.kind == 0 {
		return
	}
	c := f.fields(cageKeys, n)
	s.cage = &tool.Cage{}
	s.cage.NoNetwork = c.word("network") == "none"
	c.sizeWithin("memory", &s.cage.Memory, leastMemory, mostMemory, "1MB", "1024GB")
	c.count("processes", &s.cage.Processes, 1, "64")
	if files := n.get("files"); files != nil && files.kind != 0 {
		in := c.fields(cageFilesKeys, files)
		s.cage.Files = &tool.CageFiles{Read: s.caged(in, "read"), Write: s.caged(in, "write")}
	}
}

func (s *Spec) caged(f fields, key string) (all []string) {
	names, at := f.words(key, "[.]")
	for i, name := range names {
		switch {
		case strings.TrimSpace(name) == "" || strings.Contains(name, "\x00"):
			f.problem(at[i].place, "%s has %q (name a file or a directory)", key, name)
			continue
		case strings.HasPrefix(name, "./") && s.dir != s.base:
			name = s.witness(name)
		}
		all = append(all, name)
	}
	return all
}

// checkCage reports the parts of the cage that this machine cannot enforce, if
// the spec runs commands.
func (s *Spec) checkCage(d *document, a pawl.Agent) {
	if s.cage == nil || !s.commands(a) {
		return
	}
	if err := s.cage.Missing(); err != nil {
		for _, one := range parts(err) {
			d.problem(s.find("cage"), "%s", strings.TrimPrefix(one.Error(), "its "))
		}
	}
}

// commands reports whether the spec runs commands.
func (s *Spec) commands(a pawl.Agent) bool {
	for _, t := range a.Tools {
		if t.Info().Cage != "" {
			return true
		}
	}
	return s.observe != nil || s.goal != nil
}
