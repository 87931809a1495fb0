package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// Batch returns the model with its calls as batches, which cost half. The run is suspended
// until the batch of a call is done, which takes up to a day, and is woken to look for it.
func (m *Model) Batch() pawl.Model {
	api := m.asks(m.server.Lessons())
	path := "/v1/responses"
	if api == Chat {
		path = "/v1/chat/completions"
	}
	return &provider.Batch{
		Server: &m.server, Model: m, Wire: batches{&m.server, path},
		Body: func(r pawl.Request) (map[string]json.RawMessage, error) {
			a := &asking{Model: m, r: r, lessons: m.server.Lessons(), only: api}
			req, _, err := a.request()
			if err != nil {
				return nil, err
			}
			body, err := provider.JSON(req)
			if err != nil {
				return nil, err
			}
			return provider.Fields(body, "stream", "stream_options")
		},
		Reply: func(r pawl.Request, answer json.RawMessage) (*pawl.Reply, error) {
			if api == Chat {
				return m.completion(r, answer)
			}
			var is struct {
				Status string `json:"status"`
			}
			if err := json.Unmarshal(answer, &is); err != nil || is.Status == "" {
				return nil, unknownAnswer(answer)
			}
			return m.server.Read(r, &response{}, map[string]any{"type": "response." + is.Status, "response": answer})
		},
	}
}

// completion reads an answer of Chat Completions that is no stream.
func (m *Model) completion(r pawl.Request, answer json.RawMessage) (*pawl.Reply, error) {
	var whole struct {
		Choices []struct {
			Message json.RawMessage `json:"message"`
			Reason  string          `json:"finish_reason"`
		} `json:"choices"`
		Usage json.RawMessage `json:"usage"`
	}
	if err := json.Unmarshal(answer, &whole); err != nil || len(whole.Choices) == 0 {
		return nil, unknownAnswer(answer)
	}
	c := whole.Choices[0]
	return m.server.Read(r, &turn{tools: r.Tools}, map[string]any{
		"choices": []any{map[string]any{"index": 0, "delta": c.Message, "finish_reason": c.Reason}}, "usage": whole.Usage,
	})
}

func unknownAnswer(answer []byte) error {
	return &pawl.ModelError{Class: pawl.ClassUnknown, Message: "the answer is unknown here: " + provider.Clip(string(answer))}
}

// batches are OpenAI's. Each has a file with its request, and says in its metadata which one
// that is.
type batches struct {
	server   *provider.Server
	endpoint string
}

type batch struct {
	ID       string            `json:"id"`
	Status   string            `json:"status"`
	Created  int64             `json:"created_at"`
	Output   string            `json:"output_file_id"`
	Errors   string            `json:"error_file_id"`
	Metadata map[string]string `json:"metadata"`
	Failed   struct {
		Data []struct {
			Message string `json:"message"`
		} `json:"data"`
	} `json:"errors"`
}

const metaID = "pawl_request"

func (b batches) Submit(ctx context.Context, id string, request map[string]json.RawMessage) (string, error) {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	_ = w.WriteField("purpose", "batch") // a buffer takes everything
	file, _ := w.CreateFormFile("file", id+".jsonl")
	_, _ = file.Write(append(provider.Marshal(map[string]any{"custom_id": id, "method": http.MethodPost, "url": b.endpoint, "body": request}), '\n'))
	_ = w.Close()
	var uploaded, made struct {
		ID string `json:"id"`
	}
	answer, err := b.server.Call(ctx, http.MethodPost, "/files", w.FormDataContentType(), form.Bytes())
	if err != nil {
		return "", err
	}
	if json.Unmarshal(answer, &uploaded) != nil || uploaded.ID == "" {
		return "", unknownAnswer(answer)
	}
	err = b.server.Fetch(ctx, http.MethodPost, "/batches", map[string]any{
		"input_file_id": uploaded.ID, "endpoint": b.endpoint, "completion_window": "24h", "metadata": map[string]string{metaID: id},
	}, &made)
	return made.ID, err
}

func (b batches) Look(ctx context.Context, name, id string) (*provider.Standing, error) {
	var is batch
	if err := b.server.Fetch(ctx, http.MethodGet, "/batches/"+url.PathEscape(name), nil, &is); err != nil {
		return nil, err
	}
	s := &provider.Standing{Created: time.Unix(is.Created, 0)}
	switch is.Status {
	case "failed":
		why := []string{"the provider refused the batch"}
		for _, e := range is.Failed.Data {
			why = append(why, e.Message)
		}
		s.Err = &pawl.ModelError{Class: pawl.ClassInvalid, Message: provider.Clip(strings.Join(why, ": ")), Billed: true}
		return s, nil
	case "completed", "expired", "cancelled": // which have what was done until then
	default:
		return s, nil
	}
	for _, file := range []string{is.Output, is.Errors} {
		if file == "" {
			continue
		}
		results, err := b.server.Call(ctx, http.MethodGet, "/files/"+url.PathEscape(file)+"/content", "", nil)
		if err != nil {
			return nil, err
		}
		line, err := provider.Line(results, id)
		if err != nil {
			continue
		}
		var result struct {
			Response *struct {
				Status int             `json:"status_code"`
				Body   json.RawMessage `json:"body"`
			} `json:"response"`
		}
		if json.Unmarshal(line, &result) != nil || result.Response == nil {
			continue // it was not asked
		}
		if r := result.Response; r.Status < 300 {
			s.Answer = r.Body
		} else {
			s.Err = b.server.Failed(r.Status, r.Body)
		}
		return s, nil
	}
	switch is.Status {
	case "cancelled":
		s.Err = provider.Cancelled()
	case "expired":
		s.Err = provider.Expired()
	default:
		s.Err = &pawl.ModelError{Class: pawl.ClassUnknown, Message: "the batch has no result of the request", Billed: true}
	}
	return s, nil
}

// Find looks for a batch by its metadata.
func (b batches) Find(ctx context.Context, id string, since time.Time) (string, bool, error) {
	for after := ""; ; {
		var page struct {
			Data []batch `json:"data"`
			More bool    `json:"has_more"`
		}
		if err := b.server.Fetch(ctx, http.MethodGet, "/batches?limit=100"+after, nil, &page); err != nil {
			return "", false, err
		}
		for _, is := range page.Data {
			if is.Metadata[metaID] == id {
				return is.ID, false, nil
			}
			if time.Unix(is.Created, 0).Before(since) {
				return "", false, nil
			}
			after = "&after=" + url.QueryEscape(is.ID)
		}
		if !page.More || len(page.Data) == 0 {
			return "", false, nil
		}
	}
}

func (b batches) Cancel(ctx context.Context, name string) error {
	_, err := b.server.Call(ctx, http.MethodPost, "/batches/"+url.PathEscape(name)+"/cancel", "application/json", []byte("{}"))
	return err
}
