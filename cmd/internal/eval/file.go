// Package eval reads evaluations, scores the results of their runs, and sums the
// scores up. It runs nothing.
package eval

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/pawl-run/pawl/internal/wire"
	"github.com/pawl-run/pawl/spec"
)

// A File is an evaluation: agents that work on cases, and what is expected of them.
type File struct {
	Name      string     `yaml:"name"`
	Agents    []Agent    `yaml:"agents"`
	CasesNode ast.Node   `yaml:"cases"` // a list, or the name of a file with a case on each line
	Score     []ast.Node `yaml:"score"`
	User      *User      `yaml:"user"` // answers and goes on; nil: nobody does
	Threshold *float64   `yaml:"threshold"`
	Repeat    int        `yaml:"repeat"`
	Parallel  int        `yaml:"parallel"`
	MaxCost   float64    `yaml:"max_cost"`

	Path  string `yaml:"-"` // of the file; paths in it are relative to its directory
	Cases []Case `yaml:"-"`
}

// An Agent is a spec, with another model if one is named.
type Agent struct {
	Name  string `yaml:"name"` // in the report; default: the spec's file name without its ending
	Spec  string `yaml:"spec"`
	Model string `yaml:"model"`
}

// A User is a person whom a model plays: it answers what the agent asks, and goes on after its answers.
type User struct {
	Persona  string  `yaml:"persona"`
	Model    string  `yaml:"model"`
	Messages int     `yaml:"messages"` // the most that it writes in a case, after the input; default 5
	Cost     float64 `yaml:"cost"`     // the most dollars one message may cost; default 0.02
}

// Of is the person of a case.
func (u *User) Of(c Case) string { return strings.TrimSpace(u.Persona + "\n" + c.User) }

// A Case is an input with what is expected of the answer.
type Case struct {
	ID       string     `yaml:"id"`
	Input    string     `yaml:"input"`
	Expected any        `yaml:"expected"`
	Script   string     `yaml:"script"` // replies in place of the agent's model
	User     string     `yaml:"user"`   // in addition to the persona of the file's user
	Score    []ast.Node `yaml:"score"`  // in addition to the file's

	Scorers []Scorer `yaml:"-"`
}

// most is the most cases that one evaluation may have.
const most = 100_000

// Read reads an evaluation. Its error is [spec.Problems], all of them at once. The File is what could
// be read in spite of them; nil: nothing.
func Read(path string) (*File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, spec.Problems{unreadable(path, err)}
	}
	r, f := &reader{path: path}, &File{Path: path}
	node := r.parse(path, 0, wire.Unmarked(data))
	if node == nil || !r.decode(path, 0, node, f) {
		return nil, r.problems
	}
	f.Name = cmp.Or(f.Name, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
	r.check(f, node)
	r.cases(f)
	if len(r.problems) > 0 {
		return f, r.problems
	}
	return f, nil
}

func unreadable(path string, err error) spec.Problem {
	if at, ok := errors.AsType[*os.PathError](err); ok {
		err = at.Err
	}
	return spec.Problem{File: path, Message: err.Error()}
}

type reader struct {
	path     string
	problems spec.Problems
}

// at adds a problem at a node. A line above zero is that of the node.
func (r *reader) at(path string, line int, n ast.Node, format string, args ...any) {
	p := spec.Problem{File: path, Line: max(line, 1), Column: 1, Message: fmt.Sprintf(format, args...)}
	if n != nil && n.GetToken() != nil {
		p.Column = n.GetToken().Position.Column
		if line == 0 {
			p.Line = n.GetToken().Position.Line
		}
	}
	r.problems = append(r.problems, p)
}

// bad adds an error of the YAML library.
func (r *reader) bad(path string, line int, err error) {
	p := spec.Problem{File: path, Line: max(line, 1), Column: 1, Message: err.Error()}
	var at yaml.Error
	if errors.As(err, &at) && at.GetToken() != nil {
		p.Message, p.Column = at.GetMessage(), at.GetToken().Position.Column
		if line == 0 {
			p.Line = at.GetToken().Position.Line
		}
	}
	if wrong, ok := errors.AsType[*yaml.TypeError](err); ok && wrong.DstType.Kind() == reflect.String {
		p.Message = "this is not a text (put it in quotes)"
	} else if ok {
		p.Message = "this is not a number"
	}
	r.problems = append(r.problems, p)
}

func (r *reader) parse(path string, line int, data []byte) ast.Node {
	f, err := parser.ParseBytes(data, 0)
	if err != nil {
		r.bad(path, line, err)
		return nil
	}
	if len(f.Docs) != 1 || f.Docs[0].Body == nil {
		r.at(path, line, nil, "want one document (with agents, cases and score)")
		return nil
	}
	return f.Docs[0].Body
}

func (r *reader) decode(path string, line int, n ast.Node, to any) bool {
	err := yaml.NodeToValue(n, to, yaml.DisallowUnknownField())
	if err != nil {
		r.bad(path, line, err)
	}
	return err == nil
}

func (r *reader) check(f *File, root ast.Node) {
	find := func(path string) ast.Node {
		p, _ := yaml.PathString(path) // which is written here
		if n, err := p.FilterNode(root); err == nil && n != nil {
			return n
		}
		return root
	}
	if len(f.Agents) == 0 {
		r.at(r.path, 0, root, "there are no agents (write agents: [{spec: agent.yaml}])")
	}
	taken := map[string]bool{}
	for i := range f.Agents {
		a := &f.Agents[i]
		at := find(fmt.Sprintf("$.agents[%d]", i))
		if a.Spec == "" {
			r.at(r.path, 0, at, "the agent has no spec (write spec: agent.yaml)")
			continue
		}
		a.Name = cmp.Or(a.Name, strings.TrimSuffix(filepath.Base(a.Spec), filepath.Ext(a.Spec)))
		if taken[a.Name] {
			r.at(r.path, 0, at, "there is another agent %s (give each a name of its own)", a.Name)
		}
		taken[a.Name] = true
	}
	if f.Threshold != nil && (*f.Threshold < 0 || *f.Threshold > 1) {
		r.at(r.path, 0, find("$.threshold"), "threshold is %v (write a number from 0 to 1)", *f.Threshold)
	}
	if f.Repeat < 0 || f.Parallel < 0 || f.MaxCost < 0 {
		r.at(r.path, 0, root, "repeat, parallel and max_cost must not be negative")
	}
	for _, whole := range []string{"$.repeat", "$.parallel", "$.user.messages"} {
		if n, broken := find(whole).(*ast.FloatNode); broken { // which the library would round down
			r.at(r.path, 0, n, "%v is not a whole number", n)
		}
	}
	if u := f.User; u != nil {
		if u.Model == "" {
			r.at(r.path, 0, find("$.user"), "the user has no model (write model: PROVIDER/NAME)")
		}
		if u.Messages < 0 || u.Cost < 0 {
			r.at(r.path, 0, find("$.user"), "messages and cost must not be negative")
		}
		u.Messages, u.Cost = cmp.Or(u.Messages, 5), cmp.Or(u.Cost, 0.02)
	}
	f.Repeat, f.Parallel = max(f.Repeat, 1), max(f.Parallel, 1)
}

func (r *reader) scorers(path string, line int, nodes []ast.Node) (list []Scorer) {
	for _, n := range nodes {
		if s, ok := r.scorer(path, line, n); ok {
			list = append(list, s)
		}
	}
	return list
}

// cases reads the cases where they stand: in the file, or one on each line of another.
func (r *reader) cases(f *File) {
	score, ids := r.scorers(r.path, 0, f.Score), map[string]bool{}
	before := len(r.problems)
	add := func(path string, line int, n ast.Node) {
		var c Case
		if !r.decode(path, line, n, &c) {
			return
		}
		c.Scorers = slices.Concat(score, r.scorers(path, line, c.Score))
		if len(c.Scorers) == 0 {
			c.Scorers = []Scorer{{Kind: Status, Want: "success"}}
		}
		switch {
		case f.User == nil && c.User != "":
			r.at(path, line, n, "the case has a user, but the file has none (write user: {model: …} in the file)")
		case f.User != nil && f.User.Of(c) == "":
			r.at(path, line, n, "nothing says who the user is (write persona: … for the user, or user: … in the case)")
		case c.Input == "":
			r.at(path, line, n, "the case has no input")
		case ids[c.ID]:
			r.at(path, line, n, "there is another case %s (give each an id of its own)", c.ID)
		case len(f.Cases) == most:
			r.at(path, line, n, "there are more than %d cases", most)
		}
		for _, s := range c.Scorers {
			compares := s.Kind == Exact || s.Kind == Number || s.Kind == Contains && len(s.Texts) == 0
			if compares && c.Expected == nil {
				r.at(path, line, n, "the case has nothing expected, and %v compares with that (write expected: …)", s)
			}
		}
		if ids[c.ID] = c.ID != ""; c.ID == "" {
			c.ID = fmt.Sprint(len(f.Cases) + 1)
		}
		f.Cases = append(f.Cases, c)
	}
	switch n := f.CasesNode.(type) {
	case *ast.SequenceNode:
		for _, one := range n.Values {
			add(r.path, 0, one)
		}
	case *ast.StringNode:
		path := n.Value
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(f.Path), path)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			r.at(r.path, 0, n, "cases %s: %s", n.Value, unreadable(path, err).Message)
			return
		}
		for i, line := range bytes.Split(wire.Unmarked(data), []byte("\n")) {
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			var syntax *json.SyntaxError
			if err := json.Unmarshal(line, new(any)); errors.As(err, &syntax) {
				r.problems = append(r.problems, spec.Problem{File: path, Line: i + 1, Column: int(syntax.Offset), Message: syntax.Error()})
				continue
			}
			if one := r.parse(path, i+1, line); one != nil {
				add(path, i+1, one)
			}
		}
	default:
		r.at(r.path, 0, f.CasesNode, "there are no cases (write a list, or the name of a file with one case on each line)")
		return
	}
	if len(f.Cases) == 0 && len(r.problems) == before {
		r.at(r.path, 0, f.CasesNode, "there are no cases")
	}
}
