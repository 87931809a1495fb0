package wire

// A member is one key and value of an object, by position. When the value is an
// object whose members were kept too, flags has kept and they follow the member:
// the slots up to after belong to it, and the member's next sibling is there.
type member struct {
	key, keyEnd     int32 // with the quotes
	val, valEnd     int32 // likewise
	first, after    int32 // slots in Coder.members
	keyFlags, flags uint8
}

// A frame is the object being read: the members from slot lo to hi, of which
// next is expected to be asked for next. mask has the bits of all keys, so that
// most keys that are absent are known to be without a search. odd says that a
// key is written with escapes or may occur twice, which the fast paths cannot
// deal with.
type frame struct {
	lo, hi, next int32
	mask         uint64
	odd          bool
}

// smallObject bounds the pairwise search for keys that occur twice; larger
// objects count as odd without one.
const smallObject = 32

// open makes the object at data[i] the one being read and returns its end. The
// caller keeps the old frame and puts it back.
func (c *Coder) open(i int) (end int, fault string) {
	lo := len(c.members)
	c.members, end, fault = skipObject(c.data, i, 0, c.members, true)
	if fault == "" {
		c.enter(int32(lo), int32(len(c.members)))
	}
	return end, fault
}

// enter makes the object whose members have these slots the one being read.
func (c *Coder) enter(lo, hi int32) {
	f := frame{lo: lo, hi: hi, next: lo}
	n := 0
	for k := lo; k < hi && !f.odd; k = c.members[k].after {
		m := &c.members[k]
		name := c.name(m)
		b := bit(name)
		if m.keyFlags&escaped != 0 || n == smallObject {
			f.odd = true
		} else if f.mask&b != 0 {
			for j := lo; j < k && !f.odd; j = c.members[j].after {
				f.odd = string(c.name(&c.members[j])) == string(name)
			}
		}
		f.mask |= b
		n++
	}
	c.frame = f
}

// name returns a key as written, without its quotes.
func (c *Coder) name(m *member) []byte { return c.data[m.key+1 : m.keyEnd-1] }

// bit spreads names over 64 bits by their length and three of their bytes.
func bit[S string | []byte](name S) uint64 {
	n := uint(len(name))
	if n == 0 {
		return 1
	}
	h := n*11 + uint(name[0])*3 + uint(name[n-1])*5 + uint(name[n/2])*7
	return 1 << (h & 63)
}

// find returns the member of that name, or nil. Members asked for in the order
// in which they were written cost one comparison.
func (c *Coder) find(name string) *member {
	if c.err != nil {
		return nil
	}
	if c.direct {
		return c.take(name, 0)
	}
	if c.odd {
		return c.findOdd(name)
	}
	if c.next < c.hi {
		if m := &c.members[c.next]; string(c.name(m)) == name {
			c.next = m.after
			return m
		}
	}
	if c.mask&bit(name) == 0 {
		return nil
	}
	for k := c.lo; k < c.hi; {
		m := &c.members[k]
		k = m.after
		if string(c.name(m)) == name {
			c.next = k
			return m
		}
	}
	return nil
}

// findOdd returns the last member of that name, escapes or not.
func (c *Coder) findOdd(name string) (last *member) {
	for k := c.lo; k < c.hi; k = c.members[k].after {
		m := &c.members[k]
		key := c.name(m)
		if m.keyFlags&escaped != 0 {
			key = unescape(nil, key)
		}
		if string(key) == name {
			last = m
		}
	}
	return last
}

// value finds the member of that name and checks that it is what the field
// wants, told by its first byte. Null counts as absent.
func (c *Coder) value(name string, want byte) (*member, bool) {
	var m *member
	if c.direct && c.err == nil {
		m = c.take(name, want)
	} else {
		m = c.find(name)
	}
	if m == nil {
		return nil, false
	}
	ch := c.data[m.val]
	if ch == want || want == '0' && (ch == '-' || ch-'0' <= 9) || want == 't' && ch == 'f' {
		return m, true
	}
	if ch != 'n' {
		c.fault(int(m.val), name, "want "+kind(want)+", found "+kind(ch))
	}
	return nil, false
}
