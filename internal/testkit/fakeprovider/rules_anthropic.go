package fakeprovider

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/sheet"
)

// takes notes what the model of a request does not take. The sentences are the API's own.
func (c *checkAnthropic) takes(doc node) {
	t := c.model
	c.thinkingTypes(doc)
	c.effort(doc)
	for _, name := range []string{"temperature", "top_p", "top_k"} {
		v := doc.at(name)
		usual := name == "temperature" && v.number() == 1 || name == "top_p" && v.number() == 0.99
		if v.has() && t.Sampling == sheet.NeverSample && !usual {
			c.wrong("", "`%s` is deprecated for this model.", name)
		}
	}
	forced := doc.at("tool_choice").at("type").text()
	switch any := forced == "any" || forced == "tool"; {
	case any && t.Unforced:
		c.wrong("tool_choice", "type \"tool\" and \"any\" are not supported for this model.")
	case any && c.manual:
		c.wrong("", "Thinking may not be enabled when tool_choice forces tool use.")
	}
	if most := doc.at("max_tokens").whole(); t.Reply > 0 && most > t.Reply {
		c.wrong("", "max_tokens: %d > %d, which is the maximum allowed number of output tokens for %s", most, t.Reply, c.Model)
	}
	if doc.at("output_config").at("format").has() && t.NoSchema {
		c.wrong("output_config.format", "structured outputs are not supported for this model")
	}
}

// thinkingTypes reads how the model is asked to think.
func (c *checkAnthropic) thinkingTypes(doc node) {
	t, think := c.model, doc.at("thinking")
	kind := think.at("type").text()
	c.manual = kind == "enabled"
	c.thinks = c.manual || kind == "adaptive" || kind == "" && t.Effort != ""
	c.silent = kind == "disabled" || kind == "between_tools"
	instead := `Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`
	if t.Off == "between_tools" {
		instead = `Use "thinking.type.between_tools" for the lowest thinking setting, or "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`
	}
	refuse := func() { c.wrong("", "\"thinking.type.%s\" is not supported for this model. %s", kind, instead) }
	switch {
	case kind == "adaptive" && t.Thinking == sheet.ByBudget:
		c.wrong("", "adaptive thinking is not supported on this model")
	case c.manual && t.Thinking == sheet.Adaptive && t.Sampling == sheet.NeverSample, c.silent && kind != t.Off:
		refuse()
	case c.silent && t.Effort != "" && slices.Contains([]string{"xhigh", "max"}, doc.at("output_config").at("effort").text()):
		c.wrong("", "\"thinking.type.%s\" is not supported with this effort. Use effort \"high\" or below, or \"thinking.type.adaptive\".", kind)
	}
	display := think.at("display")
	switch {
	case display.has() && c.silent:
		c.wrong("thinking."+kind+".display", "Extra inputs are not permitted")
	case display.has() && !slices.Contains([]string{"summarized", "omitted"}, display.text()):
		c.wrong("thinking."+kind+".display", "Input should be 'summarized' or 'omitted'")
	}
	c.omits = display.text() == "omitted" || !display.has() && t.Sampling == sheet.NeverSample && !c.silent
}

// effort reads how much the model is to think.
func (c *checkAnthropic) effort(doc node) {
	t, effort := c.model, doc.at("output_config").at("effort")
	level := effort.text()
	switch {
	case c.manual:
		c.Decoded.Sampling.Effort = "high"
	case c.silent:
		c.Decoded.Sampling.Effort = "none"
	default:
		c.Decoded.Sampling.Effort = level
	}
	levels := sheet.Levels[2:] // Anthropic has no minimal, and other words for none
	taken := slices.DeleteFunc(slices.Clone(levels), func(l string) bool { return !slices.Contains(t.Efforts, l) })
	switch {
	case !effort.has():
	case !slices.Contains(levels, level):
		c.wrong("output_config.effort", "Input should be 'low', 'medium', 'high', 'xhigh' or 'max'")
	case t.Thinking == sheet.ByBudget && !strings.HasPrefix(cmp.Or(c.plays, c.Model), "claude-opus-4-5"): // it takes both
		c.wrong("", "This model does not support the effort parameter.")
	case !slices.Contains(taken, level):
		c.wrong("", "This model does not support effort level '%s'. Supported levels: %s.", level, strings.Join(taken, ", "))
	}
}
