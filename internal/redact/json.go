package redact

import "encoding/json"

// fewest is how many bytes a number must have to be looked at: no secret, card
// or account has fewer digits.
const fewest = Least

// Strings returns a JSON document with f applied to every string, the keys of
// objects included; all the rest of it, white space and the order of keys too,
// stays as it was. A number of six digits or more is a text to f as well: what
// f changes of it becomes a string. Of what is no JSON, as much as can be told
// apart is treated so.
func Strings(raw []byte, f func(string) string) []byte {
	var out []byte
	rest := 0
	put := func(from, to int, text string) {
		out = append(append(out, raw[rest:from]...), quote(text)...)
		rest = to
	}
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '"':
			end := stringEnd(raw, i)
			if end < 0 {
				i = len(raw)
				continue
			}
			var text string
			if json.Unmarshal(raw[i:end], &text) == nil {
				if clean := f(text); clean != text {
					put(i, end, clean)
				}
			}
			i = end
		case c == '-' || c >= '0' && c <= '9':
			end := numberEnd(raw, i)
			if end-i >= fewest {
				if text := string(raw[i:end]); f(text) != text {
					put(i, end, f(text))
				}
			}
			i = end
		default:
			i++
		}
	}
	if out == nil {
		return raw
	}
	return append(out, raw[rest:]...)
}

// stringEnd is where the string that begins at i ends; negative: nowhere.
func stringEnd(raw []byte, i int) int {
	for i++; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return -1
}

func numberEnd(raw []byte, i int) int {
	for i++; i < len(raw); i++ {
		switch c := raw[i]; {
		case c >= '0' && c <= '9', c == '.', c == '-', c == '+', c == 'e', c == 'E':
		default:
			return i
		}
	}
	return i
}

func quote(text string) []byte {
	raw, err := json.Marshal(text)
	if err != nil {
		return []byte(`""`) // a Go string always marshals
	}
	return raw
}
