package sheet

import (
	"fmt"
	"path"
	"slices"
	"time"
)

// check returns an error for the first row that contradicts itself or another one.
func (t *table) check() error {
	if len(t.models) == 0 {
		return fmt.Errorf("the sheet has no models")
	}
	names := map[string]string{}
	for i := range t.models {
		m := &t.models[i]
		if err := m.check(); err != nil {
			return fmt.Errorf("%s/%s: %w", m.Provider, m.Name, err)
		}
		for _, name := range append([]string{m.Name}, m.Aliases...) {
			key := m.Provider + "/" + name
			if other := names[key]; other != "" {
				return fmt.Errorf("%s is a name of %s and of %s", key, other, m.Name)
			}
			names[key] = m.Name
		}
	}
	for _, f := range t.families {
		if err := f.check(); err != nil {
			return fmt.Errorf("family %s: %w", f.Name, err)
		}
	}
	for provider, patterns := range t.retired {
		for _, p := range patterns {
			if _, err := path.Match(p, ""); err != nil {
				return fmt.Errorf("retired: %s: %q: %w", provider, p, err)
			}
		}
	}
	return nil
}

func (m *Model) check() error {
	if m.Provider == "" || m.Name == "" {
		return fmt.Errorf("a row needs a provider and a name")
	}
	if err := m.Rates.check(); err != nil {
		return err
	}
	last := ""
	for _, c := range m.Next {
		if !isDay(c.From) || c.From <= last {
			return fmt.Errorf("next: %q is not a day after %q", c.From, last)
		}
		if err := c.Rates.check(); err != nil {
			return fmt.Errorf("from %s: %w", c.From, err)
		}
		last = c.From
	}
	if m.Retires != "" && !isDay(m.Retires) {
		return fmt.Errorf("retires: %q is not a day such as 2026-11-30", m.Retires)
	}
	return m.Traits.check()
}

func isDay(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

func (r *Rates) check() error {
	switch l := r.Long; {
	case r.Input < 0, r.Output < r.Input, r.CacheRead > r.Input:
		return fmt.Errorf("odd prices: input %v, output %v, cache_read %v", r.Input, r.Output, r.CacheRead)
	case r.CacheWrite != 0 && r.CacheWrite < r.Input, r.CacheLong != 0 && r.CacheLong < r.CacheWrite:
		return fmt.Errorf("odd prices: input %v, cache_write %v, cache_long %v", r.Input, r.CacheWrite, r.CacheLong)
	case l != Long{} && (l.From < 1000 || l.Input < r.Input || l.Output < r.Output):
		return fmt.Errorf("odd prices of long requests: %+v", l)
	}
	return nil
}

func (t *Traits) check() error {
	switch {
	case t.Window < 0, t.Reply < 0, t.Window > 0 && t.Reply > t.Window:
		return fmt.Errorf("a reply of %d tokens does not fit a window of %d", t.Reply, t.Window)
	case !slices.Contains([]Sampling{Always, Unthinking, NeverSample}, t.Sampling):
		return fmt.Errorf("sampling: %q is unknown", t.Sampling)
	case !slices.Contains([]Thinking{"", ByBudget, Adaptive, ByLevel, ByEffort}, t.Thinking):
		return fmt.Errorf("thinking: %q is unknown", t.Thinking)
	case !slices.Contains([]string{"", "disabled", "between_tools"}, t.Off):
		return fmt.Errorf("off: %q is unknown", t.Off)
	case !slices.Contains([]string{"", "chat", "responses"}, t.Endpoint):
		return fmt.Errorf("endpoint: %q is unknown", t.Endpoint)
	}
	last := -1
	for _, e := range t.Efforts {
		if rank(e) <= last {
			return fmt.Errorf("efforts: %q is unknown or out of order", e)
		}
		last = rank(e)
	}
	if t.Effort != "" && !slices.Contains(t.Efforts, t.Effort) {
		return fmt.Errorf("effort: %q is not among the efforts %v", t.Effort, t.Efforts)
	}
	return nil
}
