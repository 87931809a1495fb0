package explain

import "github.com/pawl-run/pawl"

// PlanOfDeclaration plans a run of a declaration that no machine has.
func PlanOfDeclaration(d pawl.Declaration, o *PlanOptions) Plan {
	if o == nil {
		o = &PlanOptions{}
	}
	var size ledger
	size.declare(&d)
	return planOf(&d, size.pinned+len(o.Input), o)
}
