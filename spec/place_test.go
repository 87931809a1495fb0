package spec

import (
	"strings"
	"testing"
)

// What a plain word says stands where it is said to stand.
func TestPlaces(t *testing.T) {
	for name, doc := range map[string]string{
		"flow.yaml":     "a: [ü, {bé: ç,   d: 1}] # é: f\nb:   {  x : y,\n  z: [ q,w ]  }\n",
		"tabs.yaml":     "a: {\n\tb: c,\n\t\td: [e,\tf]\n}\ng:\th\n",
		"crlf.yaml":     "a: b\r\nc:\r\n  - d\r\n  -   e: f\r\n      g: h\r\n# i\r\n\r\nj: k\r\n",
		"comments.yaml": "# x\n\na: b # c\n# d\ne:\n  # f\n  - g # h\n\n  - 'i'\n  - \"j\" # k\nl: m\n",
		"quoted.yaml":   "a: \"x\n  y\"\nb: c\nd: 'x\n\n  y'\ne: f\n\"g h\": i\n'j': k\n",
		"blocks.yaml":   "a: |\n  x\n\n    y\nb: c\nd: >-\n  x\n  y\n\n\ne: f\ng:\n- h\n- i: j\n  k: l\n",
		"plain.yaml":    "a: x\n  y\nb: c\nd:\n  e\nf: -g\nh: i:j\nk: l#m\n",
		"bom.yaml":      "\ufeffa: b\nc: d\n",
		"directive.yml": "%YAML 1.2\n---\na: b\n...\n",
		"tabs.json":     "{\n\t\"a\": [1, -2e5,\ttrue, null],\r\n\t\"é\": {\"b\" : {}}}\n",
	} {
		d, root := readDocument(name, doc)
		if root == nil || len(d.problems) > 0 {
			t.Errorf("%s: %v", name, d.problems)
			continue
		}
		found := 0
		stands := func(p place, word string) {
			found++
			i := d.src.index(p)
			if i < 0 {
				t.Errorf("%s: %q is said to stand at %v", name, word, p)
				return
			}
			rest := strings.TrimLeft(string(d.src.runes[i:]), `"'`)
			first := strings.Fields(word)[0]
			if !strings.HasPrefix(rest, first) {
				t.Errorf("%s: %q is said to stand at %v, where there is %.10q", name, word, p, rest)
			}
		}
		var walk func(n *node)
		walk = func(n *node) {
			switch {
			case n.kind == text && strings.ContainsRune("|>", d.src.runes[d.src.index(n.place)]):
				stands(n.place, string(d.src.runes[d.src.index(n.place)]))
				for i, r := range []rune(n.text) {
					if p, ok := d.src.within(n, i+1); ok && r > ' ' && d.src.runes[d.src.index(p)] != r {
						t.Errorf("%s: character %d of %q is said to stand at %v", name, i+1, n.text, p)
					}
				}
			case n.kind == text || n.kind == number || n.kind == boolean:
				stands(n.place, n.text)
			case n.kind == list:
				if r := d.src.runes[d.src.index(n.place)]; r != '[' && r != '-' {
					t.Errorf("%s: a list is said to stand at %v, where there is %q", name, n.place, r)
				}
			}
			for _, p := range n.pairs {
				stands(p.key.place, p.key.text)
				walk(p.value)
			}
			for _, item := range n.items {
				walk(item)
			}
		}
		walk(root)
		if found < 2 {
			t.Errorf("%s: only %d words were read", name, found)
		}
	}
}
