package bedrock

import (
	"regexp"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/sheet"
	"github.com/pawl-run/pawl/model/internal/provider"
)

var (
	scoped   = regexp.MustCompile(`^(global|us|us-gov|eu|apac|au|jp|ca)\.`)
	release  = regexp.MustCompile(`(-v\d+)?(:\d+)?(:\d+k)?$`)
	regional = regexp.MustCompile(`^(anthropic\.claude-[a-z]+-(4-[5-9]|[5-9])|amazon\.nova-2)`) // costs a tenth more outside of global profiles
)

// price is that of Anthropic for a model of Anthropic, as AWS publishes it, and for Amazon's
// own the one of US East (https://aws.amazon.com/bedrock/pricing/). Others have no price: it
// depends on the region.
func price(model string) *pawl.Price {
	name := scoped.ReplaceAllString(model, "")
	r, known := novas[release.ReplaceAllString(name, "")]
	if own, ok := strings.CutPrefix(name, "anthropic."); ok {
		var row sheet.Model
		row, known = sheet.Lookup("anthropic", release.ReplaceAllString(own, ""))
		r = row.On(time.Now())
	}
	if !known {
		return nil
	}
	f := 1.0
	if !strings.HasPrefix(model, "global.") && regional.MatchString(name) {
		f = 1.1
	}
	return provider.Price(r, f)
}

var novas = map[string]sheet.Rates{
	"amazon.nova-micro":   {Input: 0.035, Output: 0.14, CacheRead: 0.00875},
	"amazon.nova-lite":    {Input: 0.06, Output: 0.24, CacheRead: 0.015},
	"amazon.nova-pro":     {Input: 0.8, Output: 3.2, CacheRead: 0.2},
	"amazon.nova-premier": {Input: 2.5, Output: 12.5, CacheRead: 0.625},
	"amazon.nova-2-lite":  {Input: 0.3, Output: 2.5, CacheRead: 0.075},
}
