package guard

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// attack is a wording that tells a model to ignore its instructions: a word of
// each set in order, within one sentence, with at most gap words between two.
type attack struct {
	kind string
	gap  int // the most words between two
	sets []map[string]bool
}

func one(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}

const (
	drop  = "ignore disregard forget override bypass"
	rules = "instructions instruction prompt prompts rules directions guidelines directives programming"
)

var attacks = []attack{
	{"override", 2, []map[string]bool{one(drop), one("previous prior above earlier preceding foregoing original your"), one(rules)}},
	{"override", 1, []map[string]bool{one(drop), one("all any every"), one("instructions prompts directives guidelines")}},
	{"override", 2, []map[string]bool{one("ignore disregard forget"), one("everything"), one("above before previously told said")}},
	{"role", 2, []map[string]bool{one("you"), one("are"), one("now"), one("dan unrestricted unfiltered uncensored jailbroken")}},
	{"role", 0, []map[string]bool{one("do"), one("anything"), one("now")}},
	{"role", 2, []map[string]bool{one("pretend act behave"), one("no without"), one("restrictions guidelines rules limits filters")}},
	{"role", 0, []map[string]bool{one("your"), one("new real actual true"), one("instructions task objective goal role"), one("is are")}},
	{"prompt_theft", 2, []map[string]bool{one("reveal print show repeat output display leak tell give"), one("your"), one("system initial hidden original"), one("prompt instructions message")}},
	{"concealment", 1, []map[string]bool{one("not never don't"), one("tell inform alert notify"), one("user human operator")}},
}

// markup are the control tokens of model templates, which do not belong in any
// text.
var markup = []string{"<|im_start|>", "<|im_end|>", "<|system|>", "<|endoftext|>", "<|eot_id|>", "<|start_header_id|>", "[INST]", "[/INST]", "<<SYS>>", "<start_of_turn>"}

func injections(text string) (found []span) {
	for _, m := range markup {
		for i := 0; ; {
			n := strings.Index(text[i:], m)
			if n < 0 {
				break
			}
			found = append(found, span{"markup", i + n, i + n + len(m)})
			i += n + len(m)
		}
	}
	found = append(found, hidden(text)...)
	all := slices.Collect(words(text))
	for i := 0; i < len(all); {
		n := 1
		for _, a := range attacks {
			if k := a.match(all[i:]); k > 0 {
				found = append(found, span{a.kind, all[i].start, all[i+k-1].end})
				n = k
				break
			}
		}
		i += n
	}
	return found
}

// match returns the number of words of an attack that starts at the first word;
// zero: none does.
func (a attack) match(text []word) int {
	if !a.sets[0][text[0].lower] {
		return 0
	}
	at := 1
	for _, set := range a.sets[1:] {
		next := -1
		for i := at; i < len(text) && i <= at+a.gap && !text[i].first; i++ {
			if set[text[i].lower] {
				next = i
				break
			}
		}
		if next < 0 {
			return 0
		}
		at = next + 1
	}
	return at
}

// hidden finds text in tag characters, which are invisible but which models
// read. After a black flag they encode a region (Unicode TS 51).
func hidden(text string) (found []span) {
	const flag, first, last = 0x1F3F4, 0xE0000, 0xE007F
	before := rune(0)
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			before = rune(text[i])
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		start := i
		for r >= first && r <= last {
			i += size
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		if i > start {
			if before != flag {
				found = append(found, span{"hidden_text", start, i})
			}
			before = 0
			continue
		}
		before = r
		i += size
	}
	return found
}
