package server

import (
	"net/http"

	"github.com/pawl-run/pawl/client"
)

// A route is one operation of the API. The routes are the one place where it is
// told: the multiplexer and the OpenAPI document are made of them.
type route struct {
	method  string
	path    string // as http.ServeMux has it, such as /v1/runs/{run}
	summary string
	scope   Scope // zero: anybody may, without a token
	query   []parameter
	body    any // a zero value of what is sent; nil: nothing
	reply   any // a zero value of what comes back; nil: what the handler writes by itself
	status  int // of success
	refuses []int
	do      func(*Server, *exchange) (any, error)
}

// A parameter is one of a route's query.
type parameter struct{ name, what string }

// An exchange is one request being answered.
type exchange struct {
	http.ResponseWriter
	*http.Request
	key  *Key // what the token allows; nil: the route is for anybody
	body any  // a pointer to what was sent
}

// refusal is an error with a status.
func refusal(status int, detail string) error {
	return &client.Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail}
}
