package redact

import (
	"encoding/base64"
	"math"
	"strings"
)

// A shape is how the keys of a vendor look: one of the prefixes, which nothing
// else has, and then at least so many characters of an alphabet. They are taken from the
// vendors' own pages on secret scanning and key formats.
type shape struct {
	kind, prefix string // prefixes, with spaces between them
	least        int
	alphabet     alphabet
	digit        bool // there must be one, since the prefix may begin words too

	then []part // what follows the characters
	most int    // characters before it
}

// A part of a key is a text and so many characters of an alphabet, or more.
type part struct {
	begin    string
	least    int
	alphabet alphabet
	longer   bool
}

const discord = "discord_token" // begins with a number in base64

// alphabet says which bytes a key is made of.
type alphabet func(byte) bool

func upper(c byte) bool  { return c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' }
func lowHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }
func alnum(c byte) bool  { return digit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func word(c byte) bool   { return alnum(c) || c == '_' || c == '-' }
func path(c byte) bool   { return word(c) || c == '/' }
func dotted(c byte) bool { return word(c) || c == '.' }

var shapes = []shape{
	{"anthropic_key", "sk-ant-", 20, word, false, nil, 0},
	{"openai_key", "sk-", 20, word, true, nil, 0}, // openrouter's and others' too
	{"aws_access_key", "AKIA ASIA", 16, upper, false, nil, 0},
	{"azure_key", "AccountKey=", 40, func(c byte) bool { return alnum(c) || c == '+' || c == '/' || c == '=' }, false, nil, 0},
	{"databricks_token", "dapi", 32, lowHex, false, nil, 0},
	{"digitalocean_token", "dop_v1_", 32, lowHex, false, nil, 0},
	{"doppler_token", "dp.pt.", 30, alnum, false, nil, 0},
	{"figma_token", "figd_", 30, word, false, nil, 0},
	{"github_token", "ghp_ gho_ ghu_ ghs_ ghr_", 30, alnum, false, nil, 0},
	{"github_token", "github_pat_", 40, word, false, nil, 0},
	{"gitlab_token", "glpat-", 20, dotted, false, nil, 0},
	{"google_key", "AIza", 35, word, false, nil, 0},
	{"google_secret", "GOCSPX-", 20, word, false, nil, 0},
	{"google_token", "ya29.", 20, word, false, nil, 0},
	{"grafana_token", "glsa_", 30, word, false, nil, 0},
	{"groq_key", "gsk_", 30, alnum, false, nil, 0},
	{"huggingface_token", "hf_", 30, alnum, false, nil, 0},
	{"linear_key", "lin_api_", 30, alnum, false, nil, 0},
	{"newrelic_key", "NRAK-", 20, upper, false, nil, 0},
	{"notion_token", "ntn_", 30, alnum, false, nil, 0},
	{"npm_token", "npm_", 36, alnum, false, nil, 0},
	{"perplexity_key", "pplx-", 30, alnum, false, nil, 0},
	{"postman_key", "PMAK-", 30, word, false, nil, 0},
	{"pypi_token", "pypi-AgE", 40, word, false, nil, 0},
	{"replicate_token", "r8_", 30, alnum, false, nil, 0},
	{"sendgrid_key", "SG.", 40, dotted, false, nil, 0},
	{"shopify_token", "shpat_ shpss_", 30, lowHex, false, nil, 0},
	{"slack_token", "xoxa- xoxb- xoxp- xoxr- xoxs- xapp-", 10, word, true, nil, 0},
	{"square_token", "sq0atp-", 20, word, false, nil, 0},
	{"square_secret", "sq0csp-", 20, word, false, nil, 0},
	{"stripe_key", "sk_live_ sk_test_ rk_live_ rk_test_", 16, alnum, false, nil, 0},
	{"stripe_secret", "whsec_", 20, alnum, false, nil, 0},
	{"supabase_key", "sbp_", 30, alnum, false, nil, 0},
	{"tailscale_key", "tskey-", 20, word, false, nil, 0},
	{"vault_token", "hvs.", 20, word, false, nil, 0},
	{"xai_key", "xai-", 30, alnum, false, nil, 0},
	{"age_key", "AGE-SECRET-KEY-1", 40, upper, false, nil, 0},
	{"atlassian_token", "ATATT3", 60, func(c byte) bool { return word(c) || c == '=' }, false, nil, 0},
	{"brevo_key", "xkeysib-", 64, word, false, nil, 0},
	{"docker_token", "dckr_pat_", 20, word, false, nil, 0},
	{"heroku_key", "HRKU-", 36, word, false, nil, 0},
	{"langsmith_key", "lsv2_", 32, word, false, nil, 0},
	{"mailgun_key", "key-", 32, lowHex, false, nil, 0},
	{"pinecone_key", "pcsk_", 40, word, false, nil, 0},
	{"planetscale_token", "pscale_tkn_ pscale_pw_", 30, dotted, false, nil, 0},
	{"pulumi_token", "pul-", 40, lowHex, false, nil, 0},
	{"rubygems_key", "rubygems_", 48, lowHex, false, nil, 0},
	{"sentry_token", "sntrys_", 40, func(c byte) bool { return word(c) || c == '+' || c == '/' || c == '=' }, false, nil, 0},
	{"slack_webhook", "hooks.slack.com/services/", 30, path, false, nil, 0},
	{"tavily_key", "tvly-", 20, word, false, nil, 0},
	{"twilio_key", "SK", 32, lowHex, false, nil, 0},
	{"twilio_account", "AC", 32, lowHex, false, nil, 0},
	{"discord_webhook", "discord.com/api/ discordapp.com/api/", 85, path, false, nil, 0}, // webhooks/, a number of 17 digits or more and 68 characters
	{"dropbox_token", "sl.", 100, dotted, false, nil, 0},
	{"hubspot_token", "pat-na1- pat-na2- pat-eu1-", 36, word, false, nil, 0},
	{"netlify_token", "nfp_", 36, alnum, false, nil, 0},
	{"onepassword_token", "ops_eyJ", 100, word, false, nil, 0},
	{"square_token", "EAAA", 56, word, false, nil, 0},
	{"telegram_token", "", 8, digit, false, []part{{":", 35, word, false}}, 10},
	{"telegram_token", "bot", 8, digit, false, []part{{":", 35, word, false}}, 10}, // in a URL
	{"airtable_token", "pat", 14, alnum, false, []part{{".", 64, lowHex, false}}, 14},
	{"resend_key", "re_", 8, alnum, false, []part{{"_", 24, alnum, false}}, 8},
	{"mailchimp_key", "", 32, lowHex, false, []part{{"-us", 1, digit, true}}, 32},
	{"mailgun_key", "", 32, lowHex, false, []part{{"-", 8, lowHex, false}, {"-", 8, lowHex, false}}, 32},
	{discord, "", 23, word, false, []part{{".", 6, word, false}, {".", 27, word, true}}, 28},
}

// byFirst are the shapes by the first byte of their prefix, with one prefix each,
// and shortest is how short the shortest key is. All else that [Tokens] finds is
// longer, or has a colon in it.
var byFirst, shortest = func() (by [256][]shape, least int) {
	least = math.MaxInt
	for _, s := range shapes {
		for prefix := range strings.SplitSeq(s.prefix, " ") {
			s.prefix = prefix
			if s.then == nil {
				least = min(least, len(prefix)+s.least)
			}
			for c := range by {
				if prefix != "" && prefix[0] == byte(c) || prefix == "" && s.alphabet(byte(c)) {
					by[c] = append(by[c], s)
				}
			}
		}
	}
	return by, least
}()

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
			span = vendor(s, i)
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

// vendor finds a key of a vendor.
func vendor(s string, i int) Span {
	rest, list := s[i:], byFirst[s[i]]
	for k := range list {
		shape := &list[k]
		from := i + len(shape.prefix)
		if len(shape.prefix) > 1 && !strings.HasPrefix(rest, shape.prefix) {
			continue
		}
		end := run(s, from, shape.alphabet)
		first := s[from:end]
		if len(first) < shape.least {
			continue
		}
		fits := (!shape.digit || strings.ContainsAny(first, "0123456789")) &&
			(shape.then == nil || len(first) <= shape.most)
		for _, p := range shape.then {
			if fits = fits && strings.HasPrefix(s[end:], p.begin); fits {
				from := end + len(p.begin)
				end = run(s, from, p.alphabet)
				fits = end-from >= p.least && (end-from == p.least || p.longer)
			}
		}
		if !fits || shape.then != nil && end < len(s) && alnum(s[end]) {
			continue
		}
		number, err := base64.RawURLEncoding.DecodeString(first)
		if shape.kind != discord || err == nil && run(string(number), 0, digit) == len(number) {
			return Span{shape.kind, i, end}
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
