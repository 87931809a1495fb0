package skill_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/tool/skill"
)

const text = "---\nname: pdf\ndescription: Fill in forms.\n---\n\n# Forms\n\nRead FORMS.md.\n"

func folder(t *testing.T) (dir, outside string) {
	t.Helper()
	top := t.TempDir()
	dir, outside = filepath.Join(top, "pdf"), filepath.Join(top, "secret.txt")
	check.Write(t, top, map[string]string{"secret.txt": "outside", "pdf/SKILL.md": text, "pdf/FORMS.md": "the forms", "pdf/scripts/fill.py": "print()"})
	return dir, outside
}

func use(t *testing.T, k skill.Skill, args map[string]string) (string, error) {
	t.Helper()
	return ask(t, skill.Tool(k), args)
}

func ask(t *testing.T, tool pawl.Tool, args map[string]string) (string, error) {
	t.Helper()
	raw, err := json.Marshal(args)
	must(t, err)
	out, err := tool.Run(t.Context(), pawl.Invocation{Args: raw})
	var s string
	if err == nil {
		err = json.Unmarshal(out.JSON, &s)
	}
	return s, err
}

func TestRead(t *testing.T) {
	dir, _ := folder(t)
	k := skill.Skill{Name: "pdf", Dir: dir}
	got, err := use(t, k, map[string]string{"skill": "pdf"})
	if err != nil || !strings.HasPrefix(got, "# Forms\n\nRead FORMS.md.\n\nThe files of this skill") || !strings.Contains(got, "scripts/fill.py") || strings.Contains(got, "description:") {
		t.Errorf("%q, %v", got, err)
	}
	if got, err = use(t, k, map[string]string{"skill": "pdf", "file": "FORMS.md"}); err != nil || got != "the forms" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err = use(t, k, map[string]string{"skill": "pdf", "file": "scripts/../scripts/fill.py"}); err != nil || got != "print()" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err = use(t, k, map[string]string{"skill": "docx"}); err == nil {
		t.Error("a skill that is not there is read")
	}
	if _, err = use(t, skill.Skill{Name: "pdf", Dir: filepath.Join(dir, "gone")}, map[string]string{"skill": "pdf"}); err == nil {
		t.Error("a folder that is not there is read")
	}
}

func TestSplit(t *testing.T) {
	for in, want := range map[string]string{
		text:                            "name: pdf\ndescription: Fill in forms.|\n# Forms\n\nRead FORMS.md.\n|true",
		"---\r\nname: a\r\n---\r\nb":    "name: a|b|true",
		"---\nname: a\n---":             "name: a||true",
		"---\n---\nb":                   "|b|true",
		"\ufeff---\nname: a\n---\nb":    "name: a|b|true",
		"# no head":                     "|# no head|false",
		"---\nname: a\n":                "|---\nname: a\n|false",
		"---\nname: a\n--- \n----\n\n-": "|---\nname: a\n--- \n----\n\n-|false",
	} {
		head, body, ok := skill.Split(in)
		got := head + "|" + body + "|false"
		if ok {
			got = head + "|" + body + "|true"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// All skills are in the list, however long their descriptions are.
func TestPromptIsBounded(t *testing.T) {
	var all []skill.Skill
	for range 100 {
		all = append(all, skill.Skill{Name: strings.Repeat("n", 64), Description: strings.Repeat("é ", 500)})
	}
	got := skill.Prompt(all...)
	if n := strings.Count(got, "\n- "); n != 100 || len(got) > 12<<10 {
		t.Errorf("%d skills in %d bytes", n, len(got))
	}
	if got := skill.Prompt(skill.Skill{Name: "pdf", Description: "Fill\n in: forms."}); !strings.HasSuffix(got, "\n- pdf: Fill in: forms.\n") || skill.Prompt() != "" {
		t.Errorf("%q", got)
	}
}

// From when a skill is read that names its tools, others are refused, until
// another one that does is read. Reading files changes nothing.
func TestPolicy(t *testing.T) { // Promises: D11.
	dir, _ := folder(t)
	skills := []skill.Skill{
		{Name: "reads", Description: "d", Dir: dir, Allowed: []string{"look*"}},
		{Name: "free", Description: "d", Dir: dir},
		{Name: "writes", Description: "d", Dir: dir, Allowed: []string{"drop"}},
	}
	do := func(name string) pawl.Tool {
		return tool.Func(name, name, func(context.Context, struct{}) (string, error) { return "ok", nil }, pawl.Write)
	}
	read := func(name, file string) pawl.Call {
		args, _ := json.Marshal(map[string]string{"skill": name, "file": file})
		return pawl.Call{Tool: "read_skill", Args: args}
	}
	call := func(name string) pawl.Call { return pawl.Call{Tool: name, Args: json.RawMessage(`{}`)} }
	turns := []pawl.Call{
		call("drop"), read("free", ""), call("drop"), read("writes", "FORMS.md"), call("lookup"), read("reads", ""),
		call("drop"), call("lookup"), read("free", ""), call("drop"), read("writes", ""), call("drop"), call("lookup"),
	}
	want := "ok ok ok ok ok ok refused ok ok refused ok ok refused"
	var replies []pawl.Reply
	for _, c := range turns {
		replies = append(replies, pawl.Do(c))
	}
	r, err := engine.Run(t.Context(), pawl.Agent{
		Name: "a", Model: script.Replies(append(replies, pawl.Say("done"))...), Limits: pawl.Limits{Iterations: 30},
		Tools: []pawl.Tool{do("drop"), do("lookup"), skill.Tool(skills...)}, Policies: []pawl.Policy{skill.Policy(skills...)},
	}, "go")
	must(t, err)
	var got []string
	for _, s := range r.Steps {
		for _, c := range s.Calls {
			got = append(got, c.Status)
		}
	}
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s\n%+v", strings.Join(got, " "), want, r.Reason)
	}
	if p := skill.Policy(skills...).String(); p != "skills(reads: look*, writes: drop)" {
		t.Error(p)
	}
}
