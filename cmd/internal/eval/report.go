package eval

import (
	"cmp"
	"math"
	"slices"

	"github.com/pawl-run/pawl"
)

// A Report is an evaluation that took place.
type Report struct {
	Name      string    `json:"name"`
	ID        string    `json:"id"`
	Threshold *float64  `json:"threshold"`
	Met       bool      `json:"met"`     // all means reach the threshold, and all runs took place
	Skipped   int       `json:"skipped"` // runs that did not fit the budget, or were interrupted
	CostUSD   *float64  `json:"cost_usd"`
	Agents    []Summary `json:"agents"`
	Runs      []Run     `json:"runs"`
}

// A Run is one run of a case with its scores.
type Run struct {
	Agent    string   `json:"agent"`
	Case     string   `json:"case"`
	Repeat   int      `json:"repeat"`
	Run      string   `json:"run"` // the last one
	Status   string   `json:"status"`
	Tokens   int      `json:"tokens"`
	Elapsed  int64    `json:"elapsed_ms"`
	CostUSD  *float64 `json:"cost_usd"`           // with its user and its judges
	Messages int      `json:"messages,omitempty"` // that a user wrote after the input
	Scores   []Score  `json:"scores"`
}

// Add adds what a run of the agent or of its user has used.
func (r *Run) Add(of pawl.Result) {
	r.Tokens += of.Usage.Input + of.Usage.Output
	r.Elapsed += of.ElapsedMS
	r.CostUSD = Plus(r.CostUSD, (*float64)(of.CostUSD))
}

// A Summary is what the runs of one agent come to.
type Summary struct {
	Agent   string   `json:"agent"`
	Runs    int      `json:"runs"`
	Tokens  int      `json:"tokens"`
	CostUSD *float64 `json:"cost_usd"`
	P50     int64    `json:"p50_ms"`
	P95     int64    `json:"p95_ms"`
	Scorers []Mean   `json:"scorers"`
}

// A Mean is what the scores of one scorer come to.
type Mean struct {
	Scorer string  `json:"scorer"`
	Passed int     `json:"passed"`
	Of     int     `json:"of"`
	Mean   float64 `json:"mean"`
}

// Sum fills in what follows from the runs and the threshold.
func (r *Report) Sum() {
	by := func(a, b Run) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Case, b.Case), cmp.Compare(a.Repeat, b.Repeat))
	}
	slices.SortStableFunc(r.Runs, by)
	r.Agents, r.CostUSD, r.Met = []Summary{}, nil, r.Skipped == 0
	for i := 0; i < len(r.Runs); {
		n := i
		for n < len(r.Runs) && r.Runs[n].Agent == r.Runs[i].Agent {
			n++
		}
		s := summary(r.Runs[i:n])
		r.Agents = append(r.Agents, s)
		r.CostUSD = Plus(r.CostUSD, s.CostUSD)
		for _, m := range s.Scorers {
			if r.Threshold != nil && m.Mean < *r.Threshold-1e-9 {
				r.Met = false
			}
		}
		i = n
	}
}

func summary(runs []Run) Summary {
	s := Summary{Agent: runs[0].Agent, Runs: len(runs), Scorers: []Mean{}}
	var elapsed []int64
	for _, run := range runs {
		s.Tokens += run.Tokens
		s.CostUSD = Plus(s.CostUSD, run.CostUSD)
		elapsed = append(elapsed, run.Elapsed)
		for _, score := range run.Scores {
			i := slices.IndexFunc(s.Scorers, func(m Mean) bool { return m.Scorer == score.Scorer })
			if i < 0 {
				i = len(s.Scorers)
				s.Scorers = append(s.Scorers, Mean{Scorer: score.Scorer})
			}
			m := &s.Scorers[i]
			m.Of++
			m.Mean += score.Score
			if score.Pass {
				m.Passed++
			}
		}
	}
	for i := range s.Scorers {
		s.Scorers[i].Mean /= float64(s.Scorers[i].Of)
	}
	slices.Sort(elapsed)
	s.P50, s.P95 = percentile(elapsed, 50), percentile(elapsed, 95)
	return s
}

// percentile is the least value that so many percent of a sorted list do not exceed.
func percentile(sorted []int64, percent float64) int64 {
	return sorted[max(0, int(math.Ceil(percent/100*float64(len(sorted))))-1)]
}

// Plus adds dollars; nil is unknown, and counts as nothing.
func Plus(a, b *float64) *float64 {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	sum := *a + *b
	return &sum
}
