package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/process"
)

// missing is the digest of a file that does not exist.
const missing = "missing"

// Witness returns the preconditions of a call, besides its arguments: the name of each file with
// its SHA-256 in hexadecimal, or "missing" if it does not exist. The engine calls Witness when it
// requests an approval and again before the call runs. If the digests differ, the approval is void.
//
// It fails if something cannot be digested, such as a name that is not a regular file.
func (d declared) Witness(ctx context.Context, _ json.RawMessage) (map[string]string, error) {
	return d.relied(ctx, "")
}

func (d declared) relied(ctx context.Context, dir string) (map[string]string, error) {
	w := preconditions{ctx: ctx, found: map[string]string{}}
	w.files(d.witness, dir)
	return w.found, errors.Join(w.errs...)
}

// The names of a command's preconditions that are not declared files.
const (
	theCommand   = "command line"
	theProgram   = "program"
	theDirectory = "working directory"
)

// Witness returns the digests of the declared files and of what the command is:
//
//   - its argv and the names of its variables;
//   - its working directory, as the resolved path and the directory's identity, so that neither a
//     changed link nor another directory in its place goes unnoticed;
//   - its program, by path and content;
//   - the content of every operand that is a script. An operand that becomes a script is a new
//     precondition.
//
// Other operands count only if they are declared, since a command also names the files that it
// writes. A change between this call and the start of the program goes unnoticed.
func (c *command) Witness(ctx context.Context, _ json.RawMessage) (map[string]string, error) {
	if c.err != nil {
		return nil, c.err
	}
	w := preconditions{ctx: ctx, found: map[string]string{}}
	w.found[theCommand] = textDigest(append([]string{strings.Join(c.env, "\n")}, c.argv...)...)
	w.directory(c.dir)
	w.program(process.Command{Argv: c.argv, Dir: c.dir, Env: process.CleanEnv(c.env...)})
	w.scripts(c.argv, c.dir)
	w.files(c.witness, c.dir)
	return w.found, errors.Join(w.errs...)
}

// preconditions collects the digests of preconditions.
type preconditions struct {
	ctx   context.Context
	found map[string]string
	errs  []error
}

// put adds the digest of a file. A file whose name is that of a part of the command gets "./" in
// front.
func (w *preconditions) put(name, digest string) {
	if slices.Contains([]string{theCommand, theProgram, theDirectory}, name) {
		name = "./" + name
	}
	w.found[name] = digest
}

// files adds the digests of declared files.
func (w *preconditions) files(names []string, dir string) {
	for _, name := range names {
		digest, err := w.content(within(name, dir), nil)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			w.put(name, missing)
		case err != nil:
			w.errs = append(w.errs, fmt.Errorf("witness %s: %w", name, display.WithoutPath(err)))
		default:
			w.put(name, digest)
		}
	}
}

// directory adds the identity of the working directory, not its content.
func (w *preconditions) directory(dir string) {
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	var info fs.FileInfo
	if err == nil {
		info, err = os.Stat(abs)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.found[theDirectory] = missing
	case err != nil:
		w.errs = append(w.errs, fmt.Errorf("%s: %w", theDirectory, err))
	default:
		w.found[theDirectory] = textDigest(abs, process.FileIdentity(info))
	}
}

// program adds the digest of the program's path and content.
func (w *preconditions) program(c process.Command) {
	path, err := process.Locate(c)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	digest := ""
	if err == nil {
		digest, err = w.content(path, []byte(path+"\x00"))
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.found[theProgram] = missing
	case err != nil:
		w.errs = append(w.errs, fmt.Errorf("%s %s: %w", theProgram, c.Argv[0], display.WithoutPath(err)))
	default:
		w.found[theProgram] = digest
	}
}

// content returns the digest of prefix and a file's content. Only a regular file has content: a
// pipe or device may never end, and reading from it may have effects.
func (w *preconditions) content(path string, prefix []byte) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // opening a pipe without a writer would block
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("it is %s; name a file", kindOf(info.Mode()))
	}
	sum := sha256.New()
	sum.Write(prefix)
	if err := w.read(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// read adds a file's content to sum until the file, or the context, ends.
func (w *preconditions) read(sum hash.Hash, f *os.File) error {
	const chunk = 1 << 20
	for {
		if err := context.Cause(w.ctx); err != nil {
			return err
		}
		switch _, err := io.CopyN(sum, f, chunk); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

func kindOf(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

func within(name, dir string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// textDigest returns a digest of texts that differs for different lists.
func textDigest(texts ...string) string {
	sum := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(sum, "%d:%s", len(t), t)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// checkWitnesses reports names that no file can have, and duplicates.
func checkWitnesses(names []string) (errs []error) {
	seen := map[string]bool{}
	for _, name := range names {
		switch {
		case name == "" || strings.Contains(name, "\x00"):
			errs = append(errs, fmt.Errorf("witness %q is not a file name", name))
		case seen[name]:
			errs = append(errs, fmt.Errorf("witness %q is named twice", name))
		}
		seen[name] = true
	}
	return errs
}
