package redact

import (
	"regexp"
	"strings"
	"sync"

	"github.com/pawl-run/pawl/internal/naming"
)

// A rule is what the secrets of a vendor look like: one of the prefixes, with
// spaces between them, and what follows it. A group in the expression is the secret;
// without one, the secret is all of it.
type rule struct {
	kind, prefixes, rest string
}

// rules follow the vendors' pages on key formats and the rules of gitleaks
// (github.com/gitleaks/gitleaks, config/gitleaks.toml), which are stricter on lengths.
var rules = []rule{
	{"age_key", "AGE-SECRET-KEY-1", `[0-9A-Z]{40,}`},
	{"airtable_token", "pat", `[0-9A-Za-z]{14}\.[0-9a-f]{64}\b`},
	{"alibaba_key", "LTAI", `[0-9A-Za-z]{20}\b`},
	{"anthropic_key", "sk-ant-", `[\w-]{20,}`},
	{"atlassian_token", "ATATT3", `[\w=-]{60,}`},
	{"aws_access_key", "AKIA ASIA ABIA ACCA", `[0-9A-Z]{16,}`},
	{"azure_key", "AccountKey=", `[0-9A-Za-z+/=]{40,}`},
	{"bearer_token", "Bearer bearer BEARER", ` ([\w.~+/=-]{16,})`}, // RFC 6750, section 2.1
	{"brevo_key", "xkeysib-", `[\w-]{64,}`},
	{"databricks_token", "dapi", `[0-9a-f]{32,}`},
	{"digitalocean_token", "doo_v1_ dop_v1_ dor_v1_", `[0-9a-f]{32,}`},
	// The first part is a number of 17 to 19 digits in base64.
	{"discord_token", "M N O", `[DTjz][AEIMQUYcgk][w-z0-5](?:[MNO][DTjz][AEIMQUYcgk][w-z0-5]){4,5}[\w-]{0,3}\.[\w-]{6}\.[\w-]{27,}`},
	{"discord_webhook", "discord.com/api/ discordapp.com/api/", `[\w/-]{85,}`},
	{"docker_token", "dckr_pat_ dckr_oat_", `[\w-]{20,}`},
	{"doppler_token", "dp.pt.", `[0-9A-Za-z]{30,}`},
	{"dropbox_token", "sl.", `[\w.-]{100,}`},
	{"figma_token", "figd_", `[\w-]{30,}`},
	{"fly_token", "fo1_ fm1a_ fm1r_ fm2_", `[\w+/=-]{40,}`},
	{"github_token", "ghp_ gho_ ghu_ ghs_ ghr_", `[0-9A-Za-z]{30,}`},
	{"github_token", "github_pat_", `[\w-]{40,}`},
	{"gitlab_token", "glpat- glptt- glrt- gldt- glft- glcbt- glsoat- gloas-", `[\w.-]{20,}`},
	{"google_key", "AIza", `[\w-]{35,}`},
	{"google_secret", "GOCSPX-", `[\w-]{20,}`},
	{"google_token", "ya29.", `[\w-]{20,}`},
	{"grafana_token", "glsa_ glc_", `[\w+/=-]{30,}`},
	{"groq_key", "gsk_", `[0-9A-Za-z]{30,}`},
	{"heroku_key", "HRKU-", `[\w-]{36,}`},
	{"hubspot_token", "pat-na1- pat-na2- pat-eu1-", `[\w-]{36,}`},
	{"huggingface_token", "hf_ api_org_", `[0-9A-Za-z]{30,}`},
	{"jwt", "eyJ", `[\w-]{7,}\.eyJ[\w-]{6,}\.[\w-]*`}, // RFC 7519
	{"langsmith_key", "lsv2_", `[\w-]{32,}`},
	{"linear_key", "lin_api_", `[0-9A-Za-z]{30,}`},
	{"mailchimp_key", "0 1 2 3 4 5 6 7 8 9 a b c d e f", `[0-9a-f]{31}-us[0-9]+\b`},
	{"mailgun_key", "0 1 2 3 4 5 6 7 8 9 a b c d e f", `[0-9a-f]{31}-[0-9a-f]{8}-[0-9a-f]{8}\b`},
	{"mailgun_key", "key-", `[0-9a-f]{32,}`},
	{"netlify_token", "nfp_", `[0-9A-Za-z]{36,}`},
	{"newrelic_key", "NRAK-", `[0-9A-Z]{20,}`},
	{"notion_token", "ntn_", `[0-9A-Za-z]{30,}`},
	{"npm_token", "npm_", `[0-9A-Za-z]{36,}`},
	{"onepassword_token", "ops_eyJ", `[\w+/-]{100,}`},
	{"openai_key", "sk-", `(?:[A-Za-z_-]*[0-9][\w-]{15,}|[0-9A-Za-z]{32,})`}, // other vendors' too; words have no digits
	{"perplexity_key", "pplx-", `[0-9A-Za-z]{30,}`},
	{"pinecone_key", "pcsk_", `[\w-]{40,}`},
	{"planetscale_token", "pscale_tkn_ pscale_pw_ pscale_oauth_", `[\w.=-]{30,}`},
	{"postman_key", "PMAK-", `[\w-]{30,}`},
	// A PEM block (RFC 7468), or the beginning of one that was cut short.
	{"private_key", "-----BEGIN", `[ 0-9A-Z]{0,50} PRIVATE KEY[ A-Z]{0,10}-----(?:(?:-{0,4}[^-])*-----END [^-]{0,60}-----|[0-9A-Za-z+/=:,\- \t\r\n\\]*)`},
	{"pulumi_token", "pul-", `[0-9a-f]{40,}`},
	{"pypi_token", "pypi-AgE", `[\w-]{40,}`},
	{"replicate_token", "r8_", `[0-9A-Za-z]{30,}`},
	{"resend_key", "re_", `[0-9A-Za-z]{8}_[0-9A-Za-z]{24}\b`},
	{"rubygems_key", "rubygems_", `[0-9a-f]{48,}`},
	{"sendgrid_key", "SG.", `[\w.-]{40,}`},
	{"sentry_token", "sntrys_ sntryu_", `[\w+/=-]{40,}`},
	{"shopify_token", "shpat_ shpca_ shppa_ shpss_", `[0-9a-f]{30,}`},
	{"slack_token", "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", `[A-Za-z_-]*[0-9][\w-]{8,}`},
	{"slack_webhook", "hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/", `[\w/-]{30,}`},
	{"square_secret", "sq0csp-", `[\w-]{20,}`},
	{"square_token", "sq0atp-", `[\w-]{20,}`},
	{"square_token", "EAAA", `[\w-]{56,}`},
	{"stripe_key", "sk_live_ sk_test_ rk_live_ rk_test_", `[0-9A-Za-z]{16,}`},
	{"stripe_secret", "whsec_", `[0-9A-Za-z]{20,}`},
	{"supabase_key", "sbp_", `[0-9A-Za-z]{30,}`},
	{"tailscale_key", "tskey-", `[\w-]{20,}`},
	{"tavily_key", "tvly-", `[\w-]{20,}`},
	{"telegram_token", "bot 1 2 3 4 5 6 7 8 9", `[0-9]{7,10}:[\w-]{35}\b`}, // behind bot in a URL
	{"twilio_account", "AC", `[0-9a-f]{32,}`},
	{"twilio_key", "SK", `[0-9a-f]{32,}`},
	{"url_password", "://", `[^:\s/?#"'<>\x60\\]{0,255}:([^\s/?#"'<>\x60\\]{1,255})@`}, // RFC 3986, section 3.2.1
	{"vault_token", "hvs. hvb.", `[\w-]{20,}`},
	{"xai_key", "xai-", `[0-9A-Za-z]{30,}`},
}

// shortest is the length of the shortest secret that the rules find, and its prefix.
const shortest = 14

// A matcher is a rule with one prefix.
type matcher struct {
	kind, prefix string
	rest         *regexp.Regexp
}

// byFirst returns the matchers by the first byte of their prefix. They are compiled when a text is
// looked at: most commands look at none, and start faster.
var byFirst = sync.OnceValue(func() *[256][]matcher {
	var by [256][]matcher
	for _, r := range rules {
		rest := regexp.MustCompile("^(?:" + r.rest + ")")
		for prefix := range strings.SplitSeq(r.prefixes, " ") {
			by[prefix[0]] = append(by[prefix[0]], matcher{r.kind, prefix, rest})
		}
	}
	return &by
})

// Tokens finds what by its own shape can hardly be anything but a secret: keys
// of vendors, JSON web tokens, the word after Bearer, private keys, and
// passwords in URLs. The spans are in order and do not overlap.
func Tokens(s string) (spans []Span) {
	for i := 0; i < len(s); {
		span, found := token(s, i)
		if !found {
			i++
			continue
		}
		spans = append(spans, span)
		i = span.End
	}
	return spans
}

// token finds the secret that begins at s[i:].
func token(s string, i int) (Span, bool) {
	list := byFirst()[s[i]]
	if len(list) == 0 || s[i] != '-' && wordByte(s[i]) && !begins(s, i) {
		return Span{}, false
	}
	for k := range list {
		m := &list[k]
		if !strings.HasPrefix(s[i:], m.prefix) {
			continue
		}
		from := i + len(m.prefix)
		at := m.rest.FindStringSubmatchIndex(s[from:])
		switch {
		case at == nil:
		case len(at) == 2:
			return Span{m.kind, i, from + at[1]}, true
		case !reference(s[from+at[2] : from+at[3]]):
			return Span{m.kind, from + at[2], from + at[3]}, true
		}
	}
	return Span{}, false
}

// begins reports whether a word may begin at i. What stands before it may be an
// escaped line end, whose letter does not count.
func begins(s string, i int) bool {
	if i == 0 || !wordByte(s[i-1]) {
		return true
	}
	return i > 1 && s[i-2] == '\\' && strings.IndexByte("nrt", s[i-1]) >= 0
}

func wordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '-'
}

var references = naming.Regexp(`^(?:\[redacted\]$|\{\{|<|\*\*\*|\.\.\.|\$+(?:[{(]|[0-9A-Z_]*$)|%(?:.?$|.*%$))`)

// reference reports whether a value only says where the real one comes from: a
// variable, a template, a placeholder.
func reference(value string) bool { return references().MatchString(value) }
