package team

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl"
)

// BoardNote is the author of the notes that are the changes of a board. They are numbered from 1,
// and only an engine writes them.
const BoardNote = "__board__"

// Where a task stands.
const (
	TaskOpen    = "open"
	TaskClaimed = "claimed"
	TaskDone    = "done"
	TaskDropped = "dropped"
)

// A Task is a task of a board.
type Task struct {
	ID     string `json:"task"` // t1, t2, …
	Text   string `json:"text"`
	Status string `json:"status"`
	By     string `json:"by,omitempty"`     // the run that claimed, finished or dropped it
	Result string `json:"result,omitempty"` // of one that is done; the reason for one that is dropped
}

// A Change is a note of a board: what a call of a run did.
type Change struct {
	Do    string   `json:"do"` // add, claim, finish or drop
	Run   string   `json:"run"`
	Call  string   `json:"call"`
	Tasks []string `json:"tasks,omitempty"` // added
	Task  string   `json:"task,omitempty"`  // the first that was added, or the one that was changed
	Text  string   `json:"text,omitempty"`  // its result, or why it is dropped
}

// String is the change in words.
func (c Change) String() string {
	_, who, ok := strings.Cut(c.Run, ".")
	if !ok {
		who = "the run itself"
	}
	switch c.Do {
	case "add":
		return fmt.Sprintf("%s adds to the board: %s", who, strings.Join(c.Tasks, "; "))
	case "claim":
		return fmt.Sprintf("%s claims %s", who, c.Task)
	case "finish":
		return fmt.Sprintf("%s finishes %s: %s", who, c.Task, c.Text)
	}
	return fmt.Sprintf("%s drops %s: %s", who, c.Task, c.Text)
}

// ChangeOf returns the change of a board that an event records; false: it records none.
func ChangeOf(event pawl.Event) (c Change, ok bool) {
	note, ok := event.(pawl.Noted)
	return c, ok && note.By == BoardNote && json.Unmarshal(note.Value, &c) == nil
}

// A Tasks is the board of a run, as far as it was folded. The zero Tasks is an empty board.
type Tasks struct {
	list    []Task
	changes int
	done    map[string]Change // by run and call
}

// TasksOf returns the tasks of a run's board as they are now. The claim of a run that has ended
// does not count.
func TasksOf(s *pawl.State) []Task {
	b := new(Tasks)
	b.fold(s)
	return b.stand(s)
}

// fold adds the changes of the state that are not in the board yet.
func (b *Tasks) fold(s *pawl.State) {
	for {
		value, ok := s.Note(BoardNote, strconv.Itoa(b.changes+1))
		var c Change
		if !ok || json.Unmarshal(value, &c) != nil {
			return
		}
		b.apply(c)
	}
}

func (b *Tasks) apply(c Change) {
	b.changes++
	if b.done == nil {
		b.done = map[string]Change{}
	}
	b.done[c.Run+" "+c.Call] = c
	for _, text := range c.Tasks {
		b.list = append(b.list, Task{ID: fmt.Sprintf("t%d", len(b.list)+1), Text: text, Status: TaskOpen})
	}
	i := slices.IndexFunc(b.list, func(t Task) bool { return t.ID == c.Task })
	if i < 0 {
		return
	}
	t := &b.list[i]
	switch c.Do {
	case "claim":
		t.Status, t.By = TaskClaimed, c.Run
	case "finish":
		t.Status, t.By, t.Result = TaskDone, c.Run, c.Text
	case "drop":
		t.Status, t.By, t.Result = TaskDropped, c.Run, c.Text
	}
}

// stand returns the tasks as they stand in the run of the board.
func (b *Tasks) stand(s *pawl.State) []Task {
	list := slices.Clone(b.list)
	for i := range list {
		if t := &list[i]; t.Status == TaskClaimed && !holds(s, t.By) {
			t.Status, t.By = TaskOpen, ""
		}
	}
	return list
}

// holds reports whether a run that claimed a task still goes on: the run of the board itself, or
// one of its calls that has no result. In a fork, runs of the other run hold nothing.
func holds(s *pawl.State, run string) bool {
	if run == s.Run() {
		return true
	}
	call, ok := strings.CutPrefix(run, s.Run()+".")
	c, open := s.Call(call)
	return ok && open && c.Phase != pawl.PhaseAnswered
}

// Do returns what a call of a tool of the board does in the run of the board: the note of the
// change, nil if there is none, and the result or the error that the model reads. A call whose
// change is on the board already has the same result again.
func (b *Tasks) Do(s *pawl.State, inv pawl.Invocation) (note *pawl.Noted, out pawl.Output, err error) {
	b.fold(s)
	do := strings.TrimPrefix(inv.Tool, boardPrefix)
	if do == "read" {
		list := b.stand(s)
		if list == nil {
			list = []Task{}
		}
		out, err = output(map[string]any{"tasks": list})
		return nil, out, err
	}
	c, again := b.done[inv.Run+" "+inv.Call]
	if !again {
		c, err = b.change(s, do, inv)
		if none, ok := errors.AsType[nothing](err); ok {
			out, err = output(map[string]any{"task": nil, "why": none.Error()})
			return nil, out, err
		}
		if err != nil {
			return nil, pawl.Output{}, err
		}
		value, err := json.Marshal(c)
		if err != nil {
			return nil, pawl.Output{}, fmt.Errorf("the board: %w", err)
		}
		note = &pawl.Noted{By: BoardNote, Name: strconv.Itoa(b.changes + 1), Value: value}
		defer b.apply(c)
	}
	out, err = b.result(c)
	return note, out, err
}

// change decides what a call changes.
func (b *Tasks) change(s *pawl.State, do string, inv pawl.Invocation) (Change, error) {
	var args struct {
		Tasks             []string
		Task, Result, Why string
	}
	_ = json.Unmarshal(inv.Args, &args) // validated before
	c := Change{Do: do, Run: inv.Run, Call: inv.Call, Task: args.Task, Text: args.Result + args.Why}
	list := b.stand(s)
	if do == "add" {
		if len(list)+len(args.Tasks) > mostTasks {
			return c, fmt.Errorf("a board has at most %d tasks, and this one has %d", mostTasks, len(list))
		}
		c.Tasks, c.Task = args.Tasks, fmt.Sprintf("t%d", len(list)+1)
		return c, nil
	}
	mine := slices.IndexFunc(list, func(t Task) bool { return t.Status == TaskClaimed && t.By == inv.Run })
	if args.Task == "" {
		i := mine
		if do == "claim" && mine < 0 {
			i = slices.IndexFunc(list, func(t Task) bool { return t.Status == TaskOpen })
		}
		if i < 0 {
			return c, noTask(do, list)
		}
		c.Task = list[i].ID
	}
	i := slices.IndexFunc(list, func(t Task) bool { return t.ID == c.Task })
	if i < 0 {
		return c, fmt.Errorf("the board has no task %s; board_read lists the tasks", c.Task)
	}
	switch t := list[i]; {
	case t.Status == TaskClaimed && t.By == inv.Run:
	case do == "claim" && mine >= 0:
		return c, fmt.Errorf("you have claimed %s; finish or drop it first", list[mine].ID)
	case t.Status == TaskOpen && (do == "claim" || inv.Run == s.Run()): // whose board it is need not claim
	case t.Status == TaskOpen:
		return c, fmt.Errorf("%s is open; claim it first", t.ID)
	case t.Status == TaskClaimed:
		return c, fmt.Errorf("%s is claimed by another run", t.ID)
	default:
		return c, fmt.Errorf("%s is %s already", t.ID, t.Status)
	}
	return c, nil
}

// noTask says that there is nothing to claim, finish or drop.
func noTask(do string, list []Task) error {
	claimed := 0
	for _, t := range list {
		if t.Status == TaskClaimed {
			claimed++
		}
	}
	switch {
	case do != "claim":
		return errors.New("you have claimed no task; claim one, or name the task")
	case claimed > 0:
		return nothing(fmt.Sprintf("no task is open; others go on with %d. Say what you have done, and end", claimed))
	}
	return nothing("the board is empty: no task is open. Say what you have done, and end")
}

// nothing says that no task is open, which is no failure.
type nothing string

func (n nothing) Error() string { return string(n) }

// result is what the model reads of its change.
func (b *Tasks) result(c Change) (pawl.Output, error) {
	i := slices.IndexFunc(b.list, func(t Task) bool { return t.ID == c.Task })
	switch {
	case c.Do == "add":
		n := 0
		if _, err := fmt.Sscanf(c.Task, "t%d", &n); err != nil {
			return pawl.Output{}, fmt.Errorf("the board: %w", err)
		}
		ids := make([]string, len(c.Tasks))
		for k := range ids {
			ids[k] = fmt.Sprintf("t%d", n+k)
		}
		return output(map[string]any{"added": ids})
	case c.Do == "claim" && i >= 0:
		return output(map[string]any{"task": c.Task, "text": b.list[i].Text})
	}
	return output(map[string]any{"task": c.Task, "status": map[string]string{"finish": TaskDone, "drop": TaskDropped}[c.Do]})
}

func output(v any) (pawl.Output, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return pawl.Output{}, fmt.Errorf("the board: %w", err)
	}
	return pawl.Output{JSON: raw}, nil
}
