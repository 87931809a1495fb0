//go:build !sabotage

package sabotage

// On is false.
func On(Switch) bool { return false }
