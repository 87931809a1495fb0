package refactor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl/fix/internal/testrun"
)

// fixed is a finding of go fix, in the form of go vet -json.
type fixed struct {
	Posn    string `json:"posn"`
	Message string `json:"message"`
	Fixes   []struct {
		Edits []struct {
			Filename   string
			Start, End int
			New        string
		} `json:"edits"`
	} `json:"suggested_fixes"`
}

// modern finds where the code can use newer language and library, as its go.mod allows. What omitzero offers
// changes what is written as JSON.
func (r *Refactor) modern(ctx context.Context, sources []*source) ([]place, error) {
	g, err := testrun.ParseGoCommand(r.source.Test[2:])
	if err != nil {
		return nil, err
	}
	// With -trimpath, as GOFLAGS may have it, go fix would replay what it said of another copy.
	out, err := r.Suite.GoTool(ctx, slices.Concat([]string{"fix", "-json", "-omitzero=false", "-trimpath=false"}, testrun.Listable(g.Build), []string{"./..."})...)
	if err != nil && strings.Contains(err.Error(), "flag provided but not defined") {
		return nil, errors.New("modernise needs the go fix of Go 1.26 or newer; install it, or name another goal")
	}
	if err != nil {
		return nil, fmt.Errorf("look for what is not modern: %w", err)
	}
	byFile := map[string]*source{}
	for _, s := range sources {
		byFile[s.at] = s
	}
	var all []place
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var packages map[string]map[string]json.RawMessage // by package and fixer
		if err := dec.Decode(&packages); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("read what go fix says: %w", err)
		}
		for _, pkg := range slices.Sorted(maps.Keys(packages)) {
			for _, name := range slices.Sorted(maps.Keys(packages[pkg])) {
				var found []fixed
				if json.Unmarshal(packages[pkg][name], &found) != nil {
					return nil, fmt.Errorf("go fix: %s: %s: %s", pkg, name, packages[pkg][name]) // an error in place of a list
				}
				for _, f := range found {
					p, ok, err := r.placeOf(name, f, byFile)
					if err != nil {
						return nil, err
					}
					if ok && !slices.ContainsFunc(all, func(o place) bool { return slices.Equal(o.edits, p.edits) }) {
						all = append(all, p) // a package is looked at with its tests and without
					}
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b place) int {
		if c := strings.Compare(a.file, b.file); c != 0 {
			return c
		}
		return a.line - b.line
	})
	return all, nil
}

// placeOf is where a fix is, if it is in files that may be edited by rules.
func (r *Refactor) placeOf(name string, f fixed, byFile map[string]*source) (place, bool, error) {
	if len(f.Fixes) == 0 {
		return place{}, false, nil
	}
	p := place{what: name + ": " + f.Message}
	for _, e := range f.Fixes[0].Edits {
		s := byFile[filepath.Clean(e.Filename)]
		if s == nil && r.nameOf(e.Filename) == "" && !strings.HasPrefix(filepath.Base(e.Filename), "_cgo_") { // that is generated
			return place{}, false, fmt.Errorf("go fix: %s: it would edit %s, which is not in the working copy; clear its cache with go clean -cache", name, e.Filename)
		}
		if s == nil || e.Start < 0 || e.End < e.Start || e.End > len(s.text) {
			return place{}, false, nil
		}
		if p.file == "" {
			p.file = s.name
		}
		if e.Start < e.End || e.New != "" {
			p.edits = append(p.edits, textEdit{s.name, e.Start, e.End, e.New})
		}
	}
	if at := strings.Split(f.Posn, ":"); len(at) > 2 {
		p.line, _ = strconv.Atoi(at[len(at)-2]) // zero says nothing
	}
	return p, len(p.edits) > 0, nil
}
