package provider

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
)

// A Batch is a model whose calls are batches of one request, which the provider answers
// within a day, at half the price. A call submits its batch, or looks for what became of it.
type Batch struct {
	Server *Server
	Model  pawl.Model // that answers at once
	Wire   Batches

	// Body creates a request, without asking for a stream, and Reply reads its whole answer.
	Body  func(r pawl.Request) (map[string]json.RawMessage, error)
	Reply func(r pawl.Request, answer json.RawMessage) (*pawl.Reply, error)
}

// Batches is how a provider takes batches. Each has one request, under an id of ours.
type Batches interface {
	// Submit submits a batch and returns its name.
	Submit(ctx context.Context, id string, request map[string]json.RawMessage) (batch string, err error)
	// Look returns how a batch stands.
	Look(ctx context.Context, batch, id string) (*Standing, error)
	// Find returns the batch that has a request of this id, among those created since a
	// time; empty: none has. open says that a batch may have it that does not tell yet.
	Find(ctx context.Context, id string, since time.Time) (batch string, open bool, err error)
	// Cancel cancels a batch.
	Cancel(ctx context.Context, batch string) error
}

// A Standing is how a batch stands: its request is answered, has failed, or neither.
type Standing struct {
	Created time.Time
	Answer  json.RawMessage // nil: there is none
	Err     error           // why there will be none
}

const (
	unnamed             = "?" // the batch of a request that may be in one of several
	firstLook, lastLook = time.Minute, 15 * time.Minute
	earlier             = time.Minute // by which the provider's clock may be behind
)

// Describe describes the model at the price of batches.
func (b *Batch) Describe() pawl.ModelInfo {
	info := b.Model.(pawl.Describer).Describe()
	info.Batch = true
	if info.Price != nil {
		info.Price = new(info.Price.Half())
	}
	return info
}

// Ready returns an error if the model cannot be called because its key is missing.
func (b *Batch) Ready() error { return b.Server.Ready() }

// Hosts returns an error for a hosted tool that the model does not run.
func (b *Batch) Hosts(tools []pawl.ToolInfo) error {
	if h, ok := b.Model.(interface {
		Hosts(tools []pawl.ToolInfo) error
	}); ok {
		return h.Hosts(tools)
	}
	return fmt.Errorf("%s runs no tools itself", b.Describe().Name)
}

// Takes reports whether the model takes files.
func (b *Batch) Takes(files []pawl.File) error {
	if t, ok := b.Model.(interface{ Takes(files []pawl.File) error }); ok {
		return t.Takes(files)
	}
	return nil
}

// Leave cancels the batch of a call.
func (b *Batch) Leave(ctx context.Context, batch string) error {
	if name, _, _ := strings.Cut(batch, " "); name != unnamed {
		return b.Wire.Cancel(ctx, name)
	}
	return errors.New("its name is unknown")
}

// Stream yields the reply if the batch has it.
func (b *Batch) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		reply, err := b.reply(ctx, r)
		if err != nil {
			yield(pawl.Chunk{}, cmp.Or(ctx.Err(), err))
			return
		}
		yield(pawl.Chunk{Reply: reply}, nil)
	}
}

func (b *Batch) reply(ctx context.Context, r pawl.Request) (*pawl.Reply, error) {
	body, err := b.Body(r)
	if err != nil {
		return nil, err
	}
	id := requestID(r, body)
	batch, of, _ := strings.Cut(r.Batch, " ")
	switch {
	case batch == unnamed, batch == "" && !r.Lost.IsZero():
		var open bool
		batch, open, err = b.Wire.Find(ctx, id, r.Lost.Add(-earlier))
		if err != nil {
			return nil, with(err, r.Batch)
		}
		if batch == "" && open {
			return nil, &pawl.ModelError{Batch: unnamed, RetryAfter: firstLook, Message: "the request may be in a batch that is under way and does not say yet what is in it"}
		}
	case batch != "" && of != id:
		why := "the request changed, as by a message to the run, so its batch was cancelled"
		if err := b.Wire.Cancel(ctx, batch); err != nil {
			why += "; that failed: " + err.Error()
		}
		return nil, &pawl.ModelError{Class: pawl.ClassTruncated, Message: Clip(why)} // booked as the most that it may have cost
	}
	standing := &Standing{}
	if batch == "" {
		if batch, err = b.Wire.Submit(ctx, id, body); err != nil {
			return nil, err
		}
	} else if standing, err = b.Wire.Look(ctx, batch, id); err != nil {
		return nil, with(err, batch+" "+id)
	}
	switch {
	case standing.Err != nil:
		return nil, standing.Err
	case standing.Answer != nil:
		return b.Reply(r, standing.Answer)
	}
	wait := firstLook
	if !standing.Created.IsZero() {
		wait = min(max(time.Since(standing.Created)/4, firstLook), lastLook)
	}
	return nil, &pawl.ModelError{Batch: batch + " " + id, RetryAfter: wait, Message: "the request is in batch " + batch + " of " + b.Server.vendor.Name}
}

// with says of an error that the request is in a batch all the same.
func with(err error, batch string) error {
	if me, ok := errors.AsType[*pawl.ModelError](err); ok && batch != "" {
		own := *me
		own.Batch = batch
		return &own
	}
	return err
}

// requestID is the id of a request in its batch: the same for every attempt at it.
func requestID(r pawl.Request, body map[string]json.RawMessage) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%s\x00%d\x00%s\x00", r.Run, r.Purpose, r.Turn, r.Step)
	h.Write(Marshal(body)) // sorted by key
	return "pawl-" + hex.EncodeToString(h.Sum(nil)[:20])
}

// Fields returns the fields of a request but some.
func Fields(body []byte, without ...string) (map[string]json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, Invalid("the request cannot be put into a batch: %v", err)
	}
	for _, name := range without {
		delete(fields, name)
	}
	return fields, nil
}

// Read feeds the events of a whole answer to the reader of a stream.
func (s *Server) Read(r pawl.Request, reader Reader, events ...any) (*pawl.Reply, error) {
	t := reader.turn()
	t.Model, t.Account, t.Limit = s.Full, s.Account(), s.Limit(r)
	repaired := false
	for _, e := range events {
		data, broken := Repair(Marshal(e))
		repaired = repaired || broken
		if _, err := reader.Event(data); err != nil {
			return nil, err
		}
	}
	reply, err := reader.Reply()
	if err == nil {
		reply.Repaired = repaired
	}
	return reply, err
}

const mostAnswer = 64 << 20 // bytes of the answer to a request that is no stream

// Call makes a request whose answer is no stream, and returns the answer's body.
func (s *Server) Call(ctx context.Context, method, path, contentType string, body []byte) ([]byte, error) {
	if err := s.Ready(); err != nil {
		return nil, &pawl.ModelError{Class: pawl.ClassAuth, Message: err.Error(), Err: err}
	}
	key, err := s.keyFor(ctx, "")
	if err != nil {
		return nil, &pawl.ModelError{Class: pawl.ClassAuth, Message: "no key for " + s.Full + ": " + Clip(err.Error()), Err: err}
	}
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, Invalid("the base URL of %s is not a URL: %v", s.Full, err)
	}
	if body != nil {
		req.Header.Set("Content-Type", contentType)
	}
	maps.Copy(req.Header, s.header)
	s.vendor.Header(req.Header, key)
	res, err := s.client.Do(req)
	if redirect, ok := errors.AsType[*RedirectError](err); ok {
		return nil, Invalid("%v", redirect)
	}
	if err != nil {
		return nil, &pawl.ModelError{Class: pawl.ClassNetwork, Message: Clip(err.Error()), Err: err}
	}
	if res.StatusCode >= 300 {
		e, _ := s.refused(res.StatusCode, res.Header, Body(res.Body))
		return nil, e
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, mostAnswer))
	if err != nil {
		return nil, &pawl.ModelError{Class: pawl.ClassNetwork, Message: Clip(err.Error()), Err: err}
	}
	return answer, nil
}

// Fetch makes a request and reads its answer as JSON.
func (s *Server) Fetch(ctx context.Context, method, path string, body any, to any) error {
	var raw []byte
	if body != nil {
		raw = Marshal(body)
	}
	answer, err := s.Call(ctx, method, path, "application/json", raw)
	if err == nil && json.Unmarshal(answer, to) != nil {
		err = &pawl.ModelError{Class: pawl.ClassUnknown, Message: "the answer is unknown here: " + Clip(string(answer))}
	}
	return err
}

// Failed returns the error of a request in a batch, from its status and body. The provider
// bills nothing for it.
func (s *Server) Failed(status int, body []byte) error {
	e, _ := s.refused(status, nil, body)
	e.Billed = true
	return e
}

// Line returns the line of a file of results that is about a request.
func Line(results []byte, id string) (json.RawMessage, error) {
	for line := range bytes.Lines(results) {
		var about struct {
			ID string `json:"custom_id"`
		}
		if json.Unmarshal(line, &about) == nil && about.ID == id {
			return bytes.TrimSpace(line), nil
		}
	}
	return nil, fmt.Errorf("no result of %s", id)
}

// Expired and Cancelled are the errors of requests that a batch did not answer.
func Expired() error {
	return &pawl.ModelError{Class: pawl.ClassOverloaded, Message: "the batch expired before the provider came to the request", Billed: true}
}

// Cancelled is described at [Expired].
func Cancelled() error {
	return &pawl.ModelError{Class: pawl.ClassInvalid, Message: "the batch was cancelled at the provider; resume the run to ask again", Billed: true}
}
