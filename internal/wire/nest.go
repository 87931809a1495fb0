package wire

import (
	"iter"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Object codes a nested object, whose fields f names.
func (c *Coder) Object(name string, f func(*Coder)) {
	if !c.decoding {
		if c.key(name) {
			c.writeObject(f)
			c.within(name)
		}
	} else if m, ok := c.value(name, '{'); ok {
		c.readObject(m, f)
		c.within(name)
	}
}

// OptObject is Object, left out when f writes no field. A nested object whose
// fields are all Opt is thereby left out when it is zero.
func (c *Coder) OptObject(name string, f func(*Coder)) {
	if c.decoding || c.err != nil {
		c.Object(name, f)
		return
	}
	before := len(c.buf)
	c.Object(name, f)
	if n := len(c.buf); c.err == nil && c.buf[n-2] == '{' {
		c.buf = c.buf[:before]
	}
}

func (c *Coder) writeObject(f func(*Coder)) {
	if !c.deeper() {
		return
	}
	c.buf = append(c.buf, '{')
	f(c)
	c.buf = append(c.buf, '}')
	c.depth--
}

func (c *Coder) readObject(m *member, f func(*Coder)) {
	if c.direct {
		c.takeObject(m, f)
		return
	}
	old, n := c.frame, len(c.members)
	if m.flags&kept != 0 {
		c.enter(m.first, m.after)
	} else {
		c.open(int(m.val)) // no fault: NewDecoder has checked everything
	}
	f(c)
	c.frame, c.members = old, c.members[:n]
}

// readNothing reads null as an object without members.
func (c *Coder) readNothing(f func(*Coder)) {
	if c.direct {
		c.astray()
		return
	}
	old := c.frame
	c.frame = frame{}
	f(c)
	c.frame = old
}

// deeper opens one more object or array for writing.
func (c *Coder) deeper() bool {
	if c.depth >= MaxDepth {
		c.fault(-1, "", faultDepth)
		return false
	}
	c.depth++
	return true
}

// List codes a list of objects, the fields of each named by f. Nil and empty are
// both written as [] and read as nil.
func List[T any](c *Coder, name string, p *[]T, f func(*Coder, *T)) {
	if !c.decoding {
		if c.key(name) {
			writeList(c, *p, f)
			c.within(name)
		}
	} else if m, ok := c.value(name, '['); ok {
		*p = readList(c, m, f)
		c.within(name)
	}
}

// OptList is List, left out when empty.
func OptList[T any](c *Coder, name string, p *[]T, f func(*Coder, *T)) {
	if c.decoding || len(*p) > 0 {
		List(c, name, p, f)
	}
}

// Each codes a list of objects that stands in no slice: f writes each of n
// objects in turn, or reads each one there is.
func Each(c *Coder, name string, n int, f func(*Coder)) {
	if c.decoding {
		if m, ok := c.value(name, '['); ok {
			i := 0
			for m := range c.elements(m) {
				switch c.data[m.val] {
				case '{':
					c.readObject(&m, f)
				case 'n':
					c.readNothing(f)
				default:
					c.fault(int(m.val), "", "want an object, found "+kind(c.data[m.val]))
				}
				if c.err != nil {
					c.within("[" + strconv.Itoa(i) + "]")
					break
				}
				i++
			}
			c.within(name)
		}
		return
	}
	if !c.key(name) {
		return
	}
	if c.deeper() {
		c.buf = append(c.buf, '[')
		for i := range n {
			if i > 0 {
				c.buf = append(c.buf, ',')
			}
			if c.writeObject(f); c.err != nil {
				c.within("[" + strconv.Itoa(i) + "]")
				break
			}
		}
		c.buf = append(c.buf, ']')
		c.depth--
	}
	c.within(name)
}

func writeList[T any](c *Coder, list []T, f func(*Coder, *T)) {
	if !c.deeper() {
		return
	}
	c.buf = append(c.buf, '[')
	for i := range list {
		if i > 0 {
			c.buf = append(c.buf, ',')
		}
		c.writeObject(func(c *Coder) { f(c, &list[i]) })
		if c.err != nil {
			c.within("[" + strconv.Itoa(i) + "]")
			return
		}
	}
	c.buf = append(c.buf, ']')
	c.depth--
}

func readList[T any](c *Coder, array *member, f func(*Coder, *T)) (list []T) {
	for m := range c.elements(array) {
		var zero T
		list = append(list, zero)
		switch c.data[m.val] {
		case '{':
			c.readObject(&m, func(c *Coder) { f(c, &list[len(list)-1]) })
		case 'n':
		default:
			c.fault(int(m.val), "", "want an object, found "+kind(c.data[m.val]))
		}
		if c.err != nil {
			c.within("[" + strconv.Itoa(len(list)-1) + "]")
			return nil
		}
	}
	return list
}

// elements yields the elements of a checked array, as members without a key.
func (c *Coder) elements(array *member) iter.Seq[member] {
	return func(yield func(member) bool) {
		if c.direct {
			c.takeElements(array, yield)
			return
		}
		i := skipSpace(c.data, int(array.val)+1)
		for c.data[i] != ']' {
			end, flags, _ := skipValue(c.data, i, 0)
			if !yield(member{val: int32(i), valEnd: int32(end), flags: flags}) {
				return
			}
			i = skipSpace(c.data, end)
			if c.data[i] == ',' {
				i = skipSpace(c.data, i+1)
			}
		}
	}
}

// Strings codes a list of strings. Nil and empty are both written as [] and read
// as nil.
func (c *Coder) Strings(name string, p *[]string) {
	if !c.decoding {
		if c.key(name) {
			c.writeStrings(*p)
			c.within(name)
		}
	} else if m, ok := c.value(name, '['); ok {
		*p = c.readStrings(m)
		c.within(name)
	}
}

// OptStrings is Strings, left out when empty.
func (c *Coder) OptStrings(name string, p *[]string) {
	if c.decoding || len(*p) > 0 {
		c.Strings(name, p)
	}
}

func (c *Coder) writeStrings(list []string) {
	if !c.deeper() {
		return
	}
	c.depth--
	c.buf = append(c.buf, '[')
	for i, s := range list {
		if i > 0 {
			c.buf = append(c.buf, ',')
		}
		c.buf = AppendString(c.buf, s)
	}
	c.buf = append(c.buf, ']')
}

func (c *Coder) readStrings(array *member) (list []string) {
	for m := range c.elements(array) {
		s := c.element(m)
		if c.err != nil {
			c.within("[" + strconv.Itoa(len(list)) + "]")
			return nil
		}
		list = append(list, s)
	}
	return list
}

// element reads a string inside a list or map, null being the empty one.
func (c *Coder) element(m member) string {
	switch ch := c.data[m.val]; ch {
	case '"':
		return c.str(m.val, m.valEnd, m.flags)
	case 'n':
	default:
		c.fault(int(m.val), "", "want a string, found "+kind(ch))
	}
	return ""
}

// StringMap codes a map of strings as an object with its keys sorted bytewise.
// Nil and empty are both written as {} and read as nil.
func (c *Coder) StringMap(name string, p *map[string]string) {
	if !c.decoding {
		if c.key(name) {
			c.writeMap(*p)
			c.within(name)
		}
	} else if m, ok := c.value(name, '{'); ok {
		*p = c.readMap(m)
		c.within(name)
	}
}

// OptStringMap is StringMap, left out when empty.
func (c *Coder) OptStringMap(name string, p *map[string]string) {
	if c.decoding || len(*p) > 0 {
		c.StringMap(name, p)
	}
}

func (c *Coder) writeMap(m map[string]string) {
	if !c.deeper() {
		return
	}
	c.depth--
	var room [16]string
	keys := room[:0]
	valid := true
	for k := range m {
		keys = append(keys, k)
		valid = valid && utf8.ValidString(k)
	}
	slices.Sort(keys)
	if !valid {
		// Two keys may become one when mended: the last in order then counts.
		mended := make(map[string]string, len(m))
		for _, k := range keys {
			mended[mend(k)] = m[k]
		}
		c.writeMap(mended)
		return
	}
	c.buf = append(c.buf, '{')
	for i, k := range keys {
		if i > 0 {
			c.buf = append(c.buf, ',')
		}
		c.buf = append(AppendString(c.buf, k), ':')
		c.buf = AppendString(c.buf, m[k])
	}
	c.buf = append(c.buf, '}')
}

// mend replaces every byte that is not part of UTF-8 by U+FFFD.
func mend(s string) string { return string([]rune(s)) }

func (c *Coder) readMap(object *member) (out map[string]string) {
	if c.direct {
		return c.takeMap(object)
	}
	c.readObject(object, func(c *Coder) {
		for k := c.lo; k < c.hi; k = c.members[k].after {
			m := c.members[k]
			key, v := c.str(m.key, m.keyEnd, m.keyFlags), c.element(m)
			if c.err != nil {
				c.within(key)
				return
			}
			if out == nil {
				out = make(map[string]string, c.hi-c.lo)
			}
			out[key] = v
		}
	})
	return out
}
