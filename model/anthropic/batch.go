package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// Batch returns the model with its calls as Message Batches, which cost half. The run is
// suspended until the batch of a call is done, which takes up to a day, and is woken to look
// for it.
func (m *Model) Batch() pawl.Model {
	return &provider.Batch{
		Server: &m.server, Model: m, Wire: batches{&m.server},
		Body: func(r pawl.Request) (map[string]json.RawMessage, error) {
			r.Long = r.Sampling.Cache == "" || r.Long // a batch may take longer than five minutes
			req, _, err := m.call(r).body()
			if err != nil {
				return nil, err
			}
			body, err := provider.JSON(req)
			if err != nil {
				return nil, err
			}
			return provider.Fields(body, "stream")
		},
		Reply: func(r pawl.Request, answer json.RawMessage) (*pawl.Reply, error) {
			var message struct {
				Content []json.RawMessage `json:"content"`
				Stop    string            `json:"stop_reason"`
				Details json.RawMessage   `json:"stop_details"`
				Usage   json.RawMessage   `json:"usage"`
			}
			if err := json.Unmarshal(answer, &message); err != nil {
				return nil, &pawl.ModelError{Class: pawl.ClassUnknown, Message: "the answer is unknown here: " + provider.Clip(string(answer))}
			}
			events := []any{map[string]any{"type": "message_start", "message": map[string]any{"usage": message.Usage}}}
			for i, block := range message.Content {
				events = append(events, map[string]any{"type": "content_block_start", "index": i, "content_block": block}, map[string]any{"type": "content_block_stop", "index": i})
			}
			events = append(events, map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": message.Stop, "stop_details": message.Details}, "usage": message.Usage}, map[string]any{"type": "message_stop"})
			return m.server.Read(r, &turn{}, events...)
		},
	}
}

// batches are Anthropic's Message Batches.
type batches struct{ server *provider.Server }

type messageBatch struct {
	ID      string         `json:"id"`
	Status  string         `json:"processing_status"`
	Created time.Time      `json:"created_at"`
	Counts  map[string]int `json:"request_counts"`
}

const batchesPath = "/v1/messages/batches"

func (b batches) Submit(ctx context.Context, id string, request map[string]json.RawMessage) (string, error) {
	var made messageBatch
	err := b.server.Fetch(ctx, http.MethodPost, batchesPath, map[string]any{"requests": []any{map[string]any{"custom_id": id, "params": request}}}, &made)
	return made.ID, err
}

func (b batches) Look(ctx context.Context, batch, id string) (*provider.Standing, error) {
	var is messageBatch
	if err := b.server.Fetch(ctx, http.MethodGet, batchesPath+"/"+url.PathEscape(batch), nil, &is); err != nil {
		return nil, err
	}
	s := &provider.Standing{Created: is.Created}
	if is.Status != "ended" {
		return s, nil
	}
	line, err := b.result(ctx, batch, id)
	if err != nil {
		return nil, err
	}
	var result struct {
		Result struct {
			Type    string          `json:"type"`
			Message json.RawMessage `json:"message"`
			Error   json.RawMessage `json:"error"`
		} `json:"result"`
	}
	_ = json.Unmarshal(line, &result) // what is missing has no type
	switch r := &result.Result; r.Type {
	case "succeeded":
		s.Answer = r.Message
	case "errored":
		s.Err = b.server.Failed(0, r.Error)
	case "canceled":
		s.Err = provider.Cancelled()
	case "expired":
		s.Err = provider.Expired()
	default:
		return nil, &pawl.ModelError{Class: pawl.ClassUnknown, Message: "the result is unknown here: " + provider.Clip(string(line))}
	}
	return s, nil
}

// errElsewhere says that a batch is about another request.
var errElsewhere = errors.New("the batch is about another request")

func (b batches) result(ctx context.Context, batch, id string) (json.RawMessage, error) {
	results, err := b.server.Call(ctx, http.MethodGet, batchesPath+"/"+url.PathEscape(batch)+"/results", "", nil)
	if err != nil {
		return nil, err
	}
	line, err := provider.Line(results, id)
	if err != nil {
		return nil, &pawl.ModelError{Class: pawl.ClassUnknown, Message: err.Error(), Err: errElsewhere}
	}
	return line, nil
}

// Find looks into the batches of one request. What is in a batch shows when it has ended.
func (b batches) Find(ctx context.Context, id string, since time.Time) (batch string, open bool, err error) {
	for after := ""; ; {
		var page struct {
			Data []messageBatch `json:"data"`
			More bool           `json:"has_more"`
			Last string         `json:"last_id"`
		}
		if err := b.server.Fetch(ctx, http.MethodGet, batchesPath+"?limit=100"+after, nil, &page); err != nil {
			return "", false, err
		}
		for _, is := range page.Data {
			if is.Created.Before(since) {
				return "", open, nil
			}
			total := 0
			for _, n := range is.Counts {
				total += n
			}
			if total != 1 {
				continue
			}
			if is.Status != "ended" {
				open = true
				continue
			}
			_, err := b.result(ctx, is.ID, id)
			if err == nil {
				return is.ID, false, nil
			}
			if !errors.Is(err, errElsewhere) {
				return "", false, err
			}
		}
		if !page.More || page.Last == "" {
			return "", open, nil
		}
		after = "&after_id=" + url.QueryEscape(page.Last)
	}
}

func (b batches) Cancel(ctx context.Context, batch string) error {
	_, err := b.server.Call(ctx, http.MethodPost, batchesPath+"/"+url.PathEscape(batch)+"/cancel", "application/json", []byte("{}"))
	return err
}
