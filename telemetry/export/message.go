package export

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// message is a protocol buffer under construction. Each method adds one field by its number. Fields
// that are zero may be left out, except those of a oneof and those that the definition calls optional.
//
// The generated types of OTLP would link the reflection of protocol buffers, which is larger than the
// rest of this package and what it uses.
type message []byte

func (m *message) text(number protowire.Number, s string) {
	if s != "" {
		*m = protowire.AppendString(protowire.AppendTag(*m, number, protowire.BytesType), s)
	}
}

// blob adds bytes, or another message.
func (m *message) blob(number protowire.Number, b []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, number, protowire.BytesType), b)
}

func (m *message) count(number protowire.Number, n uint64) {
	if n != 0 {
		*m = protowire.AppendVarint(protowire.AppendTag(*m, number, protowire.VarintType), n)
	}
}

func (m *message) fixed32(number protowire.Number, n uint32) {
	*m = protowire.AppendFixed32(protowire.AppendTag(*m, number, protowire.Fixed32Type), n)
}

func (m *message) fixed64(number protowire.Number, n uint64) {
	*m = protowire.AppendFixed64(protowire.AppendTag(*m, number, protowire.Fixed64Type), n)
}

func (m *message) double(number protowire.Number, f float64) { m.fixed64(number, math.Float64bits(f)) }

// packed adds a list of numbers of 64 bits.
func packed[N any](m *message, number protowire.Number, all []N, bits func(N) uint64) {
	var list []byte
	for _, n := range all {
		list = protowire.AppendFixed64(list, bits(n))
	}
	m.blob(number, list)
}

// flag is a truth value as a number.
func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
