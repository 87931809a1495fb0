package workspace

import (
	"path"
	"slices"
	"strings"
)

// Beneath returns the changes with paths, also in the patches, relative to a directory above the
// project, in which the project is dir. It is for showing: [Tree.Apply] takes them as they were.
func (d Diff) Beneath(dir string) Diff {
	if dir == "" {
		return d
	}
	d.Changes = slices.Clone(d.Changes)
	for i, c := range d.Changes {
		c.Path = path.Join(dir, c.Path)
		c.Patch = readdress(c.Patch, strings.NewReplacer(
			quote("a/"+d.Changes[i].Path), quote("a/"+c.Path), quote("b/"+d.Changes[i].Path), quote("b/"+c.Path)))
		d.Changes[i] = c
	}
	return d
}

// readdress replaces names in the headers of a patch. Lines of hunks begin with a blank, a sign
// or a backslash.
func readdress(patch string, names *strings.Replacer) string {
	var b strings.Builder
	header := true
	for line := range strings.Lines(patch) {
		switch {
		case strings.HasPrefix(line, "diff --git "):
			header = true
		case strings.HasPrefix(line, "@@"):
			header = false
		}
		if header {
			line = names.Replace(line)
		}
		b.WriteString(line)
	}
	return b.String()
}
