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

// edit has a call's arguments edited: as JSON given beside the answer, in the
// person's editor, or where there is none as a line of JSON. nil: they are what
// they were in the first place.
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
		s.a.sayf("  the arguments as one line of JSON; an empty line leaves them as they are")
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

// editor shows a document in the person's editor and returns what becomes of it.
func (a *app) editor(ctx context.Context, command string, document json.RawMessage) (json.RawMessage, error) {
	argv, err := words(command)
	if err != nil {
		return nil, fmt.Errorf("the editor %q: %w", command, err)
	}
	f, err := os.CreateTemp("", "pawl-*.json") // which is for the user's eyes only
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
	if shown, ok := a.err.under().(*os.File); ok { // standard output is for the result
		e.Stdout, e.Stderr = shown, shown
	}
	if err := e.Run(); err != nil {
		return nil, fmt.Errorf("the editor %s: %w", argv[0], err)
	}
	changed, err := os.ReadFile(f.Name())
	return bytes.TrimSpace(changed), err
}
