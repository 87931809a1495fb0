// Package skill gives an agent skills: folders with instructions for certain work,
// which the model reads only when it does such work.
//
// The model always sees the name and the purpose of each skill, which [Prompt] writes.
// With the tool that [Tool] makes it reads the instructions (the text of SKILL.md below
// its head) and the other files of the folder. The kernel decides where a path leads,
// through [os.Root]: nothing outside the folder can be read, by any path or symbolic
// link.
//
// Skills are pinned. The digests of all files are part of the tool's Version in its
// [pawl.ToolInfo], so that a run does not resume with other instructions unnoticed. A
// file that has changed since the tool was made is not read.
//
// A skill may name the tools for its work. [Policy] enforces that: once the skill was
// read, calls of other tools are refused until another skill that names its tools is
// read. The model cannot lift the restriction otherwise. Reading skills and the tools
// that begin with __ are always allowed. If calling an agent as a tool is allowed, so
// is everything that agent does.
//
// Package spec finds skills in folders.
package skill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/beneath"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/naming"
)

// File is the name of the file in a skill's folder that has its instructions.
const File = "SKILL.md"

// A Skill is a folder of instructions.
type Skill struct {
	Name        string
	Description string   // what it is for, and when to use it
	Dir         string   // the folder, with [File] in it
	Allowed     []string // names or patterns of the tools for its work; nil: any
}

// toolName is the name of the tool that reads skills.
const toolName = "read_skill"

// mostListed bounds the bytes of the list that a model always sees. All descriptions are
// truncated to the same length so that all skills are in it.
const mostListed = 8 << 10

// Prompt returns a text that lists the skills for a model. It belongs at the end of the system
// prompt. Without skills it is empty.
func Prompt(skills ...Skill) string {
	if len(skills) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("These skills are instructions for certain work. Before you do such work, read the skill with " + toolName + " and follow it.\n")
	for _, s := range skills {
		description := strings.Join(strings.Fields(s.Description), " ")
		fmt.Fprintf(&b, "- %s: %s\n", s.Name, display.Clip(description, max(40, mostListed/len(skills)-len(s.Name))))
	}
	return b.String()
}

// mostRead is how many bytes of a skill the model gets in one result.
const mostRead = 64 << 10

// Tool makes the tool that reads skills. Called without a file it returns the instructions and
// the names of the other files. Tool reads all files of the skills once, to pin them.
func Tool(skills ...Skill) pawl.Tool {
	r := &reader{skills: slices.Clone(skills)}
	for i := range r.skills {
		r.pins = append(r.pins, pin(&r.skills[i]))
	}
	return r
}

type reader struct {
	skills []Skill
	pins   []pins
}

// Check returns what is wrong with the folders.
func (r *reader) Check(pawl.Agent) error {
	var errs []error
	for _, p := range r.pins {
		errs = append(errs, p.wrong)
	}
	return errors.Join(errs...)
}

// Info names the skills, so that a model can ask for no other, and has their digests as its
// version, a line for each.
func (r *reader) Info() pawl.ToolInfo {
	names, versions := make([]string, len(r.skills)), make([]string, len(r.skills))
	for i, s := range r.skills {
		names[i], versions[i] = s.Name, s.Name+": "+r.pins[i].whole
	}
	input, _ := json.Marshal(map[string]any{ // texts always marshal
		"type": "object", "required": []string{"skill"},
		"properties": map[string]any{
			"skill": map[string]any{"enum": names},
			"file":  map[string]any{"type": "string", "description": "one of its other files, as its instructions name it; leave it out for the instructions"},
		},
	})
	return pawl.ToolInfo{
		Name: toolName, Description: "Read the instructions of a skill, or one of its files.",
		Input: input, Effect: pawl.Read, MaxOutput: mostRead, Version: strings.Join(versions, "\n"),
	}
}

// wanted are the arguments of a call.
type wanted struct {
	Skill string `json:"skill"`
	File  string `json:"file"`
}

// Run reads a file.
func (r *reader) Run(ctx context.Context, inv pawl.Invocation) (pawl.Output, error) {
	var w wanted
	if err := json.Unmarshal(inv.Args, &w); err != nil {
		return pawl.Output{}, err
	}
	i := slices.IndexFunc(r.skills, func(s Skill) bool { return s.Name == w.Skill })
	if i < 0 {
		return pawl.Output{}, fmt.Errorf("there is no skill %q", w.Skill)
	}
	text, err := r.skills[i].read(ctx, w.File, &r.pins[i])
	if err != nil {
		return pawl.Output{}, err
	}
	text, cut := display.Cut(text, mostRead-2)
	out, err := json.Marshal(text)
	return pawl.Output{JSON: out, Truncated: cut}, err
}

func (s *Skill) read(ctx context.Context, file string, p *pins) (string, error) {
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return "", fmt.Errorf("the folder of the skill %s is not there", s.Name)
	}
	defer root.Close()
	if file != "" {
		name, err := beneath.Local(filepath.ToSlash(file))
		if err != nil {
			return "", err
		}
		if _, err := root.Lstat(filepath.FromSlash(name)); errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("the skill %s has no file %s; read it without one to see which it has", s.Name, file)
		}
		data, _, err := beneath.Read(root, name)
		if err == nil {
			err = p.holds(name, data)
		}
		return string(data), beneath.Plainly(file, err)
	}
	data, _, err := beneath.Read(root, File)
	if err == nil {
		err = p.holds(File, data)
	}
	if err != nil {
		return "", beneath.Plainly(File, err)
	}
	_, body, _ := Split(string(data))
	files, err := beneath.List(ctx, root, "")
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(body) + "\n\nThe files of this skill, to be read with " + toolName + ":\n" + files, nil
}

// Split splits the text of a SKILL.md into its head, which is YAML between two lines of three
// hyphens at the beginning, and its body. It reports false if the text has no head.
func Split(text string) (head, body string, ok bool) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return "", text, false
	}
	head, body, ok = strings.Cut("\n"+rest, "\n---\n")
	if !ok {
		head, ok = strings.CutSuffix("\n"+rest, "\n---")
	}
	if !ok {
		return "", text, false
	}
	return strings.TrimPrefix(head, "\n"), body, true
}

// Policy refuses the calls that the skill in use does not allow.
func Policy(skills ...Skill) pawl.Policy { return &holds{slices.Clone(skills)} }

type holds struct{ skills []Skill }

// String is the policy as source: every skill that names its tools.
func (h *holds) String() string {
	var parts []string
	for _, s := range h.skills {
		if s.Allowed != nil {
			parts = append(parts, fmt.Sprintf("%s: %s", s.Name, strings.Join(s.Allowed, " ")))
		}
	}
	return "skills(" + strings.Join(parts, ", ") + ")"
}

// Review refuses calls of other tools.
func (h *holds) Review(s *pawl.State, step pawl.Step) pawl.Step {
	act, ok := step.(pawl.Act)
	if !ok {
		return step
	}
	in := h.inUse(s)
	if in == nil {
		return step
	}
	changed := false
	for i := range act.Calls {
		d := act.Calls[i]
		name := d.Call.Tool
		if d.Do == pawl.CallRefuse || name == toolName || strings.HasPrefix(name, "__") ||
			slices.ContainsFunc(in.Allowed, func(p string) bool { return naming.Match(p, name) }) {
			continue
		}
		if !changed {
			act.Calls, changed = slices.Clone(act.Calls), true
		}
		act.Calls[i].Do = pawl.CallRefuse
		act.Calls[i].Why = fmt.Sprintf("the skill %s, which is in use, is carried out with other tools: %s", in.Name, strings.Join(in.Allowed, ", "))
	}
	return act
}

// inUse returns the last read of the skills that name their tools; nil if none was read.
func (h *holds) inUse(s *pawl.State) *Skill {
	for c := range s.SuccessfulCalls(toolName) {
		var w wanted
		if json.Unmarshal(c.Args, &w) != nil || w.File != "" {
			continue
		}
		if i := slices.IndexFunc(h.skills, func(s Skill) bool { return s.Name == w.Skill && s.Allowed != nil }); i >= 0 {
			return &h.skills[i]
		}
	}
	return nil
}
