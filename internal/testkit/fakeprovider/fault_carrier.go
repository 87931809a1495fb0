package fakeprovider

import (
	"bytes"
	"time"
	"unicode/utf8"
)

// Faults of what carries a reply. Those that say so are none by the standards,
// and a client has to take them.
var carriers = []entry{
	{"wrong-content-type", 67, "The reply is declared as text/plain.", nil, onBytes(func(_ strike, o *outcome) { o.header.Set("Content-Type", "text/plain; charset=utf-8") })},
	{"gzip-garbage", 67, "The reply claims to be compressed, and is not.", nil, onBytes(func(_ strike, o *outcome) { o.header.Set("Content-Encoding", "gzip") })},
	{"byte-order-mark", 67, "A byte order mark comes first, which a stream of events allows.", nil, onBytes(func(_ strike, o *outcome) { o.units = append([][]byte{[]byte("\xEF\xBB\xBF")}, o.units...) })},
	{"crlf", 67, "Lines end in CRLF, which a stream of events allows.", []Wire{Anthropic, Chat, Responses}, onStream(func(_ strike, o *outcome) bool {
		for i, u := range o.units {
			o.units[i] = bytes.ReplaceAll(u, []byte("\n"), []byte("\r\n"))
		}
		return true
	})},
	{"comment-pings", 67, "Comments stand between the events, which a stream of events allows.", nil, onStream(func(_ strike, o *outcome) bool {
		var units [][]byte
		for _, u := range o.units {
			units = append(units, []byte(": ping\n\n"), u)
		}
		o.units = units
		return true
	})},
	{"split-utf8", 47, "The text has characters beyond ASCII, and every byte is written alone.", nil, deed{
		reply: func(_ strike, a *answer) bool { return a.append(letters) },
		bytes: func(_ strike, o *outcome) bool { o.chunk = 1; return true },
	}},
	{"reset-before-headers", 60, "The connection is reset before any answer.", nil, instead(func(strike) *outcome {
		return &outcome{silent: true, ending: reset}
	})},
	{"stale-connection", 60, "The reply is complete, but its connection is reset when the next request uses it; that request has this fault, and not its own.", nil, deed{
		bytes: func(_ strike, o *outcome) bool { o.stale = true; return false },
	}},
	{"no-answer", 21, "The server accepts the request and sends nothing, not even headers.", nil, instead(func(strike) *outcome {
		return &outcome{silent: true, ending: stalled}
	})},
	{"headers-only", 21, "The server sends the headers of a stream, and then nothing.", nil, onBytes(func(_ strike, o *outcome) { o.units, o.ending, o.hasty = nil, stalled, true })},
	{"late", 54, "The first byte comes K milliseconds late, or 100.", nil, onBytes(func(x strike, o *outcome) { o.wait = time.Duration(x.or(100)) * time.Millisecond })},
	{"late-after-headers", 21, "The headers come at once, the first byte K milliseconds late, or 100.", nil, onBytes(func(x strike, o *outcome) { o.wait, o.hasty = time.Duration(x.or(100))*time.Millisecond, true })},
	{"reset-mid-stream", 61, "The connection is reset after K events, or half of them; over HTTP/2, the stream is reset.", nil, cuts(reset)},
	{"drop-mid-stream", 61, "The connection is closed after K events, or half of them, without the end that HTTP asks for.", nil, cuts(dropped)},
	{"cut-mid-stream", 11, "The reply ends normally after K events, or half of them.", nil, cuts(whole)},
	{"cut-mid-bytes", 16, "The reply ends normally after K bytes, or half of them, wherever that is.", nil, onBytes(func(x strike, o *outcome) {
		o.units = [][]byte{bytes.Join(o.units, nil)}
		o.cut(x.k, whole)
	})},
	{"drop-mid-bytes", 61, "The connection is closed after K bytes, or half of them, wherever that is.", nil, onBytes(func(x strike, o *outcome) {
		o.units = [][]byte{bytes.Join(o.units, nil)}
		o.cut(x.k, dropped)
	})},
	{"stalled-stream", 20, "After K events, or half of them, nothing more comes, and the stream stays open.", nil, cuts(stalled)},
	{"pings-for-ever", 20, "After K events, or half of them, nothing comes but pings.", nil, onStream(func(x strike, o *outcome) bool {
		o.cut(x.k, endless)
		return true
	})},
	{"end-inside-utf8", 48, "The stream ends normally within a character.", nil, deed{
		reply: func(_ strike, a *answer) bool { return a.append(letters) },
		bytes: func(_ strike, o *outcome) bool {
			all := bytes.Join(o.units, nil)
			at := bytes.LastIndexFunc(all, func(r rune) bool { return r >= utf8.RuneSelf })
			if at < 0 {
				return false
			}
			o.units, o.ending = [][]byte{all[:at+1]}, whole
			return true
		},
	}},
	{"half-frame", 16, "The stream ends normally within event K, or the middle one.", nil, onStream(func(x strike, o *outcome) bool {
		if len(o.units) == 0 {
			return false
		}
		k := place(x.k, len(o.units)+1) - 1
		o.units = append(o.units[:max(0, k):max(0, k)], o.units[max(0, k)][:len(o.units[max(0, k)])/2])
		return true
	})},
	{"no-events", 10, "200 with a stream that ends normally without an event.", nil, onStream(func(_ strike, o *outcome) bool {
		o.units = nil
		return true
	})},
}

// What letters look like that take several bytes.
const letters = " é漢🙂"

// onBytes strikes every reply.
func onBytes(f func(x strike, o *outcome)) deed {
	return deed{bytes: func(x strike, o *outcome) bool {
		f(x, o)
		return true
	}}
}

// onStream strikes streams only.
func onStream(f func(x strike, o *outcome) bool) deed {
	return deed{bytes: func(x strike, o *outcome) bool { return x.in.Stream && f(x, o) }}
}

func instead(f func(x strike) *outcome) deed { return deed{instead: f} }

func cuts(e ending) deed { return onBytes(func(x strike, o *outcome) { o.cut(x.k, e) }) }

// append adds to the last text, or says something of its own.
func (a *answer) append(text string) bool {
	if it := a.last(saying); it != nil {
		it.text += text
		return true
	}
	at := 0
	for at < len(a.items) && a.items[at].kind == thinking {
		at++
	}
	a.items = append(a.items[:at:at], append([]item{{kind: saying, text: "Well." + text}}, a.items[at:]...)...)
	return true
}
