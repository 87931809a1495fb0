package server

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/server/client"
)

// decisionRoutes are the operations on what was decided.
func decisionRoutes() []route {
	const summary = "List who decided what about a run: approvals, answers, forks, cancels and other signals"
	return []route{
		{
			method: http.MethodGet, path: "/v1/runs/{run}/decisions", name: "runDecisions", summary: summary, scope: Read,
			reply: client.Decisions{}, refuses: []int{404}, do: (*Server).runDecisions,
		},
		{
			method: http.MethodGet, path: "/v1/decisions", name: "decisions", summary: "List who decided what about all runs", scope: Read,
			query: []parameter{
				{"by", "only decisions by this name"},
				{"what", "only decisions of this kind, such as approve, deny or cancel"},
				{"agent", "only about runs of this agent"},
				{"label", "only about runs with this label, as KEY=VALUE; may be repeated"},
				{"since", "only decisions at this time or later"},
				{"until", "only decisions before this time"},
				{"max", "the maximum number of runs to read"}, cursor,
			},
			reply: client.Decisions{}, refuses: []int{409, 422}, do: (*Server).decisions,
		},
	}
}

func (s *Server) runDecisions(x *exchange) (any, error) {
	h, err := s.find(x)
	if err != nil {
		return nil, err
	}
	all, err := s.decided(x.Context(), h)
	out := client.Decisions{Decisions: append([]runs.Decision{}, all...)} // an empty list rather than null
	slices.Reverse(out.Decisions)
	return out, err
}

// decisions reads the logs of a page of runs.
func (s *Server) decisions(x *exchange) (any, error) {
	f, size, err := s.filter(x)
	if err != nil {
		return nil, err
	}
	page := client.Decisions{Decisions: []runs.Decision{}}
	if f.Query.Labels == nil {
		return page, nil // the key cannot see the requested labels
	}
	since, until := f.Query.Since, f.Query.Until
	f.Query.Since = time.Time{} // a run may be older than what was decided about it
	f.Children = len(f.Query.Labels) == len(x.key.Labels)
	if f.Children {
		f.Query.Labels = nil // children lack the labels of their root
	}
	q := x.URL.Query()
	f.Skip = func(h pawl.Head) bool { return !since.IsZero() && h.Updated.Before(since) }
	page.Next, err = s.paged(x, f, size, func(h pawl.Head) error {
		all, err := s.decided(x.Context(), h)
		if err != nil {
			return err
		}
		for _, d := range all {
			if by := q.Get("by"); by != "" && d.By != by {
				continue
			}
			if what := q.Get("what"); what != "" && d.What != what {
				continue
			}
			if d.Time.Before(since) || !until.IsZero() && !d.Time.Before(until) {
				continue
			}
			page.Decisions = append(page.Decisions, d)
		}
		return nil
	})
	slices.SortStableFunc(page.Decisions, func(a, b runs.Decision) int { return b.Time.Compare(a.Time) })
	return page, err
}

// decided is what was decided about a run.
func (s *Server) decided(ctx context.Context, h pawl.Head) ([]runs.Decision, error) {
	return s.verdicts.of(h, func() ([]runs.Decision, error) { return runs.Decisions(ctx, s.journal, h) })
}

// permissionRoutes are the operations on standing permissions.
func permissionRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: "/v1/approvals", name: "permissions", summary: "List standing permissions", scope: Read,
			query: []parameter{{"all", "true: also those that are revoked, used up or expired"}},
			reply: client.Permissions{}, do: (*Server).permissions,
		},
		{
			method: http.MethodDelete, path: "/v1/approvals/{permission}", name: "revoke", summary: "Revoke a standing permission", scope: Decide,
			query: []parameter{{"by", "the name to record, if the token has none"}},
			reply: client.Permissions{}, refuses: []int{404}, do: (*Server).revoke,
		},
	}
}

// permissions lists the permissions that a key may see: those for runs with its labels.
func (s *Server) permissions(x *exchange) (any, error) {
	return s.permissionsOf(x, x.URL.Query().Get("all") == "true")
}

func (s *Server) permissionsOf(x *exchange, all bool) (out client.Permissions, err error) {
	out.Permissions = []approval.Permission{}
	for p, err := range engine.Permissions(x.Context(), s.journal, all) {
		if err != nil {
			return out, err
		}
		if x.key.covers(p.Labels) {
			p.Args = redact.JSON(p.Args)
			out.Permissions = append(out.Permissions, p)
		}
	}
	return out, nil
}

// revoke revokes a permission that the key may see, and lists those that are left.
func (s *Server) revoke(x *exchange) (any, error) {
	all, err := s.permissionsOf(x, true)
	if err != nil {
		return nil, err
	}
	id := x.PathValue("permission")
	for _, p := range all.Permissions {
		if p.ID == id {
			if err := engine.Revoke(x.Context(), s.journal, id, x.by(x.URL.Query().Get("by"))); err != nil && !errors.Is(err, engine.ErrUnknownPermission) {
				return nil, err
			}
			return s.permissionsOf(x, false)
		}
	}
	return nil, refusal(http.StatusNotFound, "there is no permission "+id)
}
