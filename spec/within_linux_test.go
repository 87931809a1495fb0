package spec

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
)

// inACage has a spec with a cage and agents that work in it.
func inACage(t *testing.T, agents map[string]string) string {
	t.Helper()
	files := map[string]string{
		"in/a.txt": "inside", "out/b.txt": "", "secret/s.txt": "the secret", "sub/own/c.txt": "its own",
		"desk.yaml": "name: desk\nmodel: mechanic\ncage: {files: {read: [in, sub], write: [out]}, network: none, memory: 1GB}\ntools:\n  - {builtin: [run_command]}\n",
	}
	for name, text := range agents {
		files["sub/"+name+".yaml"] = "name: " + name + "\ndescription: d\ntools: [{builtin: [run_command]}]\n" + text
		files["desk.yaml"] += "  - {agent: ./sub/" + name + ".yaml}\n"
	}
	return tree(t, files)
}

func runCommand(t *testing.T, a pawl.Agent) pawl.Tool {
	t.Helper()
	for _, one := range a.Tools {
		if one.Info().Name == "run_command" {
			return one
		}
	}
	t.Fatal("there is no run_command")
	return nil
}

func agentNamed(t *testing.T, a pawl.Agent, name string) pawl.Agent {
	t.Helper()
	i := slices.IndexFunc(a.Tools, func(one pawl.Tool) bool { return one.Info().Name == name })
	if i < 0 {
		t.Fatalf("there is no agent %s", name)
	}
	return a.Tools[i].(pawl.Delegate).Agent()
}

// Sub-agents run in the cage of their caller and in their own, also when their
// runs are resumed directly.
func TestAgentsAreCaged(t *testing.T) {
	dir := inACage(t, map[string]string{
		"plain": "", "tight": "cage: {files: {read: [own]}, memory: 512MB}\n", "elsewhere": "dir: ../out\ncage: {processes: 9}\n",
	})
	s, err := Load(filepath.Join(dir, "desk.yaml"), &Options{Registry: registry()})
	if err != nil && strings.Contains(err.Error(), "cannot enforce") {
		t.Skip(err)
	}
	must(t, err)
	a, err := s.Agent(registry())
	must(t, err)
	for name, want := range map[string][]string{
		"plain":     {"files: read [DIR/in, DIR/sub], write [DIR/out] (", "network: none", "memory: 1073741824 "},
		"tight":     {"files: read [own], write [], within read [DIR/in, DIR/sub], write [DIR/out] (", "network: none", "memory: 536870912 "},
		"elsewhere": {"files: read [DIR/in, DIR/sub], write [DIR/out] (", "network: none", "memory: 1073741824 ", "processes: 9 "},
	} {
		child := agentNamed(t, a, name)
		info := runCommand(t, child).Info()
		for _, part := range want {
			if part = strings.ReplaceAll(part, "DIR", dir); !strings.Contains(info.Cage, part) {
				t.Errorf("%s is held to %q, want %s", name, info.Cage, part)
			}
		}
		again, err := ParseSource(child.Source, nil)
		must(t, err)
		b, problems := again.assemble(nil, nil, nil)
		if diff := cmp.Diff(info, runCommand(t, b).Info()); diff != "" || len(problems) > 0 {
			t.Errorf("%s, made again of what its run recorded (-was +is): %v\n%s", name, problems, diff)
		}
	}
	if said := strings.Join(s.Cages(), "\n"); strings.Count(said, "commands are caged: ") != 3 || !strings.Contains(said, "\ntight: commands are caged: ") {
		t.Errorf("it says %s", said)
	}

	cat := func(name, file string) string {
		args, _ := json.Marshal(map[string]any{"argv": []string{"cat", file}})
		out, err := runCommand(t, agentNamed(t, a, name)).Run(context.Background(), pawl.Invocation{Args: args})
		if err != nil {
			return err.Error()
		}
		return string(out.JSON)
	}
	for _, tt := range []struct{ agent, file, want string }{
		{"plain", "../in/a.txt", `"inside"`},
		{"plain", "own/c.txt", `"its own"`},
		{"plain", "../secret/s.txt", "Permission denied"},
		{"tight", "own/c.txt", `"its own"`},
		{"tight", "../in/a.txt", "Permission denied"},
	} {
		if got := cat(tt.agent, tt.file); !strings.Contains(got, tt.want) {
			t.Errorf("%s reads %s: %s, want %s", tt.agent, tt.file, got, tt.want)
		}
	}
	// What was inside when it was checked leads out when it is used.
	own := filepath.Join(dir, "sub", "own")
	must(t, os.Rename(own, own+".was"))
	must(t, os.Symlink("../secret", own))
	if got := cat("tight", "own/s.txt"); !strings.Contains(got, "Permission denied") {
		t.Errorf("by a link that came later: %s", got)
	}
}

// A cage that is not as tight as the one around it is told where it is wider.
func TestLooserCage(t *testing.T) {
	dir := inACage(t, map[string]string{
		"loose": "cage: {files: {read: [own, ../in, /etc, link, ../../sub2], write: [../out/deep/er, ../in, .]}, memory: 2GB, processes: 5000}\n",
		"fine":  "cage: {files: {read: [., ../out], write: [../out/b.txt]}, memory: 1GB, processes: 5}\n",
	})
	must(t, os.Symlink("../secret", filepath.Join(dir, "sub", "link")))
	_, err := Load(filepath.Join(dir, "desk.yaml"), &Options{Registry: registry()})
	if err == nil {
		t.Fatal("nothing is wrong")
	}
	const rest = "which the cage of the agent that has this one work does not let it "
	want := strings.NewReplacer("DIR", dir, "…", rest).Replace(`DIR/sub/loose.yaml:4:35: read has /etc, …read (name what is in that one, or leave files out)
DIR/sub/loose.yaml:4:41: read has link, …read (name what is in that one, or leave files out)
DIR/sub/loose.yaml:4:47: read has ../../sub2, …read (name what is in that one, or leave files out)
DIR/sub/loose.yaml:4:84: write has ../in, …write (name what is in that one, or leave files out)
DIR/sub/loose.yaml:4:91: write has ., …write (name what is in that one, or leave files out)
DIR/sub/loose.yaml:4:104: memory is more than the 1073741824 bytes in the cage of the agent that has this one work (give no more, or leave it out)`)
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A workflow of a Hyphen document, which has no cage, is in its own, and so are
// its agents; a Hyphen document that is an agent is in that of its caller.
func TestHyphenAndCages(t *testing.T) {
	dir := tree(t, map[string]string{
		"loop.json":      `{"type": "loop", "properties": {"objective": "x", "model": "mechanic", "tools": [{"type": "workflow", "id": "w"}]}}`,
		"flows/w.yaml":   "name: w\ncage: {network: none}\ntools: [{builtin: [run_command]}, {agent: ./sub.yaml}]\n",
		"flows/sub.yaml": "name: sub\ndescription: d\ntools: [{builtin: [run_command]}]\n",
		"desk.yaml":      "name: desk\nmodel: mechanic\ncage: {network: none, files: {read: ['./flows']}}\ntools: [{agent: ./loop.json, description: d}]\n",
	})
	s, err := Load(filepath.Join(dir, "loop.json"), &Options{Registry: registry(), Workflows: filepath.Join(dir, "flows")})
	must(t, err)
	a, err := s.Agent(registry())
	must(t, err)
	w := agentNamed(t, a, "w")
	for name, one := range map[string]pawl.Agent{"w": w, "sub": agentNamed(t, w, "sub")} {
		if got := runCommand(t, one).Info().Cage; !strings.Contains(got, "network: none") {
			t.Errorf("%s is held to %q", name, got)
		}
	}
	_, err = Load(filepath.Join(dir, "desk.yaml"), &Options{Registry: registry()})
	if err == nil || !strings.Contains(err.Error(), "give --workflows DIR") { // which are the caller's to give, and it is a spec
		t.Error(err)
	}
	write(t, dir, "loop.json", `{"type": "loop", "properties": {"objective": "x", "model": "mechanic"}}`)
	if s, err = Load(filepath.Join(dir, "desk.yaml"), &Options{Registry: registry()}); err != nil {
		if strings.Contains(err.Error(), "cannot enforce") {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	if inner := s.entries[0].agent.spec.cage; inner == nil || !inner.NoNetwork {
		t.Errorf("the document is in the cage %+v", inner)
	}
}

// Programs of MCP servers are in the cage, and a connector that forgets it is found out.
func TestServersAreCaged(t *testing.T) {
	doc := "name: a\nmodel: mechanic\ncage: {network: none}\ntools:\n  - {mcp: {name: files, command: [serve]}}\n  - {mcp: {name: web, url: https://example.org/mcp}}\n"
	forgets := true
	var asked []MCPServer
	r := &Registry{Models: registry().Models, MCP: func(_ context.Context, s MCPServer) ([]pawl.Tool, func() error, error) {
		asked = append(asked, s)
		info := pawl.ToolInfo{Name: s.Name + "__x", Description: "d"}
		if s.Cage != nil && !forgets {
			info.Cage = s.Cage.Describe()
		}
		return []pawl.Tool{absent{info}}, func() error { return nil }, nil
	}}
	s, err := Parse("/dir/a.yaml", []byte(doc), &Options{Registry: r})
	must(t, err)
	a, err := s.Agent(r)
	if err != nil || !strings.Contains(a.Tools[0].Info().Cage, "network: none") || a.Tools[1].Info().Cage != "" {
		t.Errorf("before it is connected to: %q, %q, %v", a.Tools[0].Info().Cage, a.Tools[1].Info().Cage, err)
	}
	if said := s.Cages(); len(said) != 1 || !strings.HasPrefix(said[0], "commands and MCP servers are caged: ") {
		t.Errorf("it says %s", said)
	}
	if _, _, err := s.Open(t.Context(), r); err == nil || !strings.Contains(err.Error(), "ignores the cage of the mcp server files") {
		t.Errorf("a connector that forgets the cage: %v", err)
	}
	forgets = false
	asked = nil
	_, end, err := s.Open(t.Context(), r)
	if err != nil || asked[0].Cage == nil || !asked[0].Cage.NoNetwork || asked[1].Cage != nil {
		t.Errorf("%v, %+v", err, asked)
	}
	_ = end()
}
