package guard

import (
	"regexp"
	"strings"
)

// A read that goes somewhere transmits its arguments. Destinations are
// recognised by form, whatever the argument's name.

// suffixes are last labels of hosts: the usual ones, reserved ones (RFC 2606,
// RFC 6762), and those of countries that are not file extensions.
var suffixes = one("com net org edu gov mil int info biz name pro mobi io dev app page web cloud online site shop store space tech top xyz live link " +
	"click blog news world agency host website club vip work icu fun win test example invalid local internal localhost onion arpa " +
	"ac ad ae af ag ai al ar at au az ba bd be bg bh bo br by bz ca cd ch cl cm cn co cr cu cy cz de dk do dz ec ee eg es et eu fi fj fr " +
	"gd ge gg gh gl gr gt hk hn hr ht hu id ie il im iq ir is it je jm jo jp ke kg kh kr kw kz la lb li lk lt lu lv ly ma mc me mk mn mt mu " +
	"mx my mz na ng ni nl no np nu nz om pa pe ph pk pr pt pw qa ro ru sa se sg si sk sn su sv sy th tj tk tm tn to tr tt tv tw tz ua ug uk us " +
	"uy uz va vc ve vn ws ye za zm zw")

// ambiguous are suffixes that are also file extensions. Only a path or further
// labels make such a name a host.
var ambiguous = one("cc gq in ml mov pl ps py rs sh so st md tf zip")

var absolute = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:(//|\\\\)`)

// away reports whether a text is a destination: a URL, with or without a
// scheme, a share, a mail address, or a host and a path.
func away(text string) bool {
	text = strings.TrimSpace(text)
	if absolute.MatchString(text) || strings.HasPrefix(text, "//") || strings.HasPrefix(text, `\\`) ||
		len(text) > 7 && strings.EqualFold(text[:7], "mailto:") {
		return true
	}
	if strings.ContainsAny(text, " \t\r\n") {
		return false
	}
	host, path := text, false
	if i := strings.IndexAny(host, `/\?#`); i >= 0 {
		host, path = host[:i], true
	}
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		if i == 0 {
			return false // a handle or a package
		}
		host, path = host[i+1:], true
	}
	if bare, port, ok := strings.Cut(host, ":"); ok && port != "" && strings.Trim(port, "0123456789") == "" {
		host, path = bare, true
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	labels := strings.Split(host, ".")
	if _, ok := four(host); ok || strings.Count(host, ":") > 1 && strings.Trim(host, "[]0123456789abcdef:.") == "" {
		return true
	}
	last := labels[len(labels)-1]
	if len(labels) < 2 || !suffixes[last] && !(ambiguous[last] && (path || len(labels) > 2)) && !strings.HasPrefix(last, "xn--") {
		return false
	}
	for _, l := range labels {
		if l == "" || strings.ContainsFunc(l, func(r rune) bool { return r != '-' && !isWordRune(r) }) {
			return false
		}
	}
	return true
}
