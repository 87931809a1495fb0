package provider

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/web"
)

// A Reader builds a reply from the events of one stream. It embeds a [Turn].
type Reader interface {
	// Event processes the data of an event, valid until it returns, and returns
	// the chunks to show. Nil shows that the stream is alive; an empty slice
	// does not. For an event that contains an error it returns [InBandError].
	Event(data []byte) ([]pawl.Chunk, error)

	// Ends reports whether the reply ends here: before the next event when err is
	// nil, and else when the stream ended, with io.EOF or [web.ErrHalfEvent].
	Ends(err error) bool

	// Reply returns the complete reply after the stream has ended.
	Reply() (*pawl.Reply, error)

	turn() *Turn
}

// A Continuer is a [Reader] of a reply that may come in several responses.
type Continuer interface {
	// Continue is called after each response, in place of Reply. It returns the body of the
	// request for the rest; nil: there is none, or it is not to be had.
	Continue() ([]byte, error)
}

// maxEvent is the most bytes of one event, which is a few words of a reply, or a picture.
const maxEvent = 8 << 20

// InBandError is the body of an error inside a stream.
type InBandError []byte

func (t InBandError) Error() string { return string(t) }

// An Attempt is a request and the reader of its answer.
type Attempt struct {
	Path    string
	Body    []byte
	Reader  Reader
	Lessons *Lessons // that changed the body; they are kept if the server accepts it
	Notes   []string // for the reply
}

// most is how often one attempt of the run sends its request, each time changed.
const most = 8

// Stream sends a request and yields the reply as it arrives. The function next
// creates each attempt: first with nil, and then with the error of an attempt
// that failed before it yielded anything. If next returns that error, or the
// same request, Stream fails with it.
func (s *Server) Stream(ctx context.Context, r pawl.Request, next func(refused error) (*Attempt, error)) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		begun, left := false, false
		show := func(c pawl.Chunk) bool {
			begun, left = true, !yield(c, nil)
			return !left
		}
		var sent *Attempt
		var refused error
		for range most {
			a, err := next(refused)
			if err == nil && sent != nil && a.Path == sent.Path && bytes.Equal(a.Body, sent.Body) {
				err = refused
			}
			if err != nil {
				refused = err
				break
			}
			sent = a
			t := a.Reader.turn()
			t.Model, t.Account, t.Limit, t.Sent = s.Full, s.Account(), s.Limit(r), len(a.Body)
			if refused = s.attempt(ctx, a, show); refused == nil || begun || ctx.Err() != nil {
				break
			}
		}
		if refused != nil && !left {
			yield(pawl.Chunk{}, noted(refused, sent))
		}
	}
}

// noted adds to a refusal what was left out of the request before.
func noted(err error, sent *Attempt) error {
	e, ok := errors.AsType[*pawl.ModelError](err)
	if !ok || e.Class != pawl.ClassInvalid || sent == nil || len(sent.Notes) == 0 {
		return err
	}
	told := *e
	told.Message += " (" + strings.Join(sent.Notes, "; ") + ")"
	return &told
}

// attempt passes the reply to one request to show, until show returns false.
func (s *Server) attempt(ctx context.Context, a *Attempt, show func(pawl.Chunk) bool) error {
	repaired := false
	for body := a.Body; body != nil; {
		over, err := s.respond(ctx, a, body, &repaired, show)
		if over || err != nil {
			return err
		}
		body = nil
		if c, ok := a.Reader.(Continuer); ok {
			if body, err = c.Continue(); err != nil {
				return err
			}
		}
	}
	reply, err := a.Reader.Reply()
	if err == nil {
		reply.Repaired, reply.Notes = repaired, a.Notes
		if s.cut != "" {
			reply.Notes = append(slices.Clip(a.Notes), "white space around the key was cut: "+s.cut)
		}
		show(pawl.Chunk{Reply: reply})
	}
	return err
}

// respond passes the events of one response to show. It reports whether that is all because show
// returned false.
func (s *Server) respond(ctx context.Context, a *Attempt, body []byte, repaired *bool, show func(pawl.Chunk) bool) (over bool, err error) {
	r := a.Reader
	res, err := s.open(ctx, a.Path, body)
	if err != nil {
		return false, cmp.Or(ctx.Err(), r.turn().spent(err))
	}
	defer res.Body.Close()
	a.Lessons.keep()
	events := web.NewEvents(res.Body, maxEvent)
	for !r.Ends(nil) {
		data, err := events.Next()
		if (errors.Is(err, io.EOF) || errors.Is(err, web.ErrHalfEvent)) && r.Ends(err) {
			break
		}
		if err != nil {
			return false, cmp.Or(ctx.Err(), r.turn().ended(err))
		}
		data, broken := Repair(data)
		*repaired = *repaired || broken
		chunks, err := r.Event(data)
		if chunks == nil && err == nil {
			chunks = []pawl.Chunk{{}}
		}
		for _, c := range chunks {
			if !show(c) {
				return true, nil
			}
		}
		if told, ok := errors.AsType[InBandError](err); ok {
			e, _ := s.refused(0, nil, told)
			e.Usage = r.turn().Usage
			return false, e
		}
		if err != nil {
			show(pawl.Chunk{}) // the provider has begun to work, so the attempt is not free
			return false, err
		}
	}
	Drain(res.Body)
	return false, nil
}

// A Turn is the state shared by the readers of all wires.
type Turn struct {
	Model   string // the model's full name
	Account string // whose thinking it is
	Limit   int    // the most tokens the request allowed
	Sent    int    // the bytes of the request
	Usage   pawl.Usage
	Told    bool // the usage was received
	Ended   bool // the provider has ended the reply, so the usage is complete

	Hosted []pawl.HostedCall // of the reply
}

func (t *Turn) turn() *Turn { return t }

// spent adds to the error of a request what the responses before it cost.
func (t *Turn) spent(err error) error {
	if e, ok := errors.AsType[*pawl.ModelError](err); ok {
		e.Usage = t.Usage
	}
	return err
}

// ended returns the error for a stream that ended before its reply was
// complete.
func (t *Turn) ended(err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return t.Failed(pawl.ClassTruncated, "the stream ended before the reply did")
	case errors.Is(err, web.ErrHalfEvent):
		return t.Failed(pawl.ClassTruncated, "the stream ended inside an event")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return t.Failed(pawl.ClassTruncated, "the stream broke off")
	case errors.Is(err, web.ErrEventTooLong):
		return t.Failed(pawl.ClassUnknown, err.Error())
	}
	e := t.Failed(pawl.ClassNetwork, Clip(err.Error()))
	e.Err = err
	return e
}

// Failed returns the error of an attempt with the usage so far.
func (t *Turn) Failed(class pawl.Class, message string) *pawl.ModelError {
	return &pawl.ModelError{Class: class, Message: message, Usage: t.Usage, Billed: t.Told && t.Ended}
}

// Broken returns the error for a stream that violates its protocol.
func (t *Turn) Broken(how string) *pawl.ModelError {
	return t.Failed(pawl.ClassTruncated, "the stream is broken: "+how)
}

// Decode reads an event, or returns the error that it stands for.
func (t *Turn) Decode(data []byte, event any, told func(data []byte) bool) error {
	err := json.Unmarshal(data, event)
	switch {
	case err != nil && !json.Valid(data):
		return t.Broken(Clip(err.Error()))
	case told(data):
		return InBandError(data)
	case err != nil:
		return t.Failed(pawl.ClassUnknown, "an event is unknown here: "+Clip(err.Error()))
	}
	return nil
}

// Finish completes a reply that the provider calls finished. torn: the
// arguments of its last call are not JSON, because some servers call a reply
// finished when its limit truncated the last call.
func (t *Turn) Finish(parts []pawl.Part, torn bool) (*pawl.Reply, error) {
	r := &pawl.Reply{Parts: parts, Stop: pawl.StopEnd, Usage: t.Usage, Hosted: t.Hosted}
	says, calls := said(parts)
	switch {
	case !says && !calls:
		return nil, t.Failed(pawl.ClassEmpty, Nothing(t.Usage))
	case torn && t.Usage.Output >= t.Limit:
		r.Stop = pawl.StopLength
	case calls:
		r.Stop = pawl.StopCalls
	}
	return r, nil
}

// Cut completes a reply that reached its limit.
func (t *Turn) Cut(parts []pawl.Part) (*pawl.Reply, error) {
	if says, calls := said(parts); !says && !calls {
		return nil, t.Failed(pawl.ClassEmpty, Silent(t.Limit))
	}
	return t.Stop(parts, pawl.StopLength)
}

// Stop completes a reply that needs no text because of its stop reason.
func (t *Turn) Stop(parts []pawl.Part, why pawl.StopReason) (*pawl.Reply, error) {
	return &pawl.Reply{Parts: parts, Stop: why, Usage: t.Usage, Hosted: t.Hosted}, nil
}

// Filtered completes a reply that the provider stopped, with its word for why.
func (t *Turn) Filtered(parts []pawl.Part, word string) (*pawl.Reply, error) {
	r, err := t.Stop(parts, pawl.StopRefusal)
	r.Filter = word
	return r, err
}

// said reports whether a reply has text, and whether it has calls.
func said(parts []pawl.Part) (says, calls bool) {
	for _, part := range parts {
		switch part := part.(type) {
		case pawl.Text:
			says = says || strings.TrimSpace(part.Text) != ""
		case pawl.Call:
			calls = true
		}
	}
	return says, calls
}
