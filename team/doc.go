// Package team has agents work together: one hands its conversation over to another (see [Handoff]),
// or several share a board of tasks (see [Board]).
//
//	var triage, billing pawl.Agent
//	billing = pawl.Agent{Name: "billing", Description: "Invoices and refunds.", Model: model, Tools: []pawl.Tool{refund, team.Handoff(&triage, nil)}}
//	triage = pawl.Agent{Name: "triage", Model: model, Tools: []pawl.Tool{team.Handoff(&billing, nil)}}
//
//	result, err := engine.Run(ctx, triage, "I was charged twice.") // the result of the last leg
//
// A handoff ends the run of the agent that hands over, as a success with the reason
// handoff("billing"). The next run of the same thread is a run of the other agent, on what is
// left of the same limits. The runs of one conversation between two messages of a person are
// its legs.
//
// The package is pure. Package engine begins the legs.
package team
