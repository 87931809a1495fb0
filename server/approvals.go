package server

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/internal/web"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/server/client"
)

// The holder of a link to an approval may decide that request and nothing else. Browsers
// do not send the part of a URL behind #, so the page reads the token from there and
// posts it: a program that previews links decides nothing, and no proxy logs the token.

//go:embed approve
var approvePage embed.FS

// approveFile serves a file of the page.
func approveFile(name, kind string) func(*Server, *exchange) (any, error) {
	return func(_ *Server, x *exchange) (any, error) {
		data, err := approvePage.ReadFile("approve/" + name)
		if err != nil {
			return nil, err
		}
		x.ResponseWriter.Header().Set("Content-Type", kind+"; charset=utf-8")
		_, _ = x.ResponseWriter.Write(data)
		return nil, nil
	}
}

// approvalRoutes are the routes behind links to approvals.
func approvalRoutes() []route {
	return []route{
		{
			method: http.MethodPost, path: "/v1/approvals/lookup", name: "lookup", summary: "Show the request behind an approval link; needs only the request's token",
			body: &client.Link{}, reply: client.LinkedRequest{}, refuses: []int{404, 429}, do: (*Server).lookup,
		},
		{
			method: http.MethodPost, path: "/v1/approvals", name: "decide", summary: "Approve or deny by a link, once; needs only the request's token",
			body: &client.DecideLink{}, reply: client.LinkedRequest{}, refuses: []int{404, 409, 429}, do: (*Server).decideLink,
		},
		{method: http.MethodGet, path: "/approve", name: "approvePage", summary: "Show the page behind an approval link", media: "text/html", do: approveFile("page.html", "text/html")},
		{method: http.MethodGet, path: "/approve.js", name: "approveScript", summary: "The script of that page", media: "text/javascript", do: approveFile("page.js", "text/javascript")},
		{method: http.MethodGet, path: "/approve.css", name: "approveStyle", summary: "The style of that page", media: "text/css", do: approveFile("page.css", "text/css")},
	}
}

// The states of a request.
const (
	requestOpen        = "open"
	requestApproved    = "approved"
	requestDenied      = "denied"
	requestExpired     = "expired"
	requestInvalidated = "invalidated"
	requestReplaced    = "replaced"
	requestOver        = "over"
)

// noLink is the error for a link that fits no request. It does not say whether the run,
// the call or the token is wrong.
func noLink() error {
	return refusal(http.StatusNotFound, "no such request, or the link was made with another server's key. Decide with pawl approve or in the inspector, or start the servers "+
		"that share a database with the same --link-key and resume the run")
}

func (s *Server) lookup(x *exchange) (any, error) {
	asked, _, _, err := s.asked(x, x.body.(*client.Link))
	return asked, err
}

func (s *Server) decideLink(x *exchange) (any, error) {
	in := x.body.(*client.DecideLink)
	asked, h, request, err := s.asked(x, &in.Link)
	if err != nil {
		return nil, err
	}
	if in.Approve == nil {
		return nil, invalid("approve is missing; send true or false")
	}
	wanted := map[bool]string{true: requestApproved, false: requestDenied}[*in.Approve]
	switch asked.State {
	case requestOpen:
	case wanted:
		return asked, nil // decided before
	default:
		return nil, refusal(http.StatusConflict, whyDecided(asked))
	}
	by := "approval link"
	if in.By != "" {
		by = in.By + " (" + by + ")"
	}
	at, err := s.desk(x.Context(), in.Run)
	switch {
	case err != nil:
	case *in.Approve:
		err = at.Approve(x.Context(), in.Run, in.Call, by, &engine.ApproveOptions{TokenHash: request})
	default:
		err = at.Deny(x.Context(), in.Run, in.Call, by, in.Reason, &engine.DenyOptions{TokenHash: request})
	}
	if err != nil {
		if now, _, _, looking := s.asked(x, &in.Link); looking == nil && now.State != requestOpen && now.State != wanted {
			return nil, refusal(http.StatusConflict, whyDecided(now)) // another decision came first
		}
		return nil, err
	}
	if _, _, err := s.forward(x.Context(), h.Run, true); err != nil {
		s.log.Warn("decided run cannot resume", "run", in.Run) // the next sweep resumes it
	}
	asked.State, asked.By = wanted, by
	return asked, nil
}

// whyDecided says why a request cannot be decided any more.
func whyDecided(r client.LinkedRequest) string {
	switch r.State {
	case requestApproved, requestDenied:
		return fmt.Sprintf("the request was already %s by %s", r.State, r.By)
	case requestExpired:
		return "the request has expired; when the run resumes, it asks again with another link"
	case requestInvalidated:
		return "the conditions of the request have changed; the run asks again with another link"
	case requestReplaced:
		return "the request was replaced by another link"
	}
	return "the run has ended"
}

// asked returns the request of a link if its token fits, and the hash by which the log
// names the request.
func (s *Server) asked(x *exchange, l *client.Link) (r client.LinkedRequest, h pawl.Head, request string, err error) {
	ctx := x.Context()
	if !s.links.allow(from(x.Request), time.Now()) {
		x.ResponseWriter.Header().Set("Retry-After", "1")
		return r, h, "", refusal(http.StatusTooManyRequests, "too many requests; retry in a second")
	}
	if l.Run == "" || l.Call == "" || l.Token == "" || len(l.Run) > mostID || !utf8.ValidString(l.Run) || strings.ContainsFunc(l.Run, unicode.IsControl) {
		return r, h, "", noLink()
	}
	if h, err = runs.Head(ctx, s.journal, l.Run); errors.Is(err, pawl.ErrUnknownRun) {
		err = noLink()
	}
	if err != nil {
		return r, h, "", err
	}
	asked, at, request, err := s.trace(ctx, l)
	switch {
	case err != nil:
		return r, h, "", err
	case at == 0:
		return r, h, "", noLink()
	case asked.State == requestOpen:
		err = s.answeredByMail(ctx, &asked, l, at)
	}
	return asked, h, request, err
}

// trace searches a log for the request of a token, and for its state. at is the
// request's entry, zero if there is none, and request the hash by which the log names
// it.
func (s *Server) trace(ctx context.Context, l *client.Link) (r client.LinkedRequest, at uint64, request string, err error) {
	sum := sha256.Sum256([]byte(l.Token))
	hash := []byte(hex.EncodeToString(sum[:]))
	agent, thought, over := "", "", false
	for entry, err := range engine.Entries(ctx, s.journal, l.Run, 1) {
		if err != nil {
			return r, 0, "", err
		}
		switch e := entry.Event.(type) {
		case pawl.RunStarted:
			agent = e.Declaration.Agent
		case pawl.ModelReplied:
			if !strings.HasPrefix(string(e.Purpose), string(pawl.PurposeJudge)) {
				thought = e.Reply.Text()
			}
		case pawl.ApprovalRequested:
			switch {
			case e.Call != l.Call:
			case subtle.ConstantTimeCompare([]byte(e.TokenHash), hash) == 1 || web.LinkFits(l.Token, s.options.LinkKey, l.Run, l.Call, e.TokenHash):
				at, request = entry.Seq, e.TokenHash
				r = client.LinkedRequest{
					Run: l.Run, Call: e.Call, Agent: agent, Tool: e.Tool, Args: redact.JSON(e.Args), Reason: redact.Text(e.Reason),
					Thought: redact.Text(thought), State: requestOpen,
				}
				if !e.Expires.IsZero() {
					r.ExpiresAt = &e.Expires
				}
			case at != 0:
				r.State = requestReplaced
			}
		case pawl.ApprovalDecided:
			if e.Call == l.Call && at != 0 && r.State == requestOpen {
				r.State, r.By = map[bool]string{true: requestApproved, false: requestDenied}[e.Approved], e.By
			}
		case pawl.ApprovalExpired:
			if e.Call == l.Call && at != 0 && r.State != requestReplaced {
				r.State = requestExpired
			}
		case pawl.ApprovalInvalidated:
			if e.Call == l.Call && at != 0 && r.State != requestReplaced {
				r.State = requestInvalidated
			}
		case pawl.RunStopped:
			over = true
		case pawl.RunResumed:
			over = false
		}
	}
	switch {
	case r.State != requestOpen:
	case over:
		r.State = requestOver
	case r.ExpiresAt != nil && time.Now().After(*r.ExpiresAt):
		r.State = requestExpired
	}
	return r, at, request, nil
}

// answeredByMail looks for a decision that the run has not read yet.
func (s *Server) answeredByMail(ctx context.Context, r *client.LinkedRequest, l *client.Link, at uint64) error {
	for letter, err := range s.journal.Signals(ctx, l.Run, 0) {
		if err != nil {
			return err
		}
		var said struct{ Approve bool }
		if letter.Kind == pawl.SignalDecision && letter.Request == fmt.Sprintf("%s.%d", l.Call, at) && json.Unmarshal(letter.Body, &said) == nil {
			r.State, r.By = map[bool]string{true: requestApproved, false: requestDenied}[said.Approve], letter.By
		}
	}
	return nil
}
