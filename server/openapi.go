package server

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl/internal/typeschema"
	"github.com/pawl-run/pawl/server/client"
)

// The document is OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.1.html), made from the
// routes and the types of their bodies.

type object = map[string]any

// document serves the API's description.
func (s *Server) document(x *exchange) (any, error) {
	data, err := json.Marshal(document(routes()))
	if err != nil {
		return nil, err
	}
	x.ResponseWriter.Header().Set("Content-Type", "application/json")
	_, _ = x.ResponseWriter.Write(append(data, '\n'))
	return nil, nil
}

// document describes routes.
func document(all []route) object {
	types := newSchemas()
	problem := types.ref(client.Problem{})
	paths := object{}
	for i := range all {
		path := pathOf(all[i].path)
		item, ok := paths[path].(object)
		if !ok {
			item = object{}
			paths[path] = item
		}
		item[strings.ToLower(all[i].method)] = types.operation(&all[i])
	}
	types.entry()
	responses := object{}
	for _, status := range problemStatuses(all) {
		responses[strconv.Itoa(status)] = object{
			"description": http.StatusText(status),
			"content":     object{"application/problem+json": object{"schema": problem}},
		}
	}
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title":       "Pawl",
			"version":     "1",
			"description": "Runs of agents: start, watch, decide and resume them.",
			"license":     object{"name": "Apache 2.0", "identifier": "Apache-2.0"},
		},
		"servers":  []any{object{"url": "/"}},
		"security": []any{object{"bearer": []string{}}},
		"paths":    paths,
		"components": object{
			"schemas":         types.Schemas,
			"responses":       responses,
			"securitySchemes": object{"bearer": object{"type": "http", "scheme": "bearer", "description": "A token of the server, with one or more of the scopes read, run and decide."}},
		},
	}
}

// pathOf is a path in the document's form. Pages are not part of the API.
func pathOf(path string) string {
	if strings.HasSuffix(path, "...}") {
		return "/"
	}
	return path
}

// problemStatuses are the statuses of all refusals.
func problemStatuses(all []route) []int {
	var statuses []int
	for i := range all {
		statuses = append(statuses, all[i].problems()...)
	}
	slices.Sort(statuses)
	return slices.Compact(statuses)
}

// problems are the statuses with which the route may refuse a request.
func (r *route) problems() []int {
	all := append([]int{http.StatusForbidden, http.StatusInternalServerError, http.StatusServiceUnavailable}, r.refuses...)
	if r.scope != 0 {
		all = append(all, http.StatusUnauthorized)
	}
	if r.body != nil {
		all = append(all, http.StatusBadRequest, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// operation describes a route.
func (t schemas) operation(r *route) object {
	parameters := []any{}
	for part := range strings.SplitSeq(pathOf(r.path), "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			name = strings.TrimSuffix(name, "}")
			parameters = append(parameters, object{"name": name, "in": "path", "required": true, "description": "The " + name + "'s whole id.", "schema": object{"type": "string"}})
		}
	}
	for _, p := range r.query {
		parameters = append(parameters, object{"name": p.name, "in": "query", "description": p.what, "schema": p.schema()})
	}
	content := object{}
	if r.reply != nil {
		content["application/json"] = object{"schema": t.ref(r.reply)}
	}
	if r.media != "" {
		content[r.media] = object{"schema": object{}}
	}
	status := cmp.Or(r.status, http.StatusOK)
	responses := object{strconv.Itoa(status): object{"description": http.StatusText(status), "content": content}}
	for _, status := range r.problems() {
		responses[strconv.Itoa(status)] = object{"$ref": "#/components/responses/" + strconv.Itoa(status)}
	}
	o := object{"operationId": r.name, "summary": r.summary, "parameters": parameters, "responses": responses}
	switch {
	case r.scope == 0:
		o["security"] = []any{}
	case r.near:
		o["security"] = []any{object{"bearer": []string{r.scope.String()}}, object{}}
	default:
		o["security"] = []any{object{"bearer": []string{r.scope.String()}}}
	}
	if r.body != nil {
		schema := t.ref(r.body)
		content := object{"application/json": object{"schema": schema}}
		if _, files := r.body.(*client.StartRun); files {
			content[formMedia] = object{
				"schema": object{"type": "object", "required": []string{"run"}, "properties": object{
					"run":  schema,
					"file": object{"type": "array", "items": object{"type": "string", "format": "binary"}, "description": "Files that are attached to the input."},
				}},
			}
		}
		o["requestBody"] = object{"required": t.demands(r.body), "content": content}
	}
	return o
}

// schema is the schema of a query parameter, by its name.
func (p parameter) schema() any {
	switch p.name {
	case "status":
		return typeschema.Reference("Status")
	case "since", "until":
		return object{"type": "string", "format": "date-time"}
	case "min_cost":
		return object{"type": "number", "minimum": 0}
	case "wait", "children", "brief":
		return object{"type": "boolean", "default": false}
	case "max":
		return object{"type": "integer", "minimum": 1}
	case "label":
		return object{"type": "array", "items": object{"type": "string", "pattern": "^[^=]+="}}
	}
	return object{"type": "string"}
}
