package fakeprovider

import (
	"fmt"
	"regexp"
	"strings"
)

// A Wire is a protocol of a provider. The zero Wire is none: a path that no
// provider has.
type Wire int

// The wires.
const (
	Anthropic Wire = 1 + iota // Anthropic Messages
	Chat                      // OpenAI Chat Completions
	Responses                 // OpenAI Responses
	Google                    // Google Gemini generateContent
)

var wireNames = []string{"none", "anthropic", "chat", "responses", "google"}

// String returns the wire's name: anthropic, chat, responses or google.
func (w Wire) String() string {
	if w < 0 || int(w) >= len(wireNames) {
		return fmt.Sprintf("wire(%d)", int(w))
	}
	return wireNames[w]
}

// A dialect is how a wire is spoken. read fills in what a request says and
// notes what is wrong with it; stream and whole write an answer; refuse writes
// an error as a body, fail as the end of a stream that had begun.
type dialect struct {
	read   func(in *inbound)
	stream func(in *inbound, a *answer) []frame
	whole  func(in *inbound, a *answer) any
	refuse func(r *refusal) any
	fail   func(r *refusal) []frame
	pulse  string // what keeps an idle stream open
	words  words
	param  string // how a parameter stands in the message of an invalid request; empty: beside it
}

// dialectOf is how a wire is spoken; w is one of the four.
func dialectOf(w Wire) dialect {
	switch w {
	case Anthropic:
		return dialect{readAnthropic, streamAnthropic, wholeAnthropic, refuseAnthropic, failAnthropic, "event: ping\ndata: {\"type\": \"ping\"}\n\n", anthropicWords, "%s: %s"}
	case Chat:
		return dialect{readChat, streamChat, wholeChat, refuseOpenAI, failChat, ": keep-alive\n\n", openAIWords, ""}
	case Responses:
		return dialect{readResponses, streamResponses, wholeResponses, refuseOpenAI, failResponses, ": keep-alive\n\n", openAIWords, ""}
	}
	return dialect{readGoogle, streamGoogle, wholeGoogle, refuseGoogle, failGoogle, ": keep-alive\r\n\r\n", googleWords, "* GenerateContentRequest.%s: %s\n"}
}

var googlePath = regexp.MustCompile(`/models/([^/:]+):(stream)?[gG]enerateContent$`)

// route finds the wire of a path and, where the path tells, the model's name
// and whether the answer is a stream.
func route(path string) (w Wire, model string, stream bool) {
	switch {
	case strings.HasSuffix(path, "/messages"):
		return Anthropic, "", false
	case strings.HasSuffix(path, "/chat/completions"):
		return Chat, "", false
	case strings.HasSuffix(path, "/responses"):
		return Responses, "", false
	}
	if m := googlePath.FindStringSubmatch(path); m != nil {
		return Google, m[1], m[2] != ""
	}
	return 0, "", false
}
