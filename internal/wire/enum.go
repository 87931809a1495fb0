package wire

// Names are the names of a closed set.
type Names[T any] interface {
	String(T) string
	Parse(string) (T, error)
}

// Enum codes a member of a closed set by its name. Zero is left out.
func Enum[T ~int, N Names[T]](c *Coder, name string, p *T, n N) {
	var s string
	if !c.decoding && *p != 0 {
		s = n.String(*p)
	}
	c.OptString(name, &s)
	if c.decoding && s != "" {
		if v, err := n.Parse(s); err != nil {
			c.Fail(name, err)
		} else {
			*p = v
		}
	}
}
