package spec

import (
	"maps"
	"slices"
)

// Unready lists the models of a spec that cannot be called, because their keys
// are missing: its own, the fallbacks, those of its judges and summaries, and
// all of these of its agents; and its webhooks without a secret. A run that
// needs one of them fails.
func (s *Spec) Unready(r *Registry) Problems {
	d := &document{text: s.doc.text, src: s.doc.src}
	all := s.named(r)
	own := s.known(r)
	for _, m := range all {
		provider, name, err := own.resolve(m.name, m.dir)
		if err != nil {
			continue // reported as a problem of the spec
		}
		model, err := own.Models[provider](name)
		if keyed, ok := model.(Readiness); err == nil && ok {
			if err := keyed.Ready(); err != nil {
				d.about(m.dir == "", "model", m.place, "%v", err)
			}
		}
	}
	s.unsigned(d)
	for _, m := range s.members {
		d.problems = append(d.problems, m.Unready(r)...)
	}
	return d.problems.sorted()
}

// named is a model named in a spec or on the command line, with the directory
// of its files; empty for the command line.
type named struct {
	name, dir string
	place     place
	sampled   bool // it is asked with the spec's temperature and effort
}

// named returns the models of the spec without those of its agents.
func (s *Spec) named(r *Registry) (all []named) {
	if r == nil {
		return nil
	}
	inherits := s.model.name == "" && s.family.member()
	if name, dir := s.modelName(r); name != "" && !inherits && !s.asksNobody() {
		all = append(all, named{name, dir, s.model.place, true})
	}
	if s.opt.Model == "" {
		for _, m := range s.model.fallback {
			all = append(all, named{m.name, s.base, m.place, true})
		}
	}
	for _, m := range slices.Collect(maps.Values(s.judges.models)) {
		all = append(all, named{m.name, s.base, m.place, false})
	}
	return all
}
