package fakeprovider

import (
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/sheet"
)

// rulesGoogle are what Gemini asks of a request beside its contents. The sentences are its own,
// as far as they are known.
type rulesGoogle struct {
	*inbound
	traits sheet.Traits
}

// The thinking tokens that stand for an effort.
var googleBudgets = []struct {
	effort string
	tokens int
}{{"high", 24576}, {"medium", 8192}, {"low", 1024}, {"minimal", 512}}

// effort returns what a request asks the model to think with; empty: it leaves that to the model.
func (c rulesGoogle) effort(config node) string {
	level, budget := config.at("thinkingLevel"), config.at("thinkingBudget")
	switch {
	case level.has() && budget.has():
		c.wrong("", "You can only set only one of thinking budget and thinking level.")
	case level.has() && c.traits.Thinking != sheet.ByLevel:
		c.wrong("", "Thinking level is not supported for this model.")
	case level.has():
		return c.level(level)
	case budget.has() && c.traits.Thinking != sheet.ByBudget:
		c.wrong("", "Thinking budget is not supported for this model. Please use thinking level instead.")
	case budget.has():
		return c.budget(budget.whole())
	}
	return ""
}

func (c rulesGoogle) level(level node) string {
	effort := strings.ToLower(level.text())
	switch {
	case !slices.Contains(sheet.Levels, effort) || effort == "none" || effort == "max":
		c.wrong("", "Invalid value at 'generation_config.thinking_config.thinking_level' (type.googleapis.com/google.ai.generativelanguage.v1beta.ThinkingConfig.ThinkingLevel), %q", level.text())
	case !slices.Contains(c.traits.Efforts, effort):
		c.wrong("", "Thinking level %s is not supported for this model.", strings.ToUpper(effort))
	}
	return effort
}

func (c rulesGoogle) budget(tokens int) string {
	const least, most = 512, 24576
	switch {
	case tokens == -1: // as much as it finds right
		return ""
	case tokens == 0 && !slices.Contains(c.traits.Efforts, "none"):
		c.wrong("", "Budget 0 is invalid. This model only works in thinking mode.")
	case tokens == 0:
		return "none"
	case tokens < least || tokens > most:
		c.wrong("", "The thinking budget %d is invalid. Please choose a value between %d and %d.", tokens, least, most)
	}
	for _, b := range googleBudgets { // it may be less to leave room for the reply
		if tokens >= max(least, min(b.tokens, c.Decoded.MaxTokens/2)) {
			return b.effort
		}
	}
	return ""
}

// tools checks what may stand beside each other.
func (c rulesGoogle) tools(doc node) {
	tools := doc.at("tools").has()
	config := doc.at("generationConfig")
	if tools && config.at("responseMimeType").text() == "application/json" && !c.traits.Mixed {
		c.wrong("", "Function calling with a response mime type: 'application/json' is unsupported")
	}
	if config.at("candidateCount").whole() > 1 {
		c.wrong("", "Multiple candidates is not enabled for this model")
	}
	if doc.at("cachedContent").has() && (tools || doc.at("systemInstruction").has() || doc.at("toolConfig").has()) {
		c.wrong("", "CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config. Proposed fix: move those values to CachedContent from GenerateContent request.")
	}
}
