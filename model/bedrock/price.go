package bedrock

import (
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/sheet"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// scopes come before the name of a model in the id of an inference profile.
var scopes = []string{"global", "us", "us-gov", "eu", "apac", "au", "jp", "ca"}

// unscoped returns the id of the model itself, of a model, an inference profile or an ARN of
// either. The ARN of a profile that a user made does not tell its model.
func unscoped(id string) string {
	id = id[strings.LastIndex(id, "/")+1:]
	if scope, model, ok := strings.Cut(id, "."); ok && slices.Contains(scopes, scope) {
		return model
	}
	return id
}

// claude returns Anthropic's own name of one of their models, which has neither a maker nor a
// release; empty: it is none of theirs.
func claude(id string) string {
	name, ok := strings.CutPrefix(unscoped(id), "anthropic.")
	if !ok || !strings.HasPrefix(name, "claude") {
		return ""
	}
	return unreleased(name)
}

// unreleased cuts off a release, such as -v1:0.
func unreleased(name string) string {
	name, _, _ = strings.Cut(name, ":")
	if i := strings.LastIndex(name, "-v"); i >= 0 && strings.Trim(name[i+2:], "0123456789") == "" {
		return name[:i]
	}
	return name
}

// nova reports whether a model is of Amazon's own.
func nova(id string) bool { return strings.HasPrefix(unscoped(id), "amazon.nova") }

// price is that of Anthropic for a model of Anthropic, as AWS publishes it, and for Amazon's
// own the one of US East (https://aws.amazon.com/bedrock/pricing/). Others have no price: it
// depends on the region. Outside of global profiles, Claude and the second Nova cost a tenth more.
func price(id string) *pawl.Price {
	name := unreleased(unscoped(id))
	r, known := novas[name]
	tenth := strings.HasPrefix(name, "amazon.nova-2")
	if own := claude(id); own != "" {
		var row sheet.Model
		row, known = sheet.Lookup("anthropic", own)
		r, tenth = row.On(time.Now()), true
	}
	switch {
	case !known || r.Input == 0:
		return nil
	case tenth && !strings.HasPrefix(id, "global."):
		return provider.Price(r, 1.1)
	}
	return provider.Price(r, 1)
}

var novas = map[string]sheet.Rates{
	"amazon.nova-micro":   {Input: 0.035, Output: 0.14, CacheRead: 0.00875},
	"amazon.nova-lite":    {Input: 0.06, Output: 0.24, CacheRead: 0.015},
	"amazon.nova-pro":     {Input: 0.8, Output: 3.2, CacheRead: 0.2},
	"amazon.nova-premier": {Input: 2.5, Output: 12.5, CacheRead: 0.625},
	"amazon.nova-2-lite":  {Input: 0.3, Output: 2.5, CacheRead: 0.075},
}
