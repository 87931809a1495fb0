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

	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/spool"
)

// missing is the digest of a witness that is not there.
const missing = "missing"

// Witness digests what the approver of a call relies on, besides the arguments: name and SHA-256
// in hexadecimal, or "missing" for a file that does not exist. The engine calls it when it
// requests an approval and again before the call runs; if the digests differ, the approval is
// void.
//
// An error, as for a witness that is no file, says what cannot be digested.
func (d declared) Witness(ctx context.Context, _ json.RawMessage) (map[string]string, error) {
	return d.relied(ctx, "")
}

func (d declared) relied(ctx context.Context, dir string) (map[string]string, error) {
	w := witnesses{ctx: ctx, found: map[string]string{}}
	w.files(d.witness, dir)
	return w.found, errors.Join(w.errs...)
}

// The witnesses of a command that are no files of those names.
const (
	theCommand   = "command line"
	theProgram   = "program"
	theDirectory = "working directory"
)

// Witness digests, besides the declared files, what the command is: its argv
// and the names of its variables; its working directory, by the path it
// resolves to and the directory that is there, so that neither another link nor
// another directory in its place goes unnoticed; its program, by path and
// content; and the content of every operand that is a script. An operand that
// becomes one is a new witness. Other files are witnesses if they are declared:
// a command also names what it writes.
//
// A change between this and the start of the program is not seen: that takes
// who can write to those files and knows the moment.
func (c *command) Witness(ctx context.Context, _ json.RawMessage) (map[string]string, error) {
	if c.err != nil {
		return nil, c.err
	}
	w := witnesses{ctx: ctx, found: map[string]string{}}
	w.found[theCommand] = textDigest(append([]string{strings.Join(c.env, "\n")}, c.argv...)...)
	w.directory(c.dir)
	w.program(process.Command{Argv: c.argv, Dir: c.dir, Env: process.CleanEnv(c.env...)})
	w.scripts(c.argv, c.dir)
	w.files(c.witness, c.dir)
	return w.found, errors.Join(w.errs...)
}

// witnesses collects digests.
type witnesses struct {
	ctx   context.Context
	found map[string]string
	errs  []error
}

// put notes the digest of a file. A file named like a part of the command goes
// by another of its names.
func (w *witnesses) put(name, digest string) {
	if slices.Contains([]string{theCommand, theProgram, theDirectory}, name) {
		name = "./" + name
	}
	w.found[name] = digest
}

// files digests declared witnesses.
func (w *witnesses) files(names []string, dir string) {
	for _, name := range names {
		digest, err := w.content(beside(name, dir), nil)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			w.put(name, missing)
		case err != nil:
			w.errs = append(w.errs, fmt.Errorf("witness %s: %w", name, reason(err)))
		default:
			w.put(name, digest)
		}
	}
}

// directory digests which directory it is, not what is in it.
func (w *witnesses) directory(dir string) {
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
		w.found[theDirectory] = textDigest(abs, spool.Identity(info))
	}
}

// program digests the path and the content of what would be executed.
func (w *witnesses) program(c process.Command) {
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
		w.errs = append(w.errs, fmt.Errorf("%s %s: %w", theProgram, c.Argv[0], reason(err)))
	default:
		w.found[theProgram] = digest
	}
}

// content digests what is in a file, behind a prefix. Only a regular file has
// content: a pipe or device may never end, and reading from it may do something.
func (w *witnesses) content(path string, prefix []byte) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe that nobody writes to would block the opening
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("it is no file but %s (name files)", kindOf(info.Mode()))
	}
	sum := sha256.New()
	sum.Write(prefix)
	if err := w.read(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// read reads a file to its end, or until there is no more time.
func (w *witnesses) read(sum hash.Hash, f *os.File) error {
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

// reason is an error without the path, which the text around it names.
func reason(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}

func beside(name, dir string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// textDigest digests texts so that no two lists have one digest.
func textDigest(texts ...string) string {
	sum := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(sum, "%d:%s", len(t), t)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// checkWitnesses finds names that can be those of no file.
func checkWitnesses(names []string) (errs []error) {
	seen := map[string]bool{}
	for _, name := range names {
		switch {
		case name == "" || strings.Contains(name, "\x00"):
			errs = append(errs, fmt.Errorf("witness %q is no file's name", name))
		case seen[name]:
			errs = append(errs, fmt.Errorf("witness %q is named twice", name))
		}
		seen[name] = true
	}
	return errs
}
