// Package bedrock implements models behind the Converse API of Amazon Bedrock, always streamed
// (ConverseStream). A model is named by its id, the id of an inference profile, or an ARN of
// either.
//
// A request is signed with the credentials of the AWS SDK: from environment variables, a profile
// with its roles and single sign-on, a web identity, a container or an instance. If
// AWS_BEARER_TOKEN_BEDROCK is set, the request has that API key instead.
//
// In a request,
//
//   - the results of a message come first, then the rest, and neighbouring messages of one role
//     are joined;
//   - calls and results have the provider's ids, or the run's own where those are not unique;
//   - reasoning with a signature is sent, unchanged, to the model that wrote it;
//   - empty texts are left out;
//   - the system prompt and the last message are marked for the cache, for Claude and Nova;
//   - the called tools are declared if there are calls and no tools, which the API would refuse.
//
// Content that the API would refuse is adapted: invalid characters in names of tools become _,
// arguments that are not an object become an empty one, and a file outside the limits becomes a
// text with the reason.
//
// Claude thinks as in package model/anthropic, and an output schema is sent to those of its models
// that guarantee one on Bedrock. Few other models accept one, so for them only the reply is
// validated. What a server refuses is left out of the same attempt and of later ones.
//
// Options of the sampling that the Converse API has (topP, stopSequences, guardrailConfig, …) are
// put into the request under their own names. All others, such as top_k, are put into
// additionalModelRequestFields. Null removes a field.
package bedrock

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/sheet"
	"github.com/pawl-run/pawl/model/internal/provider"
)

const remedy = "set AWS_PROFILE and run aws sso login, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_BEARER_TOKEN_BEDROCK"

var vendor = &provider.Vendor{
	Name:  "bedrock",
	Hosts: []string{".amazonaws.com"},
	Header: func(h http.Header, key string) {
		if key != signed {
			h.Set("Authorization", "Bearer "+key)
		}
	},
	Classify: classify,
}

// signed is the key of a request that the transport signs.
const signed = "SigV4"

// Options are what a model may be given beside its name.
type Options struct {
	Credentials aws.CredentialsProvider // nil: those of the SDK's default configuration
	BearerToken string                  // an API key of Bedrock, in place of credentials; empty: AWS_BEARER_TOKEN_BEDROCK, unless there is a Provider
	Provider    string                  // comes before the / of the model's name; empty: bedrock
	BaseURL     string                  // empty: AWS_ENDPOINT_URL_BEDROCK_RUNTIME, or that of the region
	HTTPClient  *http.Client            // nil: http.DefaultClient; no redirect is followed
	Price       *pawl.Price             // nil: that of the model sheet
	Header      http.Header             // sent with each request
}

// A Model is a model on Bedrock. It may be used by many runs at once.
type Model struct{ cloud }

type cloud = provider.Cloud

// converse is a model without its login.
type converse struct{ server provider.Server }

// New returns the model bedrock/NAME in a region, such as eu-central-1; an empty region is
// that of AWS_REGION or of the profile. It reads the environment and the files of the AWS
// command line. What is missing is reported by Ready, and by the first call.
func New(region, name string, o *Options) *Model {
	o = cmp.Or(o, &Options{})
	c, err := config.LoadDefaultConfig(context.Background(), config.WithRegion(region))
	region = cmp.Or(region, c.Region)
	s := &signer{region: region, credentials: c.Credentials}
	if o.Credentials != nil {
		s.credentials = aws.NewCredentialsCache(o.Credentials)
	}
	client := http.Client{}
	if o.HTTPClient != nil {
		client = *o.HTTPClient
	}
	s.next = client.Transport
	client.Transport = s
	login := s.login
	token := o.BearerToken
	if o.Provider == "" {
		token = cmp.Or(token, os.Getenv("AWS_BEARER_TOKEN_BEDROCK"))
	}
	if token != "" && o.Credentials == nil {
		login = func(context.Context, string) (string, error) { return token, nil }
	}
	m := &converse{vendor.Server("bedrock", name, provider.Options{
		Provider: cmp.Or(o.Provider, "bedrock"), BaseURL: cmp.Or(o.BaseURL, os.Getenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME"), host(region)), HTTPClient: &client, Price: o.Price, Key: login, Header: o.Header,
	})}
	if own := claude(name); own != "" {
		m.server.Traits, m.server.Known = sheet.TraitsOf("anthropic", own)
	}
	return &Model{provider.Behind(login, m.server.Full, m, placed(region, err), "")}
}

func host(region string) string {
	if strings.HasPrefix(region, "cn-") {
		return "https://bedrock-runtime." + region + ".amazonaws.com.cn"
	}
	return "https://bedrock-runtime." + region + ".amazonaws.com"
}

var regions = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-\d+$`)

func placed(region string, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("the AWS configuration cannot be read: %w", err)
	case region == "":
		return errors.New("no region for bedrock; set AWS_REGION")
	case !regions.MatchString(region):
		return fmt.Errorf("AWS_REGION is %q; write a region such as eu-central-1", region)
	}
	return nil
}

// Describe returns the name bedrock/NAME, the endpoint, what the model takes, and the price, if it
// is given or known.
func (m *converse) Describe() pawl.ModelInfo {
	info := m.server.Describe(pawl.Wire{Frame: 600, Message: 250, Tool: 150, Prompt: m.server.Traits.ToolPrompt})
	if info.Price == nil {
		if info.Price = price(m.server.Name); info.Price != nil {
			info.PriceFrom = "list"
		}
		if info.Price != nil && m.server.Official() {
			info.PriceFrom = "table"
		}
	}
	return info
}

// Takes implements engine.Taker: pictures and PDFs within the API's limits.
func (m *converse) Takes(files []pawl.File) error { return limits.Takes(m.server.Full, files) }

// Stream sends the request and yields the reply as it arrives.
func (m *converse) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	recall, lessons := true, m.server.Lessons()
	var req object
	return m.server.Stream(ctx, r, func(refused error) (*provider.Attempt, error) {
		if refused != nil && !m.learn(lessons, refused, req) {
			if !recall || !forThinking(refused) {
				return nil, refused
			}
			recall = false
		}
		var notes []string
		var err error
		if req, notes, err = m.body(r, recall, lessons); err != nil {
			return nil, err
		}
		body, err := provider.JSON(req)
		path := "/model/" + url.QueryEscape(m.server.Name) + "/converse-stream"
		return &provider.Attempt{Path: path, Body: body, Reader: &turn{}, Lessons: lessons, Notes: notes}, err
	})
}

// learn draws a lesson from a refusal.
func (m *converse) learn(lessons *provider.Lessons, refused error, sent object) bool {
	return lessons.LearnFromClaude(refused, sent, extra,
		provider.Refusable{Path: "toolConfig.toolChoice", Words: []string{"toolChoice", "tool_choice"}},
		provider.Refusable{Path: "inferenceConfig.temperature", Words: []string{"temperature"}},
		provider.Refusable{Path: "inferenceConfig.topP", Words: []string{"topP", "top_p"}},
		provider.Refusable{Path: "outputConfig", Words: []string{"outputConfig", "output_config.format", "json_schema", "structured output", "structured outputs"}},
	)
}

// forThinking reports whether a request was refused for the thinking in it or missing from it.
func forThinking(err error) bool {
	me, ok := errors.AsType[*pawl.ModelError](err)
	return ok && me.Class == pawl.ClassInvalid && (strings.Contains(me.Message, "thinking") || strings.Contains(me.Message, "reasoning"))
}

var kinds = map[string]pawl.Class{
	"throttling":                 pawl.ClassRateLimit,
	"toomanyrequests":            pawl.ClassRateLimit,
	"servicequotaexceeded":       pawl.ClassQuota,
	"serviceunavailable":         pawl.ClassOverloaded,
	"internalserver":             pawl.ClassOverloaded,
	"modelstreamerror":           pawl.ClassOverloaded,
	"modeltimeout":               pawl.ClassOverloaded,
	"modelnotready":              pawl.ClassOverloaded,
	"modelerror":                 pawl.ClassOverloaded,
	"accessdenied":               pawl.ClassAuth,
	"expiredtoken":               pawl.ClassAuth,
	"unrecognizedclient":         pawl.ClassAuth,
	"invalidsignature":           pawl.ClassAuth,
	"incompletesignature":        pawl.ClassAuth,
	"missingauthenticationtoken": pawl.ClassAuth,
	"resourcenotfound":           pawl.ClassNotFound,
	"validation":                 pawl.ClassInvalid,
}

// A fault is an error as [signer] hands it on.
type fault struct {
	Error *struct {
		Type string
		Body struct {
			Message string
			Type    string `json:"__type"`
		}
	}
}

func told(data []byte) bool {
	var f fault
	return json.Unmarshal(data, &f) == nil && f.Error != nil
}

// classify sorts an error by its type, and else by its status.
func classify(e *pawl.ModelError, status int, body []byte) bool {
	var f fault
	if json.Unmarshal(body, &f) != nil || f.Error == nil {
		e.Message = provider.Message("", status, body)
		return false
	}
	e.Message = provider.Message(f.Error.Body.Message, status, body)
	kind := bare(cmp.Or(f.Error.Type, f.Error.Body.Type))
	if class, ok := kinds[kind]; ok {
		e.Class = class
	}
	// What the API says in words alone.
	said := strings.ToLower(e.Message)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(said, w) {
				return true
			}
		}
		return false
	}
	switch {
	case e.Class == pawl.ClassInvalid && has("too long", "too many input tokens", "input tokens exceeded", "context length", "context window", "exceed context limit"):
		e.Class = pawl.ClassTooLong
	case e.Class == pawl.ClassInvalid && has("model identifier is invalid", "on-demand throughput", "end of its life"):
		e.Class = pawl.ClassNotFound
	case e.Class == pawl.ClassRateLimit && has("per day"):
		e.Class = pawl.ClassQuota
	case e.Class == pawl.ClassAuth && kind == "accessdenied":
		e.Message += "; the identity needs the action bedrock:InvokeModelWithResponseStream on the model"
	case e.Class == pawl.ClassAuth:
		e.Message += "; renew the login: " + remedy
	}
	return true
}

// bare is a type of error in small letters, without a namespace, an address and the word exception.
func bare(kind string) string {
	kind, _, _ = strings.Cut(kind, ":")
	return strings.TrimSuffix(strings.ToLower(kind[strings.LastIndex(kind, "#")+1:]), "exception")
}
