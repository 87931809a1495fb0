package script

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/wire"
)

// A Script is the document of a scripted model; docs/scripts.md describes
// its keys.
type Script struct {
	// Name is the name in Describe, after "script/". [Parse] and [Load] set it
	// from the file; empty means "unnamed".
	Name string `yaml:"-"`

	Strict   bool                     `yaml:"strict,omitempty"`
	Replies  []Reply                  `yaml:"replies,omitempty"`
	Repeat   string                   `yaml:"repeat,omitempty"`
	Purposes map[pawl.Purpose][]Reply `yaml:"purposes,omitempty"`
	Steps    map[string][]Reply       `yaml:"steps,omitempty"`
	Children map[string]*Script       `yaml:"children,omitempty"` // by the call that started them
	Price    *pawl.Price              `yaml:"price,omitempty,flow"`
}

// A Reply is one answer, or with Attempts one answer for each attempt. Text is
// a pointer because a reply may be empty on purpose.
type Reply struct {
	Turn     int             `yaml:"turn,omitempty"`
	Text     *string         `yaml:"text,omitempty"`
	Thinking string          `yaml:"thinking,omitempty"`
	Calls    []Call          `yaml:"calls,omitempty"`
	Hosted   []Hosted        `yaml:"hosted,omitempty"`
	Parts    []Part          `yaml:"parts,omitempty"`
	Usage    Usage           `yaml:"usage,omitempty,flow"`
	Stop     pawl.StopReason `yaml:"stop,omitempty"`
	Delay    time.Duration   `yaml:"delay,omitempty"`
	Chunks   int             `yaml:"chunks,omitempty"`
	Expect   string          `yaml:"expect,omitempty"`
	Hang     bool            `yaml:"hang,omitempty"`
	Error    *Error          `yaml:"error,omitempty"`
	Attempts []Reply         `yaml:"attempts,omitempty"`
}

// A Part is one part of a reply whose parts do not come in the order thinking,
// text, calls. It has exactly one of its fields.
type Part struct {
	Thinking *string `yaml:"thinking,omitempty"`
	Text     *string `yaml:"text,omitempty"`
	Call     *Call   `yaml:"call,omitempty"`
	Cites    *Source `yaml:"cites,omitempty"` // of the text before it
}

// A Source is what a text cites.
type Source struct {
	Title string `yaml:"title,omitempty"`
	URL   string `yaml:"url,omitempty"`
	Quote string `yaml:"quote,omitempty"`
}

// A Call calls a tool, with Args as any value that has a JSON form, or with Raw
// as the model's exact text.
type Call struct {
	Tool string  `yaml:"tool"`
	ID   string  `yaml:"id,omitempty"`
	Args any     `yaml:"args,omitempty"`
	Raw  *string `yaml:"raw,omitempty"`
}

// A Hosted is a [pawl.HostedCall], with Args and Result as any value that has a JSON form.
type Hosted struct {
	Tool   string `yaml:"tool"`
	Args   any    `yaml:"args,omitempty"`
	Result any    `yaml:"result,omitempty"`
	Error  string `yaml:"error,omitempty"`
}

// Usage is a [pawl.Usage].
type Usage struct {
	Input      int `yaml:"input"`
	Output     int `yaml:"output"`
	CacheRead  int `yaml:"cache_read,omitempty"`
	CacheWrite int `yaml:"cache_write,omitempty"`
	Reasoning  int `yaml:"reasoning,omitempty"`
	CacheLong  int `yaml:"cache_long,omitempty"`
	Searches   int `yaml:"web_searches,omitempty"`
	Sessions   int `yaml:"code_sessions,omitempty"`
}

// An Error is a [pawl.ModelError].
type Error struct {
	Class      pawl.Class    `yaml:"class"`
	Message    string        `yaml:"message,omitempty"`
	RetryAfter time.Duration `yaml:"retry_after,omitempty"`
	Usage      *Usage        `yaml:"usage,omitempty,flow"` // all that is billed; nil: not reported
}

// Load reads a script from a file.
func Load(path string) (*Model, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	return Parse(path, data)
}

// Parse parses a script. The name appears in errors and, without its
// directories, in [Model.Describe].
func Parse(name string, data []byte) (*Model, error) {
	file, err := parser.ParseBytes(wire.Unmarked(data), 0)
	if err != nil {
		return nil, fmt.Errorf("script %s", where(name, err))
	}
	docs := slices.DeleteFunc(file.Docs, func(d *ast.DocumentNode) bool { return d.Body == nil })
	switch len(docs) {
	case 0:
		return nil, fmt.Errorf("script %s: the file is empty; want at least replies", name)
	case 1:
	default:
		return nil, fmt.Errorf("script %s: want one document, there are several", name)
	}
	doc := &Script{}
	dec := yaml.NewDecoder(new(bytes.Reader), yaml.DisallowUnknownField())
	if err := dec.DecodeFromNode(keepNumbers(docs[0].Body, false), doc); err != nil {
		return nil, fmt.Errorf("script %s", where(name, err))
	}
	doc.Name = filepath.Base(name)
	m, err := New(doc)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// where formats a YAML error as file:line:column on one line; the library's own
// form draws an excerpt.
func where(name string, err error) string {
	var at yaml.Error
	if !errors.As(err, &at) || at.GetToken() == nil {
		return fmt.Sprintf("%s: %v", name, err)
	}
	p := at.GetToken().Position
	return fmt.Sprintf("%s:%d:%d: %s", name, p.Line, p.Column, at.GetMessage())
}
