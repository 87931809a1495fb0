package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/cmd/internal/markdown"
)

// newView makes the view of the next run: what the model says, as it says it, and a line for
// each call that has ended.
func (t *talk) newView() view {
	v := &answerView{a: t.a, under: t.a.liveView(t.progress), open: t.page, whole: true}
	t.a.mu.Lock()
	defer t.a.mu.Unlock()
	t.view = v
	return v
}

// progress prints an entry that neither the status nor a question shows.
func (t *talk) progress(e pawl.Entry) {
	switch e.Event.(type) {
	case pawl.ModelReplied, pawl.ToolStarted, pawl.ApprovalRequested, pawl.InputRequested, pawl.ApprovalDecided, pawl.RunResumed:
		return
	}
	if text := t.a.progressText(e.Event); text != "" {
		t.a.shade("  %s", text)
	}
	for _, change := range t.a.changes(e.Event) {
		t.a.shade("  %s", change)
	}
}

// page is where an answer is shown.
func (t *talk) page() io.WriteCloser {
	return markdown.NewWriter(painter{t.a.err}, min(columns(t.a.terminal()), mostColumns), t.a.coloured())
}

// coloured reports whether a terminal gets colours.
func (env *environment) coloured() bool {
	return env.getenv("NO_COLOR") == "" && env.getenv("TERM") != "dumb"
}

// painter writes what may hold colours.
type painter struct{ to *lockedWriter }

func (p painter) Write(b []byte) (int, error) {
	p.to.paint(string(b))
	return len(b), nil
}

// shade prints one line that is less important than others.
func (a *app) shade(format string, args ...any) {
	line := strings.TrimRight(fmt.Sprintf(format, args...), "\n")
	lead := line[:len(line)-len(strings.TrimLeft(line, " "))]
	line = lead + oneLine(line)
	if a.coloured() {
		line = dim + line + normal
	}
	a.err.paint(line + "\n")
}
