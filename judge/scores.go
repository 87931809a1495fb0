package judge

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A scored claim is one the judge gave a score.
type scored struct {
	value float64 // 1: supported, 0: not
	why   string
}

// supported is the lowest score of a supported claim.
const supported = 0.5

// readScores reads a judge's scores of n claims, counted from 1: the requested
// object or, as models trained on other formats write, one line per claim. It
// leaves out a claim that is scored twice or unreadably; an answer without any
// score is an error.
func readScores(text string, n int) (map[int]scored, error) {
	found, count := map[int]scored{}, map[int]int{}
	add := func(i int, s scored, ok bool) {
		if i < 1 || i > n {
			return
		}
		if count[i]++; count[i] > 1 || !ok {
			delete(found, i)
			return
		}
		found[i] = s
	}
	answer, err := onlyObject(text)
	if err == nil {
		var list []object
		if list, err = answer.objects("claims"); err != nil {
			return nil, err
		}
		for _, o := range list {
			i, numbered := o.number()
			if !numbered {
				continue
			}
			value, ok := o.support()
			add(i, scored{value, short(o.text("why"), mostReason)}, ok)
		}
	} else if len(text) <= mostAnswer && !strings.Contains(text, "{") {
		for line := range strings.Lines(text) {
			m := scoreLine.FindStringSubmatch(strings.TrimSpace(line))
			if m == nil {
				continue
			}
			i, _ := strconv.Atoi(m[1]) // zero, which is no claim's number, if it overflows
			value, ok := readScore(m[2])
			add(i, scored{value, short(strings.Trim(m[3], " *_-–—:."), mostReason)}, ok)
		}
		err = errNoScores
	}
	if len(found) == 0 {
		if err == nil {
			err = errNoScores
		}
		return nil, err
	}
	return found, nil
}

// scoreLine matches a claim's number, a score, and perhaps a reason, in any
// formatting: "CLAIM 1: 0.9 - why", "**Claim [2]** — supported", "3. 0.4".
var scoreLine = regexp.MustCompile(`(?i)^[\s*_#>-]*(?:claim)?[\s*_]*[\[(#]?\s*(\d{1,4})\s*[\])]?[\s*_]*[:.)=–—-]+[\s*_]*` +
	`(\d+(?:\.\d+)?\s*%?|supported|unsupported|not supported|grounded|ungrounded|not grounded|true|false|yes|no)\b[\s*_]*(.*)$`)

// readScore reads a score: a number from 0 to 1, or a word.
func readScore(text string) (float64, bool) {
	switch text = strings.ToLower(strings.TrimSpace(text)); text {
	case "supported", "grounded", "true", "yes":
		return 1, true
	case "unsupported", "not supported", "ungrounded", "not grounded", "false", "no":
		return 0, true
	}
	v, err := object{"score": text}.share("score")
	return v, err == nil
}

// number returns the number of the claim that an entry is about.
func (o object) number() (int, bool) {
	for _, key := range []string{"n", "claim", "number", "id"} {
		if value, ok := o[key]; ok {
			n, err := strconv.Atoi(strings.TrimSpace(fmt.Sprint(value)))
			return n, err == nil
		}
	}
	return 0, false
}

// support returns the score of an entry.
func (o object) support() (float64, bool) {
	var found []float64
	for _, key := range []string{"supported", "grounded", "score"} {
		value, ok := o[key]
		if !ok {
			continue
		}
		v, ok := readScore(fmt.Sprint(value))
		if !ok {
			return 0, false
		}
		found = append(found, v)
	}
	if len(found) == 0 {
		return 0, false
	}
	for _, v := range found {
		if (v < supported) != (found[0] < supported) { // it contradicts itself
			return 0, false
		}
	}
	return found[0], true
}
