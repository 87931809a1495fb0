package spec

import (
	"cmp"
	"errors"
	"slices"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/naming"
	"github.com/pawl-run/pawl/workflow"
)

// runs makes the agent a workflow, if the spec is one, and reports the problems
// of its steps at their places.
func (s *Spec) runs(d *document, r *Registry, a *pawl.Agent) {
	if s.flow == nil {
		return
	}
	steps := s.flow.running(s.flow.steps, func(sub *Spec) pawl.Agent {
		agent, problems := sub.assemble(r, a.Model)
		d.problems = append(d.problems, problems...)
		return agent
	})
	if s.flow.graph {
		*a = workflow.Graph(*a, steps, s.flow.edges...)
	} else {
		*a = workflow.New(*a, steps...)
	}
	if s.flow.unread {
		return
	}
	for _, err := range parts(a.Loop.(*workflow.Loop).Check(*a)) {
		e, ok := errors.AsType[*workflow.Error](err)
		if !ok {
			if err != nil {
				d.problem(s.find("strategy"), "%v", err)
			}
			continue
		}
		at, has := s.flow.place(e)
		if len(s.doc.problems) > 0 && s.follows(e, at, has) || e.Key == "id" && d.said(at.place) {
			continue
		}
		where := at.place
		if e.Column > 0 {
			if p, ok := d.src.within(at, e.Column); ok {
				where = p
			}
		}
		d.problem(where, "%s: %s", e.Key, e.Message)
	}
}

// place returns the wrong value, or else what should have it. Of two steps with the same id it
// is the step with such a key and text, or the second.
func (w *flow) place(e *workflow.Error) (found *node, has bool) {
	if e.Edge > 0 && w.edgesAt != nil {
		edge := w.edgesAt.items[e.Edge-1]
		at := edge.get(e.Key)
		return cmp.Or(at, edge), at != nil
	}
	found = w.at
	if e.Step == "" && slices.Contains([]string{"steps", "nodes", "edges"}, e.Key) {
		return found, true // the whole
	}
	for _, n := range w.byID[e.Step] {
		at := cmp.Or(n.get(e.Key), n.get("single").get(e.Key))
		if at != nil {
			if found, has = at, true; e.Key != "id" && (e.Text == "" || e.Text == at.text) {
				break
			}
		} else if !has {
			found = n
		}
	}
	return found, has
}

// follows reports whether a problem of the steps comes from one that was reported when they were
// read.
func (s *Spec) follows(e *workflow.Error, at *node, has bool) bool {
	switch {
	case has && s.doc.said(at.place):
		return true // the value was refused
	case e.Edge > 0 && e.Key == "join": // the same on all edges into a node
		to := s.flow.edges[e.Edge-1].To
		for i, edge := range s.flow.edges {
			if edge.To == to && s.spoilt(s.flow.edgesAt.items[i], e.Key) {
				return true
			}
		}
		return false
	case e.Key == "rounds":
		return s.spoilt(s.root, "limits") || s.spoilt(s.root.get("limits"), "rounds")
	case e.Step == "" && e.Key == "steps": // lists without steps are reported where they stand
		return true
	case e.Key == "tool" && has:
		return slices.ContainsFunc(s.toolsUnread, func(p string) bool { return naming.Match(p, at.text) })
	}
	return !has // what is needed was reported as missing
}

// said reports whether there is a problem at a place.
func (d *document) said(at place) bool {
	return slices.ContainsFunc(d.problems, func(p Problem) bool {
		return p.File == d.src.file && p.Line == at.line && p.Column == at.column
	})
}

// spoilt reports whether there is a problem with the value of a key.
func (s *Spec) spoilt(n *node, key string) bool {
	at := n.get(key)
	return at != nil && s.doc.said(at.place)
}
