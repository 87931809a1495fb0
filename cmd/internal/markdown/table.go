package markdown

import (
	"regexp"
	"strings"

	"github.com/pawl-run/pawl/internal/terminal"
)

var separators = regexp.MustCompile(`^ *\|? *:?-+:? *(?:\| *:?-+:? *)*\|? *$`)

// endTable renders the table that is complete.
func (m *Writer) endTable() {
	lines := m.table
	m.table = nil
	if len(lines) == 0 {
		return
	}
	if len(lines) < 2 || !separators.MatchString(lines[1]) { // text that begins with a bar
		for _, line := range lines {
			m.inline(m.begin(line), true)
			m.out.WriteString("\n")
			m.open, m.hang, m.col, m.space = false, "", 0, false
		}
		return
	}
	aligns := cells(lines[1])
	rows := [][]string{cells(lines[0])}
	for _, line := range lines[2:] {
		rows = append(rows, cells(line))
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for c := range min(len(row), len(widths)) {
			widths[c] = max(widths[c], m.shownWidth(row[c]))
		}
	}
	m.shrink(widths)
	for r, row := range rows {
		style := ""
		if r == 0 {
			style = bold
		}
		m.row(row, widths, aligns, style)
		if r == 0 {
			parts := make([]string, len(widths))
			for c, w := range widths {
				parts[c] = strings.Repeat("─", w)
			}
			m.out.WriteString(dim + strings.Join(parts, "  ") + normal + "\n")
		}
	}
}

// cells splits a line of a table.
func cells(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|")
	var all []string
	code, from := false, 0
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\':
			i++
		case line[i] == '`':
			code = !code
		case line[i] == '|' && !code:
			all = append(all, strings.TrimSpace(line[from:i]))
			from = i + 1
		}
	}
	return append(all, strings.TrimSpace(line[from:]))
}

// shrink narrows the widest columns until the table fits.
func (m *Writer) shrink(widths []int) {
	const least = 8
	for m.width > 0 {
		total, widest := 2*(len(widths)-1), 0
		for c, w := range widths {
			total += w
			if w > widths[widest] {
				widest = c
			}
		}
		if total <= m.width || widths[widest] <= least {
			return
		}
		widths[widest] = max(least, widths[widest]-(total-m.width), widths[widest]/2)
	}
}

// shownWidth is the width of a cell without its delimiters.
func (m *Writer) shownWidth(cell string) int {
	n := 0
	flat(cell, "", true, func(_, text string, _ int) { n += terminal.Width(text) })
	return n
}

// row shows a row, whose cells may take several lines.
func (m *Writer) row(row []string, widths []int, aligns []string, style string) {
	shown := make([][]string, len(widths))
	tall := 1
	for c := range min(len(row), len(widths)) {
		in := &Writer{width: widths[c], colour: true}
		flat(row[c], style, true, func(s, text string, _ int) { in.put(s, text) })
		shown[c] = strings.Split(in.out.String(), "\n")
		tall = max(tall, len(shown[c]))
	}
	for k := range tall {
		var line strings.Builder
		for c, w := range widths {
			text := ""
			if k < len(shown[c]) {
				text = shown[c][k]
			}
			pad := strings.Repeat(" ", max(0, w-terminal.Width(styles.ReplaceAllString(text, ""))))
			if c < len(aligns) && strings.HasSuffix(aligns[c], ":") && !strings.HasPrefix(aligns[c], ":") {
				text, pad = pad+text, ""
			}
			line.WriteString(text)
			if c < len(widths)-1 {
				line.WriteString(pad + "  ")
			}
		}
		m.out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

var styles = regexp.MustCompile("\x1b\\[[0-9]*m")
