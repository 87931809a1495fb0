// Package a2a speaks the Agent2Agent (A2A) protocol, version 1.0: its objects and
// errors, agent cards, and a client.
//
// [Agent] returns an agent whose runs are tasks of a remote agent. Make it a tool of
// another agent with tool.Agent: each call is then a durable run, which is
// cancelled with its parent and finds its task again after a crash. To serve agents
// over A2A, use package server or pawl serve --a2a.
//
// The specification is at https://a2a-protocol.org/v1.0.0/specification; its file
// a2a.proto is normative.
package a2a
