package spec

import (
	"bytes"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/tool"
)

// readMemory reads memory: true, or {label: user, max: 500}.
func (s *Spec) readMemory(f fields) {
	m, ok := f.part("memory", "{label: user}", memoryKeys)
	if !ok {
		return
	}
	s.memory = &tool.MemoryOptions{}
	m.text("label", &s.memory.Label)
	m.count("max", &s.memory.Max, 1, "500")
}

// memoryOf returns what a spec says of a tool of a memory; nil: it is none.
func memoryOf(t pawl.ToolInfo) *node {
	var o tool.MemoryOptions // what Version says
	if n, err := fmt.Sscanf(t.Version, "label: %s\nmax: %d", &o.Label, &o.Max); n < 2 || err != nil {
		o.Label = ""
		if n, err := fmt.Sscanf(t.Version, "label: \nmax: %d", &o.Max); n < 1 || err != nil {
			return nil
		}
	}
	for _, known := range tool.Memory(&o) {
		info := known.Info()
		if info.Name != t.Name || info.Description != t.Description || !bytes.Equal(info.Input, t.Input) {
			continue
		}
		n := &node{kind: mapping}
		if o.Label != "" {
			n.put("label", textNode(o.Label))
		}
		n.put("max", numberNode(o.Max))
		return n
	}
	return nil
}
