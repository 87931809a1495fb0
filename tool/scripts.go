package tool

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/pawl-run/pawl/internal/display"
)

// scripts adds the digests of the operands that are executed.
func (w *preconditions) scripts(argv []string, dir string) {
	for name, err := range scripts(argv, dir) {
		digest := ""
		if err == nil {
			digest, err = w.content(within(name, dir), nil)
		}
		if err != nil {
			w.errs = append(w.errs, fmt.Errorf("operand %s: %w", name, display.WithoutPath(err)))
			continue
		}
		w.put(name, digest)
	}
}

// scripts yields the operands that are executed: an argument that is a file, or one of the form
// --flag=FILE, if the file is executable, begins with #!, has the name of a script, or is the
// first file that an interpreter gets. An operand for which this cannot be determined comes with
// an error.
func scripts(argv []string, dir string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		first := interprets(argv[0])
		for _, arg := range argv[1:] {
			names := []string{arg}
			if _, value, ok := strings.Cut(arg, "="); ok {
				names = append(names, value)
			}
			for _, name := range names {
				if name == "" {
					continue
				}
				path := within(name, dir)
				info, err := os.Stat(path)
				if err != nil || !info.Mode().IsRegular() {
					continue // a word, a directory, a device
				}
				is, err := runs(path, info)
				if (is || first || err != nil) && !yield(name, err) {
					return
				}
				first = false
			}
		}
	}
}

// scriptNames are the file name extensions of scripts.
const scriptNames = " .awk .bash .bats .cjs .cts .exs .fish .go .groovy .jar .js .jsx .jl .ksh .kts .lua .mjs .mk .mts .nu .php .pl .pm .ps1 .py .pyz .r .raku .rb .sed .sh .sql .tcl .ts .tsx .zsh "

// interpreters run the first file that they get, whatever its name.
const interpreters = " awk bash bun csh dash deno env expect fish gawk groovy java jshell julia ksh lua luajit make mawk nawk node nodejs nu osascript perl php pwsh python pypy raku rscript ruby sed sh tclsh tcsh ts-node tsx zsh "

// listed reports whether a word is in a list of them.
func listed(list, word string) bool { return word != "" && strings.Contains(list, " "+word+" ") }

// interprets reports whether a program is an interpreter. The name may include a version, as in
// python3.12.
func interprets(program string) bool {
	name := strings.ToLower(filepath.Base(program))
	return listed(interpreters, name) || listed(interpreters, strings.TrimRight(name, "0123456789.-"))
}

// runs reports whether a file looks like a program or a script.
func runs(path string, info os.FileInfo) (bool, error) {
	if info.Mode()&0o111 != 0 || listed(scriptNames, strings.ToLower(filepath.Ext(path))) {
		return true, nil
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false, err
	}
	defer f.Close()
	var begin [2]byte
	if _, err := io.ReadFull(f, begin[:]); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil // the file is shorter
		}
		return false, err
	}
	return string(begin[:]) == "#!", nil
}
