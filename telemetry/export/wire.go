package export

import (
	"encoding/binary"
	"math"
	"time"

	"go.opentelemetry.io/otel/attribute"
)

// wire is a message of Protocol Buffers that is being written
// (https://protobuf.dev/programming-guides/encoding/). What is zero is left out,
// as the third version of the language has it. Generated code would bring gRPC
// along, with which the messages' packages are linked, and ten megabytes.
type wire []byte

// The kinds of fields.
const (
	varint  = 0
	fixed64 = 1
	length  = 2
	fixed32 = 5
)

func (w *wire) tag(field, kind int) { *w = binary.AppendUvarint(*w, uint64(field)<<3|uint64(kind)) }

func (w *wire) uint(field int, n uint64) {
	if n != 0 {
		w.tag(field, varint)
		*w = binary.AppendUvarint(*w, n)
	}
}

func (w *wire) fixed(field int, n uint64) {
	if n != 0 {
		w.tag(field, fixed64)
		*w = binary.LittleEndian.AppendUint64(*w, n)
	}
}

func (w *wire) short(field int, n uint32) {
	if n != 0 {
		w.tag(field, fixed32)
		*w = binary.LittleEndian.AppendUint32(*w, n)
	}
}

// set writes a field of a choice, which is there even when it is zero.
func (w *wire) set(field int, n uint64) {
	w.tag(field, fixed64)
	*w = binary.LittleEndian.AppendUint64(*w, n)
}

func (w *wire) time(field int, t time.Time) {
	if !t.IsZero() {
		w.fixed(field, uint64(t.UnixNano()))
	}
}

func (w *wire) text(field int, s string) {
	if s != "" {
		w.tag(field, length)
		*w = append(binary.AppendUvarint(*w, uint64(len(s))), s...)
	}
}

// message writes a message within this one, an empty one too.
func (w *wire) message(field int, write func(*wire)) {
	var inner wire
	write(&inner)
	w.tag(field, length)
	*w = append(binary.AppendUvarint(*w, uint64(len(inner))), inner...)
}

// packed writes a list of numbers of eight bytes each.
func packed[T uint64 | float64](w *wire, field int, list []T) {
	if len(list) == 0 {
		return
	}
	w.tag(field, length)
	*w = binary.AppendUvarint(*w, uint64(8*len(list)))
	for _, n := range list {
		switch n := any(n).(type) {
		case uint64:
			*w = binary.LittleEndian.AppendUint64(*w, n)
		case float64:
			*w = binary.LittleEndian.AppendUint64(*w, math.Float64bits(n))
		}
	}
}

func (w *wire) attributes(field int, attrs []attribute.KeyValue) {
	for _, a := range attrs {
		w.message(field, func(w *wire) {
			w.text(1, string(a.Key))
			w.message(2, func(w *wire) { w.value(a.Value) })
		})
	}
}

// value writes an AnyValue.
func (w *wire) value(v attribute.Value) {
	switch v.Type() {
	case attribute.BOOL:
		w.tag(2, varint)
		n := byte(0)
		if v.AsBool() {
			n = 1
		}
		*w = append(*w, n)
	case attribute.INT64:
		w.tag(3, varint)
		*w = binary.AppendUvarint(*w, uint64(v.AsInt64()))
	case attribute.FLOAT64:
		w.set(4, math.Float64bits(v.AsFloat64()))
	case attribute.STRINGSLICE:
		w.message(5, func(w *wire) {
			for _, s := range v.AsStringSlice() {
				w.message(1, func(w *wire) { w.string(s) })
			}
		})
	default:
		w.string(v.String())
	}
}

// string writes an AnyValue that is a text.
func (w *wire) string(s string) {
	w.tag(1, length)
	*w = append(binary.AppendUvarint(*w, uint64(len(s))), s...)
}
