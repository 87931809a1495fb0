package client

import "github.com/pawl-run/pawl"

// LineOf makes the list form of a run from its head.
func LineOf(h pawl.Head) RunLine {
	line := RunLine{h.Run, h.Agent, h.Status, h.Created, h.Iterations, nil, h.Labels}
	if h.Priced {
		line.CostUSD = new(pawl.Decimal(h.Cost))
	}
	if line.Labels == nil {
		line.Labels = map[string]string{}
	}
	return line
}
