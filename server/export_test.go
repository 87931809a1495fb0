package server

import (
	"encoding/json"
	"strings"
	"time"
)

// An Operation is a route as tests of the whole server know it.
type Operation struct {
	Method, Path, Name string
	Scope              Scope
	Near, Body         bool
}

// Operations are all routes.
func Operations() (all []Operation) {
	for _, r := range routes() {
		all = append(all, Operation{r.method, r.path, r.name, r.scope, r.near, r.body != nil})
	}
	return all
}

// Handled are the patterns that the server has a handler for.
func (s *Server) Handled() map[string]bool {
	all := map[string]bool{}
	for path, those := range s.paths {
		for _, one := range those {
			all[strings.ToLower(one.method)+" "+pathOf(path)] = true
		}
	}
	return all
}

// SetPatience sets how long a body may take.
func (s *Server) SetPatience(d time.Duration) { s.patient = d }

// Document is the OpenAPI document.
func Document() json.RawMessage {
	data, err := json.MarshalIndent(document(routes()), "", "  ")
	if err != nil {
		panic(err)
	}
	return data
}
