package bedrock_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"github.com/pawl-run/pawl"
)

const (
	keyID, secret, session = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "a session"
	bearer                 = "bedrock-api-key-x"
)

// A runtime is a fake of Bedrock's runtime, written from the reference of ConverseStream and
// of Signature Version 4: it computes each signature itself, checks what the API would refuse,
// asks its brain, and answers with frames of the event stream.
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
type runtime struct {
	*httptest.Server

	brain   pawl.Model
	open    atomic.Int64
	expired atomic.Bool  // the session is
	fail    http.Handler // in place of an answer
	cut     int          // bytes of an answer, then the connection breaks; 0: all
	throw   string       // an exception after the first event

	mu     sync.Mutex
	bodies [][]byte
	paths  []string
}

func newRuntime(t testing.TB, brain pawl.Model) *runtime {
	r := &runtime{brain: brain}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func refuse(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Amzn-Errortype", kind+":http://internal.amazon.com/coral/com.amazon.bedrock/")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"message": message})
}

func (f *runtime) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.open.Add(1)
	defer f.open.Add(-1)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	f.mu.Lock()
	f.bodies, f.paths = append(f.bodies, body), append(f.paths, r.URL.EscapedPath())
	f.mu.Unlock()
	name, ok := strings.CutSuffix(strings.TrimPrefix(r.URL.EscapedPath(), "/model/"), "/converse-stream")
	model, err := url.PathUnescape(name)
	switch said := forged(r, body); {
	case r.Method != http.MethodPost || !ok || err != nil || strings.Contains(name, "/") || strings.Contains(name, ":"):
		refuse(w, 404, "UnknownOperationException", "")
	case said != "":
		refuse(w, 403, "InvalidSignatureException", "The request signature we calculated does not match the signature you provided. "+said)
	case f.expired.Load() && r.Header.Get("X-Amz-Security-Token") == session:
		refuse(w, 403, "ExpiredTokenException", "The security token included in the request is expired")
	case f.fail != nil:
		f.fail.ServeHTTP(w, r)
	default:
		f.converse(w, r, model, body)
	}
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

// forged says what is wrong with the signature of a request.
func forged(r *http.Request, body []byte) string {
	m := regexp.MustCompile(`^AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/eu-central-1/bedrock/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$`).FindStringSubmatch(r.Header.Get("Authorization"))
	switch {
	case r.Header.Get("Authorization") == "Bearer "+bearer:
		return ""
	case m == nil || m[1] != keyID:
		return "unexpected " + r.Header.Get("Authorization")
	}
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil || time.Since(at).Abs() > 5*time.Minute || at.Format("20060102") != m[2] {
		return "unexpected date " + r.Header.Get("X-Amz-Date")
	}
	names := strings.Split(m[3], ";")
	if !slices.IsSorted(names) || !slices.Contains(names, "host") || !slices.Contains(names, "x-amz-date") || r.Header.Get("X-Amz-Security-Token") != "" && !slices.Contains(names, "x-amz-security-token") {
		return "unexpected headers " + m[3]
	}
	var headers strings.Builder
	for _, name := range names {
		value := r.Header.Get(name)
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = fmt.Sprint(len(body))
		}
		fmt.Fprintf(&headers, "%s:%s\n", name, strings.TrimSpace(value))
	}
	// Each part of the path is encoded once more than in the request.
	path := strings.ReplaceAll(r.URL.EscapedPath(), "%", "%25")
	canonical := strings.Join([]string{r.Method, path, "", headers.String(), m[3], sum(string(body))}, "\n")
	scope := m[2] + "/eu-central-1/bedrock/aws4_request"
	key := mac(mac(mac(mac([]byte("AWS4"+secret), m[2]), "eu-central-1"), "bedrock"), "aws4_request")
	want := hex.EncodeToString(mac(key, "AWS4-HMAC-SHA256\n"+r.Header.Get("X-Amz-Date")+"\n"+scope+"\n"+sum(canonical)))
	if want != m[4] {
		return "the canonical request is " + canonical
	}
	return ""
}

// The request, as the API's reference has it.
type (
	converse struct {
		Messages []struct {
			Role    string
			Content []content
		}
		System []content
		Config config          `json:"inferenceConfig"`
		More   json.RawMessage `json:"additionalModelRequestFields"`
		Output *struct {
			TextFormat struct {
				Type      string
				Structure struct {
					JSONSchema struct{ Schema string }
				}
			}
		} `json:"outputConfig"`
		ToolConfig *struct {
			Tools []struct {
				ToolSpec struct {
					Name        string
					Description *string
					InputSchema struct{ JSON json.RawMessage }
				}
			}
		}
	}
	config struct {
		MaxTokens     int
		Temperature   *float64
		TopP          *float64
		StopSequences []string
	}
	content struct {
		Text    *string
		ToolUse *struct {
			ToolUseID, Name string
			Input           json.RawMessage
		}
		ToolResult *struct {
			ToolUseID, Status string
			Content           []content
		}
		Reasoning *struct {
			ReasoningText *struct{ Text, Signature string }
			Redacted      []byte `json:"redactedContent"`
		} `json:"reasoningContent"`
		CachePoint *struct{ Type, TTL string }
		Image      *struct {
			Format string
			Source struct{ Bytes []byte }
		}
		Document *struct {
			Format, Name string
			Source       struct{ Bytes []byte }
		}
	}
)

// decode reads a request for the brain; the error is what the API would refuse.
func decode(model string, body []byte) (r pawl.Request, err error) {
	var c converse
	d := json.NewDecoder(bytes.NewReader(body))
	if err := d.Decode(&c); err != nil {
		return r, err
	}
	r.MaxTokens, r.Sampling.Options = c.Config.MaxTokens, map[string]json.RawMessage{}
	if t := c.Config.Temperature; t != nil {
		if r.Sampling.Temperature = *t; *t == 0 {
			r.Sampling.Temperature = -1
		}
	}
	if len(c.More) > 0 {
		if err := json.Unmarshal(c.More, &r.Sampling.Options); err != nil {
			return r, err
		}
		var more struct {
			Thinking struct {
				Budget int `json:"budget_tokens"`
			}
		}
		_ = json.Unmarshal(c.More, &more)
		if more.Thinking.Budget > 0 {
			r.Sampling.Effort = "high"
		}
		delete(r.Sampling.Options, "thinking")
	}
	if r.Sampling.Effort != "" && c.Config.Temperature != nil {
		return r, errors.New("`temperature` may only be set to 1 when thinking is enabled")
	}
	if c.Output != nil {
		format := c.Output.TextFormat
		if r.Output = json.RawMessage(format.Structure.JSONSchema.Schema); format.Type != "json_schema" || !json.Valid(r.Output) {
			return r, errors.New("outputConfig.textFormat is no JSON schema")
		}
		if bytes.Contains(r.Output, []byte(`"maxLength"`)) || !bytes.Contains(r.Output, []byte(`"additionalProperties":false`)) {
			return r, errors.New("output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false")
		}
	}
	points := 0
	for _, s := range c.System {
		if s.CachePoint != nil {
			points++
		} else if s.Text == nil || strings.TrimSpace(*s.Text) == "" {
			return r, errors.New("The text field in the ContentBlock object is blank")
		} else {
			r.System += *s.Text
		}
	}
	if c.ToolConfig != nil {
		for _, t := range c.ToolConfig.Tools {
			info := pawl.ToolInfo{Name: t.ToolSpec.Name, Input: t.ToolSpec.InputSchema.JSON}
			if t.ToolSpec.Description != nil {
				if info.Description = *t.ToolSpec.Description; info.Description == "" {
					return r, errors.New("description: length must be at least 1")
				}
			}
			if !toolName.MatchString(info.Name) {
				return r, fmt.Errorf("tool name %q", info.Name)
			}
			r.Tools = append(r.Tools, info)
		}
	}
	calls := map[string]string{}
	waiting := map[string]bool{}
	for i, m := range c.Messages {
		if want := []string{"user", "assistant"}[i%2]; m.Role != want || len(m.Content) == 0 {
			return r, fmt.Errorf("message %d is of the %s with %d blocks, want one of the %s", i, m.Role, len(m.Content), want)
		}
		msg := pawl.Message{Role: pawl.Role(1 + i%2)}
		texts, documents := 0, 0
		for n, b := range m.Content {
			switch {
			case b.CachePoint != nil:
				if points++; points > 4 || b.CachePoint.Type != "default" || n == 0 {
					return r, errors.New("a cache point too many or at the beginning")
				}
			case b.Text != nil:
				if texts++; strings.TrimSpace(*b.Text) == "" {
					return r, errors.New("The text field in the ContentBlock object is blank")
				}
				msg.Parts = append(msg.Parts, pawl.Text{Text: *b.Text})
			case b.Reasoning != nil && m.Role == "assistant":
				if t := b.Reasoning.ReasoningText; t != nil {
					if t.Signature != sum(t.Text) {
						return r, errors.New("messages: Invalid `signature` in `thinking` block")
					}
					msg.Parts = append(msg.Parts, pawl.Thinking{Text: t.Text})
				}
			case b.ToolUse != nil && m.Role == "assistant":
				if c.ToolConfig == nil {
					return r, errors.New("the toolConfig field must be defined when using toolUse and toolResult content blocks")
				}
				u := b.ToolUse
				if calls[u.ToolUseID] != "" || !toolName.MatchString(u.ToolUseID) || !toolName.MatchString(u.Name) || len(u.Input) == 0 || u.Input[0] != '{' {
					return r, fmt.Errorf("toolUse %+v", u)
				}
				calls[u.ToolUseID], waiting[u.ToolUseID] = u.Name, true
				msg.Parts = append(msg.Parts, pawl.Call{ID: u.ToolUseID, Tool: u.Name, Args: u.Input})
			case b.ToolResult != nil && m.Role == "user":
				t := b.ToolResult
				if !waiting[t.ToolUseID] || len(t.Content) == 0 {
					return r, fmt.Errorf("toolResult %+v", t)
				}
				delete(waiting, t.ToolUseID)
				result := pawl.ToolResult{Call: t.ToolUseID, Tool: calls[t.ToolUseID], Failed: t.Status == "error"}
				for _, p := range t.Content {
					if p.Image != nil {
						result.Images = append(result.Images, pawl.File{Type: "image/" + p.Image.Format, Data: p.Image.Source.Bytes})
					} else if p.Text != nil {
						if result.Content = json.RawMessage(*p.Text); !json.Valid(result.Content) {
							result.Content, _ = json.Marshal(*p.Text)
						}
					}
				}
				msg.Parts = append(msg.Parts, result)
			case b.Image != nil && m.Role == "user":
				msg.Parts = append(msg.Parts, pawl.File{Type: "image/" + b.Image.Format, Data: b.Image.Source.Bytes})
			case b.Document != nil && m.Role == "user":
				documents++
				if !documentName.MatchString(b.Document.Name) {
					return r, fmt.Errorf("document name %q", b.Document.Name)
				}
				msg.Parts = append(msg.Parts, pawl.File{Type: "application/" + b.Document.Format, Data: b.Document.Source.Bytes})
			default:
				return r, fmt.Errorf("block %d of message %d", n, i)
			}
		}
		if m.Role == "user" && len(waiting) > 0 {
			return r, errors.New("Expected toolResult blocks")
		}
		if documents > 0 && texts == 0 {
			return r, errors.New("A text block is required when using documents")
		}
		r.Messages = append(r.Messages, msg)
	}
	if len(c.Messages) == 0 || c.Messages[len(c.Messages)-1].Role != "user" {
		return r, errors.New("A conversation must end with a user message")
	}
	return r, nil
}

var (
	toolName     = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	documentName = regexp.MustCompile(`^[a-zA-Z0-9()\[\]-]+( [a-zA-Z0-9()\[\]-]+)*$`)
)

var faults = map[pawl.Class]struct {
	status  int
	kind    string
	message string
}{
	pawl.ClassRateLimit:  {429, "ThrottlingException", "Too many requests, please wait before trying again."},
	pawl.ClassOverloaded: {503, "ServiceUnavailableException", "Bedrock is unable to process your request."},
	pawl.ClassUnknown:    {500, "InternalServerException", "The system encountered an unexpected error during processing. Try your request again."},
	pawl.ClassQuota:      {400, "ServiceQuotaExceededException", "Your request exceeds the service quota for your account."},
	pawl.ClassAuth:       {403, "AccessDeniedException", "You don't have access to the model with the specified model ID."},
	pawl.ClassInvalid:    {400, "ValidationException", "Malformed input request, please reformat your input and try again."},
	pawl.ClassNotFound:   {404, "ResourceNotFoundException", "The specified resource ARN was not found."},
	pawl.ClassTooLong:    {400, "ValidationException", "Input is too long for requested model."},
}

// converse asks the brain, and answers.
func (f *runtime) converse(w http.ResponseWriter, r *http.Request, model string, body []byte) {
	asked, err := decode(model, body)
	if err != nil {
		refuse(w, 400, "ValidationException", err.Error())
		return
	}
	var reply *pawl.Reply
	cut := f.cut
	for c, err := range f.brain.Stream(r.Context(), asked) {
		me, ok := errors.AsType[*pawl.ModelError](err)
		switch {
		case ok && me.Class == pawl.ClassEmpty:
			reply = &pawl.Reply{}
		case ok && me.Class == pawl.ClassTruncated:
			reply, cut = new(pawl.Say("Half of")), 300
		case ok && me.Class != pawl.ClassNetwork:
			said, known := faults[me.Class]
			if !known {
				said = faults[pawl.ClassUnknown]
			}
			if me.RetryAfter > 0 {
				w.Header().Set("Retry-After", fmt.Sprint(int(me.RetryAfter.Seconds()+0.999)))
			}
			refuse(w, said.status, said.kind, said.message+" "+me.Message)
			return
		case err != nil:
			panic(http.ErrAbortHandler)
		default:
			reply = c.Reply
		}
	}
	if reply == nil {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
	w.WriteHeader(http.StatusOK)
	f.answer(r.Context(), w, reply, cut)
}

// pieces are a text in two, cut within a letter if it can be.
func pieces(text string) []string {
	n := len(text) / 2
	for n > 0 && n < len(text) && text[n]&0xC0 == 0x80 {
		n--
	}
	return []string{text[:n], text[n:]}
}

type object = map[string]any

// answer writes the events of a reply.
func (f *runtime) answer(ctx context.Context, w http.ResponseWriter, reply *pawl.Reply, cut int) {
	sent, frames := 0, eventstream.NewEncoder()
	send := func(kind, name string, payload any) {
		var m eventstream.Message
		m.Headers.Set(":message-type", eventstream.StringValue(kind))
		m.Headers.Set(":"+kind+"-type", eventstream.StringValue(name))
		m.Headers.Set(":content-type", eventstream.StringValue("application/json"))
		m.Payload, _ = json.Marshal(payload)
		var b bytes.Buffer
		_ = frames.Encode(&b, m)
		out := b.Bytes()
		if cut > 0 && sent+len(out) > cut {
			_, _ = w.Write(out[:cut-sent])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
		sent += len(out)
		for half := range slices.Chunk(out, len(out)/2+1) { // frames are cut anywhere
			_, _ = w.Write(half)
			_ = http.NewResponseController(w).Flush()
		}
		if ctx.Err() != nil {
			panic(http.ErrAbortHandler)
		}
	}
	send("event", "messageStart", object{"role": "assistant", "p": "abcdefgh"})
	if f.throw != "" {
		send("exception", f.throw, object{"message": "Too many tokens, please wait before trying again."})
		return
	}
	delta := func(i int, d any) { send("event", "contentBlockDelta", object{"contentBlockIndex": i, "delta": d}) }
	calls := false
	for i, p := range reply.Parts {
		switch p := p.(type) {
		case pawl.Text:
			for _, piece := range pieces(p.Text) {
				delta(i, object{"text": piece})
			}
		case pawl.Thinking:
			for _, piece := range pieces(p.Text) {
				delta(i, object{"reasoningContent": object{"text": piece}})
			}
			delta(i, object{"reasoningContent": object{"signature": sum(p.Text)}})
		case pawl.Call:
			calls = true
			send("event", "contentBlockStart", object{"contentBlockIndex": i, "start": object{"toolUse": object{"toolUseId": fmt.Sprintf("tooluse_%d", i), "name": p.Tool}}})
			for _, piece := range pieces(string(p.Args)) {
				delta(i, object{"toolUse": object{"input": piece}})
			}
		}
		send("event", "contentBlockStop", object{"contentBlockIndex": i})
	}
	stop := map[pawl.StopReason]string{pawl.StopLength: "max_tokens", pawl.StopRefusal: "content_filtered"}[reply.Stop]
	if stop == "" && calls {
		stop = "tool_use"
	} else if stop == "" {
		stop = "end_turn"
	}
	send("event", "messageStop", object{"stopReason": stop})
	u := reply.Usage
	if u == (pawl.Usage{}) {
		u = pawl.Usage{Input: 10, Output: 10}
	}
	usage := object{"inputTokens": u.Input - u.CacheRead - u.CacheWrite, "outputTokens": u.Output, "totalTokens": u.Input + u.Output, "cacheReadInputTokens": u.CacheRead, "cacheWriteInputTokens": u.CacheWrite}
	if u.CacheLong > 0 {
		usage["cacheDetails"] = []object{{"ttl": "1h", "inputTokens": u.CacheLong}, {"ttl": "5m", "inputTokens": u.CacheWrite - u.CacheLong}}
	}
	send("event", "metadata", object{"usage": usage, "metrics": object{"latencyMs": 1}})
}
