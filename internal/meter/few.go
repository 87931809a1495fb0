package meter

// Few counts events of a few kinds, which are numbered from 0 to 6. Kinds below that are
// not counted.
type Few [7]int32

// Count counts an event of a kind.
func (f *Few) Count(kind int) {
	if kind >= 0 {
		f[kind]++
	}
}

// Of returns the count of a kind.
func (f *Few) Of(kind int) int { return int(f[max(kind, 0)]) }

// Total returns the sum of all counts.
func (f *Few) Total() (n int) {
	for _, of := range f {
		n += int(of)
	}
	return n
}
