package a2a

import (
	"encoding/json"
	"time"
)

// Version is the protocol's version that this package speaks, and VersionHeader the header, or
// parameter of the query, in which a request names its version.
const (
	Version       = "1.0"
	VersionHeader = "A2A-Version"
)

// CardPath is the path of an agent's card below its base.
const CardPath = "/.well-known/agent-card.json"

// A State is where a task stands.
type State string

// The states.
const (
	Submitted     State = "TASK_STATE_SUBMITTED"
	Working       State = "TASK_STATE_WORKING"
	Completed     State = "TASK_STATE_COMPLETED"
	Failed        State = "TASK_STATE_FAILED"
	Canceled      State = "TASK_STATE_CANCELED"
	InputRequired State = "TASK_STATE_INPUT_REQUIRED"
	Rejected      State = "TASK_STATE_REJECTED"
	AuthRequired  State = "TASK_STATE_AUTH_REQUIRED"
)

// Known reports whether the protocol has the state.
func (s State) Known() bool { return s == Submitted || s == Working || s.Terminal() || s.Interrupted() }

// Terminal reports whether a task in this state has ended for good.
func (s State) Terminal() bool {
	return s == Completed || s == Failed || s == Canceled || s == Rejected
}

// Interrupted reports whether a task in this state waits for its client.
func (s State) Interrupted() bool { return s == InputRequired || s == AuthRequired }

// A Role is who wrote a message.
type Role string

// The roles.
const (
	User  Role = "ROLE_USER"
	Model Role = "ROLE_AGENT"
)

// A Part is a piece of content. Exactly one of Text, Raw, URL and Data is set.
type Part struct {
	Text      *string         `json:"text,omitempty"`
	Raw       []byte          `json:"raw,omitempty"`
	URL       *string         `json:"url,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
	Filename  string          `json:"filename,omitempty"`
	MediaType string          `json:"mediaType,omitempty"`
}

// Text makes a part of a text.
func Text(text string) Part { return Part{Text: &text} }

// Data makes a part of a JSON value.
func Data(value json.RawMessage) Part { return Part{Data: value, MediaType: "application/json"} }

// A Message is one turn of a conversation.
type Message struct {
	MessageID string `json:"messageId"`
	ContextID string `json:"contextId,omitempty"`
	TaskID    string `json:"taskId,omitempty"`
	Role      Role   `json:"role"`
	Parts     []Part `json:"parts"`
}

// An Artifact is a result of a task.
type Artifact struct {
	ArtifactID string `json:"artifactId"`
	Name       string `json:"name,omitempty"`
	Parts      []Part `json:"parts"`
}

// A Status is a state with the time and the reason of it.
type Status struct {
	State     State     `json:"state"`
	Message   *Message  `json:"message,omitempty"`
	Timestamp time.Time `json:"timestamp,omitzero"`
}

// A Task is a unit of work.
type Task struct {
	ID        string          `json:"id"`
	ContextID string          `json:"contextId,omitempty"`
	Status    Status          `json:"status"`
	Artifacts []Artifact      `json:"artifacts,omitempty"`
	History   []Message       `json:"history,omitempty"`
	Metadata  json.RawMessage `json:"metadata,omitempty"`
}

// A StatusUpdate says that the status of a task has changed.
type StatusUpdate struct {
	TaskID    string          `json:"taskId"`
	ContextID string          `json:"contextId"`
	Status    Status          `json:"status"`
	Metadata  json.RawMessage `json:"metadata,omitempty"`
}

// An ArtifactUpdate brings an artifact of a task.
type ArtifactUpdate struct {
	TaskID    string   `json:"taskId"`
	ContextID string   `json:"contextId"`
	Artifact  Artifact `json:"artifact"`
	LastChunk bool     `json:"lastChunk,omitempty"`
}

// An Update is an event of a stream, the body of a push notification and, with Task or Message
// only, the answer to a message. Exactly one field is set.
type Update struct {
	Task           *Task           `json:"task,omitempty"`
	Message        *Message        `json:"message,omitempty"`
	StatusUpdate   *StatusUpdate   `json:"statusUpdate,omitempty"`
	ArtifactUpdate *ArtifactUpdate `json:"artifactUpdate,omitempty"`
}

// A Send sends a message.
type Send struct {
	Tenant        string       `json:"tenant,omitempty"`
	Message       Message      `json:"message"`
	Configuration *SendOptions `json:"configuration,omitempty"`
}

// SendOptions say how a message is answered. The zero value waits until the task has ended or
// is interrupted.
type SendOptions struct {
	Push              json.RawMessage `json:"taskPushNotificationConfig,omitempty"` // refused by this server
	HistoryLength     *int            `json:"historyLength,omitempty"`
	ReturnImmediately bool            `json:"returnImmediately,omitempty"`
}

// An ID names a task.
type ID struct {
	Tenant        string `json:"tenant,omitempty"`
	ID            string `json:"id"`
	HistoryLength *int   `json:"historyLength,omitempty"` // of GetTask
}

// A Query selects tasks.
type Query struct {
	Tenant           string    `json:"tenant,omitempty"`
	ContextID        string    `json:"contextId,omitempty"`
	Status           State     `json:"status,omitempty"`
	PageSize         *int      `json:"pageSize,omitempty"`
	PageToken        string    `json:"pageToken,omitempty"`
	HistoryLength    *int      `json:"historyLength,omitempty"`
	UpdatedAfter     time.Time `json:"statusTimestampAfter,omitzero"`
	IncludeArtifacts bool      `json:"includeArtifacts,omitempty"`
}

// A Page is a page of tasks, the latest first. Next is empty on the last page.
type Page struct {
	Tasks []Task `json:"tasks"`
	Next  string `json:"nextPageToken"`
	Size  int    `json:"pageSize"`
	Total int    `json:"totalSize"`
}

// The methods.
const (
	MethodSend      = "SendMessage"
	MethodStream    = "SendStreamingMessage"
	MethodGet       = "GetTask"
	MethodList      = "ListTasks"
	MethodCancel    = "CancelTask"
	MethodSubscribe = "SubscribeToTask"
	MethodCard      = "GetExtendedAgentCard"
)
