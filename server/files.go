package server

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/media"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/server/client"
)

// fileRoutes are the operations on the files of a run.
func fileRoutes() []route {
	return []route{
		{
			method: http.MethodGet, path: "/v1/runs/{run}/files", name: "files", summary: "List the files of a run's input and of its tools", scope: Read,
			reply: client.Files{}, refuses: []int{404}, do: (*Server).files,
		},
		{
			method: http.MethodGet, path: "/v1/runs/{run}/files/{file}", name: "file", summary: "Get a file of a run as an attachment", scope: Read,
			media: unknownType, refuses: []int{404}, do: (*Server).file,
		},
	}
}

func (s *Server) filesOf(x *exchange) ([]runs.File, error) {
	h, err := s.find(x)
	if err != nil {
		return nil, err
	}
	state, err := engine.Load(x.Context(), s.journal, h.Run)
	if err != nil {
		return nil, err
	}
	return runs.Files(state), nil
}

func (s *Server) files(x *exchange) (any, error) {
	all, err := s.filesOf(x)
	return client.Files{Files: all}, err
}

// file sends a file that belongs to the run. Its digest alone proves nothing: the journal may have it
// for a run that the key must not see.
func (s *Server) file(x *exchange) (any, error) {
	all, err := s.filesOf(x)
	if err != nil {
		return nil, err
	}
	for _, f := range all {
		if f.Digest == "" || f.Digest != x.PathValue("file") {
			continue
		}
		data, err := f.Read(x.Context(), s.journal)
		if errors.Is(err, pawl.ErrUnknownBlob) {
			return nil, refusal(http.StatusNotFound, fmt.Sprintf("the journal does not have the file %s: it was removed, or the run was imported without it", f.Name))
		}
		if err != nil {
			return nil, err
		}
		s.sendFile(x, f, data)
		return nil, nil
	}
	return nil, refusal(http.StatusNotFound, "the run has no file with this digest; see GET /v1/runs/{run}/files")
}

// unknownType is the type of data that nobody should interpret.
const unknownType = "application/octet-stream"

// sentType returns the type as which a file is sent. Tools say types as they like, so a browser gets
// only those that cannot act in it, and is told to save the file in any case.
func sentType(kind string) string {
	switch kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp", media.PDF:
		return kind
	case media.Text:
		return kind + "; charset=utf-8"
	}
	if strings.HasPrefix(kind, "audio/") && mime.FormatMediaType(kind, nil) == kind {
		return kind
	}
	return unknownType
}

// slowest is the least bytes a second at which a client must read a file.
const slowest = 64 << 10

func (s *Server) sendFile(x *exchange, f runs.File, data []byte) {
	h := x.ResponseWriter.Header()
	h.Set("Content-Type", sentType(f.Type))
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.Name}))
	_ = http.NewResponseController(x.ResponseWriter).SetWriteDeadline(time.Now().Add(2*s.patient + time.Duration(len(data)/slowest)*time.Second))
	http.ServeContent(x.ResponseWriter, x.Request, "", time.Time{}, bytes.NewReader(data))
}
