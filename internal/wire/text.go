package wire

import (
	"encoding"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// Raw codes JSON that is not looked into. It is written without white space and
// must be valid; nil is written as null and null read as nil. What was read is
// kept byte for byte.
func (c *Coder) Raw(name string, p *json.RawMessage) {
	if !c.decoding {
		if c.key(name) {
			c.appendRaw(name, *p)
		}
	} else if m := c.find(name); m != nil {
		*p = nil
		if c.data[m.val] != 'n' {
			*p = c.data[m.val:m.valEnd:m.valEnd]
		}
	}
}

// OptRaw is Raw, left out when nil, so that null stays different from nothing
// and is read as null.
func (c *Coder) OptRaw(name string, p *json.RawMessage) {
	if !c.decoding {
		if len(*p) > 0 {
			c.Raw(name, p)
		}
	} else if m := c.find(name); m != nil {
		*p = c.data[m.val:m.valEnd:m.valEnd]
	}
}

func (c *Coder) appendRaw(name string, raw []byte) {
	if len(raw) == 0 {
		c.buf = append(c.buf, "null"...)
		return
	}
	start := skipSpace(raw, 0)
	end, _, fault := skipValue(raw, start, c.depth)
	stop := end
	if fault == "" {
		stop, fault = skipEnd(raw, end)
	}
	if fault != "" {
		c.Fail(name, errors.New("the raw message is not JSON: "+fault+" at offset "+strconv.Itoa(stop)))
		return
	}
	c.buf = appendCompact(c.buf, raw[start:end])
}

// appendCompact appends checked JSON without the white space between tokens.
func appendCompact(dst, d []byte) []byte {
	from := 0
	for i := 0; i < len(d); {
		switch d[i] {
		case '"':
			i, _, _ = skipString(d, i)
		case ' ', '\t', '\n', '\r':
			dst = append(dst, d[from:i]...)
			i = skipSpace(d, i)
			from = i
		default:
			i++
		}
	}
	return append(dst, d[from:]...)
}

var errYear = errors.New("the year of a time must be between 0 and 9999 in UTC")

// Time codes an instant by RFC 3339 in UTC, with as many digits of the second as
// it has.
func (c *Coder) Time(name string, p *time.Time) {
	if !c.decoding {
		t := p.UTC()
		if y := t.Year(); y < 0 || y > 9999 {
			c.Fail(name, errYear)
		} else if c.key(name) {
			b := append(c.buf, '"')
			b = t.AppendFormat(b, time.RFC3339Nano)
			c.buf = append(b, '"')
		}
	} else if m, ok := c.value(name, '"'); ok {
		var t time.Time
		if err := t.UnmarshalText(c.bytes(m)); err != nil {
			c.fault(int(m.val), name, "want a time such as 2006-01-02T15:04:05Z: "+err.Error())
			return
		}
		t = t.UTC()
		if y := t.Year(); y < 0 || y > 9999 {
			c.fault(int(m.val), name, errYear.Error())
			return
		}
		*p = t
	}
}

// OptTime is Time, left out when zero.
func (c *Coder) OptTime(name string, p *time.Time) {
	if c.decoding || !p.IsZero() {
		c.Time(name, p)
	}
}

// OptDuration codes a duration as specs write it, such as 30m0s. Zero is left out.
func (c *Coder) OptDuration(name string, p *time.Duration) {
	var s string
	if !c.decoding && *p != 0 {
		s = p.String()
	}
	c.OptString(name, &s)
	if c.decoding && s != "" {
		d, err := time.ParseDuration(s)
		if err != nil {
			c.Fail(name, err)
		}
		*p = d
	}
}

// DurationMS codes a duration as a whole number of milliseconds; what is less is
// cut off.
func (c *Coder) DurationMS(name string, p *time.Duration) {
	if !c.decoding {
		if c.key(name) {
			c.buf = strconv.AppendInt(c.buf, p.Milliseconds(), 10)
		}
	} else if m, ok := c.value(name, '0'); ok {
		const most = math.MaxInt64 / int64(time.Millisecond)
		if n, ok := c.integer(name, m, -most, most); ok {
			*p = time.Duration(n) * time.Millisecond
		}
	}
}

// OptDurationMS is DurationMS, left out when it would be 0.
func (c *Coder) OptDurationMS(name string, p *time.Duration) {
	if c.decoding || p.Milliseconds() != 0 {
		c.DurationMS(name, p)
	}
}

// A TextCoder is a value that knows its own text, such as an enum. One that is
// an [encoding.TextAppender] as well is written without an allocation.
type TextCoder interface {
	encoding.TextMarshaler
	encoding.TextUnmarshaler
}

// Text codes a value as a string by its own methods.
func (c *Coder) Text(name string, p TextCoder) {
	if c.decoding {
		if m, ok := c.value(name, '"'); ok {
			if err := p.UnmarshalText(c.bytes(m)); err != nil {
				c.err = &Error{Field: name, Offset: int(m.val), Err: err}
			}
		}
		return
	}
	if !c.key(name) {
		return
	}
	a, ok := p.(encoding.TextAppender)
	if !ok {
		text, err := p.MarshalText()
		c.Fail(name, err)
		c.buf = AppendString(c.buf, text)
		return
	}
	start := len(c.buf)
	b, err := a.AppendText(append(c.buf, '"'))
	if err != nil {
		c.Fail(name, err)
		return
	}
	c.buf = append(b, '"')
	for _, ch := range b[start+1:] {
		if class[ch] != plain {
			c.buf = AppendString(b[:start], slices.Clone(b[start+1:]))
			return
		}
	}
}

// OptText is Text, left out when the value is its type's zero value. It is a
// function because a method cannot ask that of any type.
func OptText[T comparable, P interface {
	*T
	TextCoder
}](c *Coder, name string, p P) {
	var zero T
	if c.decoding || *p != zero {
		c.Text(name, p)
	}
}

// bytes returns the text of a string member, to be looked at only.
func (c *Coder) bytes(m *member) []byte {
	s := c.data[m.val+1 : m.valEnd-1]
	if m.flags != 0 && (m.flags&escaped != 0 || !utf8.Valid(s)) {
		return unescape(nil, s)
	}
	return s[:len(s):len(s)]
}
