package judge

import "strings"

var (
	negations = set("not no never none neither nor cannot without nobody nothing lacks lacking isn't aren't wasn't weren't don't doesn't didn't " +
		"can't couldn't won't wouldn't shouldn't hasn't haven't hadn't isnt doesnt dont cant wont false zero")
	wholes = set("all every each always entire whole none no never nobody nothing")
	sums   = set("total totals totalling sum sums altogether overall average averages mean combined together add adds adding up median")
	// numbered are words that a number of no consequence follows.
	numbered = set("step option item number no phase part section point level tier chapter figure table line lines page pages top priority round stage # task")
	// compares are words that speak of how two numbers relate.
	compares = set("cheaper dearer more less fewer difference differ differs faster slower increase increased decrease decreased growth grew rose fell dropped saves saved saving savings times twice half double higher lower longer shorter larger smaller bigger older younger ratio remaining left remains apart gap ahead behind")
	// stops carry no meaning of their own, or only that something is reported.
	stops = set("a an the and or but if then than that this these those there here it its they them their he she his her we our us you your i me my " +
		"is are was were be been being am do does did done has have had having will would can could shall should may might must " +
		"of in on at to for from by with as into onto about over under between among per via out up down off again further once within per " +
		"so such also too very just only both each every all any some most more less few many much other another same own " +
		"which who whom whose what when where why how while during before after until since because due " +
		"found find finds show shows shown showed say says said according result results returned return returns list lists listed " +
		"contain contains containing see seen look looks looked check checked search searched query queried " +
		"tool tools data information info based following follow follows above below currently now total overall altogether average mean summary " +
		"offer offers provide provides allow allows give gives get gets got use uses used make makes made one ones " +
		"therefore thus hence however moreover additionally finally first next last respectively etc approximately roughly around nearly almost exactly")
	months = map[string]string{"jan": "01", "feb": "02", "mar": "03", "apr": "04", "may": "05", "jun": "06",
		"jul": "07", "aug": "08", "sep": "09", "oct": "10", "nov": "11", "dec": "12"}
	longMonths = set("january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec")
)

// kin are words that stand for each other when an answer tells a result in its
// own words. The first of a line is what all of them become.
var kin = func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(`price cost fee charge rate
		pass succeed success ok successful successfully
		delete remove erase
		create add new insert
		buy purchase order
		vendor supplier seller provider
		employee staff worker person people
		begin start launch
		end finish
		send email mail
		big large
		small little
		fast quick
		city town
		number count amount quantity
		id identifier
		update change modify edit`) {
		words := strings.Fields(line)
		for _, w := range words {
			all[stem(w)] = stem(words[0])
		}
	}
	return all
}()

// opposites are words that deny another: what failed did not pass.
var opposites = func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(`pass fail failure
		enable disable
		open close
		increase decrease drop decline
		rise fall fell
		valid invalid
		correct incorrect wrong
		active inactive
		available unavailable
		present absent missing
		online offline
		run stop
		approve reject
		accept refuse
		grant deny
		supported unsupported
		known unknown
		possible impossible
		success failed
		profit loss
		higher lower
		faster slower
		best worst
		connect disconnect
		complete incomplete
		lock unlock
		include exclude`) {
		words := strings.Fields(line)
		for _, w := range words[1:] {
			all[stem(w)] = root(words[0])
		}
	}
	return all
}()

// stem cuts a word in lower case to what its forms share. It is a light cut of
// English endings, after Porter ("An algorithm for suffix stripping", 1980)
// without his later steps: cutting too deep would make different words one.
func stem(w string) string {
	w = strings.TrimSuffix(strings.TrimSuffix(w, "'s"), "'")
	switch {
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case len(w) > 4 && (strings.HasSuffix(w, "sses") || strings.HasSuffix(w, "xes") || strings.HasSuffix(w, "ches") || strings.HasSuffix(w, "shes")):
		return w[:len(w)-2]
	case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is"):
		w = w[:len(w)-1]
	}
	for _, end := range []string{"ing", "ed"} {
		cut := strings.TrimSuffix(w, end)
		if cut == w || len(cut) < 3 || !strings.ContainsAny(cut, "aeiouy") {
			continue
		}
		if n := len(cut); n > 3 && cut[n-1] == cut[n-2] && !strings.ContainsAny(cut[n-1:], "lsz") {
			cut = cut[:n-1]
		}
		w = cut
		break
	}
	if len(w) > 4 {
		w = strings.TrimSuffix(w, "e")
	}
	return w
}

// root is the stem of a word, or that of the word it stands for.
func root(w string) string {
	s := stem(w)
	if k, ok := kin[s]; ok {
		return k
	}
	return s
}

// same reports whether two stems are forms of one word: deploy and deployment.
func same(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b || len(a) >= 4 && len(b)-len(a) <= 5 && strings.HasPrefix(b, a) && !strings.ContainsAny(b, "0123456789")
}
