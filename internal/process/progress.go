package process

import (
	"context"
	"strconv"
	"strings"
)

// A Reporter is called with how far a call is; see [Progress]. It is safe for concurrent use and
// returns at once.
type Reporter func(fraction float64, text string)

// ReporterKey is the key of a call's [Reporter] in a context.
type ReporterKey struct{}

// WithReporter returns a context whose call reports its progress to r.
func WithReporter(ctx context.Context, r Reporter) context.Context {
	return context.WithValue(ctx, ReporterKey{}, r)
}

// ReporterOf returns the reporter of the call that ctx belongs to; nil: nobody wants to know.
func ReporterOf(ctx context.Context) Reporter {
	r, _ := ctx.Value(ReporterKey{}).(Reporter)
	return r
}

// Progress reports how much of its work a call has done, and what it does. A fraction that is not a
// number from 0 to 1 is unknown.
func Progress(ctx context.Context, fraction float64, text string) {
	if r := ReporterOf(ctx); r != nil {
		r(fraction, text)
	}
}

const (
	progressPrefix = "##progress" // begins a line by which a command reports its progress
	noFraction     = "-"          // stands for the fraction in it
)

// ParseProgress reads what follows the prefix of such a line: a fraction from 0 to 1 or -, and a text. If the first word is
// neither, it belongs to the text.
func ParseProgress(rest string) (fraction float64, text string) {
	rest = strings.TrimSpace(rest)
	word, text, _ := strings.Cut(rest, " ")
	fraction, err := strconv.ParseFloat(word, 64)
	switch {
	case word == noFraction:
		return -1, text
	case err == nil && IsFraction(fraction):
		return fraction, text
	}
	return -1, rest
}

// ProgressLine returns the line that ParseProgress reads, with its line end.
func ProgressLine(fraction float64, text string) string {
	word := noFraction
	if IsFraction(fraction) {
		word = strconv.FormatFloat(fraction, 'g', -1, 64)
	}
	return progressPrefix + " " + word + " " + text + "\n"
}

// IsFraction reports whether a fraction is a number from 0 to 1.
func IsFraction(fraction float64) bool { return fraction >= 0 && fraction <= 1 }
