package skill

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// The most that a skill's folder may hold, so that taking its digest costs
// little.
const (
	mostFiles = 20_000
	mostBytes = 512 << 20
)

// pins are the digests of a skill's files by path, as they were when the tool was
// made, and of the whole.
type pins struct {
	whole string
	files map[string]string
	wrong error // what is too large to be pinned
}

// missing is the digest of a folder that is not there.
const missing = "not there"

// pin takes the digests of all that is in a folder but for .git. Links are
// followed to files as far as they stay inside, and not to directories.
func pin(s *Skill) pins {
	p := pins{files: map[string]string{}}
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		p.whole = missing
		return p
	}
	defer root.Close()
	left := int64(mostBytes)
	whole := sha256.New()
	p.wrong = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || name == ".":
			return nil // what cannot be read is not there, here and for the model
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		digest, size := content(root, name, left)
		if left -= size; left < 0 || len(p.files) == mostFiles {
			return fmt.Errorf("the skill %s has more than %d files or %d MiB in its folder; keep what is no part of it elsewhere", s.Name, mostFiles, mostBytes>>20)
		}
		p.files[name] = digest
		fmt.Fprintf(whole, "%s\x00%s\x00", name, digest)
		return nil
	})
	p.whole = hex.EncodeToString(whole.Sum(nil)[:16])
	return p
}

// content is the digest of a file's content; of what is no file, or leads out, a
// word that says so.
func content(root *os.Root, name string, most int64) (digest string, size int64) {
	f, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would block the opening
	if err != nil {
		return "cannot be opened", 0
	}
	defer f.Close()
	switch info, err := f.Stat(); {
	case err != nil || !info.Mode().IsRegular():
		return "no file", 0
	case info.Size() > most:
		return "", info.Size()
	}
	h := sha256.New()
	size, err = io.Copy(h, io.LimitReader(f, most+1))
	if err != nil {
		return "cannot be read", size
	}
	return hex.EncodeToString(h.Sum(nil)), size
}

// holds reports an error if a file is not what it was when the tool was made.
func (p *pins) holds(file string, data []byte) error {
	now := sha256.Sum256(data)
	switch was, there := p.files[filepath.ToSlash(file)]; {
	case !there:
		return fmt.Errorf("%s is not among the files that the skill had when this agent was made; do without it", file)
	case was != hex.EncodeToString(now[:]):
		return fmt.Errorf("%s has changed since this agent was made, so it is not read until a person has looked at it and resumed the run with --allow-change; go on without it", file)
	}
	return nil
}
