package wire

import (
	"fmt"
	"strconv"
	"time"
)

// A Line is what a line of a log has around its data. One without a Seq is in no
// log and has no At.
type Line struct {
	Run       string
	Seq, At   uint64
	Time      time.Time
	Iteration int
}

// Append appends the line with its data, a value of the codec's type, without a line
// break, or returns dst as it was and why it cannot.
func (l *Line) Append(dst []byte, name string, c *Codec, data any) ([]byte, error) {
	b := append(dst, `{"run":`...)
	b = AppendString(b, l.Run)
	if l.Seq != 0 {
		b = append(b, `,"seq":`...)
		b = strconv.AppendUint(b, l.Seq, 10)
		b = append(b, `,"at":`...)
		b = strconv.AppendUint(b, l.At, 10)
	}
	b = append(b, `,"time":"`...)
	b = l.Time.UTC().AppendFormat(b, time.RFC3339Nano)
	b = append(b, `","iteration":`...)
	b = strconv.AppendInt(b, int64(l.Iteration), 10)
	b = append(b, `,"type":"`...)
	b = append(b, name...)
	b = append(b, `","data":`...)
	b, err := c.Append(b, data, 1)
	if err != nil {
		return dst, fmt.Errorf("%s cannot be written: %w", name, err)
	}
	return append(b, '}'), nil
}

var lineKeys = []string{"run", "seq", "at", "time", "iteration", "type", "data"}

// ReadLine reads what Append wrote, with the codec of the line's type. The data may
// keep parts of d, and is nil where the line has none.
func ReadLine(d []byte, codec func(name string) (*Codec, error)) (l Line, data any, err error) {
	var name string
	var early []byte // the data, where it stands before the type
	read := func(r *Reader) {
		if c, err := codec(name); err != nil {
			r.Fail("type", err)
		} else {
			data = c.Read(r)
		}
	}
	r := NewReader(d)
	r.Open()
	for k := 0; r.Member(lineKeys, &k); {
		if r.Null() {
			continue
		}
		switch k {
		case 0:
			l.Run = r.String()
		case 1:
			l.Seq = r.Uint64()
		case 2:
			l.At = r.Uint64()
		case 3:
			l.Time = r.Time()
		case 4:
			l.Iteration = r.Int()
		case 5:
			name = r.String()
		case 6:
			if name == "" {
				early = r.Raw()
			} else {
				read(&r)
			}
		default:
			r.Skip()
			continue
		}
		r.In(lineKeys, k)
	}
	err = r.Done()
	if err == nil && early != nil {
		r = NewReader(early)
		read(&r)
		err = r.Done()
	}
	if l.Seq == 0 {
		l.At = 0 // what is in no log was decided on nothing
	}
	return l, data, err
}
