package wire

import (
	"errors"
	"math"
	"strconv"
)

// String codes a string.
func (c *Coder) String(name string, p *string) {
	if !c.decoding {
		if c.key(name) {
			c.buf = AppendString(c.buf, *p)
		}
	} else if m, ok := c.value(name, '"'); ok {
		*p = c.str(m.val, m.valEnd, m.flags)
	}
}

// OptString is String, left out when empty.
func (c *Coder) OptString(name string, p *string) {
	if c.decoding || *p != "" {
		c.String(name, p)
	}
}

// Bool codes a boolean.
func (c *Coder) Bool(name string, p *bool) {
	if !c.decoding {
		if c.key(name) {
			c.buf = strconv.AppendBool(c.buf, *p)
		}
	} else if m, ok := c.value(name, 't'); ok {
		*p = c.data[m.val] == 't'
	}
}

// OptBool is Bool, left out when false.
func (c *Coder) OptBool(name string, p *bool) {
	if c.decoding || *p {
		c.Bool(name, p)
	}
}

// Int64 codes an integer. Like encoding/json it reads no fraction or exponent.
func (c *Coder) Int64(name string, p *int64) {
	if !c.decoding {
		if c.key(name) {
			c.buf = strconv.AppendInt(c.buf, *p, 10)
		}
	} else if m, ok := c.value(name, '0'); ok {
		if n, ok := c.integer(name, m, math.MinInt64, math.MaxInt64); ok {
			*p = n
		}
	}
}

// OptInt64 is Int64, left out when zero.
func (c *Coder) OptInt64(name string, p *int64) {
	if c.decoding || *p != 0 {
		c.Int64(name, p)
	}
}

// Int codes an integer.
func (c *Coder) Int(name string, p *int) {
	if !c.decoding {
		if c.key(name) {
			c.buf = strconv.AppendInt(c.buf, int64(*p), 10)
		}
	} else if m, ok := c.value(name, '0'); ok {
		if n, ok := c.integer(name, m, math.MinInt, math.MaxInt); ok {
			*p = int(n)
		}
	}
}

// OptInt is Int, left out when zero.
func (c *Coder) OptInt(name string, p *int) {
	if c.decoding || *p != 0 {
		c.Int(name, p)
	}
}

// Uint64 codes an integer that is not negative.
func (c *Coder) Uint64(name string, p *uint64) {
	if !c.decoding {
		if c.key(name) {
			c.buf = strconv.AppendUint(c.buf, *p, 10)
		}
	} else if m, ok := c.value(name, '0'); ok {
		if m.valEnd-m.val > 18 || c.data[m.val] == '-' { // too large for integer, or -0
			n, err := strconv.ParseUint(string(c.data[m.val:m.valEnd]), 10, 64)
			if err != nil {
				c.notInteger(name, m)
				return
			}
			*p = n
		} else if n, ok := c.integer(name, m, 0, math.MaxInt64); ok {
			*p = uint64(n)
		}
	}
}

// OptUint64 is Uint64, left out when zero.
func (c *Coder) OptUint64(name string, p *uint64) {
	if c.decoding || *p != 0 {
		c.Uint64(name, p)
	}
}

// integer reads a checked number that must be whole and in range.
func (c *Coder) integer(name string, m *member, least, most int64) (int64, bool) {
	lit := c.data[m.val:m.valEnd]
	if len(lit) <= 18 { // no overflow possible, the usual case
		n, digits := int64(0), lit
		if lit[0] == '-' {
			digits = lit[1:]
		}
		for _, ch := range digits {
			if ch-'0' > 9 {
				c.notInteger(name, m)
				return 0, false
			}
			n = n*10 + int64(ch-'0')
		}
		if lit[0] == '-' {
			n = -n
		}
		if n >= least && n <= most {
			return n, true
		}
	} else if n, err := strconv.ParseInt(string(lit), 10, 64); err == nil && n >= least && n <= most {
		return n, true
	}
	c.notInteger(name, m)
	return 0, false
}

func (c *Coder) notInteger(name string, m *member) {
	lit := c.data[m.val:m.valEnd]
	c.fault(int(m.val), name, "want an integer in range, found "+string(lit[:min(len(lit), 40)]))
}

var errNotFinite = errors.New("a number must be finite, JSON has no NaN and no infinity")

// Float codes a number in the shortest form that reads back as the same one. NaN
// and the infinities are errors.
func (c *Coder) Float(name string, p *float64) {
	if !c.decoding {
		if math.IsNaN(*p) || math.IsInf(*p, 0) {
			c.Fail(name, errNotFinite)
		} else if c.key(name) {
			c.buf = appendFloat(c.buf, *p)
		}
	} else if m, ok := c.value(name, '0'); ok {
		c.readFloat(name, m, p)
	}
}

func (c *Coder) readFloat(name string, m *member, p *float64) {
	lit := c.data[m.val:m.valEnd]
	f, err := strconv.ParseFloat(string(lit), 64)
	if err != nil {
		c.fault(int(m.val), name, "want a number in the range of a float64, found "+string(lit[:min(len(lit), 40)]))
		return
	}
	*p = f
}

// OptFloat is Float, left out when zero.
func (c *Coder) OptFloat(name string, p *float64) {
	if c.decoding || *p != 0 {
		c.Float(name, p)
	}
}

// NullFloat codes a number that may be unknown, which is null. Reading sets both
// pointers; a missing key is unknown.
func (c *Coder) NullFloat(name string, p *float64, valid *bool) {
	if !c.decoding {
		if *valid {
			c.Float(name, p)
		} else if c.key(name) {
			c.buf = append(c.buf, "null"...)
		}
		return
	}
	*p, *valid = 0, false
	if m, ok := c.value(name, '0'); ok {
		*valid = true
		c.readFloat(name, m, p)
	}
}

// OptNullFloat is NullFloat, left out when unknown.
func (c *Coder) OptNullFloat(name string, p *float64, valid *bool) {
	if c.decoding || *valid {
		c.NullFloat(name, p, valid)
	}
}

// appendFloat writes numbers as ECMAScript does (ECMA-262, Number::toString),
// which is also encoding/json's form, but down to billionths without an exponent:
// so small are amounts of dollars.
func appendFloat(b []byte, f float64) []byte {
	abs := math.Abs(f)
	if abs == 0 || abs >= 1e-9 && abs < 1e21 {
		return strconv.AppendFloat(b, f, 'f', -1, 64)
	}
	return strconv.AppendFloat(b, f, 'e', -1, 64)
}
