package spec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl/team"
)

// TestHandoffs: agents of specs may hand over to each other, and what is wrong is said at its place.
func TestHandoffs(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	write("s.yaml", "replies: [{text: x}]\n")
	write("mate.yaml", "name: mate\ndescription: Answers.\nhandoffs: [{agent: ./good.yaml, carry: last}]\n")
	write("twin.yaml", "name: mate\ndescription: Answers, too.\n")
	write("bare.yaml", "name: bare\n")
	write("hands.yaml", "name: hands\ndescription: Hands over.\nhandoffs: [./twin.yaml]\n")
	good := write("good.yaml", "name: good\ndescription: Begins.\nmodel: script:s.yaml\nhandoffs: [./mate.yaml]\nlimits: {handoffs: 2}\n")
	s, err := Load(good, &Options{Registry: registry()})
	must(t, err)
	a, err := s.Agent(registry())
	must(t, err)
	if crew := team.Of(&a); a.Limits.Handoffs != 2 || len(crew) != 3 || crew[1].Name != "mate" || crew[2].Name != "good" || crew[1].Model == nil {
		t.Errorf("%d handoffs, %d agents", a.Limits.Handoffs, len(crew))
	}
	bad := write("bad.yaml", strings.Join([]string{
		"name: bad", "model: script:s.yaml", "handoffs:",
		"  - ./none.yaml", "  - ./bad.yaml", "  - {agent: ./twin.yaml, carry: some}", "  - 3", "  - {carry: all}", "  - ./twin.yaml", "  - ./mate.yaml", "  - ./bare.yaml",
		"limits: {handoffs: 0}", "tools: [{agent: ./hands.yaml}]", "",
	}, "\n"))
	_, err = Load(bad, &Options{Registry: registry()})
	if err == nil {
		t.Fatal("nothing is wrong with it")
	}
	want := []string{
		"bad.yaml:4:5: handoff ./none.yaml: no such file or directory (name a spec, relative to this one)",
		"bad.yaml:5:5: handoff ./bad.yaml leads back here (an agent cannot hand over to itself)",
		`bad.yaml:6:33: carry is "some" (there is all, last, summary)`,
		"bad.yaml:7:5: handoffs has a number in its list (write text such as ./billing.yaml, or a mapping with agent, carry)",
		"bad.yaml:8:5: a handoff has no agent (write agent: ./billing.yaml)",
		"bad.yaml:9:5: handoff ./twin.yaml is given twice (drop one)",
		"bad.yaml:10:5: ./mate.yaml is another agent called mate (give each of a team a name of its own)",
		"bad.yaml:11:5: ./bare.yaml has no description (say in it what it does, for the agents that hand over to it)",
		"bad.yaml:12:20: handoffs is 0 (it must be at least 1)",
		"hands.yaml:3:11: handoffs are for an agent that has a conversation, and bad.yaml uses this one as a tool or a step (leave them out)",
	}
	got := strings.Split(strings.ReplaceAll(err.Error(), dir+"/", ""), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
