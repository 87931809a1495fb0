package spec

import (
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/team"
)

// readSearch reads which tools the model is shown from the start: {core: [read_page]}.
func (s *Spec) readSearch(f fields) {
	n := f.n.get("tool_search")
	if n == nil {
		return
	}
	patterns, _ := f.fields(searchKeys, n).words("core", "[read_page]")
	s.core = append([]string{}, patterns...)
}

// coreOf names the tools that the model of an agent is shown from the start: besides
// those of the spec, the tools that other keys than tools add.
func (s *Spec) coreOf(a *pawl.Agent) []string {
	if s.core == nil {
		return nil
	}
	core := slices.Clone(s.core)
	for _, t := range a.Tools {
		info := t.Info()
		if info.Name == approval.PlanTool || team.IsBoardTool(info) || strings.HasPrefix(info.Name, "handoff_to_") ||
			s.reads != nil && info.Name == s.reads.Info().Name {
			core = append(core, info.Name)
		}
	}
	return core
}
