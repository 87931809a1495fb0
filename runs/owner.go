package runs

import "github.com/pawl-run/pawl/internal/display"

// OwnerText describes the owner of a lease to a person.
func OwnerText(owner string) string { return display.Holder(owner) }
