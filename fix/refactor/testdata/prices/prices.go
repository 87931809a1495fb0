// Package prices prints receipts. It was written long ago, in several moods.
package prices

import "strings"

// Label is the name of an item for a receipt.
func Label(item string) string {
	name := strings.ToUpper(strings.TrimSpace(item))
	if len(name) > 12 {
		name = name[:12]
	}
	return name + ":"
}

// Heading is the heading of a receipt.
func Heading(shop string) string {
	title := strings.ToUpper(strings.TrimSpace(shop))
	if len(title) > 12 {
		title = title[:12]
	}
	return "*** " + title + " ***"
}
