package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/pawl-run/pawl/engine"
)

// edit lets the person edit a call's arguments: as JSON typed after the answer, in
// an editor, or, without an editor, as a line of JSON. nil: the arguments are
// unchanged.
func (s *asker) edit(ctx context.Context, r engine.Request, edited json.RawMessage, given string) (json.RawMessage, error) {
	args, err := json.RawMessage(given), error(nil)
	editor := cmp.Or(s.a.getenv("VISUAL"), s.a.getenv("EDITOR"))
	switch {
	case given != "":
	case editor != "":
		was := edited
		if was == nil {
			was = r.Args
		}
		args, err = s.a.editor(ctx, editor, was)
	default:
		s.sayf("  type the arguments as one line of JSON; an empty line keeps them")
		var line string
		line, err = s.next(ctx)
		if args = json.RawMessage(strings.TrimSpace(line)); len(args) == 0 && err == nil {
			return edited, nil
		}
	}
	if err != nil {
		return nil, err
	}
	if err := s.fits(r.Tool, args); err != nil {
		return nil, err
	}
	if equalJSON(args, r.Args) {
		return nil, nil
	}
	return args, nil
}

// editor opens a document in the person's editor and returns the edited text.
func (a *app) editor(ctx context.Context, command string, document json.RawMessage) (json.RawMessage, error) {
	argv, err := words(command)
	if err != nil {
		return nil, fmt.Errorf("the editor %q: %w", command, err)
	}
	f, err := os.CreateTemp("", "pawl-*.json") // created with mode 0600
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	var text bytes.Buffer
	if json.Indent(&text, document, "", "  ") != nil {
		text.Write(document)
	}
	text.WriteByte('\n')
	_, err = f.Write(text.Bytes())
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	e := exec.CommandContext(ctx, argv[0], append(argv[1:], f.Name())...)
	e.Env = a.environ
	if in, ok := a.in.(*os.File); ok {
		e.Stdin = in
	}
	if shown, ok := a.err.under().(*os.File); ok { // standard output carries the result
		e.Stdout, e.Stderr = shown, shown
	}
	if err := e.Run(); err != nil {
		return nil, fmt.Errorf("the editor %s: %w", argv[0], err)
	}
	changed, err := os.ReadFile(f.Name())
	return bytes.TrimSpace(changed), err
}
