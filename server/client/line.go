package client

import "github.com/pawl-run/pawl"

// LineOf makes the list form of a run from its head.
func LineOf(h pawl.Head) RunLine {
	line := RunLine{Run: h.Run, Agent: h.Agent, Status: h.Status, CreatedAt: h.Created, Iterations: h.Iterations, Labels: h.Labels}
	if h.Priced {
		line.CostUSD = new(pawl.Decimal(h.Cost))
	}
	if line.Labels == nil {
		line.Labels = map[string]string{}
	}
	return line
}
