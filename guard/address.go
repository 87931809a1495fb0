package guard

import "strings"

// addresses finds IP addresses, version 4 with four numbers and version 6 as RFC
// 4291 writes it, section 2.2. Four numbers with points between them may as well
// be a version: whoever looks for addresses has to live with that.
func addresses(text string) (found []span) {
	for i := 0; i < len(text); i++ {
		if c := text[i]; !hex(c) && c != ':' || i > 0 && (alnum(text[i-1]) || text[i-1] == '.' || text[i-1] == ':') {
			continue
		}
		end := i
		for end < len(text) && (hex(text[end]) || text[end] == '.' || text[end] == ':') {
			end++
		}
		run := end
		for end > i && (text[end-1] == '.' || text[end-1] == ':' && !strings.HasSuffix(text[:end], "::")) {
			end--
		}
		if apart(text, i, run) {
			if colon := portAt(text[i:end]); four(text[i:end]) || six(text[i:end]) {
				found = append(found, span{"ip", i, end})
			} else if colon > 0 && four(text[i:i+colon]) {
				found = append(found, span{"ip", i, i + colon})
			}
		}
		i = run
	}
	return found
}

func hex(c byte) bool { return digit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

// portAt is where the port begins of what has one colon; zero: it has not.
func portAt(s string) int {
	if strings.Count(s, ":") != 1 {
		return 0
	}
	return strings.IndexByte(s, ':')
}

func four(s string) bool {
	parts := strings.SplitN(s, ".", 5)
	if len(parts) != 4 {
		return false
	}
	for _, p := range parts {
		if len(p) == 0 || len(p) > 3 || len(p) > 1 && p[0] == '0' {
			return false
		}
		n := 0
		for i := range len(p) {
			if !digit(p[i]) {
				return false
			}
			n = n*10 + int(p[i]-'0')
		}
		if n > 255 {
			return false
		}
	}
	return true
}

func six(s string) bool {
	const most = 45 // characters, with four numbers at the end
	if len(s) > most || strings.Count(s, ":") < 2 {
		return false
	}
	head, tail, short := strings.Cut(s, "::")
	if short && (strings.Contains(tail, "::") || head == "" && tail == "") {
		return false
	}
	groups := 0
	for _, side := range []string{head, tail} {
		if side == "" {
			continue
		}
		parts := strings.Split(side, ":")
		for i, p := range parts {
			switch {
			case i == len(parts)-1 && four(p) && (side == tail || !short):
				groups += 2
			case len(p) == 0 || len(p) > 4 || strings.IndexByte(p, '.') >= 0:
				return false
			default:
				groups++
			}
		}
	}
	return groups == 8 || short && groups < 8
}
