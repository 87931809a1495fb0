package project

// Mechanic is the name of the model that is a program and no language model.
const Mechanic = "mechanic"

// RepairTool is the name of the tool with which the mechanic works.
const RepairTool = "repair"

// Repaired is the result of that tool.
type Repaired struct {
	Summary string `json:"summary"`
	Edit    string `json:"edit,omitempty"` // what was edited, and where; empty: nothing was
	Tried   int    `json:"tried"`          // edits
}
