// Package pages counts pages. It has a fault, which issue.md reports.
package pages

// Count returns how many pages of a size hold a number of items.
func Count(items, size int) int {
	if items == 0 {
		return 0
	}
	return items/size + 1
}
