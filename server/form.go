package server

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/wire"
	"github.com/pawl-run/pawl/server/client"
)

// formMedia is the type of a form with files.
const formMedia = "multipart/form-data"

// mostForm is the size limit of a form: the files, and everything else.
const mostForm = engine.MaxFileBytes + mostBody

// readForm reads a form: the part run is the body as JSON, and each part file is a file of
// the input. It has more time than other bodies.
func (s *Server) readForm(x *exchange, to *client.StartRun) error {
	control := http.NewResponseController(x.ResponseWriter)
	_ = control.SetReadDeadline(time.Now().Add(10 * s.patient))
	x.Request.Body = http.MaxBytesReader(x.ResponseWriter, x.Request.Body, mostForm)
	form, err := x.Request.MultipartReader()
	if err != nil {
		return refusal(http.StatusBadRequest, "the body is no form: "+err.Error())
	}
	var files []pawl.File
	given := false
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return badForm(err)
		}
		data, err := io.ReadAll(part)
		switch name := part.FormName(); {
		case err != nil:
			return badForm(err)
		case name == "run" && len(data) > mostBody:
			return tooLarge()
		case name == "run" && given: // two parsers might read different ones
			err = refusal(http.StatusBadRequest, "the form has more than one part run")
		case name == "run":
			given, err = true, decode(wire.Unmarked(data), to)
		case name == "file" && len(files) == engine.MaxFiles:
			err = invalid(fmt.Sprintf("an input takes %d files", engine.MaxFiles))
		case name == "file":
			files = append(files, pawl.File{Name: part.FileName(), Type: part.Header.Get("Content-Type"), Data: data})
		default:
			err = invalid(fmt.Sprintf("the form has a part %q; send run, which is JSON, and one file or more", name))
		}
		if err != nil {
			return err
		}
	}
	_ = control.SetReadDeadline(time.Time{}) // from here on reading only detects that the client has gone
	to.Files = files
	return nil
}

func badForm(err error) error {
	if errors.As(err, new(*http.MaxBytesError)) {
		return refusal(http.StatusRequestEntityTooLarge, fmt.Sprintf("the form is larger than %d MiB", mostForm>>20))
	}
	return refusal(http.StatusBadRequest, "the form cannot be read: "+err.Error())
}
