package workspace

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Diff is the difference between the copy and the originals. It is plain data: it can be stored as
// JSON and applied by another process, even after the copy has changed again, as long as the state
// directory exists.
type Diff struct {
	Changes []Change `json:"changes"` // ordered by path, bytewise
	// LeftOut lists what was made in the copy and cannot be brought back, such as a link that leads
	// out of it.
	LeftOut []LeftOut `json:"left_out,omitempty"`
}

// Change is the change of one path.
type Change struct {
	Path string `json:"path"` // slash-separated, relative to the project
	Old  File   `json:"old"`  // the zero File if the path is new
	New  File   `json:"new"`  // the zero File if it is deleted
	// Patch is the change in git's form of a unified diff. For binary files, and for files of more
	// than 1 MiB, it only says that they differ.
	Patch string `json:"patch"`
}

// String returns all patches, one after the other. As long as no change is binary, git apply and
// patch -p1 accept it.
func (d Diff) String() string {
	var b strings.Builder
	for _, c := range d.Changes {
		b.WriteString(c.Patch)
	}
	return b.String()
}

// Empty reports whether nothing has changed.
func (d Diff) Empty() bool { return len(d.Changes) == 0 }

// Only returns the changes for which keep returns true.
func (d Diff) Only(keep func(Change) bool) Diff {
	kept := slices.DeleteFunc(slices.Clone(d.Changes), func(c Change) bool { return !keep(c) })
	return Diff{Changes: kept, LeftOut: d.LeftOut}
}

// Diff compares the copy with the originals as they were when it was made, or as
// [Tree.Apply] last left them. It reads all files, since modification times prove nothing.
// Of the permissions only the owner's right to execute counts, as in git. Ignored files and
// empty directories do not take part.
func (t *Tree) Diff(ctx context.Context) (Diff, error) {
	d, err := t.diff(ctx)
	if err != nil {
		return Diff{}, fmt.Errorf("compare working copy %s: %w", t.Dir(), err)
	}
	return d, nil
}

func (t *Tree) diff(ctx context.Context) (Diff, error) {
	root, err := os.OpenRoot(t.Dir())
	if err != nil {
		return Diff{}, err
	}
	defer root.Close()
	var d Diff
	found, err := t.scan(ctx, root, &d)
	if err != nil {
		return Diff{}, err
	}
	names := map[string]bool{}
	var created []string
	for name := range found {
		names[name] = true
		if _, known := t.record.Files[name]; !known {
			created = append(created, name)
		}
	}
	for name, e := range t.record.Files {
		names[name] = !e.Ignored
	}
	if t.record.Ignores {
		for _, l := range d.LeftOut {
			created = append(created, l.Path)
		}
		created = slices.DeleteFunc(created, t.nested) // git does not check paths of another repository
		ignored := whichIgnored(ctx, t.record.Source, created)
		for name := range ignored {
			names[name] = false
		}
		d.LeftOut = slices.DeleteFunc(d.LeftOut, func(l LeftOut) bool { return ignored[l.Path] })
	}
	for name, counts := range names {
		if before, now := t.record.Files[name].File, found[name]; counts && before != now {
			c := Change{Path: name, Old: before, New: now}
			if err := t.describe(root, &c); err != nil {
				return Diff{}, fmt.Errorf("%s: %w", name, err)
			}
			d.Changes = append(d.Changes, c)
		}
	}
	slices.SortFunc(d.Changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return d, nil
}

// nested reports whether a path belongs to a repository within the project.
func (t *Tree) nested(name string) bool {
	return slices.ContainsFunc(t.record.Nested, func(dir string) bool {
		return strings.HasPrefix(name, dir+"/")
	})
}

// describe stores the new content of a change and writes its patch.
func (t *Tree) describe(root *os.Root, c *Change) error {
	if c.New.Exists() && !t.blobs().has(c.New.Digest) {
		if err := t.store(root, c.Path, c.New); err != nil {
			return err
		}
	}
	before, shown, err := t.text(c.Old)
	if err != nil {
		return err
	}
	after, shownToo, err := t.text(c.New)
	if err != nil {
		return err
	}
	c.Patch = patch(*c, before, after, shown && shownToo)
	return nil
}

// store stores what is at a path below root.
func (t *Tree) store(root *os.Root, name string, want File) error {
	var from io.Reader
	if want.isLink() {
		target, err := root.Readlink(name)
		if err != nil {
			return err
		}
		from = strings.NewReader(target)
	} else {
		f, err := root.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		from = f
	}
	digest, err := t.blobs().put(from)
	if err == nil && digest != want.Digest {
		err = fmt.Errorf("it changed while it was read")
	}
	return err
}

// text returns a content, and whether it can be shown.
func (t *Tree) text(f File) (string, bool, error) {
	if !f.Exists() {
		return "", true, nil
	}
	if size, ok := t.blobs().size(f.Digest); !ok || size > textLimit {
		return "", false, nil // a large original is not kept
	}
	data, err := t.blobs().get(f.Digest)
	return string(data), err == nil && !strings.Contains(string(data), "\x00"), err
}
