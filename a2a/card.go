package a2a

import "encoding/json"

// JSONRPC is the binding that this package speaks.
const JSONRPC = "JSONRPC"

// A Card describes an agent.
type Card struct {
	Name                 string                     `json:"name"`
	Description          string                     `json:"description"`
	SupportedInterfaces  []Interface                `json:"supportedInterfaces"`
	Provider             *Provider                  `json:"provider,omitempty"`
	Version              string                     `json:"version"`
	DocumentationURL     string                     `json:"documentationUrl,omitempty"`
	Capabilities         Capabilities               `json:"capabilities"`
	SecuritySchemes      map[string]json.RawMessage `json:"securitySchemes,omitempty"`
	SecurityRequirements []json.RawMessage          `json:"securityRequirements,omitempty"`
	DefaultInputModes    []string                   `json:"defaultInputModes"`
	DefaultOutputModes   []string                   `json:"defaultOutputModes"`
	Skills               []Skill                    `json:"skills"`
	IconURL              string                     `json:"iconUrl,omitempty"`
}

// An Interface is where and how an agent is reached. A client sends its Tenant with each
// request.
type Interface struct {
	URL             string `json:"url"`
	ProtocolBinding string `json:"protocolBinding"`
	Tenant          string `json:"tenant,omitempty"`
	ProtocolVersion string `json:"protocolVersion"`
}

// A Provider offers an agent.
type Provider struct {
	URL          string `json:"url"`
	Organization string `json:"organization"`
}

// Capabilities are what an agent can do beyond the basics.
type Capabilities struct {
	Streaming         bool        `json:"streaming"`
	PushNotifications bool        `json:"pushNotifications"`
	Extensions        []Extension `json:"extensions,omitempty"`
	ExtendedAgentCard bool        `json:"extendedAgentCard"`
}

// An Extension is an extension of the protocol.
type Extension struct {
	URI         string          `json:"uri,omitempty"`
	Description string          `json:"description,omitempty"`
	Required    bool            `json:"required,omitempty"`
	Params      json.RawMessage `json:"params,omitempty"`
}

// A Skill is something that an agent can do.
type Skill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	Examples    []string `json:"examples,omitempty"`
	InputModes  []string `json:"inputModes,omitempty"`
	OutputModes []string `json:"outputModes,omitempty"`
}
