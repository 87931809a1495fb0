// Package prices adds up what things cost, in cents. It was written long ago, in several moods.
package prices

import (
	"errors"
	"sort"
	"strings"
)

// ErrEmpty says that there is nothing to add up.
var ErrEmpty = errors.New("nothing to add up")

// An Item is a number of things at a price.
type Item struct {
	Name  string
	Count int
	Price int
	Extra interface{}
}

// Total adds up items. From ten things on, one in ten is free.
func Total(items []Item) (int, error) {
	if len(items) == 0 {
		return 0, ErrEmpty
	} else {
		sum := 0
		for i := 0; i < len(items); i++ {
			paid := items[i].Count - items[i].Count/10
			sum += paid * items[i].Price
		}
		return sum, nil
	}
}

// Label is the name of an item for a receipt.
func Label(item Item) string {
	name := strings.TrimSpace(item.Name)
	name = strings.ReplaceAll(name, "\t", " ")
	name = strings.ToUpper(name)
	if len(name) > 12 {
		name = name[:12]
	}
	label := name + ":"
	return label
}

// Heading is the heading of a receipt.
func Heading(shop string) string {
	title := strings.TrimSpace(shop)
	title = strings.ReplaceAll(title, "\t", " ")
	title = strings.ToUpper(title)
	if len(title) > 12 {
		title = title[:12]
	}
	return "*** " + title + " ***"
}

// Fill writes the labels of the items that are sold to a list.
func Fill(list map[string]int, items []Item) {
	for _, item := range items {
		if item.Count > 0 {
			label := Label(item)
			list[label] += item.Count
			if list[label] > 99 {
				list[label] = 99
			}
		}
	}
}

// Names lists the names of items in order.
func Names(items []Item) []string {
	var names []string
	for _, item := range items {
		names = append(names, item.Name)
	}
	sort.Slice(names, func(i, j int) bool { return names[i] < names[j] })
	return names
}

// Cheapest is the lowest price. No test knows it.
func Cheapest(items []Item) int {
	if len(items) == 0 {
		return 0
	} else {
		return items[0].Price
	}
}
