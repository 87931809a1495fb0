package workflow

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Mermaid returns the steps as a flowchart in the language of Mermaid, which GitHub and
// many editors draw.
func (l *Loop) Mermaid() string {
	c := &chart{}
	c.b.WriteString("flowchart TD\n")
	if l.graph != nil {
		c.graph(l.source)
		return c.b.String()
	}
	var list []drawn
	if json.Unmarshal(l.source, &list) == nil {
		c.steps(list, nil)
	}
	return c.b.String()
}

// drawn is a step as declared.
type drawn map[string]json.RawMessage

// exit is a place that an arrow leaves from.
type exit struct {
	from  string
	label string
}

// chart writes a flowchart.
type chart struct {
	b strings.Builder
	n int
}

// node adds a node and returns its name.
func (c *chart) node(open, text, closing string) string {
	c.n++
	name := fmt.Sprint("n", c.n)
	fmt.Fprintf(&c.b, "  %s%s\"%s\"%s\n", name, open, plainText(text), closing)
	return name
}

func (c *chart) arrow(from exit, to string) {
	label := ""
	if from.label != "" {
		label = `|"` + plainText(from.label) + `"|`
	}
	fmt.Fprintf(&c.b, "  %s -->%s %s\n", from.from, label, to)
}

// plainText escapes what means something to Mermaid within quotes.
func plainText(s string) string {
	return strings.NewReplacer("&", "#amp;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "#", "#35;", "\n", " ").Replace(s)
}

// step adds a step.
func (c *chart) step(s drawn) string {
	text := s.text("id")
	for _, kind := range []string{"tool", "agent", "workflow"} {
		if of := s.text(kind); of != "" && of != text {
			text += ": " + of
		}
	}
	if when := s.text("if"); when != "" {
		text += ", if " + when
	}
	if at := s.text("suspend"); at != "" {
		text += ", suspend " + at
	}
	switch {
	case s["switch"] != nil:
		return c.node("{", text+": "+s.text("switch"), "}")
	case s["while"] != nil:
		return c.node("{", text+": while "+s.text("while"), "}")
	case s["for_each"] != nil:
		return c.node("[/", text+": for each of "+s.text("for_each"), "/]")
	}
	return c.node("[", text, "]")
}

// steps adds a list of steps, and returns where it ends.
func (c *chart) steps(list []drawn, from []exit) []exit {
	for _, s := range list {
		if s["final"] != nil { // it comes after none of them
			continue
		}
		name := c.step(s)
		for _, e := range from {
			c.arrow(e, name)
		}
		from = []exit{{from: name}}
		switch {
		case s["switch"] != nil:
			from = nil
			var cases map[string][]drawn
			_ = json.Unmarshal(s["cases"], &cases)
			for _, value := range slices.Sorted(maps.Keys(cases)) {
				from = append(from, c.steps(cases[value], []exit{{name, value}})...)
			}
			if s["default"] != nil {
				from = append(from, c.steps(s.steps("default"), []exit{{name, "otherwise"}})...)
			}
		case s["while"] != nil:
			for _, e := range c.steps(s.steps("do"), []exit{{name, "again"}}) {
				c.arrow(e, name)
			}
			from = []exit{{name, "then"}}
		case s["for_each"] != nil:
			from = c.steps(s.steps("do"), from)
		case s["parallel"] != nil:
			var branches [][]drawn
			_ = json.Unmarshal(s["parallel"], &branches)
			from = nil
			for _, b := range branches {
				from = append(from, c.steps(b, []exit{{from: name}})...)
			}
		}
	}
	return from
}

// graph adds the nodes and edges of a graph.
func (c *chart) graph(source json.RawMessage) {
	var g struct {
		Nodes []drawn             `json:"nodes"`
		Edges []map[string]string `json:"edges"`
	}
	if json.Unmarshal(source, &g) != nil {
		return
	}
	g.Nodes = slices.DeleteFunc(g.Nodes, func(s drawn) bool { return s["final"] != nil })
	names := map[string]string{"": c.node("((", "begin", "))")}
	for _, s := range g.Nodes {
		names[s.text("id")] = c.step(s)
	}
	for _, s := range g.Nodes {
		if !slices.ContainsFunc(g.Edges, func(e map[string]string) bool { return e["to"] == s.text("id") }) {
			c.arrow(exit{from: names[""]}, names[s.text("id")])
		}
	}
	for _, e := range g.Edges {
		label := e["if"]
		if j := e["join"]; j != "" && j != JoinAll.String() {
			label = strings.TrimPrefix(label+", join "+j, ", ")
		}
		c.arrow(exit{names[e["from"]], label}, names[e["to"]])
	}
}

// text returns the text of a key.
func (s drawn) text(key string) (text string) {
	_ = json.Unmarshal(s[key], &text)
	return text
}

// steps returns the steps of a key.
func (s drawn) steps(key string) (list []drawn) {
	_ = json.Unmarshal(s[key], &list)
	return list
}
