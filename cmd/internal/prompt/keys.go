package prompt

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pawl-run/pawl/internal/display"
)

// The editor of x/term takes each character for one column. A filler after each
// character of two columns makes that true: it is in the line, and never shown.
// Keys that act on one character become private ones, which edit knows.
const (
	filler    = '\ue000'
	backspace = '\ue001'
	left      = '\ue002'
	right     = '\ue003'
	remove    = '\ue004'
)

var private = strings.NewReplacer(
	"\x7f", string(backspace), "\b", string(backspace),
	"\x1b[D", string(left), "\x1bOD", string(left), "\x02", string(left),
	"\x1b[C", string(right), "\x1bOC", string(right), "\x06", string(right),
	"\x1b[3~", string(remove),
	"\x1b[1~", "\x1b[H", "\x1b[4~", "\x1b[F", // as tmux and screen send them
	"\x1bOA", "\x1b[A", "\x1bOB", "\x1b[B", "\x1bOH", "\x1b[H", "\x1bOF", "\x1b[F",
)

// The sequences around what is pasted, and Ctrl-C with what it does here: it
// drops the line and ends it.
const (
	pasteStart, pasteEnd = "\x1b[200~", "\x1b[201~"
	ctrlC, dropLine      = "\x03", "\x05\x15\r"
)

// incomplete matches the beginning of a sequence at the end of what was read.
var incomplete = regexp.MustCompile(`\x1b([\[O][0-9;]*)?$`)

// mostShown is how many characters of one pasted line are shown as they are.
const mostShown = 1000

// keys reads what is typed and hands it to the editor, at most one line at a
// time. What is pasted becomes part of the line, as a name if it is long.
type keys struct {
	in io.Reader

	mu     sync.Mutex
	raw    []byte // read and not translated: an incomplete sequence, or a paste that goes on
	ready  []byte // for the editor
	pastes []string
	cut    bool // the line was dropped by Ctrl-C
}

// Read implements [io.Reader].
func (k *keys) Read(b []byte) (int, error) {
	for {
		k.mu.Lock()
		n := copy(b, k.ready)
		if end := bytes.IndexByte(k.ready[:n], '\r'); end >= 0 {
			n = end + 1
		}
		for n > 0 && n < len(k.ready) && !utf8.RuneStart(k.ready[n]) {
			n--
		}
		k.ready = k.ready[n:]
		k.mu.Unlock()
		if n > 0 {
			return n, nil
		}
		chunk := make([]byte, 4096)
		n, err := k.in.Read(chunk)
		if err != nil {
			return 0, err
		}
		k.mu.Lock()
		k.raw = append(k.raw, chunk[:n]...)
		k.translate()
		k.mu.Unlock()
	}
}

// translate takes what is complete of the raw input.
func (k *keys) translate() {
	for {
		typed, rest, pasted := strings.Cut(string(k.raw), pasteStart)
		if !pasted {
			part := incomplete.FindString(typed)
			typed = typed[:len(typed)-len(part)]
			for n := 1; n < min(utf8.UTFMax, len(typed)+1); n++ { // half a character may be at the end
				if half := typed[len(typed)-n:]; utf8.RuneStart(half[0]) {
					if !utf8.FullRuneInString(half) {
						typed, part = typed[:len(typed)-n], half
					}
					break
				}
			}
			k.raw = []byte(part)
			k.typed(typed)
			return
		}
		text, after, ended := strings.Cut(rest, pasteEnd)
		if !ended {
			return
		}
		k.typed(typed)
		k.paste(text)
		k.raw = []byte(after)
	}
}

func (k *keys) typed(text string) {
	k.cut = k.cut || strings.Contains(text, ctrlC)
	text = private.Replace(strings.ReplaceAll(text, ctrlC, dropLine))
	k.ready = append(k.ready, padded(strings.ReplaceAll(text, "\n", "\r"))...)
}

// paste adds what was pasted. What has several lines, or is long, is kept aside
// under a name, since a line of the editor has one line and few characters.
func (k *keys) paste(text string) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	if !strings.ContainsAny(text, "\n\t") && utf8.RuneCountInString(text) <= mostShown {
		k.ready = append(k.ready, padded(display.Clean(text))...)
		return
	}
	k.pastes = append(k.pastes, text)
	k.ready = append(k.ready, k.name(len(k.pastes)-1)...)
}

func (k *keys) name(i int) string {
	return fmt.Sprintf("[pasted text %d, %d lines]", i+1, strings.Count(strings.TrimSuffix(k.pastes[i], "\n"), "\n")+1)
}

// whole returns a line with the text of what was pasted, and whether Ctrl-C
// dropped it.
func (k *keys) whole(line string) (string, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, text := range k.pastes {
		line = strings.Replace(line, k.name(i), text, 1)
	}
	cut := k.cut
	k.cut = false
	return line, cut
}

func (k *keys) drop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.raw, k.ready, k.cut = nil, nil, false
}

// padded adds the fillers.
func padded(text string) string {
	var b strings.Builder
	for _, r := range text {
		b.WriteRune(r)
		if r >= 0x1100 && display.RuneWidth(r) == 2 {
			b.WriteRune(filler)
		}
	}
	return b.String()
}

// narrow hides the fillers.
type narrow struct{ out io.Writer }

func (n narrow) Write(b []byte) (int, error) {
	if _, err := n.out.Write(bytes.ReplaceAll(b, []byte(string(filler)), nil)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// edit implements the private keys: they act on a character with its filler.
func edit(line string, at int, key rune) (string, int, bool) {
	before, after := line[:at], line[at:]
	switch key {
	case backspace:
		before = before[:len(before)-last(before)]
	case remove:
		after = after[first(after):]
	case left:
		return line, at - last(before), true
	case right:
		return line, at + first(after), true
	default:
		return "", 0, false
	}
	return before + after, len(before), true
}

// last is the length of the last character with its filler.
func last(text string) int {
	bare := strings.TrimSuffix(text, string(filler))
	_, n := utf8.DecodeLastRuneInString(bare)
	return len(text) - len(bare) + n
}

// first is the length of the first character with its filler.
func first(text string) int {
	_, n := utf8.DecodeRuneInString(text)
	if strings.HasPrefix(text[n:], string(filler)) {
		n += len(string(filler))
	}
	return n
}
