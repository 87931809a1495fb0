package spec

import (
	"strings"
	"testing"
)

// A spec says how many calls run at once, of the agent and of each kind of tool.
func TestMaxParallel(t *testing.T) {
	dir := tree(t, map[string]string{
		"clerk.yaml": "name: clerk\ndescription: d\nmodel: mechanic\n",
		"spec.yaml": `name: a
model: mechanic
max_parallel: 5
tools:
  - {name: look, description: d, command: [true], effect: read, max_parallel: 2}
  - {name: put, description: d, command: [true], max_parallel: 3}
  - {agent: ./clerk.yaml, max_parallel: 4}
  - {builtin: [fetch, read_file]}
`,
	})
	s, err := Load(dir+"/spec.yaml", &Options{Registry: registry()})
	must(t, err)
	a, err := s.Agent(registry())
	must(t, err)
	if a.MaxParallel != 5 {
		t.Errorf("the agent has %d calls at once", a.MaxParallel)
	}
	most := map[string]int{"look": 2, "put": 3, "clerk": 4}
	external := map[string]bool{"look": true, "put": true, "fetch": true}
	for _, tool := range a.Tools {
		info := tool.Info()
		if info.MaxParallel != most[info.Name] || info.External != external[info.Name] {
			t.Errorf("%s has %d calls at once, external: %v", info.Name, info.MaxParallel, info.External)
		}
	}
	w := s.Warnings(registry())
	if len(w) != 1 || w[0].Line != 6 || !strings.Contains(w[0].Message, "put is a write") {
		t.Errorf("it warns of %v", w)
	}
}
