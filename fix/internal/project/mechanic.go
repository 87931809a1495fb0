package project

// Mechanic is the name of the model that is a program and no language model.
const Mechanic = "mechanic"

// RepairTool is the name of the tool with which the mechanic works.
const RepairTool = "repair"

// Round is its argument, so that no call is equal to an earlier one. A call that a crash cut short may run again:
// it goes on from the files as they are.
type Round struct {
	Round int `json:"round" jsonschema:"how many times the tool was called, with this time"`
}

// Repaired is the result of that tool.
type Repaired struct {
	Summary string `json:"summary"`
	Edit    string `json:"edit,omitempty"` // what was edited, and where; empty: nothing was
	Tried   int    `json:"tried"`          // edits
}
