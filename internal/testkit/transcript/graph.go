package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl/workflow"
)

// graphNode reads ID TOOL [ARGS] [suspend=before|after].
func graphNode(words []string) (n workflow.Step, err error) {
	if len(words) < 2 {
		return n, errors.New("a node has an id and a tool")
	}
	n = workflow.Step{ID: words[0], Tool: words[1]}
	for _, word := range words[2:] {
		switch word {
		case "suspend=before":
			n.Suspend = workflow.Before
		case "suspend=after":
			n.Suspend = workflow.After
		default:
			if err := json.Unmarshal([]byte(word), &n.Args); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// graphEdge reads FROM TO [join=J] [if EXPR].
func graphEdge(line string) (e workflow.Edge, err error) {
	line, e.If, _ = strings.Cut(line, " if ")
	for i, word := range strings.Fields(line) {
		join, joins := strings.CutPrefix(word, "join=")
		switch {
		case i == 0:
			e.From = strings.TrimPrefix(word, "-")
		case i == 1:
			e.To = word
		case !joins:
			err = fmt.Errorf("no part %q of an edge", word)
		case join == "any":
			e.Join = workflow.JoinAny
		case join == "first":
			e.Join = workflow.First
		case join != "all":
			var n int
			n, err = strconv.Atoi(join)
			e.Join = workflow.Join(n)
		}
	}
	return e, err
}
