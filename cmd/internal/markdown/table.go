package markdown

import (
	"regexp"
	"strings"

	"github.com/pawl-run/pawl/internal/display"
)

var separators = regexp.MustCompile(`^ *\|? *:?-+:? *(?:\| *:?-+:? *)*\|? *$`)

// endTable renders the table that is complete. One that is too wide is text.
func (m *Writer) endTable() {
	lines := m.table
	m.table = nil
	var rows [][]string
	for _, line := range lines {
		rows = append(rows, cells(line))
	}
	widths, fits := m.widths(rows)
	if len(lines) < 2 || !separators.MatchString(lines[1]) || !fits {
		for _, line := range lines {
			m.inline(m.begin(line), true)
			m.out.WriteString("\n")
			m.open, m.hang, m.col, m.space = false, "", 0, false
		}
		return
	}
	for r, row := range rows {
		var parts []string
		for c, w := range widths {
			switch {
			case r == 1:
				parts = append(parts, dim+strings.Repeat("─", w)+normal)
			case c < len(row):
				parts = append(parts, cell(row[c], w, r == 0, c < len(rows[1]) && strings.HasSuffix(rows[1][c], ":") && !strings.HasPrefix(rows[1][c], ":")))
			}
		}
		m.out.WriteString(strings.TrimRight(strings.Join(parts, "  "), " ") + "\n")
	}
}

// widths returns the widths of the columns, and whether a line has room for them.
func (m *Writer) widths(rows [][]string) (widths []int, fits bool) {
	total := 0
	if len(rows) > 1 {
		widths = make([]int, len(rows[0]))
	}
	for c := range widths {
		for r, row := range rows {
			if r != 1 && c < len(row) {
				widths[c] = max(widths[c], shownWidth(row[c]))
			}
		}
		total += widths[c] + 2
	}
	return widths, m.width == 0 || total-2 <= m.width
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

// shownWidth is the width of a cell without its delimiters.
func shownWidth(cell string) (n int) {
	flat(cell, "", true, func(_, text string, _ int) { n += display.Width(text) })
	return n
}

// cell shows a cell, padded to a width.
func cell(text string, width int, head, right bool) string {
	style := ""
	if head {
		style = bold
	}
	in := &Writer{colour: true}
	flat(text, style, true, func(s, span string, _ int) { in.put(s, span) })
	pad := strings.Repeat(" ", max(0, width-shownWidth(text)))
	if right {
		return pad + in.out.String()
	}
	return in.out.String() + pad
}
