package postgres

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// binaries are the types, by their number in pg_type, that the server sends in binary form,
// and what a value of each is in Go. It sends all others as text.
var binaries = map[uint32]func([]byte) any{
	16:   func(v []byte) any { return v[0] != 0 },
	17:   func(v []byte) any { return append([]byte{}, v...) }, // the buffer is reused; an empty value is not NULL
	20:   func(v []byte) any { return int64(binary.BigEndian.Uint64(v)) },
	21:   func(v []byte) any { return int64(int16(binary.BigEndian.Uint16(v))) },
	23:   func(v []byte) any { return int64(int32(binary.BigEndian.Uint32(v))) },
	701:  func(v []byte) any { return math.Float64frombits(binary.BigEndian.Uint64(v)) },
	1184: func(v []byte) any { return time.UnixMicro(int64(binary.BigEndian.Uint64(v)) + y2k) },
}

// y2k is where the server's times begin, in microseconds of Unix.
const y2k = 946684800 * 1e6

// encoded are arguments in the form of the protocol: 0 is text, 1 is binary.
func encoded(args []any) (values [][]byte, formats []int16, err error) {
	values, formats = make([][]byte, len(args)), make([]int16, len(args))
	for i, a := range args {
		if values[i], formats[i], err = encode(a); err != nil {
			return nil, nil, fmt.Errorf("argument %d: %w", i+1, err)
		}
	}
	return values, formats, nil
}

// encode converts an argument. nil, which a pointer and a slice can be, is NULL.
func encode(a any) (value []byte, format int16, err error) {
	text := func(s string) ([]byte, int16, error) { return []byte(s), 0, nil }
	switch a := a.(type) {
	case []byte:
		return a, 1, nil
	case string:
		return text(a)
	case int:
		return text(strconv.Itoa(a))
	case int64:
		return text(strconv.FormatInt(a, 10))
	case uint32:
		return text(strconv.FormatUint(uint64(a), 10))
	case uint64:
		return text(strconv.FormatUint(a, 10))
	case bool:
		return text(strconv.FormatBool(a))
	case float64:
		return binary.BigEndian.AppendUint64(nil, math.Float64bits(a)), 1, nil
	case time.Time:
		return binary.BigEndian.AppendUint64(nil, uint64(a.UnixMicro()-y2k)), 1, nil
	case *time.Time:
		if a == nil {
			return nil, 1, nil
		}
		return encode(*a)
	case time.Duration: // an interval, which also has days and months
		return append(binary.BigEndian.AppendUint64(nil, uint64(a.Microseconds())), make([]byte, 8)...), 1, nil
	case [][]byte:
		words := make([]string, len(a))
		for i, b := range a {
			words[i] = `\x` + hex.EncodeToString(b)
		}
		if a == nil {
			words = nil
		}
		return encode(words)
	case []string:
		if a == nil {
			return nil, 0, nil
		}
		quoted := make([]string, len(a))
		for i, s := range a {
			quoted[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
		}
		return text("{" + strings.Join(quoted, ",") + "}")
	}
	return nil, 0, fmt.Errorf("a %T has no form in the database", a)
}

// decode copies a value of a type to what a pointer points to. nil takes anything; NULL fits
// bytes and pointers only.
func decode(kind uint32, v []byte, to any) error {
	var value any
	if v != nil {
		if of, ok := binaries[kind]; ok {
			value = of(v)
		} else {
			value = string(v)
		}
	}
	ok := true
	switch to := to.(type) {
	case nil:
	case *[]byte:
		*to, ok = value.([]byte)
		ok = ok || v == nil
	case **time.Time:
		*to = nil
		if v != nil {
			var t time.Time
			t, ok = value.(time.Time)
			*to = &t
		}
	case **int64:
		*to = nil
		if v != nil {
			var n int64
			n, ok = value.(int64)
			*to = &n
		}
	case *time.Time:
		*to, ok = value.(time.Time)
	case *string:
		*to, ok = value.(string)
	case *bool:
		*to, ok = value.(bool)
	case *float64:
		*to, ok = value.(float64)
	case *int64:
		*to, ok = value.(int64)
	case *int:
		ok = whole(value, to)
	case *uint64:
		ok = whole(value, to)
	case *uint32:
		ok = whole(value, to)
	default:
		ok = false
	}
	if !ok {
		return fmt.Errorf("it holds a %T, which is no %T", value, to)
	}
	return nil
}

// whole copies an integer that fits.
func whole[N int | uint64 | uint32](value any, to *N) bool {
	n, ok := value.(int64)
	*to = N(n)
	return ok && int64(*to) == n
}
