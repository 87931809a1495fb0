package review

import (
	"cmp"
	"fmt"
	"path"
	"strings"
)

// Text writes the findings for people: FILE:LINE: SEVERITY: TITLE, and the evidence below it.
func (r *Report) Text() string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s:%d: %s: %s", f.File, f.Line, f.Severity, oneLine(f.Title))
		if f.Rule != "" {
			fmt.Fprintf(&b, " [rule %s]", f.Rule)
		}
		b.WriteString("\n")
		for line := range strings.Lines(f.Evidence) {
			fmt.Fprintf(&b, "    %s\n", strings.TrimRight(line, " \t\r\n"))
		}
	}
	return b.String()
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Summary counts in one line what the report has.
func (r *Report) Summary() string {
	text := counted(len(r.Findings), "finding")
	rules := 0
	for _, f := range r.Findings {
		if f.Rule != "" {
			rules++
		}
	}
	if rules > 0 && r.Model != "" {
		text += fmt.Sprintf(" (%d by rules)", rules)
	}
	if r.Model == "" {
		return text
	}
	text += " in " + counted(len(r.Reviewed), "file")
	if r.Cached > 0 {
		text += fmt.Sprintf(" (%d as reviewed before)", r.Cached)
	}
	if n := len(r.Refuted); n > 0 {
		text += fmt.Sprintf("; %d refuted by the judge", n)
	}
	if r.Dropped > 0 {
		text += fmt.Sprintf("; %d dropped, since they are not about lines of the difference", r.Dropped)
	}
	return text
}

func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// GitHub writes the findings as workflow commands of GitHub Actions, one annotation a line.
func (r *Report) GitHub() string {
	var b strings.Builder
	for _, f := range r.Findings {
		command := map[string]string{Error: "error", Warning: "warning"}[f.Severity]
		title := oneLine(f.Title)
		if f.Rule != "" {
			title += " [rule " + f.Rule + "]"
		}
		fmt.Fprintf(&b, "::%s file=%s,line=%d,title=%s::%s\n", cmp.Or(command, "notice"), property(path.Join(r.Prefix, f.File)), f.Line,
			property(title), data(cmp.Or(f.Evidence, title)))
	}
	return b.String()
}

// data and property escape as the toolkit of GitHub Actions does.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(s))
}
