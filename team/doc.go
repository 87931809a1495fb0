// Package team has two ways for agents to work together: one agent hands the
// conversation over to another ([Handoff]), or several share a board of tasks
// ([Board]). An agent that merely calls another one needs only tool.Agent.
//
//	var triage, billing pawl.Agent
//	billing = pawl.Agent{Name: "billing", Description: "Invoices and refunds.", Model: model, Tools: []pawl.Tool{refund, team.Handoff(&triage, nil)}}
//	triage = pawl.Agent{Name: "triage", Model: model, Tools: []pawl.Tool{team.Handoff(&billing, nil)}}
//
//	result, err := engine.Run(ctx, triage, "I was charged twice.") // the result of the last leg
//
// A handoff ends the run of the first agent, as a success with the reason
// handoff("billing"). The other agent then gets a run of its own in the same
// thread, within what is left of the same limits. The runs between two messages of
// a person are the legs of the conversation.
//
// The package is pure: it decides who is next, and package engine starts the legs.
package team
