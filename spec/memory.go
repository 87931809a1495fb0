package spec

import (
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
