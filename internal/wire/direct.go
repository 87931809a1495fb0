package wire

import (
	"errors"
	"math"
)

// Decode reads the one JSON object in data, whose fields f names, and reports
// the first error. What it accepts and what f gets is what [NewDecoder] gives,
// but a document as an encoder writes it (members in the order in which they are
// asked for, no white space, nothing unknown) is read in one pass: nothing is
// looked up, because whatever is asked for next stands next or is absent. When
// that turns out wrong, f is called a second time and must set everything
// afresh. Data must not be changed afterwards.
func Decode(data []byte, f func(*Coder)) error {
	if len(data) > 2 && len(data) <= math.MaxInt32 && data[0] == '{' {
		c := pool.Get().(*Coder)
		c.decoding, c.direct, c.data, c.pos, c.depth = true, true, data, 1, 1
		f(c)
		if c.close('}'); int(c.pos) != len(data) {
			c.astray()
		}
		if _, err := c.Done(); err == nil {
			return nil
		}
	}
	c := NewDecoder(data)
	f(c)
	_, err := c.Done()
	return err
}

// errAstray is never shown: the document is read again.
var errAstray = &Error{Offset: -1, Err: errors.New("not as an encoder writes it")}

// astray gives the direct reading up.
func (c *Coder) astray() {
	if c.err == nil {
		c.err = errAstray
	}
}

// take returns the member at the present place if it has that name, and goes
// past it. Of an object or list that is wanted as such only the start is known;
// whoever reads it goes past it.
func (c *Coder) take(name string, want byte) *member {
	d, i := c.data, int(c.pos)
	if d[i-1] != '{' { // no value ends in an opening brace
		if i == len(d) || d[i] != ',' {
			return nil
		}
		i++
	}
	val := i + len(name) + 3
	if val >= len(d) || d[i] != '"' || d[val-1] != ':' || d[val-2] != '"' || string(d[i+1:val-2]) != name {
		return nil
	}
	m := &c.one
	*m = member{val: int32(val)}
	if ch := d[val]; ch == want && (ch == '{' || ch == '[') {
		return m
	}
	end, flags, fault := skipValue(d, val, c.depth)
	if fault != "" {
		c.astray()
		return nil
	}
	m.valEnd, m.flags, c.pos = int32(end), flags, int32(end)
	return m
}

// close goes past the end of an object or list.
func (c *Coder) close(ch byte) {
	if i := int(c.pos); i < len(c.data) && c.data[i] == ch {
		c.pos++
	} else {
		c.astray()
	}
}

func (c *Coder) takeObject(m *member, f func(*Coder)) {
	if !c.deeper() {
		return
	}
	c.pos = m.val + 1
	f(c)
	c.close('}')
	c.depth--
}

// takeElements yields the elements of the list at m.
func (c *Coder) takeElements(m *member, yield func(member) bool) {
	if !c.deeper() {
		return
	}
	c.pos = m.val + 1
	if i := int(c.pos); i < len(c.data) && c.data[i] != ']' {
		for {
			one := member{val: c.pos}
			if c.data[c.pos] != '{' { // an object is gone past by whoever reads it
				end, flags, fault := skipValue(c.data, int(c.pos), c.depth)
				if fault != "" {
					c.astray()
					return
				}
				one.valEnd, one.flags, c.pos = int32(end), flags, int32(end)
			}
			if !yield(one) || c.err != nil {
				return
			}
			if i := int(c.pos); i+1 >= len(c.data) || c.data[i] != ',' {
				break
			}
			c.pos++
		}
	}
	c.close(']')
	c.depth--
}

func (c *Coder) takeMap(m *member) (out map[string]string) {
	if !c.deeper() {
		return nil
	}
	d, i := c.data, int(m.val)+1
	for i < len(d) && d[i] == '"' {
		key, keyFlags, fault := skipString(d, i)
		if fault != "" || key+1 >= len(d) || d[key] != ':' || d[key+1] != '"' {
			c.astray()
			return nil
		}
		end, flags, fault := skipString(d, key+1)
		if fault != "" {
			c.astray()
			return nil
		}
		if out == nil {
			out = make(map[string]string, 8)
		}
		out[c.str(int32(i), int32(key), keyFlags)] = c.str(int32(key+1), int32(end), flags)
		i = end
		if i+1 >= len(d) || d[i] != ',' || d[i+1] != '"' {
			break
		}
		i++
	}
	c.pos = int32(i)
	c.close('}')
	c.depth--
	return out
}
