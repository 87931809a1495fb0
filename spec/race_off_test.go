//go:build !race

package spec

const raced = false
