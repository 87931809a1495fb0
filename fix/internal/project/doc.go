// Package project has what an agent knows and may do in the working copy of a project: its files
// under a rule that says which may be edited, the tools for them, and what lies around it.
package project
