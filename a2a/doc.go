// Package a2a speaks the Agent2Agent protocol, version 1.0: its objects, its errors, signed
// agent cards, and a client that makes an agent of a remote one.
//
// [Agent] returns an agent whose runs are tasks of a remote agent. As a tool of another agent,
// by tool.Agent, each call is such a run: durable, cancelled with its parent, and found again
// after a crash. The server is in package server, and runs with pawl serve --a2a.
//
// The specification is at https://a2a-protocol.org/v1.0.0/specification; its file a2a.proto is
// normative.
package a2a
