package junit

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	mostOutput    = 8 << 10
	mostMessage   = 1 << 10
	mostLocations = 20
)

type element struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	File    string   `xml:"file,attr"`
	Failure *outcome `xml:"failure"`
	Error   *outcome `xml:"error"`
	Skipped *outcome `xml:"skipped"`
	Out     string   `xml:"system-out"`
	Err     string   `xml:"system-err"`
}

type outcome struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// Parse reads a report of a project whose root is the absolute path dir, which
// is taken off the paths in what tests say; it may be empty. A file that is cut
// short is an error, which comes with what stood before.
func Parse(r io.Reader, dir string) (Report, error) {
	var report Report
	at := map[string]int{}
	seen := false
	for d := xml.NewDecoder(r); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			if !seen {
				return report, errors.New("junit: the file is empty; a report has a testsuite element")
			}
			return report, nil
		}
		if err != nil {
			return report, fmt.Errorf("junit: %w", err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch start.Name.Local {
		case "testsuites", "testsuite":
			seen = true
		case "testcase":
			var e element
			if err := d.DecodeElement(&e, &start); err != nil {
				return report, fmt.Errorf("junit: %w", err)
			}
			c := e.read(dir)
			id := c.ID()
			if i, again := at[id]; again {
				report.Cases[i].merge(c)
				continue
			}
			at[id] = len(report.Cases)
			report.Cases = append(report.Cases, c)
		}
	}
}

func (e element) read(dir string) Case {
	c := Case{File: path.Clean(strings.ReplaceAll(e.File, `\`, "/")), Class: e.Class, Name: e.Name, Status: Passed}
	if e.File == "" {
		c.File = ""
	}
	module := strings.ReplaceAll(strings.TrimSuffix(c.File, path.Ext(c.File)), "/", ".")
	switch {
	case c.File == "":
	case c.Class == "" && (c.Name == module || c.Name == c.File):
		c.Name = "" // the file could not be collected
	case c.Class == module:
		c.Class = ""
	default:
		// Classes in classes are joined by dots here, and by colons on the command line.
		if inner, ok := strings.CutPrefix(c.Class, module+"."); ok {
			c.Class = strings.ReplaceAll(inner, ".", "::")
		}
	}
	said := e.Skipped
	switch {
	case e.Failure != nil:
		c.Status, said = Failed, e.Failure
	case e.Error != nil:
		c.Status, said = Errored, e.Error
	case e.Skipped != nil:
		c.Status = Skipped
	}
	if said == nil {
		return c
	}
	c.Message = cut(steady(said.Message, dir), mostMessage)
	text := steady(said.Text, dir)
	for _, printed := range []string{e.Out, e.Err} {
		if printed = strings.TrimSpace(steady(printed, dir)); printed != "" {
			text += "\n" + printed
		}
	}
	if text = strings.TrimSpace(text); text == "" {
		text = c.Message
	}
	c.At = places(text)
	c.Output = cut(text, mostOutput)
	return c
}

// merge adds a second verdict on the same test: the worse one counts, and a failure before an
// error, since the failure is the test's subject.
func (c *Case) merge(other Case) {
	switch {
	case other.Status == Failed && c.Status != Failed, other.Status == Errored && c.Status < Failed:
		other.Output = join(other.Output, c.Output)
		*c = other
	case other.Status >= Failed:
		c.Output = join(c.Output, other.Output)
		for _, l := range other.At {
			if len(c.At) < mostLocations && !slices.Contains(c.At, l) {
				c.At = append(c.At, l)
			}
		}
	}
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return cut(a+"\n\n"+b, mostOutput)
}

var (
	foreign = regexp.MustCompile(`(?m)^(?:/|<frozen )[^:\n]*:\d+: in .*\n(?: {4}.*\n?)?`)
	address = regexp.MustCompile(` at 0x[0-9a-fA-F]+`)
	place   = regexp.MustCompile(`(?m)^(?:E\s+)?([^\s:][^:\n]*\.\w+):(\d+):(?: |$)|^\s*(?:E\s+)?File "([^"\n]+)", line (\d+)`)
)

// steady removes what differs from run to run or is not the project's: the frames of the
// interpreter and of installed packages, addresses, the root.
func steady(s, dir string) string {
	if dir != "" {
		s = strings.ReplaceAll(s, strings.TrimSuffix(dir, "/")+"/", "")
	}
	s = foreign.ReplaceAllString(s, "")
	return address.ReplaceAllString(s, "")
}

// cut leaves out the middle of a text of more than most bytes.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	head, tail := s[:most*2/3], s[len(s)-most/3:]
	if i := strings.LastIndexByte(head, '\n'); i > len(head)/2 {
		head = head[:i]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < len(tail)/2 {
		tail = tail[i+1:]
	}
	return strings.ToValidUTF8(head, "") + "\n[...]\n" + strings.ToValidUTF8(tail, "")
}

// places are the lines of the project's files in a traceback. Files of the interpreter and of
// installed packages have absolute paths.
func places(text string) []Location {
	var at []Location
	for _, m := range place.FindAllStringSubmatch(text, -1) {
		file, line := m[1]+m[3], m[2]+m[4]
		n, err := strconv.Atoi(line)
		l := Location{path.Clean(strings.ReplaceAll(file, `\`, "/")), n}
		if err == nil && !path.IsAbs(l.File) && !strings.HasPrefix(l.File, "..") && !slices.Contains(at, l) && len(at) < mostLocations {
			at = append(at, l)
		}
	}
	return at
}
