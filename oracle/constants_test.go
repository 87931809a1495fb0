package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-run/pawl/internal/sheet"
)

// A declared is what an SDK declares of one kind.
type declared struct {
	wire  string // the adapter that must know it
	kind  string // as in ignored.txt
	names []string
}

// declarations lists what the three SDKs declare that an adapter must know or ignore on purpose.
// Betas have clients of their own in the SDKs, and no adapter calls them.
func declarations(t *testing.T) []declared {
	t.Helper()
	a := parse(t, "github.com/anthropics/anthropic-sdk-go", "message.go")
	o := parse(t, "github.com/openai/openai-go/v3", "shared/shared.go", "completion.go", "chatcompletion.go", "responses/response.go")
	g := parse(t, "google.golang.org/genai", "types.go", "interactions/models/interactions/model.go")
	return []declared{
		{"anthropic", "model", a.constants("Model")},
		{"anthropic", "stop", a.constants("StopReason")},
		{"anthropic", "event", slices.Concat(a.cases("MessageStreamEventUnion"), a.cases("RawContentBlockDeltaUnion"))},
		{"anthropic", "content", slices.Concat(a.cases("ContentBlockUnion"), a.variants("ContentBlockParamUnion"))},
		{"anthropic", "citation", a.cases("TextCitationUnion")},
		{"anthropic", "tool", a.variants("ToolUnionParam")},
		{"anthropic", "thinking", slices.Concat(a.variants("ThinkingConfigParamUnion"), a.constants("ThinkingConfigAdaptiveDisplay"))},
		{"anthropic", "effort", a.constants("OutputConfigEffort")},
		{"anthropic", "usage", slices.Concat(a.fields("Usage", 2), a.fields("MessageDeltaUsage", 2))},

		{"openai", "model", slices.Concat(o.constants("ChatModel"), o.constants("ResponsesModel"))},
		{"openai", "stop", slices.Concat(o.choices("ChatCompletionChunkChoice", "FinishReason"), o.constants("ResponseStatus"), o.choices("ResponseIncompleteDetails", "Reason"))},
		{"openai", "event", o.cases("ResponseStreamEventUnion")},
		{"openai", "item", slices.Concat(o.cases("ResponseOutputItemUnion"), o.variants("ResponseInputItemUnionParam"))},
		{"openai", "content", slices.Concat(o.cases("ResponseOutputMessageContentUnion"), o.variants("ResponseInputContentUnionParam"), o.variants("ChatCompletionContentPartUnionParam"), o.fields("ChatCompletionChunkChoiceDelta", 1))},
		{"openai", "citation", o.cases("ResponseOutputTextAnnotationUnion")},
		{"openai", "tool", slices.Concat(o.variants("ToolUnionParam"), o.variants("ChatCompletionToolUnionParam"))},
		{"openai", "effort", o.constants("ReasoningEffort")},
		{"openai", "usage", slices.Concat(o.fields("CompletionUsage", 2), o.fields("ResponseUsage", 3))},

		{"google", "model", g.constants("Model")},
		{"google", "stop", slices.Concat(g.constants("FinishReason"), g.constants("BlockedReason"))},
		{"google", "event", slices.Concat(g.fields("GenerateContentResponse", 1), g.fields("Candidate", 1))},
		{"google", "content", g.fields("Part", 1)},
		{"google", "citation", slices.Concat(g.fields("Citation", 1), g.fields("GroundingMetadata", 1), g.fields("GroundingChunk", 1))},
		{"google", "tool", g.fields("Tool", 1)},
		{"google", "thinking", g.fields("ThinkingConfig", 1)},
		{"google", "effort", g.constants("ThinkingLevel")},
		{"google", "usage", g.fields("GenerateContentResponseUsageMetadata", 1)},
	}
}

// TestConstants holds that an adapter or the model sheet knows whatever the newest SDKs declare, or
// that ignored.txt says why not.
func TestConstants(t *testing.T) {
	ignored := readIgnored(t)
	known := map[string]map[string]bool{}
	for _, wire := range []string{"anthropic", "openai", "google"} {
		known[wire] = literals(t, wire)
	}
	for _, d := range declarations(t) {
		if len(d.names) == 0 {
			t.Errorf("%s: the SDK declares no %s; its types have other names now", d.wire, d.kind)
		}
		slices.Sort(d.names)
		for _, name := range slices.Compact(d.names) {
			is := known[d.wire][path.Base(name)]
			if d.kind == "model" {
				_, is = sheet.Lookup(d.wire, name)
				is = is || sheet.Retired(d.wire, name)
			}
			if !is && !ignored.has(d.wire, d.kind, name) {
				t.Errorf("%s declares the %s %s: teach it to model/%[1]s, or give it a line in ignored.txt", d.wire, d.kind, name)
			}
		}
	}
	for _, line := range ignored {
		if !line.used {
			t.Errorf("ignored.txt: nothing that is declared and unknown needs the line %s %s %s", line.wire, line.kind, line.pattern)
		}
	}
}

// An ignoredLine is a line of ignored.txt: what it is about, and why it is ignored.
type ignoredLine struct {
	wire, kind, pattern string
	used                bool
}

type ignoredLines []*ignoredLine

func readIgnored(t *testing.T) (list ignoredLines) {
	t.Helper()
	data, err := os.ReadFile("ignored.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		if len(f) < 4 {
			t.Fatalf("ignored.txt: want a wire, a kind, a name and a reason, got %q", line)
		}
		list = append(list, &ignoredLine{wire: f[0], kind: f[1], pattern: f[2]})
	}
	return list
}

func (list ignoredLines) has(wire, kind, name string) bool {
	found := false
	for _, l := range list {
		if l.wire != wire || l.kind != kind {
			continue
		}
		if is, err := path.Match(l.pattern, name); is && err == nil {
			l.used, found = true, true
		}
	}
	return found
}

// literals returns the strings in the source of an adapter and of what it shares with the others, the
// names in their JSON tags, and what the model sheet says of the provider's models.
func literals(t *testing.T, wire string) map[string]bool {
	t.Helper()
	set := map[string]bool{}
	for _, m := range sheet.All() {
		if m.Provider == wire {
			for _, word := range append(slices.Collect(maps.Values(m.Hosted)), m.Efforts...) {
				set[word], set[strings.ToUpper(word)] = true, true // as Google writes efforts
			}
		}
	}
	dirs := []string{filepath.Join("..", "model", wire), filepath.Join("..", "model", "internal", "provider")}
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no source in %s: %v", dir, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.BasicLit:
					text, _ := strconv.Unquote(n.Value)
					set[text] = true
					name, _, _ := strings.Cut(reflect.StructTag(text).Get("json"), ",")
					set[name] = true
				case *ast.CaseClause: // "text text_delta": a block and what it takes
					for _, text := range texts(n.List) {
						for word := range strings.FieldsSeq(text) {
							set[word] = true
						}
					}
				}
				return true
			})
		}
	}
	return set
}

// A tree is the declarations in the source of an SDK.
type tree struct {
	structs map[string]*ast.StructType
	values  map[string][]string // constants, by the name of their type
	unions  map[string][]string // discriminators of the unions of replies, by their names
}

// parse reads files of the module in the version that go.mod names.
func parse(t *testing.T, module string, files ...string) *tree {
	t.Helper()
	var out, fault bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "go", "list", "-m", "-json", module)
	cmd.Stdout, cmd.Stderr = &out, &fault
	var found struct{ Dir string }
	if err := cmd.Run(); err != nil || json.Unmarshal(out.Bytes(), &found) != nil || found.Dir == "" {
		t.Fatalf("go list -m %s: %v: %s", module, err, &fault)
	}
	s := &tree{map[string]*ast.StructType{}, map[string][]string{}, map[string][]string{}}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(found.Dir, name), nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					s.add(spec)
				}
			case *ast.FuncDecl:
				if decl.Name.Name == "AsAny" && decl.Recv != nil {
					s.unions[fmt.Sprint(decl.Recv.List[0].Type)] = caseTexts(decl.Body)
				}
			}
		}
	}
	return s
}

func (s *tree) add(spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if body, ok := spec.Type.(*ast.StructType); ok {
			s.structs[spec.Name.Name] = body
		}
	case *ast.ValueSpec:
		of, ok := spec.Type.(*ast.Ident)
		if ok {
			s.values[of.Name] = append(s.values[of.Name], texts(spec.Values)...)
		}
	}
}

func caseTexts(body ast.Node) (list []string) {
	ast.Inspect(body, func(n ast.Node) bool {
		if c, ok := n.(*ast.CaseClause); ok {
			list = append(list, texts(c.List)...)
		}
		return true
	})
	return list
}

// texts returns the strings among expressions.
func texts(among []ast.Expr) (list []string) {
	for _, e := range among {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, _ := strconv.Unquote(lit.Value)
			list = append(list, text)
		}
	}
	return list
}

// constants returns the constants of a type.
func (s *tree) constants(of string) []string { return slices.Clone(s.values[of]) }

// cases returns the types that a union of replies distinguishes.
func (s *tree) cases(union string) []string { return slices.Clone(s.unions[union]) }

// variants returns the types of the variants of a union of parameters.
func (s *tree) variants(union string) (list []string) {
	s.each(union, func(_, _ string, of ast.Expr, _ *ast.Field) {
		s.each(typeName(of), func(name, standard string, of ast.Expr, _ *ast.Field) {
			switch {
			case name == "type" && standard != "":
				list = append(list, standard)
			case name == "type":
				list = append(list, s.values[typeName(of)]...)
			}
		})
	})
	return list
}

// fields returns the JSON names of the fields of a struct, and down to a depth those of the structs
// in it, as paths.
func (s *tree) fields(of string, depth int) (list []string) {
	s.each(of, func(name, _ string, of ast.Expr, _ *ast.Field) {
		inner := typeName(of)
		if s.structs[inner] == nil || depth == 1 {
			list = append(list, name)
			return
		}
		for _, below := range s.fields(inner, depth-1) {
			list = append(list, name+"/"+below)
		}
	})
	return list
}

// choices returns the values that the comment of a field lists after "Any of".
func (s *tree) choices(of, field string) (list []string) {
	s.each(of, func(_, _ string, _ ast.Expr, f *ast.Field) {
		_, some, listed := strings.Cut(f.Doc.Text(), "Any of ")
		if !listed || f.Names[0].Name != field {
			return
		}
		for i, part := range strings.Split(some, `"`) {
			if i%2 == 1 {
				list = append(list, part)
			}
		}
	})
	return list
}

// each calls do for the fields of a struct that have a JSON name or are inlined.
func (s *tree) each(of string, do func(name, standard string, of ast.Expr, f *ast.Field)) {
	body := s.structs[of]
	if body == nil {
		return
	}
	for _, f := range body.Fields.List {
		if f.Tag == nil || len(f.Names) != 1 {
			continue
		}
		text, _ := strconv.Unquote(f.Tag.Value)
		tag := reflect.StructTag(text)
		if name, _, _ := strings.Cut(tag.Get("json"), ","); name != "-" {
			do(name, tag.Get("default"), f.Type, f)
		}
	}
}

// typeName returns the name of a type, also of one behind a pointer.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
