// Package wire turns Go values into JSON objects and back with one method per
// type: the method names its fields to a Coder, and the Coder either writes or
// reads them. Names are therefore frozen in one place, an encoder cannot drift
// from its decoder, and nothing is found out by reflection at run time.
//
//	func (e *ToolStarted) code(c *wire.Coder) {
//		c.String("call", &e.Call)
//		c.Raw("args", &e.Args)
//		c.OptInt("attempt", &e.Attempt)
//	}
//
// encoding/json was not used because it costs several times the budget of the
// loop kernel, which encodes and decodes every event it appends.
//
// Written objects have no white space and keep the order of the calls. Reading
// accepts what [encoding/json.Valid] accepts, nested no deeper than MaxDepth:
// keys in any order, white space, escapes, and keys nobody asks for, which are
// checked and skipped. Of a key that occurs twice the last one counts. A key
// that is missing or null leaves its field as it was. Bytes that are not UTF-8
// and lone surrogates become U+FFFD, on the way in and on the way out.
package wire

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
)

// MaxDepth is how many objects and arrays may be open at once, in what is
// written as in what is read; encoding/json allows 10,000.
const MaxDepth = 1000

// Error says which field could not be coded and why.
type Error struct {
	Field  string // path such as calls[2].tool, empty for the document itself
	Offset int    // byte offset in the input, -1 when encoding
	Err    error  // what was wrong
}

// Error names the field, the fault and, when decoding, its offset.
func (e *Error) Error() string {
	s := e.Err.Error()
	if e.Field != "" {
		s = "field " + strconv.Quote(e.Field) + ": " + s
	}
	if e.Offset >= 0 {
		s += " at offset " + strconv.Itoa(e.Offset)
	}
	return s
}

// Unwrap returns what was wrong.
func (e *Error) Unwrap() error { return e.Err }

// A Coder writes or reads the fields of one JSON object. It comes from
// NewEncoder or NewDecoder and ends with Done, after which it must not be
// touched: it serves another caller by then. It is for one goroutine.
//
// Every method takes the field's name, which must need no escaping in JSON, and
// a pointer to the value. Methods that start with Opt leave the field out when
// it is zero; they read exactly like the others. The first error sticks: later
// calls do nothing and Done reports it.
type Coder struct {
	decoding bool
	err      *Error

	// Writing: buf[:start] is the caller's.
	buf   []byte
	start int
	depth int // objects and arrays open, while writing

	// Reading: members holds the members of every object being read, each
	// followed by what was kept of its value.
	data    []byte
	members []member
	frame

	// Reading direct: what is asked for stands at pos, or nowhere.
	direct bool
	pos    int32
	one    member
}

var errUsed = errors.New("the coder was used after Done")

// The pool makes a Coder free of allocation although it escapes through the
// dynamic calls that fill it.
var pool = sync.Pool{New: func() any { return &Coder{members: make([]member, 0, 32)} }}

// NewEncoder returns a Coder that appends one JSON object to dst.
func NewEncoder(dst []byte) *Coder {
	c := pool.Get().(*Coder)
	c.start = len(dst)
	c.buf = append(dst, '{')
	c.depth = 1
	return c
}

// NewDecoder returns a Coder that reads the one JSON object in data. The whole
// of data is checked at once, so a malformed document sets no field at all.
//
// Decoded raw messages are slices of data, so data must not be modified after
// the call; decoded strings of a small document share one copy of it.
func NewDecoder(data []byte) *Coder {
	c := pool.Get().(*Coder)
	c.decoding = true
	c.data = data
	if len(data) > math.MaxInt32 {
		c.fault(0, "", fmt.Sprintf("a document of %d bytes is too long, the most is %d", len(data), math.MaxInt32))
		return c
	}
	i := skipSpace(data, 0)
	if i == len(data) || data[i] != '{' {
		end, _, fault := skipValue(data, i, 0)
		if fault == "" {
			end, fault = skipEnd(data, end)
		}
		if fault == "" {
			end, fault = i, "want an object, found "+kind(data[i])
		}
		c.fault(end, "", fault)
		return c
	}
	end, fault := c.open(i)
	if fault == "" {
		end, fault = skipEnd(data, end)
	}
	if fault != "" {
		c.fault(end, "", fault)
	}
	return c
}

// Done ends the coding. For an encoder it returns dst with the object appended,
// or dst as it was and the error; for a decoder the slice is nil.
func (c *Coder) Done() ([]byte, error) {
	if c.data == nil && c.buf == nil && c.err == nil {
		return nil, errUsed
	}
	var err error
	if c.err != nil {
		err = c.err
	}
	out := c.buf
	if !c.decoding {
		if err != nil {
			out = out[:c.start]
		} else {
			out = append(out, '}')
		}
	}
	members := c.members[:0]
	if cap(members) > 1024 { // one huge document must not stay in the pool
		members = make([]member, 0, 32)
	}
	*c = Coder{members: members}
	pool.Put(c)
	return out, err
}

// Decoding reports whether the Coder reads.
func (c *Coder) Decoding() bool { return c.decoding }

// Err returns the first error so far.
func (c *Coder) Err() error {
	if c.err == nil {
		return nil
	}
	return c.err
}

// Fail makes the coding fail because of the field, unless it failed before. It
// is for what only the caller can check, such as a number's range.
func (c *Coder) Fail(name string, err error) {
	if c.err == nil && err != nil {
		c.err = &Error{Field: name, Offset: -1, Err: err}
	}
}

func (c *Coder) fault(off int, name, what string) {
	if c.err == nil {
		c.err = &Error{Field: name, Offset: off, Err: errors.New(what)}
	}
}

// within puts an outer name before the field of an error that came from inside.
func (c *Coder) within(name string) {
	if c.err == nil || c.err == errAstray {
		return
	}
	switch {
	case c.err.Field == "":
		c.err.Field = name
	case c.err.Field[0] == '[':
		c.err.Field = name + c.err.Field
	default:
		c.err.Field = name + "." + c.err.Field
	}
}

// key writes a field's name; false means there is nothing more to write.
func (c *Coder) key(name string) bool {
	if c.err != nil {
		return false
	}
	if c.buf[len(c.buf)-1] != '{' { // no value ends in an opening brace
		c.buf = append(c.buf, ',', '"')
	} else {
		c.buf = append(c.buf, '"')
	}
	c.buf = append(c.buf, name...)
	c.buf = append(c.buf, '"', ':')
	return true
}
