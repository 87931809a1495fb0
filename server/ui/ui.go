// Package ui is the run inspector: the pages that a server of runs shows in a browser. They
// are one document with one script and one style sheet, built from the sources in app and
// embedded. They talk only to the API of the server they come from; their content security
// policy enforces this.
package ui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:embed all:dist
var dist embed.FS

// policy lets the pages use their own script, style and images, and talk to their own
// server. Text of models and tools is never inserted as markup; if it were, it could not
// load or send anything.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// A file is one of the pages' files, ready to send.
type file struct {
	plain, zipped []byte // zipped: nil if not shorter
	kind          string // Content-Type
	tag           string
}

// files are compressed once, on first use: that takes milliseconds, and a compressed copy
// in the repository would depend on the compressor.
var files = sync.OnceValue(func() map[string]*file {
	all, err := load(dist)
	if err != nil {
		panic(fmt.Sprintf("ui: the embedded pages cannot be read: %v", err)) // they are part of the program
	}
	return all
})

func load(from fs.FS) (map[string]*file, error) {
	all := map[string]*file{}
	err := fs.WalkDir(from, "dist", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		f := &file{plain: data, kind: kind(name), tag: `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}
		var b bytes.Buffer
		w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err != nil {
			return err
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		if b.Len() < len(data) {
			f.zipped = b.Bytes()
		}
		all[strings.TrimPrefix(name, "dist")] = f
		return nil
	})
	return all, err
}

// kind does not ask the system, whose table varies.
func kind(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return mime.TypeByExtension(path.Ext(name))
}

// Handler serves the pages: the document at / and at /index.html, and its parts under
// /assets/, whose names change with their content, so that browsers may cache them forever.
// Anything else is not found. The pages reveal nothing about runs and need no token; they
// ask for one. Handler is safe for concurrent use.
func Handler() http.Handler { return http.HandlerFunc(serve) }

func serve(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Path
	if name == "/" {
		name = "/index.html"
	}
	f, ok := files()[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "the pages can only be read", http.StatusMethodNotAllowed)
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	if strings.HasPrefix(name, "/assets/") {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		h.Set("Cache-Control", "no-cache")
	}
	h.Set("Content-Type", f.kind)
	h.Set("Vary", "Accept-Encoding")
	body, tag := f.plain, f.tag
	if f.zipped != nil && takesGzip(r.Header.Values("Accept-Encoding")) {
		h.Set("Content-Encoding", "gzip")
		body, tag = f.zipped, strings.TrimSuffix(f.tag, `"`)+`-gzip"`
	}
	h.Set("ETag", tag)
	if strings.Contains(r.Header.Get("If-None-Match"), tag) {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", fmt.Sprint(len(body)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(body) // the client may be gone
	}
}

// takesGzip parses Accept-Encoding (RFC 9110, section 12.5.3).
func takesGzip(values []string) bool {
	for one := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, weight, _ := strings.Cut(one, ";")
		if name = strings.TrimSpace(name); name != "gzip" && name != "*" {
			continue
		}
		q := strings.ReplaceAll(weight, " ", "")
		if q != "q=0" && !strings.HasPrefix(q, "q=0.000") && q != "q=0.0" && q != "q=0.00" {
			return true
		}
	}
	return false
}
