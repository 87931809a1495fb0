package script

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/pawl-run/pawl"
)

// A Script is the document of a scripted model; for its keys see the package
// comment.
type Script struct {
	// Name is the name in Describe, after "script/". [Parse] and [Load] set it
	// from the file; empty means "unnamed".
	Name string `yaml:"-"`

	Replies  []Reply                  `yaml:"replies"`
	Repeat   string                   `yaml:"repeat"`
	Purposes map[pawl.Purpose][]Reply `yaml:"purposes"`
	Steps    map[string][]Reply       `yaml:"steps"`
	Price    *Price                   `yaml:"price"`
}

// A Reply is one answer, or with Attempts one answer for each attempt. Text is
// a pointer because a reply may be empty on purpose.
type Reply struct {
	Text     *string         `yaml:"text"`
	Thinking string          `yaml:"thinking"`
	Calls    []Call          `yaml:"calls"`
	Usage    Usage           `yaml:"usage"`
	Stop     pawl.StopReason `yaml:"stop"`
	Delay    time.Duration   `yaml:"delay"`
	Chunks   int             `yaml:"chunks"`
	Expect   string          `yaml:"expect"`
	Hang     bool            `yaml:"hang"`
	Error    *Error          `yaml:"error"`
	Attempts []Reply         `yaml:"attempts"`
}

// A Call calls a tool, with Args as any value that has a JSON form, or with Raw
// as the model's exact text.
type Call struct {
	Tool string  `yaml:"tool"`
	ID   string  `yaml:"id"`
	Args any     `yaml:"args"`
	Raw  *string `yaml:"raw"`
}

// Usage is a [pawl.Usage].
type Usage struct {
	Input      int `yaml:"input"`
	Output     int `yaml:"output"`
	CacheRead  int `yaml:"cache_read"`
	CacheWrite int `yaml:"cache_write"`
	Reasoning  int `yaml:"reasoning"`
}

// An Error is a [pawl.ModelError].
type Error struct {
	Class      pawl.Class    `yaml:"class"`
	Message    string        `yaml:"message"`
	RetryAfter time.Duration `yaml:"retry_after"`
	Usage      *Usage        `yaml:"usage"` // all that is billed; nil: not reported
}

// Price is a [pawl.Price].
type Price struct {
	Input      float64 `yaml:"input"`
	Output     float64 `yaml:"output"`
	CacheRead  float64 `yaml:"cache_read"`
	CacheWrite float64 `yaml:"cache_write"`
	Long       Tier    `yaml:"long"`
}

// Tier is a [pawl.Tier].
type Tier struct {
	From       int     `yaml:"from"`
	Input      float64 `yaml:"input"`
	Output     float64 `yaml:"output"`
	CacheRead  float64 `yaml:"cache_read"`
	CacheWrite float64 `yaml:"cache_write"`
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
	dec := yaml.NewDecoder(bytes.NewReader(data), yaml.DisallowUnknownField())
	doc := &Script{}
	if err := dec.Decode(doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("script %s: the file is empty; want at least replies", name)
		}
		return nil, fmt.Errorf("script %s", where(name, err))
	}
	if err := dec.Decode(new(any)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("script %s: want one document, there are several", name)
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
