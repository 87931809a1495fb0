package fakeprovider

import (
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/sheet"
)

// checkAnthropic is what the Messages API asks of a request. The sentences are
// its own.
type checkAnthropic struct {
	*inbound
	model    sheet.Traits
	marks    int
	seen     map[string]bool // ids of calls so far
	open     []string        // ids of the calls of the message before
	openPath string
	turns    []turn
	uses     bool // there are calls or results
}

// A turn is a message whose reasoning may have to be looked at.
type turn struct {
	path      string
	assistant bool
	answers   bool // a user's message with results
	blocks    []node
}

func (c *checkAnthropic) message(msg node, role pawl.Role, blocks []node) {
	if len(blocks) == 0 {
		c.wrong(msg.path, "all messages must have non-empty content except for the optional final assistant message")
	}
	t := turn{path: msg.path, assistant: role == pawl.RoleAssistant, blocks: blocks}
	var results, calls []string
	other := false
	for _, b := range blocks {
		kind := b.at("type").text()
		switch kind {
		case "tool_result":
			c.result(b, role, other, results)
			results = append(results, b.at("tool_use_id").text())
			c.uses, t.answers = true, true
		case "tool_use":
			c.call(b)
			calls = append(calls, b.at("id").text())
			c.uses = true
		case "thinking":
			c.thinking(b)
		case "redacted_thinking":
			if data := b.at("data").text(); !c.memory.genuine(data) && !c.memory.signedFor(data, "") {
				c.wrong(b.path, "Invalid `data` in `redacted_thinking` block")
			}
		case "text":
			c.text(b)
		}
		if kind != "text" {
			c.mark(b)
		}
		other = other || kind != "tool_result"
	}
	c.answered(results)
	c.open, c.openPath = calls, msg.path
	c.turns = append(c.turns, t)
}

func (c *checkAnthropic) call(b node) {
	id := b.at("id").text()
	switch {
	case id == "":
		c.wrong(b.path+".tool_use.id", "Field required")
	case strings.ContainsFunc(id, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}):
		c.wrong(b.path+".tool_use.id", "String should match pattern '^[a-zA-Z0-9_-]+$'")
	case c.seen[id]:
		c.wrong("messages", "`tool_use` ids must be unique")
	}
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	c.seen[id] = true
	if input := b.at("input"); !input.has() {
		c.wrong(b.path+".tool_use.input", "Field required")
	} else if _, ok := input.object(); !ok {
		c.wrong(b.path+".tool_use.input", "Input should be a valid dictionary")
	}
}

func (c *checkAnthropic) result(b node, role pawl.Role, late bool, before []string) {
	id := b.at("tool_use_id").text()
	switch {
	case role != pawl.RoleUser:
		c.wrong(b.path, "`tool_result` blocks can only be in `user` messages")
	case slices.Contains(before, id):
		c.wrong(b.path, "each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s", id)
	case !slices.Contains(c.open, id):
		c.wrong(b.path, "unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", id)
	case late:
		c.wrong(c.openPath, "`tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", id)
	}
}

// answered looks for calls of the message before that have no result in this one.
func (c *checkAnthropic) answered(results []string) {
	var missing []string
	for _, id := range c.open {
		if !slices.Contains(results, id) {
			missing = append(missing, id)
		}
	}
	if len(missing) > 0 {
		c.wrong(c.openPath, "`tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", strings.Join(missing, ", "))
	}
}

func (c *checkAnthropic) thinking(b node) {
	signature := b.at("signature")
	switch {
	case !signature.has():
		c.wrong(b.path+".thinking.signature", "Field required")
	case !c.memory.signedFor(signature.text(), b.at("thinking").text()):
		c.wrong(b.path, "Invalid `signature` in `thinking` block")
	}
}

func (c *checkAnthropic) text(b node) {
	if b.at("type").text() != "text" {
		return
	}
	text := b.at("text").text()
	switch {
	case text == "" && b.at("cache_control").has():
		c.wrong(b.path+".text", "cache_control cannot be set for empty text blocks")
	case text == "":
		c.wrong("messages", "text content blocks must be non-empty")
	case strings.TrimSpace(text) == "":
		c.wrong("messages", "text content blocks must contain non-whitespace text")
	}
	c.mark(b)
}

// mark counts marks for the cache.
func (c *checkAnthropic) mark(b node) {
	if !b.at("cache_control").has() {
		return
	}
	c.marks++
	switch kind := b.at("type").text(); {
	case kind == "thinking" || kind == "redacted_thinking":
		c.wrong(b.path+"."+kind+".cache_control", "Extra inputs are not permitted")
	case kind == "tool_result" && b.at("content").text() == "" && len(b.at("content").list("%d")) == 0:
		c.wrong(b.path+".tool_result", "cache_control cannot be set for empty content blocks")
	}
}

func (c *checkAnthropic) tools(infos []pawl.ToolInfo) {
	names := map[string]bool{}
	for _, info := range infos {
		if names[info.Name] {
			c.wrong("tools", "Tool names must be unique.")
		}
		names[info.Name] = true
	}
}

func (c *checkAnthropic) done(list []node) {
	c.answered(nil)
	if c.marks > 4 {
		c.wrong("", "A maximum of 4 blocks with cache_control may be provided. Found %d.", c.marks)
	}
	switch {
	case len(list) == 0:
		c.wrong("messages", "at least one message is required")
	case c.turns[0].assistant:
		c.wrong("messages", "first message must use the \"user\" role")
	}
	if c.uses && len(c.Decoded.Tools) == 0 {
		c.wrong("", "Requests which include `tool_use` or `tool_result` blocks must define tools")
	}
	if c.silent { // thinking between calls is not all off
		c.quiet = c.model.Off == "disabled" || !c.turns[len(c.turns)-1].answers
	}
	if !c.thinks {
		return // reasoning counts for nothing then
	}
	// Reasoning must stand before its calls as long as their turn goes on, that
	// is back to the last message of a user that brings no results. A model that decides on its
	// own how much to think takes a turn without it, but none that was changed.
	for _, t := range slices.Backward(c.turns) {
		switch {
		case t.assistant:
			c.led(t)
		case !t.answers:
			return
		}
	}
}

func (c *checkAnthropic) led(t turn) {
	calls, text := thought(t.blocks)
	known, same := c.memory.leads(calls, text)
	// A turn that was paused stands in one message with what went on from it.
	for rest := text; known && !same && rest != ""; {
		_, rest, _ = strings.Cut(rest, "\n")
		_, same = c.memory.leads(calls, rest)
		same = same && (rest != "" || !c.manual)
	}
	switch {
	case calls == "" || !known || same || text == "" && !c.manual:
	case text == "":
		c.wrong(t.path+".content.0.type", "Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`. Please consult our documentation on extended thinking.") //nolint:misspell // as Anthropic spells it
	default:
		c.wrong(t.path+".content.0", "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.")
	}
}
