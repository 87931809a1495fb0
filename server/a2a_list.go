package server

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/a2a"
	"github.com/pawl-run/pawl/runs"
)

// The size of a page of tasks.
const (
	usualTasks = 50
	mostTasks  = 100
)

// A listed is the task of a list.
type listed struct {
	run  string    // the task
	head pawl.Head // of the leg that has it now
}

// a2aList is ListTasks. It looks at the heads of all runs of the agent, since a page says how
// many tasks there are, and is sorted by the time of the last change.
func (s *Server) a2aList(x *exchange, agent string, in *a2a.Query) (any, error) {
	size := usualTasks
	if in.PageSize != nil {
		size = *in.PageSize
	}
	if size < 1 || size > mostTasks {
		return nil, a2aInvalid("pageSize", "pageSize is %d; write 1 to %d", size, mostTasks)
	}
	if in.Status != "" && !in.Status.Known() {
		return nil, a2aInvalid("status", "status is %q; write one such as %s", in.Status, a2a.Working)
	}
	if err := a2aHistory(in.HistoryLength); err != nil {
		return nil, err
	}
	all, err := s.a2aTasks(x, agent, in)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b *listed) int { return strings.Compare(b.place(), a.place()) })
	page := a2a.Page{Tasks: []a2a.Task{}, Size: size, Total: len(all)}
	if in.PageToken != "" {
		after, err := base64.RawURLEncoding.DecodeString(in.PageToken)
		if err != nil || len(after) <= len(placeTime) {
			return nil, a2aInvalid("pageToken", "invalid pageToken; leave it out to start from the beginning")
		}
		all = slices.DeleteFunc(all, func(l *listed) bool { return l.place() >= string(after) })
	}
	for _, l := range all[:min(size, len(all))] {
		t, err := s.a2aRead(x.Context(), x.key, l.run)
		if err != nil {
			return nil, err
		}
		task, err := t.task(x.Context(), s, in.HistoryLength)
		if err != nil {
			return nil, err
		}
		if !in.IncludeArtifacts {
			task.Artifacts = nil
		}
		page.Tasks = append(page.Tasks, task)
	}
	if len(all) > size {
		page.Next = base64.RawURLEncoding.EncodeToString([]byte(all[size-1].place()))
	}
	return page, nil
}

const placeTime = "2006-01-02T15:04:05.000000000Z"

// place is where a task is in a list, as text that sorts.
func (l *listed) place() string { return l.head.Updated.UTC().Format(placeTime) + l.run }

// a2aTasks are the tasks of a list, in no order.
func (s *Server) a2aTasks(x *exchange, agent string, in *a2a.Query) (all []*listed, err error) {
	about, err := s.a2aAbout(x.Context(), agent)
	if err != nil {
		return nil, err
	}
	for h, err := range s.journal.List(x.Context(), pawl.Query{Agent: agent, Labels: x.key.Labels}) {
		switch {
		case err != nil:
			return nil, err
		case h.Seq == 0, h.Agent != agent, runs.IsChild(h), !x.key.sees(h):
			continue
		case in.ContextID != "" && contextOf(h.Thread, h.Run, x.key) != in.ContextID:
			continue
		}
		l := &listed{h.Run, h}
		if about.Team != nil {
			leg, err := s.a2aLeg(x, l)
			if err != nil {
				return nil, err
			}
			if leg {
				continue
			}
		}
		if in.Status != "" && stateOf(l.head.Status) != in.Status || l.head.Updated.Before(in.UpdatedAfter) {
			continue
		}
		all = append(all, l)
	}
	return all, nil
}

// a2aLeg finds the leg that a task was handed to last. It reports whether the task is a leg
// itself, which the task of the first leg covers.
func (s *Server) a2aLeg(x *exchange, l *listed) (leg bool, err error) {
	if from, err := runs.Handed(x.Context(), s.journal, l.run); from != nil || err != nil {
		return from != nil, err
	}
	for {
		next, from, err := runs.NextLeg(x.Context(), s.journal, l.head)
		if from == nil || err != nil {
			return false, err
		}
		l.head = next
	}
}
