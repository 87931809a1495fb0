package workspace

import (
	"context"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode/utf8"
)

// scan returns the files of the copy. A file whose permissions differ only in bits that git
// does not record keeps those of the original.
func (t *Tree) scan(ctx context.Context, root *os.Root, d *Diff) (map[string]File, error) {
	found := map[string]File{}
	err := fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		known, isKnown := t.record.Files[name]
		unwanted := path.Base(name) == ".git"
		switch {
		case e.IsDir() && unwanted:
			return fs.SkipDir
		case e.IsDir() && !utf8.ValidString(name):
			d.LeftOut = append(d.LeftOut, LeftOut{strings.ToValidUTF8(name, "\uFFFD"), "its name is not UTF-8"})
			return fs.SkipDir
		case e.IsDir() || unwanted || known.Ignored:
			return nil
		}
		file, why, err := t.look(root, name, e)
		if why != "" {
			d.LeftOut = append(d.LeftOut, LeftOut{strings.ToValidUTF8(name, "\uFFFD"), why})
			if isKnown {
				found[name] = known.File // a file that cannot be brought back must not delete the original
			}
			return nil
		}
		if isKnown && file.Mode.IsRegular() && known.Mode.IsRegular() {
			switch perm := known.Mode; {
			case file.executable() == known.executable():
				file.Mode = perm
			case file.executable():
				file.Mode = perm | perm&0o444>>2 // readers may execute, as with chmod +x
			default:
				file.Mode = perm &^ 0o111
			}
		}
		found[name] = file
		return err
	})
	return found, err
}

// look returns what is at a path of the copy, or why it cannot take part.
func (t *Tree) look(root *os.Root, name string, e fs.DirEntry) (f File, why string, err error) {
	switch {
	case !utf8.ValidString(name):
		return File{}, "its name is not UTF-8", nil
	case e.Type() == fs.ModeSymlink:
		target, err := root.Readlink(name)
		if err != nil {
			return File{}, "", err
		}
		if why := leadsOut(name, target); why != "" {
			return File{}, why, nil
		}
	case !e.Type().IsRegular():
		return File{}, "it is neither a file, a directory nor a link", nil
	}
	f, err = inspect(root, name)
	return f, "", err
}
