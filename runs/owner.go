package runs

import (
	"fmt"
	"strings"

	"github.com/pawl-run/pawl/engine"
)

// OwnerText describes the owner of a lease to a person.
func OwnerText(owner string) string {
	o := engine.ParseOwner(owner)
	if o == (engine.Owner{}) && strings.Trim(owner, "{} ") != "" {
		return "somebody (" + owner + ")"
	}
	var parts []string
	if o.PID != 0 {
		parts = append(parts, fmt.Sprintf("process %d", o.PID))
	}
	switch {
	case o.User != "" && o.Host != "":
		parts = append(parts, "of "+o.User+"@"+o.Host)
	case o.User+o.Host != "":
		parts = append(parts, "of "+o.User+o.Host)
	}
	if o.Dir != "" {
		parts = append(parts, "in "+o.Dir)
	}
	if len(parts) == 0 {
		return "another process"
	}
	return strings.Join(parts, " ")
}
