package wire

// A member is one key and value of the object being read, by position.
type member struct {
	key, keyEnd     int32 // with the quotes
	val, valEnd     int32 // likewise
	keyFlags, flags uint8
}

// A frame is the object being read: members[lo:hi], of which next is expected to
// be asked for next. mask has the bits of all keys, so that most keys that are
// absent are known to be without a search. odd says that a key is written with
// escapes or may occur twice, which the fast paths cannot deal with.
type frame struct {
	lo, hi, next int
	mask         uint64
	odd          bool
}

// smallObject bounds the pairwise search for keys that occur twice.
const smallObject = 32

// open makes the object at data[i] the one being read and returns its end. The
// caller keeps the old frame and restores it with shut.
func (c *Coder) open(i int) (end int, fault string) {
	lo := len(c.members)
	c.members, end, fault = skipObject(c.data, i, 0, c.members, true)
	f := frame{lo: lo, hi: len(c.members), next: lo}
	ms := c.members[lo:]
	for k := range ms {
		m := &ms[k]
		name := c.name(m)
		b := bit(name)
		if m.keyFlags&escaped != 0 {
			f.odd = true
		} else if f.mask&b != 0 && !f.odd {
			f.odd = len(ms) > smallObject
			for j := range ms[:min(k, smallObject)] {
				f.odd = f.odd || string(c.name(&ms[j])) == string(name)
			}
		}
		f.mask |= b
	}
	c.frame = f
	return end, fault
}

func (c *Coder) shut(old frame) {
	c.members = c.members[:c.lo]
	c.frame = old
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

// find returns the member of that name. Members asked for in the order in which
// they were written cost one comparison.
func (c *Coder) find(name string) (member, bool) {
	if c.err != nil {
		return member{}, false
	}
	if c.odd {
		return c.findOdd(name)
	}
	if c.next < c.hi {
		if m := &c.members[c.next]; string(c.name(m)) == name {
			c.next++
			return *m, true
		}
	}
	if c.mask&bit(name) == 0 {
		return member{}, false
	}
	for k := c.lo; k < c.hi; k++ {
		if m := &c.members[k]; string(c.name(m)) == name {
			c.next = k + 1
			return *m, true
		}
	}
	return member{}, false
}

// findOdd returns the last member of that name, escapes or not.
func (c *Coder) findOdd(name string) (member, bool) {
	for k := c.hi - 1; k >= c.lo; k-- {
		m := &c.members[k]
		key := c.name(m)
		if m.keyFlags&escaped != 0 {
			key = unescape(nil, key)
		}
		if string(key) == name {
			return *m, true
		}
	}
	return member{}, false
}

// value finds the member of that name and checks that it is what the field
// wants, told by its first byte. Null counts as absent.
func (c *Coder) value(name string, want byte) (member, bool) {
	m, ok := c.find(name)
	if !ok {
		return m, false
	}
	ch := c.data[m.val]
	if ch == want || want == '0' && (ch == '-' || ch-'0' <= 9) {
		return m, true
	}
	if ch != 'n' && !(want == 't' && ch == 'f') {
		c.fault(int(m.val), name, "want "+kind(want)+", found "+kind(ch))
	}
	return m, ch != 'n' && c.err == nil
}
