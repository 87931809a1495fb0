package bedrock_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/internal/testkit/modeltest"
	"github.com/pawl-run/pawl/model/bedrock"
	"github.com/pawl-run/pawl/spec"
)

const name = "eu.anthropic.claude-haiku-4-5-20251001-v1:0"

var credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: keyID, SecretAccessKey: secret, SessionToken: session}, nil
})

func (f *runtime) model() *bedrock.Model {
	return bedrock.New("eu-central-1", name, &bedrock.Options{BaseURL: f.URL, Credentials: credentials})
}

// TestMain keeps the credentials of this machine out.
func TestMain(m *testing.M) {
	for _, name := range []string{"AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_BEARER_TOKEN_BEDROCK", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"} {
		_ = os.Unsetenv(name)
	}
	_ = os.Setenv("AWS_CONFIG_FILE", os.DevNull)
	_ = os.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
	_ = os.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	os.Exit(m.Run())
}

var brain = pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
	r := pawl.Say("four")
	r.Usage = pawl.Usage{Input: 100, Output: 5, CacheRead: 60, CacheWrite: 30, CacheLong: 20}
	return r, nil
})

func ask(t testing.TB, m pawl.Model) (*pawl.Reply, error) {
	t.Helper()
	return modeltest.Ask(t, m, pawl.Request{Messages: []pawl.Message{{Role: pawl.RoleUser, Parts: []pawl.Part{pawl.Text{Text: "2+2?"}}}}})
}

func TestConformance(t *testing.T) {
	var f *runtime
	modeltest.Run(t, func(t testing.TB, brain pawl.Model) pawl.Model {
		f = newRuntime(t, brain)
		return f.model()
	}, &modeltest.Options{
		Lacks:   modeltest.Lacks{Schema: true, Reasoning: true, Citations: true},
		Stops:   []pawl.StopReason{pawl.StopPause},
		Classes: []pawl.Class{pawl.ClassRefused},
		Sent: func() (list [][]byte) {
			f.mu.Lock()
			defer f.mu.Unlock()
			for _, b := range f.bodies {
				list = append(list, bytes.ReplaceAll(b, []byte(`,{"cachePoint":{"type":"default"}}`), nil))
			}
			return list
		},
		Open: func() int { return int(f.open.Load()) },
	})
}

func TestUsage(t *testing.T) {
	f := newRuntime(t, brain)
	r, err := ask(t, f.model())
	want := pawl.Usage{Input: 100, Output: 5, CacheRead: 60, CacheWrite: 30, CacheLong: 20}
	if err != nil || r.Text() != "four" || r.Usage != want || f.paths[0] != "/model/eu.anthropic.claude-haiku-4-5-20251001-v1%3A0/converse-stream" {
		t.Errorf("the reply is %+v, %v, from %q", r, err, f.paths)
	}
	arn := "arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/abc"
	if _, err := ask(t, bedrock.New("eu-central-1", arn, &bedrock.Options{BaseURL: f.URL, Credentials: credentials})); err != nil {
		t.Errorf("a profile: %v", err)
	}
	m := bedrock.New("eu-central-1", "amazon.nova-pro-v1:0", &bedrock.Options{BaseURL: f.URL, BearerToken: bearer})
	if r, err := ask(t, m); err != nil || r.Text() != "four" {
		t.Errorf("with an API key: %+v, %v", r, err)
	}
}

func TestErrors(t *testing.T) {
	type failure struct {
		status  int
		kind    string
		message string
		class   pawl.Class
		says    string
	}
	for _, x := range []failure{
		{429, "ThrottlingException", "Too many requests, please wait before trying again.", pawl.ClassRateLimit, ""},
		{429, "ThrottlingException", "Too many tokens per day, please wait before trying again.", pawl.ClassQuota, ""},
		{424, "ModelErrorException", "The model failed.", pawl.ClassOverloaded, ""},
		{429, "ModelNotReadyException", "The model is not ready.", pawl.ClassOverloaded, ""},
		{408, "ModelTimeoutException", "It took too long.", pawl.ClassOverloaded, ""},
		{400, "ValidationException", "Input is too long for requested model.", pawl.ClassTooLong, ""},
		{400, "ValidationException", "The provided model identifier is invalid.", pawl.ClassNotFound, ""},
		{400, "ValidationException", "Invocation of model ID amazon.nova-pro-v1:0 with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model.", pawl.ClassNotFound, ""},
		{403, "UnrecognizedClientException", "The security token included in the request is invalid.", pawl.ClassAuth, "run aws sso login"},
		{403, "ExpiredTokenException", "The security token included in the request is expired", pawl.ClassAuth, "renew the login: set AWS_PROFILE"},
		{403, "AccessDeniedException", "User is not authorized", pawl.ClassAuth, "bedrock:InvokeModelWithResponseStream"},
	} {
		f := newRuntime(t, brain)
		f.fail = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			refuse(w, x.status, x.kind, x.message)
		})
		_, err := ask(t, f.model())
		me, ok := errors.AsType[*pawl.ModelError](err)
		if !ok || me.Class != x.class || !strings.Contains(me.Message, x.message) || !strings.Contains(me.Message, x.says) || me.Class == pawl.ClassRateLimit && me.RetryAfter != 7*time.Second {
			t.Errorf("%s: %v", x.message, err)
		}
	}
	f := newRuntime(t, brain)
	f.throw = "throttlingException"
	if _, err := ask(t, f.model()); !strings.Contains(fmt.Sprint(err), "model: rate_limit: Too many tokens") {
		t.Errorf("an exception within the stream: %v", err)
	}
	for cut := 1; cut < 900; cut += 101 { // within a frame, and between two
		f := newRuntime(t, brain)
		f.cut = cut
		_, err := ask(t, f.model())
		if me, ok := errors.AsType[*pawl.ModelError](err); !ok || me.Class != pawl.ClassTruncated && me.Class != pawl.ClassNetwork {
			t.Errorf("after %d bytes: %v", cut, err)
		}
	}
}

// Credentials that have expired are fetched again, once.
func TestExpired(t *testing.T) {
	f := newRuntime(t, brain)
	f.expired.Store(true)
	var n atomic.Int64
	m := bedrock.New("eu-central-1", name, &bedrock.Options{BaseURL: f.URL, Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		c := aws.Credentials{AccessKeyID: keyID, SecretAccessKey: secret, SessionToken: session}
		if n.Add(1) > 1 {
			c.SessionToken = "another session"
		}
		return c, nil
	})})
	for range 2 {
		if r, err := ask(t, m); err != nil || r.Text() != "four" {
			t.Fatalf("it says %+v, %v", r, err)
		}
	}
	if n.Load() != 2 || len(f.paths) != 3 {
		t.Errorf("credentials were fetched %d times for %d requests", n.Load(), len(f.paths))
	}
}

func TestReady(t *testing.T) {
	for want, m := range map[string]*bedrock.Model{
		"no region for bedrock; set AWS_REGION":                        bedrock.New("", name, nil),
		"AWS_REGION is \"example.org/\"; write a region such as":       bedrock.New("example.org/", name, nil),
		"no key for bedrock/" + name + ": set AWS_PROFILE and run aws": bedrock.New("eu-central-1", name, nil),
	} {
		_, err := ask(t, m)
		me, ok := errors.AsType[*pawl.ModelError](err)
		if ready := m.Ready(); ready == nil || !strings.Contains(ready.Error(), want) || !ok || me.Class != pawl.ClassAuth || !strings.Contains(me.Message, want) {
			t.Errorf("%s: it says %v, and %v when it is called", want, ready, err)
		}
	}
	t.Setenv("AWS_ACCESS_KEY_ID", keyID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secret)
	t.Setenv("AWS_REGION", "eu-central-1")
	f := newRuntime(t, brain)
	t.Setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", f.URL)
	m := bedrock.New("", name, nil)
	if r, err := ask(t, m); m.Ready() != nil || err != nil || r.Text() != "four" {
		t.Errorf("with keys in the environment: %v, %+v, %v", m.Ready(), r, err)
	}
}

func TestDescribe(t *testing.T) {
	for model, input := range map[string]float64{
		"global.anthropic.claude-haiku-4-5-20251001-v1:0":                                            1,
		"eu.anthropic.claude-haiku-4-5-20251001-v1:0":                                                1.1,
		"global.anthropic.claude-sonnet-5-5":                                                         2,
		"anthropic.claude-opus-4-6-v1":                                                               5.5,
		"arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.anthropic.claude-sonnet-5-5": 2.2,
		"us.amazon.nova-pro-v1:0":                                                                    0.8,
		"us.amazon.nova-2-lite-v1:0":                                                                 0.33,
		"meta.llama3-70b-instruct-v1:0":                                                              0,
	} {
		d := bedrock.New("eu-central-1", model, nil).Describe()
		if d.Name != "bedrock/"+model || d.Endpoint != "https://bedrock-runtime.eu-central-1.amazonaws.com" || d.Wire == (pawl.Wire{}) {
			t.Errorf("it is described as %+v", d)
		}
		if d.Price == nil && input != 0 || d.Price != nil && fmt.Sprintf("%.4f", d.Price.Input) != fmt.Sprintf("%.4f", input) {
			t.Errorf("%s costs %+v", model, d.Price)
		}
		if want := map[bool]string{true: "table"}[d.Price != nil]; d.PriceFrom != want {
			t.Errorf("%s: its price is from %q, want %q", model, d.PriceFrom, want)
		}
	}
}

func TestExample(t *testing.T) {
	f := newRuntime(t, brain)
	const file = "../../examples/specs/bedrock.yaml"
	text, err := os.ReadFile(file)
	check.Must(t, err)
	registry := &spec.Registry{Models: map[string]spec.Provider{"bedrock": func(name string) (pawl.Model, error) {
		return bedrock.New("eu-central-1", name, &bedrock.Options{BaseURL: f.URL, Credentials: credentials, Price: &pawl.Price{Input: 1, Output: 1}}), nil
	}}}
	s, err := spec.Parse(file, text, &spec.Options{Registry: registry})
	check.Must(t, err)
	agent, err := s.Agent(registry)
	check.Must(t, err)
	got, err := engine.Run(t.Context(), agent, "Why?")
	if err != nil || got.Status != pawl.StatusSuccess || got.Answer != "four" {
		t.Errorf("it ends with %+v, %v", got, err)
	}
}

// A schema goes to the models that guarantee it. The others read it in the prompt.
func TestOutput(t *testing.T) {
	var asked string
	f := newRuntime(t, pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		asked = cmp.Or(string(r.Output), r.System)
		return pawl.Say("{}"), nil
	}))
	const schema = `{"type":"object","properties":{"label":{"type":"string","maxLength":9}},"required":["label"]}`
	for model, want := range map[string]string{
		name:                          `{"additionalProperties":false,"properties":{"label":{"description":"{maxLength: 9}","type":"string"}},"required":["label"],"type":"object"}`,
		"amazon.nova-pro-v1:0":        "The final answer must be JSON that fits this schema, and nothing else:\n" + schema,
		"anthropic.claude-sonnet-5-5": "The final answer must be JSON that fits this schema, and nothing else:\n" + schema,
	} {
		r := pawl.Request{Messages: []pawl.Message{{Role: pawl.RoleUser, Parts: []pawl.Part{pawl.Text{Text: "Classify."}}}}, Output: json.RawMessage(schema)}
		for _, err := range bedrock.New("eu-central-1", model, &bedrock.Options{BaseURL: f.URL, Credentials: credentials}).Stream(t.Context(), r) {
			if err != nil {
				t.Errorf("%s: %v", model, err)
			}
		}
		if asked != want {
			t.Errorf("%s is asked for %s, want %s", model, asked, want)
		}
	}
}

// Claude is asked to think as the sheet says, and gets no sampling that it does not take. What
// goes wrong teaches.
func TestClaude(t *testing.T) {
	long := strings.Repeat("x", 600)
	for _, c := range []struct {
		model, effort string
		kept, gone    []string
	}{
		{"anthropic.claude-sonnet-5-5", "", []string{`"additionalModelRequestFields":{"thinking":{"display":"summarized","type":"adaptive"}}`, "cachePoint"}, []string{"temperature", "effort"}},
		{"eu.anthropic.claude-sonnet-5-5", "max", []string{`"output_config":{"effort":"max"}`, `"type":"adaptive"`}, []string{"temperature"}},
		{"anthropic.claude-sonnet-5-5", "none", []string{`"thinking":{"type":"between_tools"}`}, []string{"temperature"}},
		{"anthropic.claude-opus-4-6-v1", "", []string{`"temperature":0.5`}, []string{"thinking", "cachePoint"}},
		{name, "low", []string{`"thinking":{"budget_tokens":4096,"type":"enabled"}`}, []string{"temperature"}},
		{"amazon.nova-pro-v1:0", "high", []string{`"temperature":0.5`, "cachePoint"}, []string{"thinking"}},
	} {
		f := newRuntime(t, brain)
		r := pawl.Request{System: long, Messages: []pawl.Message{{Role: pawl.RoleUser, Parts: []pawl.Part{pawl.Text{Text: "2+2?"}}}}, Sampling: pawl.Sampling{Effort: c.effort, Temperature: 0.5}}
		m := bedrock.New("eu-central-1", c.model, &bedrock.Options{BaseURL: f.URL, Credentials: credentials})
		for _, err := range m.Stream(t.Context(), r) {
			if err != nil {
				t.Fatalf("%s: %v", c.model, err)
			}
		}
		sent := string(f.bodies[0])
		for _, word := range c.kept {
			if !strings.Contains(sent, word) {
				t.Errorf("%s with effort %q: %s is not sent: %s", c.model, c.effort, word, sent)
			}
		}
		for _, word := range c.gone {
			if strings.Contains(sent, word) {
				t.Errorf("%s with effort %q: %s is sent: %s", c.model, c.effort, word, sent)
			}
		}
	}
	f := newRuntime(t, brain)
	f.fail = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		f.fail = nil
		refuse(w, 400, "ValidationException", "The model returned the following errors: thinking.adaptive.display: Extra inputs are not permitted")
	})
	m := bedrock.New("eu-central-1", "anthropic.claude-sonnet-5-5", &bedrock.Options{BaseURL: f.URL, Credentials: credentials})
	r, err := ask(t, m)
	if err != nil || len(f.bodies) != 2 || strings.Contains(string(f.bodies[1]), "display") || len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], "additionalModelRequestFields.thinking.display was left out") {
		t.Errorf("a refused field: %+v, %v, sent %s", r, err, f.bodies)
	}
}
