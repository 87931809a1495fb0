package house

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/doc"
	"go/types"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-run/pawl/internal/testkit/check"
)

var rewrite = flag.Bool("rewrite", false, "write the pages of docs/reference again")

// TestReferencePages holds that the pages made from code are current.
func TestReferencePages(t *testing.T) {
	tr := repository(t)
	for name, text := range map[string]string{
		"docs/reference/events.md": eventsPage(t, tr),
		"docs/reference/http.md":   httpPage(t, tr),
		"docs/reference/go.md":     packagesPage(t, tr),
	} {
		if *rewrite {
			must(t, os.WriteFile(filepath.Join(tr.root, name), []byte(text), 0o644))
		} else if tr.read(t, name) != text {
			t.Errorf("%s is not current: go test ./internal/house -run TestReferencePages -rewrite", name)
		}
	}
}

// oneLine returns a text as one line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// linkOfDoc matches a link of a doc comment to a name.
var linkOfDoc = regexp.MustCompile(`\[([\w.*]+)\]`)

// prosed is a doc comment as Markdown.
func prosed(text string) string {
	return linkOfDoc.ReplaceAllString(strings.TrimSpace(text), "`$1`")
}

// eventsPage lists the types of events from their declarations.
func eventsPage(t *testing.T, tr *tree) string {
	structs, docs, names := map[string]*ast.StructType{}, map[string]string{}, map[string]string{}
	for _, s := range tr.pkgs[0].files {
		if s.test {
			continue
		}
		for _, decl := range s.ast.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Name.Name == "event" && d.Recv != nil && d.Body != nil && len(d.Body.List) == 1 {
					ret, _ := d.Body.List[0].(*ast.ReturnStmt)
					lit, ok := ret.Results[0].(*ast.BasicLit)
					if name, err := strconv.Unquote(lit.Value); ok && err == nil {
						names[name] = types.ExprString(d.Recv.List[0].Type)
					}
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if ts, ok := spec.(*ast.TypeSpec); ok {
						if st, ok := ts.Type.(*ast.StructType); ok {
							structs[ts.Name.Name], docs[ts.Name.Name] = st, d.Doc.Text()
						}
					}
				}
			}
		}
	}
	if len(names) < 20 {
		t.Fatalf("only %d events were found", len(names))
	}
	var b strings.Builder
	b.WriteString("# Events\n\nA run is a list of entries, which `pawl events RUN` prints. Each has `run`, `seq`, `at`, `time`, `iteration`, a `type`, and `data` with the\n" +
		"keys listed here. Each text begins with the type in package `pawl`. Names and keys do not change; new ones may be added. This page is made from the code.\n")
	for _, name := range slices.Sorted(maps.Keys(names)) {
		text := prosed(docs[names[name]])
		if !strings.HasPrefix(text, names[name]+" ") {
			t.Errorf("the doc comment of %s does not begin with its name", names[name])
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", name, text)
		rows := &strings.Builder{}
		fieldRows(rows, structs, structs[names[name]])
		if rows.Len() > 0 {
			fmt.Fprintf(&b, "\n%s", rows)
		}
	}
	return b.String()
}

// fieldRows writes an item for each field that has a key; an embedded struct has those of its type.
func fieldRows(b *strings.Builder, structs map[string]*ast.StructType, st *ast.StructType) {
	for _, f := range st.Fields.List {
		kind := types.ExprString(f.Type)
		if embedded := structs[kind]; embedded != nil && f.Names == nil {
			fieldRows(b, structs, embedded)
		}
		if f.Tag == nil {
			continue
		}
		tag, _ := strconv.Unquote(f.Tag.Value)
		if key, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ","); key != "" && key != "-" {
			fmt.Fprintf(b, "- `%s` (`%s`)", key, kind)
			if text := oneLine(prosed(f.Doc.Text() + " " + f.Comment.Text())); text != "" {
				b.WriteString(": " + text)
			}
			b.WriteString("\n")
		}
	}
}

// httpPage lists the operations of the server from its OpenAPI document.
func httpPage(t *testing.T, tr *tree) string {
	type schema struct {
		Ref        string `json:"$ref"`
		Type       any
		Properties map[string]*schema
		Required   []string
		Items      *schema
	}
	type parameter struct{ Name, In, Description string }
	type operation struct {
		Summary    string
		Parameters []parameter
		Security   []map[string][]string
		Body       struct {
			Content map[string]struct{ Schema *schema }
		} `json:"requestBody"`
	}
	var d struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct{ Schemas map[string]*schema }
	}
	must(t, json.Unmarshal([]byte(tr.read(t, "server/testdata/openapi.golden.json")), &d))
	kind := func(s *schema) string {
		switch {
		case s.Ref != "":
			return path.Base(s.Ref)
		case s.Type == nil:
			return "any"
		}
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Type), " ", " or "), "[]") // one type, or a list
	}
	var b strings.Builder
	b.WriteString("# HTTP operations\n\nWhat `pawl serve` answers. `GET /openapi.json` has the same with the schemas of all answers; [a server of runs](../server.md) explains how to use it.\n" +
		"The scope is what the token must allow. Ids in a path are whole ids. This page is made from the code.\n")
	for _, at := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(d.Paths[at])) {
			var o operation
			must(t, json.Unmarshal(d.Paths[at][method], &o))
			scope := "Needs no token."
			for _, s := range o.Security {
				if len(s["bearer"]) > 0 {
					scope = "Scope: `" + strings.Join(s["bearer"], "`, `") + "`."
				}
			}
			fmt.Fprintf(&b, "\n## %s %s\n\n%s. %s\n", strings.ToUpper(method), at, o.Summary, scope)
			rows := ""
			for _, p := range o.Parameters {
				if p.In == "path" {
					continue
				}
				rows += fmt.Sprintf("- `%s` (%s)", p.Name, p.In)
				if p.Description != "" {
					rows += ": " + oneLine(p.Description)
				}
				rows += "\n"
			}
			for _, media := range slices.Sorted(maps.Keys(o.Body.Content)) {
				c := o.Body.Content[media]
				s := c.Schema
				if s.Ref != "" {
					s = d.Components.Schemas[path.Base(s.Ref)]
				}
				var keys []string
				for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
					keys = append(keys, fmt.Sprintf("`%s` %s", key, kind(s.Properties[key])))
				}
				if len(keys) > 0 {
					rows += fmt.Sprintf("- body, %s: %s\n", media, strings.Join(keys, ", "))
				}
			}
			if rows != "" {
				b.WriteString("\n" + rows)
			}
		}
	}
	return b.String()
}

// packagesPage lists the packages that a program can import.
func packagesPage(t *testing.T, tr *tree) string {
	var b strings.Builder
	b.WriteString("# Go packages\n\n`go doc PACKAGE` prints the documentation of a package, and `go doc PACKAGE.NAME` that of a name; examples are in the packages' tests.\n" +
		"The packages of a directory with a `go.mod` are a [module of their own](../decisions/0026-modules.md). This page is made from the code.\n\n")
	rows := 0
	for _, k := range tr.pkgs {
		if k.testOnly() || regexp.MustCompile(`(^|/)(internal|examples|docs|gen)(/|$)`).MatchString(k.dir) {
			continue
		}
		for _, s := range k.files {
			if s.test || s.ast.Doc == nil || s.ast.Name.Name == "main" {
				continue
			}
			rows++
			fmt.Fprintf(&b, "- `%s`: %s\n", path.Join(module, k.dir), strings.TrimPrefix(oneLine(prosed(new(doc.Package).Synopsis(s.ast.Doc.Text()))), "Package "+s.ast.Name.Name+" "))
		}
	}
	if rows < 20 {
		t.Fatalf("only %d packages were found", rows)
	}
	return b.String()
}

var must = check.Must
