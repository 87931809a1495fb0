package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"
)

// largest bounds what is read of a source, which has less than a megabyte.
const largest = 64 << 20

// fetch reads a source.
func fetch(name string) ([]byte, error) {
	switch {
	case name == "-":
		return read(os.Stdin)
	case !strings.Contains(name, "://"):
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return read(f)
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, name, nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", name, res.Status)
	}
	return read(res.Body)
}

func read(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, largest+1))
	if len(data) > largest {
		return nil, fmt.Errorf("the source has more than %d MiB", largest>>20)
	}
	return data, err
}

// unpack finds the price data in a source, as JSON, and the source's version:
// that of the package, or unversioned for the data alone.
func unpack(data []byte) (text []byte, version string, err error) {
	if !bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		return data, "unversioned", nil
	}
	zipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, "", err
	}
	for files := tar.NewReader(zipped); ; {
		f, err := files.Next()
		switch {
		case errors.Is(err, io.EOF) && text != nil && version != "":
			return text, version, nil
		case errors.Is(err, io.EOF):
			return nil, "", errors.New("the package has not both package.json and dist/index.js")
		case err != nil:
			return nil, "", err
		case f.Name != "package/package.json" && f.Name != "package/dist/index.js":
			continue
		}
		file, err := read(files)
		if err != nil {
			return nil, "", err
		}
		if f.Name == "package/dist/index.js" {
			if text, err = literal(file); err != nil {
				return nil, "", err
			}
			continue
		}
		var about struct{ Version string }
		if err := json.Unmarshal(file, &about); err != nil {
			return nil, "", fmt.Errorf("read package.json: %w", err)
		}
		version = about.Version
	}
}

// word is one word of a JavaScript literal: a string in any of its three quotes, a
// name before a colon, a negated number (which is how true and false are minified),
// a number, or a sign.
var word = regexp.MustCompile(`^(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|` + "`(?:[^`$\\\\]|\\\\.)*`" + `|[A-Za-z_$][\w$]*|![01]|-?[\d.][\w.+-]*|[][{}:,])`)

// quotes writes what stands between quotes of other kinds as it stands in JSON's.
var quotes = strings.NewReplacer(`\'`, `'`, "\\`", "`", `"`, `\"`, "\n", `\n`, "\t", `\t`)

// literal turns the list that a JavaScript module begins with into JSON. It
// knows what the published module uses and refuses everything else.
func literal(js []byte) ([]byte, error) {
	start := bytes.IndexByte(js, '[')
	if start < 0 {
		return nil, errors.New("dist/index.js has no list of providers")
	}
	var out bytes.Buffer
	depth := 0
	for rest := js[start:]; ; {
		rest = bytes.TrimLeft(rest, " \t\r\n")
		w := string(word.Find(rest))
		if w == "" {
			return nil, fmt.Errorf("dist/index.js: %.20q is no part of a list that is known here", rest)
		}
		rest = rest[len(w):]
		switch c := w[0]; {
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case w == "!0":
			w = "true"
		case w == "!1":
			w = "false"
		case c == '\'' || c == '`':
			w = `"` + quotes.Replace(w[1:len(w)-1]) + `"`
		case strings.HasPrefix(strings.TrimPrefix(w, "-"), "."):
			w = strings.Replace(w, ".", "0.", 1)
		case w != "true" && w != "false" && w != "null" && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$'):
			w = `"` + w + `"`
		}
		out.WriteString(w)
		if depth == 0 {
			return out.Bytes(), nil
		}
	}
}
