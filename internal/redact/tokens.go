package redact

import (
	"encoding/base64"
	"slices"
	"strings"
)

// A shape is how the keys of a vendor look: a prefix that nothing else has, and
// then at least so many characters of an alphabet. They are taken from the
// vendors' own pages on secret scanning and key formats.
type shape struct {
	kind, prefix string
	least        int
	alphabet     alphabet
	digit        bool // there must be one, since the prefix may begin words too
}

// alphabet says which bytes a key is made of.
type alphabet func(byte) bool

func upper(c byte) bool  { return c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' }
func lowHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }
func alnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
func word(c byte) bool   { return alnum(c) || c == '_' || c == '-' }
func path(c byte) bool   { return word(c) || c == '/' }
func dotted(c byte) bool { return word(c) || c == '.' }

var shapes = []shape{
	{"anthropic_key", "sk-ant-", 20, word, false},
	{"openai_key", "sk-", 20, word, true}, // openrouter's and others' too
	{"aws_access_key", "AKIA", 16, upper, false},
	{"aws_access_key", "ASIA", 16, upper, false},
	{"azure_key", "AccountKey=", 40, func(c byte) bool { return alnum(c) || c == '+' || c == '/' || c == '=' }, false},
	{"databricks_token", "dapi", 32, lowHex, false},
	{"digitalocean_token", "dop_v1_", 32, lowHex, false},
	{"doppler_token", "dp.pt.", 30, alnum, false},
	{"figma_token", "figd_", 30, word, false},
	{"github_token", "ghp_", 30, alnum, false},
	{"github_token", "gho_", 30, alnum, false},
	{"github_token", "ghu_", 30, alnum, false},
	{"github_token", "ghs_", 30, alnum, false},
	{"github_token", "ghr_", 30, alnum, false},
	{"github_token", "github_pat_", 40, word, false},
	{"gitlab_token", "glpat-", 20, dotted, false},
	{"google_key", "AIza", 35, word, false},
	{"google_secret", "GOCSPX-", 20, word, false},
	{"google_token", "ya29.", 20, word, false},
	{"grafana_token", "glsa_", 30, word, false},
	{"groq_key", "gsk_", 30, alnum, false},
	{"huggingface_token", "hf_", 30, alnum, false},
	{"linear_key", "lin_api_", 30, alnum, false},
	{"newrelic_key", "NRAK-", 20, upper, false},
	{"notion_token", "ntn_", 30, alnum, false},
	{"npm_token", "npm_", 36, alnum, false},
	{"perplexity_key", "pplx-", 30, alnum, false},
	{"postman_key", "PMAK-", 30, word, false},
	{"pypi_token", "pypi-AgE", 40, word, false},
	{"replicate_token", "r8_", 30, alnum, false},
	{"sendgrid_key", "SG.", 40, dotted, false},
	{"shopify_token", "shpat_", 30, lowHex, false},
	{"shopify_token", "shpss_", 30, lowHex, false},
	{"slack_token", "xoxa-", 10, word, true},
	{"slack_token", "xoxb-", 10, word, true},
	{"slack_token", "xoxp-", 10, word, true},
	{"slack_token", "xoxr-", 10, word, true},
	{"slack_token", "xoxs-", 10, word, true},
	{"slack_token", "xapp-", 10, word, true},
	{"square_token", "sq0atp-", 20, word, false},
	{"square_secret", "sq0csp-", 20, word, false},
	{"stripe_key", "sk_live_", 16, alnum, false},
	{"stripe_key", "sk_test_", 16, alnum, false},
	{"stripe_key", "rk_live_", 16, alnum, false},
	{"stripe_key", "rk_test_", 16, alnum, false},
	{"stripe_secret", "whsec_", 20, alnum, false},
	{"supabase_key", "sbp_", 30, alnum, false},
	{"tailscale_key", "tskey-", 20, word, false},
	{"vault_token", "hvs.", 20, word, false},
	{"xai_key", "xai-", 30, alnum, false},
	{"age_key", "AGE-SECRET-KEY-1", 40, upper, false},
	{"atlassian_token", "ATATT3", 60, func(c byte) bool { return word(c) || c == '=' }, false},
	{"brevo_key", "xkeysib-", 64, word, false},
	{"docker_token", "dckr_pat_", 20, word, false},
	{"heroku_key", "HRKU-", 36, word, false},
	{"langsmith_key", "lsv2_", 32, word, false},
	{"mailgun_key", "key-", 32, lowHex, false},
	{"pinecone_key", "pcsk_", 40, word, false},
	{"planetscale_token", "pscale_tkn_", 30, dotted, false},
	{"planetscale_token", "pscale_pw_", 30, dotted, false},
	{"pulumi_token", "pul-", 40, lowHex, false},
	{"rubygems_key", "rubygems_", 48, lowHex, false},
	{"sentry_token", "sntrys_", 40, func(c byte) bool { return word(c) || c == '+' || c == '/' || c == '=' }, false},
	{"slack_webhook", "hooks.slack.com/services/", 30, path, false},
	{"tavily_key", "tvly-", 20, word, false},
	{"twilio_key", "SK", 32, lowHex, false},
	{"twilio_account", "AC", 32, lowHex, false},
	{"discord_webhook", "discord.com/api/", 85, path, false}, // webhooks/, a number of 17 digits or more and 68 characters
	{"discord_webhook", "discordapp.com/api/", 85, path, false},
	{"dropbox_token", "sl.", 100, dotted, false},
	{"hubspot_token", "pat-na1-", 36, word, false},
	{"hubspot_token", "pat-na2-", 36, word, false},
	{"hubspot_token", "pat-eu1-", 36, word, false},
	{"netlify_token", "nfp_", 36, alnum, false},
	{"onepassword_token", "ops_eyJ", 100, word, false},
	{"square_token", "EAAA", 56, word, false},
}

// byFirst are the shapes by the first byte of their prefix.
var byFirst = func() (by [256][]shape) {
	for _, s := range shapes {
		by[s.prefix[0]] = append(by[s.prefix[0]], s)
	}
	return by
}()

// shortest is how short the shortest key of a vendor is. All else that [Tokens]
// finds is longer, or has a colon in it.
var shortest = slices.MinFunc(shapes, func(a, b shape) int { return a.size() - b.size() }).size()

func (s shape) size() int { return len(s.prefix) + s.least }

// Tokens finds what by its own shape can hardly be anything but a secret: keys
// of vendors, JSON web tokens, what follows the word Bearer, private keys, and
// passwords in URLs. The spans are in order and do not overlap.
func Tokens(s string) (spans []Span) {
	for i := 0; i < len(s); {
		span := Span{}
		switch c := s[i]; {
		case c == '-':
			span = privateKey(s, i)
		case c == ':':
			span = urlPassword(s, i)
		case (c == 'b' || c == 'B') && begins(s, i):
			span = bearer(s, i)
		case c == 'e' && begins(s, i):
			span = webToken(s, i)
		}
		if span.End == 0 && alnum(s[i]) && begins(s, i) {
			if span = vendor(s, i); span.End == 0 {
				span = unprefixed(s, i)
			}
		}
		if span.End == 0 {
			if i++; i < len(s) && !begins(s, i) {
				i = run(s, i, alnum) // no word begins within a word
			}
			continue
		}
		spans = append(spans, span)
		i = span.End
	}
	return spans
}

// begins reports whether a word may begin at i. What stands before it may be an
// escaped line end, whose letter does not count.
func begins(s string, i int) bool {
	if i == 0 || !word(s[i-1]) {
		return true
	}
	return i > 1 && s[i-2] == '\\' && strings.IndexByte("nrt", s[i-1]) >= 0
}

// run is where the bytes of an alphabet that begin at i end.
func run(s string, i int, in alphabet) int {
	for i < len(s) && in(s[i]) {
		i++
	}
	return i
}

func vendor(s string, i int) Span {
	for _, shape := range byFirst[s[i]] {
		from := i + len(shape.prefix)
		if !strings.HasPrefix(s[i:], shape.prefix) {
			continue
		}
		end := run(s, from, shape.alphabet)
		if end-from < shape.least || shape.digit && !strings.ContainsAny(s[from:end], "0123456789") {
			continue
		}
		return Span{shape.kind, i, end}
	}
	return Span{}
}

// unprefixed is a key of a vendor whose keys all begin otherwise and have a form
// of their own: of a Telegram bot (its number, a colon, 35 characters; in a URL
// behind bot), of Mailgun (32, 8 and 8 hexadecimal digits), of Mailchimp (32 and a
// data centre), of Airtable (pat and 14 characters, 64 hexadecimal digits), of
// Resend (re, 8 and 24 characters), of a Discord bot (its number in base64, 6
// characters, 27 or more).
func unprefixed(s string, i int) Span {
	switch {
	case strings.HasPrefix(s[i:], "bot"):
		i += len("bot")
	case strings.HasPrefix(s[i:], "pat"):
		name := run(s, i, alnum)
		if name-i == 17 && strings.HasPrefix(s[name:], ".") && run(s, name+1, lowHex)-name-1 == 64 {
			return Span{"airtable_token", i, name + 65}
		}
	case strings.HasPrefix(s[i:], "re_"):
		first := run(s, i+3, alnum)
		if first-i == 11 && strings.HasPrefix(s[first:], "_") {
			if end := run(s, first+1, alnum); end-first-1 == 24 {
				return Span{"resend_key", i, end}
			}
		}
	}
	digits := run(s, i, func(c byte) bool { return c >= '0' && c <= '9' })
	if n := digits - i; n >= 8 && n <= 10 && digits < len(s) && s[digits] == ':' {
		if end := run(s, digits+1, word); end-digits-1 == 35 {
			return Span{"telegram_token", i, end}
		}
	}
	if hex := run(s, i, lowHex); hex-i == 32 && strings.HasPrefix(s[hex:], "-") {
		if end := run(s, hex+1, alnum); strings.HasPrefix(s[hex:], "-us") && end > hex+3 && strings.Trim(s[hex+3:end], "0123456789") == "" {
			return Span{"mailchimp_key", i, end}
		}
		middle := run(s, hex+1, lowHex)
		if middle-hex-1 == 8 && strings.HasPrefix(s[middle:], "-") {
			if end := run(s, middle+1, lowHex); end-middle-1 == 8 && (end == len(s) || !word(s[end])) {
				return Span{"mailgun_key", i, end}
			}
		}
	}
	const leastDiscord, mostDiscord = 23, 28 // of a number of 17 to 20 digits
	if first := run(s, i, word); first-i >= leastDiscord && first-i <= mostDiscord && strings.HasPrefix(s[first:], ".") {
		number, err := base64.RawURLEncoding.DecodeString(s[i:first])
		middle := run(s, first+1, word)
		if err == nil && strings.Trim(string(number), "0123456789") == "" && middle-first-1 == 6 && strings.HasPrefix(s[middle:], ".") {
			if end := run(s, middle+1, word); end-middle-1 >= 27 {
				return Span{"discord_token", i, end}
			}
		}
	}
	return Span{}
}

// privateKey is a PEM block (RFC 7468) of a private key, or its beginning.
func privateKey(s string, i int) Span {
	const begin, end, dashes = "-----BEGIN ", "-----END ", "-----"
	if !strings.HasPrefix(s[i:], begin) {
		return Span{}
	}
	label := s[i+len(begin):]
	label = label[:min(len(label), 64)]
	n := strings.Index(label, dashes)
	if n < 0 || !strings.Contains(label[:n], "PRIVATE KEY") {
		return Span{}
	}
	body := i + len(begin) + n + len(dashes)
	stop := strings.Index(s[body:], end)
	if stop < 0 { // what was cut short ends where nothing of a key can stand
		return Span{"private_key", i, run(s, body, func(c byte) bool { return alnum(c) || strings.IndexByte("+/=:,- \t\r\n\\", c) >= 0 })}
	}
	stop += body + len(end)
	if n := strings.Index(s[stop:min(len(s), stop+64)], dashes); n >= 0 {
		stop += n + len(dashes)
	}
	return Span{"private_key", i, stop}
}

// webToken is a JSON Web Token (RFC 7519): three parts of base64url with points
// between them, of which the first two are objects, so that they begin with eyJ.
func webToken(s string, i int) Span {
	const least = 10
	if !strings.HasPrefix(s[i:], "eyJ") {
		return Span{}
	}
	header := run(s, i, word)
	if header-i < least || !strings.HasPrefix(s[header:], ".eyJ") {
		return Span{}
	}
	body := run(s, header+1, word)
	if body-header < least || body >= len(s) || s[body] != '.' {
		return Span{}
	}
	return Span{"jwt", i, run(s, body+1, word)}
}

// bearer is the credential behind the word Bearer (RFC 6750, section 2.1).
func bearer(s string, i int) Span {
	const scheme, least = "bearer ", 16
	if len(s)-i < len(scheme)+least || !strings.EqualFold(s[i:i+len(scheme)], scheme) {
		return Span{}
	}
	from := i + len(scheme)
	end := run(s, from, func(c byte) bool { return dotted(c) || strings.IndexByte("~+/=", c) >= 0 })
	if end-from < least {
		return Span{}
	}
	return Span{"bearer_token", from, end}
}

// urlPassword is the password in scheme://user:password@host (RFC 3986, section
// 3.2.1); i is the colon behind the scheme.
func urlPassword(s string, i int) Span {
	const most = 512
	if !strings.HasPrefix(s[i:], "://") || i == 0 || !alnum(s[i-1]) {
		return Span{}
	}
	from := i + len("://")
	end := from
	for end < len(s) && end-from < most && strings.IndexByte("/?# \t\r\n\"'<>`\\", s[end]) < 0 {
		end++
	}
	at := strings.LastIndexByte(s[from:end], '@')
	if at < 0 {
		return Span{}
	}
	colon := strings.IndexByte(s[from:from+at], ':')
	if colon < 0 || colon+1 == at {
		return Span{}
	}
	if reference(s[from+colon+1 : from+at]) {
		return Span{}
	}
	return Span{"url_password", from + colon + 1, from + at}
}

// reference reports whether a value only says where the real one comes from: a
// variable, a template, a placeholder.
func reference(value string) bool {
	switch rest := strings.TrimLeft(value, "$"); {
	case value == Marker, strings.HasPrefix(value, "{{"), strings.HasPrefix(value, "<"), strings.HasPrefix(value, "***"), strings.HasPrefix(value, "..."):
		return true
	case rest != value:
		return strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, "(") || run(rest, 0, func(c byte) bool { return upper(c) || c == '_' }) == len(rest)
	case value[:min(1, len(value))] == "%":
		return len(value) < 3 || strings.HasSuffix(value, "%")
	}
	return false
}
