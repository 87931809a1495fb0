package fakeprovider

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/sheet"
)

// rulesOfOpenAI checks what a model takes, by the model sheet, and refuses the rest in OpenAI's
// words. A model of another maker takes everything.
func (in *inbound) rulesOfOpenAI(doc, effort node) {
	t, known := sheet.TraitsOf("openai", cmp.Or(in.plays, in.Model))
	asked := effort.text()
	in.Decoded.Sampling.Effort = asked
	if !known {
		return
	}
	thinks := t.Thinks(asked)
	switch {
	case asked == "":
	case t.Thinking == "":
		in.unsupported(effort.path)
	case !slices.Contains(t.Efforts, asked):
		said := "'" + asked + "' is not supported with the '" + in.Model + "' model."
		if in.Wire == Chat {
			said = "'reasoning_effort' does not support '" + asked + "' with this model."
		}
		said = "Unsupported value: " + said + " Supported values are: '" + strings.Join(t.Efforts, "', '") + "'."
		in.complain(&refusal{class: pawl.ClassInvalid, param: effort.path, code: "unsupported_value", message: said})
	}
	if in.Wire == Chat && t.Toolless && thinks && doc.at("tools").has() {
		in.wrong("reasoning_effort", "Function tools with reasoning_effort are not supported for %s in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.", in.Model)
	}
	for _, name := range []string{"temperature", "top_p", "top_logprobs"} {
		if doc.at(name).has() && (t.Sampling == sheet.NeverSample || t.Sampling == sheet.Unthinking && thinks) {
			in.unsupported(name)
		}
	}
	cache := doc.at("prompt_cache_options")
	switch ttl := cache.at("ttl").text(); {
	case cache.has() && t.CacheFor != "12h":
		in.unsupported("prompt_cache_options")
	case ttl == "12h" && in.Wire == Responses:
		in.Decoded.Long = true
	case ttl != "" && ttl != "30m":
		in.wrong("prompt_cache_options.ttl", "Invalid value: '%s'. Supported values are: '30m'.", ttl)
	}
}

func (in *inbound) unsupported(param string) {
	r := invalid(param, "Unsupported parameter: '"+param+"' is not supported with this model.")
	r.code = "unsupported_parameter"
	in.complain(r)
}
