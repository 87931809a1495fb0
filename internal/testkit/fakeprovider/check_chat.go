package fakeprovider

import (
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/display"
)

// checkChat is what Chat Completions ask of a request. The sentences are
// OpenAI's, and DeepSeek's about reasoning.
type checkChat struct {
	*inbound
	seen     map[string]bool // ids of all calls
	open     []string        // of the latest calls, those without a result
	answers  []string        // and those with one
	openPath string
}

func (c *checkChat) message(i int, msg node) {
	role := msg.at("role").text()
	if role != "tool" {
		c.answered()
		c.open, c.answers = nil, nil
	}
	for _, p := range msg.at("content").list("[%d]") {
		if p.at("type").text() == "text" && p.at("text").text() == "" {
			c.wrong(p.path, "Invalid '%s.text': empty string. Expected a string with minimum length 1, but got an empty string instead.", p.path)
		}
	}
	switch role {
	case "tool":
		c.result(i, msg)
	case "assistant":
		c.assistant(i, msg)
	case "user", "system", "developer":
		if !msg.at("content").has() {
			c.wrong(msg.path+".content", "Invalid value for 'content': expected a string, got null.")
		}
	default:
		c.wrong(msg.path+".role", "Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.", role)
	}
}

func (c *checkChat) assistant(i int, msg node) {
	calls := msg.at("tool_calls").list("[%d]")
	content := msg.at("content")
	if !content.has() && len(calls) == 0 && !msg.at("refusal").has() {
		c.wrong(msg.path+".content", "Invalid value for 'content': expected a string, got null.")
	}
	if msg.at("tool_calls").has() && len(calls) == 0 {
		c.wrong(msg.path+".tool_calls", "Invalid '%s.tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.", msg.path)
	}
	c.openPath = msg.path
	var f fingerprint
	for _, call := range calls {
		id, fn := call.at("id").text(), call.at("function")
		args := fn.at("arguments").text()
		switch {
		case id == "":
			c.wrong(call.path+".id", "Missing required parameter: '%s.id'.", call.path)
		case len(id) > 40:
			c.wrong(call.path+".id", "Invalid '%s.id': string too long. Expected a string with maximum length 40, but got a string with length %d instead.", call.path, len(id))
		case c.seen[id]:
			c.wrong(call.path+".id", "Duplicate value for 'tool_call_id' of '%s' in message[%d]", id, i)
		}
		c.function(fn)
		c.seen[id] = true
		c.open = append(c.open, id)
		f.add(fn.at("name").text(), args)
	}
	reasoning := msg.at("reasoning_content").text()
	if known, same := c.memory.leads("chat "+f.String(), reasoning); f.String() != "" && known && !same {
		if reasoning == "" {
			c.wrong("", "Missing `reasoning_content` field in the assistant message at message index %d.", i)
		} else {
			c.wrong("", "The `reasoning_content` field in the assistant message at message index %d is not the one that was sent.", i)
		}
	}
}

func (c *checkChat) result(i int, msg node) {
	id := msg.at("tool_call_id").text()
	if n := slices.Index(c.open, id); n >= 0 {
		c.open = slices.Delete(c.open, n, n+1)
		c.answers = append(c.answers, id)
	} else if slices.Contains(c.answers, id) {
		c.wrong(msg.path+".tool_call_id", "Duplicate value for 'tool_call_id' of '%s' in message[%d]", id, i)
	} else {
		c.wrong(msg.path+".role", "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.") //nolint:misspell // as OpenAI spells it
	}
	if !msg.at("content").has() {
		c.wrong(msg.path+".content", "Missing required parameter: '%s.content'.", msg.path)
	}
}

// answered looks for calls without a result, once no more can come.
func (c *checkChat) answered() {
	if len(c.open) > 0 {
		c.wrong(c.openPath+".tool_calls", "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(c.open, ", "))
	}
}

// function looks at the name and the arguments of a call.
func (in *inbound) function(n node) {
	switch args := n.at("arguments").text(); {
	case n.at("name").text() == "":
		in.wrong(n.path+".name", "Missing required parameter: '%s.name'.", n.path)
	case !isObject(args):
		in.wrong(n.path+".arguments", "Invalid '%s.arguments': expected the JSON of an object, but got %q instead.", n.path, display.Clip(args, 60))
	case surrogate([]byte(args)) >= 0:
		in.wrong(n.path+".arguments", "Invalid '%s.arguments': no low surrogate in string.", n.path)
	}
}
