package journals

import (
	"cmp"
	"fmt"
	"strconv"
)

// The labels that a queue looks at.
const (
	Tenant   = "tenant"   // runs of different tenants take turns
	Priority = "priority" // a whole number; higher ones go first
)

// mostPriority is the highest priority, and its negative the lowest.
const mostPriority = 100

// PlaceOf returns the lane of a run and its rank: of two runs the one with the lower rank goes
// first. A priority that is none counts as 0; see [CheckLane].
func PlaceOf(labels map[string]string) (tenant string, rank int) {
	if n, err := strconv.Atoi(labels[Priority]); err == nil && n >= -mostPriority && n <= mostPriority {
		rank = -n
	}
	return labels[Tenant], rank
}

// CheckLane refuses labels with a priority that is none.
func CheckLane(labels map[string]string) error {
	text, ok := labels[Priority]
	if !ok {
		return nil
	}
	if n, err := strconv.Atoi(text); err != nil || n < -mostPriority || n > mostPriority {
		return fmt.Errorf("label priority is %q; for a queued run write a whole number from %d to %d, where higher ones go first", text, -mostPriority, mostPriority)
	}
	return nil
}

// A Place is where a queued run stands in its queue.
type Place struct {
	Rank int   // lower ones first
	Turn int64 // of the runs of its lane
	Ref  int64 // its age
}

// ComparePlaces orders places.
func ComparePlaces(a, b Place) int {
	return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Turn, b.Turn), cmp.Compare(a.Ref, b.Ref))
}
