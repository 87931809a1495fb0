//go:build unix

package postgres_test

func playRace() error   { return nil }
func playWriter() error { return nil }
func playHolder() error { return nil }
