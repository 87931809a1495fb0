package server_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl/a2a"
)

// card gets a public card.
func (w *a2aWorld) card(path string) (a2a.Card, []byte, answer) {
	w.t.Helper()
	res, data := w.send(request{method: "GET", path: path})
	var c a2a.Card
	if err := json.Unmarshal(data, &c); err != nil || res.StatusCode != http.StatusOK {
		w.t.Fatalf("%s: %d %s: %v", path, res.StatusCode, data, err)
	}
	return c, data, res
}

func cardIsThere(w *a2aWorld) {
	if c, _, _ := w.card(a2a.CardPath); c.Name != "scenarios" {
		w.t.Errorf("the card is that of %q", c.Name)
	}
	if c, _, _ := w.card("/a2a/agents/payer" + a2a.CardPath); c.Name != "payer" || c.SupportedInterfaces[0].Tenant != "payer" {
		w.t.Errorf("the card of the payer: %+v", c)
	}
	if res, _ := w.send(request{method: "GET", path: "/a2a/agents/nobody" + a2a.CardPath}); res.StatusCode != http.StatusNotFound {
		w.t.Errorf("the card of nobody: %d", res.StatusCode)
	}
}

func cardNamesInterfaces(w *a2aWorld) {
	c, _, _ := w.card(a2a.CardPath)
	want := map[string]string{a2a.JSONRPC: w.web.URL + "/a2a"}
	for _, i := range c.SupportedInterfaces {
		if want[i.ProtocolBinding] != i.URL || i.ProtocolVersion != "1.0" {
			w.t.Errorf("interface %+v", i)
		}
		delete(want, i.ProtocolBinding)
	}
	if len(want) > 0 {
		w.t.Errorf("the card lacks %v", want)
	}
}

func cardIsComplete(w *a2aWorld) {
	c, _, _ := w.card(a2a.CardPath)
	if c.Name == "" || c.Description == "" || c.Version == "" || c.DefaultInputModes == nil || c.DefaultOutputModes == nil || len(c.Skills) == 0 ||
		!c.Capabilities.Streaming || !c.Capabilities.ExtendedAgentCard || c.SecuritySchemes["bearer"] == nil {
		w.t.Errorf("%+v", c)
	}
	for _, s := range c.Skills {
		if s.ID == "" || s.Name == "" || s.Description == "" || len(s.Tags) == 0 {
			w.t.Errorf("skill %+v", s)
		}
	}
}

func extendedNeedsToken(w *a2aWorld) {
	w.wants(a2a.Unauthenticated, "", a2a.MethodCard, map[string]any{})
	c := gets[a2a.Card](w, reader, a2a.MethodCard, map[string]any{"tenant": "payer"})
	if c.Name != "payer" || len(c.Skills) != 2 || c.Skills[1].ID != "payer/pay" {
		w.t.Errorf("%+v", c.Skills)
	}
}

func cardIsCached(w *a2aWorld) {
	_, _, res := w.card(a2a.CardPath)
	tag := res.Header.Get("ETag")
	if !strings.Contains(res.Header.Get("Cache-Control"), "max-age=") || tag == "" || res.Header.Get("Last-Modified") == "" {
		w.t.Errorf("%v", res.Header)
	}
	if res, _ := w.send(request{method: "GET", path: a2a.CardPath, header: http.Header{"If-None-Match": {tag}}}); res.StatusCode != http.StatusNotModified {
		w.t.Errorf("an unchanged card is sent with %d", res.StatusCode)
	}
}

// allMethods are the methods with parameters that fit.
var allMethods = map[string]map[string]any{
	a2a.MethodSend: message("x"), a2a.MethodStream: message("x"), a2a.MethodGet: {"id": "x"}, a2a.MethodList: {}, a2a.MethodCancel: {"id": "x"}, a2a.MethodSubscribe: {"id": "x"},
	a2a.MethodCard: {},
}

func everyRequestNeedsToken(w *a2aWorld) {
	for method, params := range allMethods {
		w.wants(a2a.Unauthenticated, "", method, params)
		w.wants(a2a.Unauthenticated, "wrong", method, params)
	}
	w.wants(a2a.Forbidden, reader, a2a.MethodSend, message("x"))
	w.wants(a2a.Forbidden, reader, a2a.MethodCancel, map[string]any{"id": "x"})
	res, _ := w.send(w.request("", a2a.MethodList, nil))
	if !strings.HasPrefix(res.Header.Get("WWW-Authenticate"), "Bearer") || res.StatusCode != http.StatusUnauthorized {
		w.t.Errorf("%d %v", res.StatusCode, res.Header)
	}
	foreign := w.request(admin, a2a.MethodList, nil)
	foreign.header.Set("Origin", "https://evil.example")
	if res, _ := w.send(foreign); res.StatusCode != http.StatusForbidden {
		w.t.Errorf("a foreign page is answered with %d", res.StatusCode)
	}
}

func tenantsAreApart(w *a2aWorld) {
	mine := *gets[a2a.Update](w, acme, a2a.MethodSend, message("tck-input-required", "contextId", "shared")).Task
	theirs := *gets[a2a.Update](w, other, a2a.MethodSend, message("tck-input-required", "contextId", "shared")).Task
	if mine.ContextID != "shared" || theirs.ContextID != "shared" || mine.ID == theirs.ID {
		w.t.Errorf("%s %s, %s %s", mine.ID, mine.ContextID, theirs.ID, theirs.ContextID)
	}
	page := gets[a2a.Page](w, acme, a2a.MethodList, map[string]any{"contextId": "shared"})
	if page.Total != 1 || page.Tasks[0].ID != mine.ID {
		w.t.Errorf("%+v", page)
	}
	for _, method := range []string{a2a.MethodGet, a2a.MethodCancel, a2a.MethodSubscribe} {
		w.wants(a2a.TaskNotFound, acme, method, map[string]any{"id": theirs.ID})
	}
	w.wants(a2a.TaskNotFound, acme, a2a.MethodSend, message("x", "taskId", theirs.ID))
	w.wants(a2a.TaskNotFound, admin, a2a.MethodGet, map[string]any{"tenant": "payer", "id": mine.ID})
}

func approvalIsAuthorization(w *a2aWorld) {
	task := *gets[a2a.Update](w, admin, a2a.MethodSend, to("payer", "pay")).Task
	if task.Status.State != a2a.AuthRequired || !strings.Contains(*task.Status.Message.Parts[0].Text, "pay") {
		w.t.Fatalf("%+v", task.Status)
	}
	_, no := w.call(admin, a2a.MethodSend, to("payer", "text", "taskId", task.ID, "parts", []any{map[string]any{"text": "approve"}}))
	if no == nil || !strings.Contains(no.message, "decision") {
		w.t.Errorf("a text is taken for a decision: %+v", no)
	}
	decision := to("payer", "yes", "taskId", task.ID, "parts", []any{map[string]any{"data": map[string]any{"decision": "approve"}}})
	if _, no := w.call(runner, a2a.MethodSend, decision); no == nil {
		w.t.Error("a key without the scope decides")
	}
	task = *gets[a2a.Update](w, admin, a2a.MethodSend, decision).Task
	if task.Status.State != a2a.Completed || *task.Artifacts[0].Parts[0].Text != "paid" {
		w.t.Errorf("%+v", task)
	}
}

func streamOutlastsApproval(w *a2aWorld) {
	u := w.stream(admin, a2a.MethodStream, to("payer", "pay"))
	first, _ := u.next()
	for seen := a2a.State(""); seen != a2a.AuthRequired; {
		update, ok := u.next()
		if !ok || update.StatusUpdate == nil {
			w.t.Fatalf("%+v", update)
		}
		seen = update.StatusUpdate.Status.State
	}
	r := w.world.result(admin, "GET", "/v1/runs/"+first.Task.ID, "", 200)
	w.ask(admin, "POST", "/v1/runs/"+r.Run+"/calls/"+r.Pending[0].Call+"/deny", `{"reason":"no"}`, 200) // out of band
	if rest := u.rest(); !slices.Contains(rest, "artifact paid") || rest[len(rest)-1] != "status TASK_STATE_COMPLETED" {
		w.t.Errorf("%q", rest)
	}
}

func mediaTypes(w *a2aWorld) {
	for _, kind := range []string{"application/json", "application/json; charset=utf-8"} {
		r := w.request(admin, a2a.MethodSend, message("tck-complete-task"))
		r.header.Set("Content-Type", kind)
		if res, data := w.send(r); res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "application/json" {
			w.t.Errorf("%d %s: %s", res.StatusCode, res.Header.Get("Content-Type"), data)
		}
	}
	r := w.request(admin, a2a.MethodSend, message("tck-complete-task"))
	r.header.Set("Content-Type", "text/plain")
	res, data := w.send(r)
	if _, no := w.outcome(res, data); no == nil || no.reason != a2a.ContentTypeNotSupported.Reason {
		w.t.Errorf("%+v", no)
	}
}

func errorsHaveTheirForm(w *a2aWorld) {
	_, data := w.send(w.request(admin, a2a.MethodGet, map[string]any{"id": "nope"}))
	var rpc struct {
		ID    any
		Error struct {
			Code    int
			Message string
			Data    []map[string]any
		}
	}
	if err := json.Unmarshal(data, &rpc); err != nil || rpc.ID != "r-1" || rpc.Error.Code != -32001 || rpc.Error.Data[0]["reason"] != "TASK_NOT_FOUND" {
		w.t.Errorf("%s: %v", data, err)
	}
	_, no := w.call(admin, a2a.MethodSend, message("x", "parts", []any{}))
	if no == nil || no.code != -32602 || no.details[0]["@type"] != "type.googleapis.com/google.rpc.BadRequest" {
		w.t.Errorf("%+v", no)
	}
}

func rpcIsStrict(w *a2aWorld) {
	for body, want := range map[string]int{
		`{`: -32700, `[]`: -32600, `{}`: -32600, `"x"`: -32600, `{"jsonrpc":"1.0","id":1,"method":"ListTasks"}`: -32600, `{"jsonrpc":"2.0","method":"ListTasks"}`: -32600,
		`{"jsonrpc":"2.0","id":{},"method":"ListTasks"}`: -32600, `{"jsonrpc":"2.0","id":1,"method":"tasks/list"}`: -32601, `{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":[]}`: -32602,
		`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":7}}`: -32602,
	} {
		res, data := w.send(request{token: admin, method: "POST", path: "/a2a", body: body, header: version1()})
		if _, no := w.outcome(res, data); no == nil || no.code != want || res.StatusCode != http.StatusOK {
			w.t.Errorf("%s: %d %s, want %d", body, res.StatusCode, data, want)
		}
	}
	if res, _ := w.send(request{token: admin, method: "GET", path: "/a2a"}); res.StatusCode != http.StatusMethodNotAllowed {
		w.t.Errorf("GET /a2a: %d", res.StatusCode)
	}
}

func streamsFromTaskToEnd(w *a2aWorld) {
	got := w.stream(admin, a2a.MethodStream, message("tck-stream-001")).rest()
	if want := []string{"task TASK_STATE_WORKING", "artifact Stream hello from TCK", "status TASK_STATE_COMPLETED"}; !slices.Equal(got, want) {
		w.t.Errorf("%q", got)
	}
	got = w.stream(admin, a2a.MethodStream, message("tck-input-required")).rest()
	if want := []string{"task TASK_STATE_WORKING", "status TASK_STATE_INPUT_REQUIRED"}; !slices.Equal(got, want) {
		w.t.Errorf("%q", got)
	}
}

func sendWaits(w *a2aWorld) {
	task := w.start("tck-complete-task")
	if task.Status.State != a2a.Completed || task.ID == "" || task.ContextID == "" || *task.Artifacts[0].Parts[0].Text != "Hello from TCK" {
		w.t.Errorf("%+v", task)
	}
	if task := w.start("tck-input-required"); task.Status.State != a2a.InputRequired || *task.Status.Message.Parts[0].Text != "Please provide input" {
		w.t.Errorf("%+v", task)
	}
	if task := w.start("tck-reject-task"); task.Status.State != a2a.Rejected || !strings.Contains(*task.Status.Message.Parts[0].Text, "rejected") {
		w.t.Errorf("%+v", task)
	}
}

func sendReturnsAtOnce(w *a2aWorld) {
	task := *gets[a2a.Update](w, admin, a2a.MethodSend, atOnce(to("holder", "hold"))).Task
	if task.Status.State != a2a.Working && task.Status.State != a2a.Submitted {
		w.t.Errorf("%+v", task.Status)
	}
	if got := gets[a2a.Task](w, admin, a2a.MethodGet, map[string]any{"tenant": "holder", "id": task.ID}); got.ID != task.ID || got.ContextID != task.ContextID {
		w.t.Errorf("%+v", got)
	}
	close(w.release)
}

func terminalTakesNoMessage(w *a2aWorld) {
	task := w.start("tck-complete-task")
	w.wants(a2a.UnsupportedOperation, admin, a2a.MethodSend, message("more", "taskId", task.ID))
	w.wants(a2a.UnsupportedOperation, admin, a2a.MethodStream, message("more", "taskId", task.ID))
	// The conversation goes on as another task of the context.
	next := w.start("tck-complete-task", "contextId", task.ContextID)
	if next.ID == task.ID || next.ContextID != task.ContextID {
		w.t.Errorf("%+v", next)
	}
	if r := w.world.result(admin, "GET", "/v1/runs/"+next.ID, "", 200); r.Thread == nil || *r.Thread != task.ContextID {
		w.t.Errorf("the run is not of the thread: %+v", r.Thread)
	}
}

func foreignMediaIsRefused(w *a2aWorld) {
	for _, part := range []any{
		map[string]any{"text": "x", "mediaType": "application/x-unknown"}, map[string]any{"raw": "AAAA", "mediaType": "image/png"}, map[string]any{"url": "https://example.org/a.txt"},
	} {
		w.wants(a2a.ContentTypeNotSupported, admin, a2a.MethodSend, message("x", "parts", []any{part}))
	}
	task := w.start("echo", "parts", []any{
		map[string]any{"text": "one"}, map[string]any{"data": map[string]any{"n": 2}}, map[string]any{"raw": "dGhyZWU=", "mediaType": "text/plain", "filename": "three.txt"},
	})
	if got := *task.Artifacts[0].Parts[0].Text; got != "Echo: one\n\n{\"n\":2}\n\nthree.txt:\nthree" {
		w.t.Errorf("%q", got)
	}
}

func inputIsValidated(w *a2aWorld) {
	for _, more := range [][]any{
		{"parts", []any{}}, {"messageId", ""}, {"role", "ROLE_AGENT"}, {"role", "user"}, {"parts", []any{map[string]any{}}}, {"parts", []any{map[string]any{"text": "a", "url": "b"}}},
		{"parts", []any{map[string]any{"text": " "}}}, {"parts", "text"}, {"messageId", 7}, {"contextId", strings.Repeat("x", 2000)},
	} {
		w.wants(a2a.InvalidParams, admin, a2a.MethodSend, message("x", more...))
	}
	w.wants(a2a.InvalidParams, admin, a2a.MethodSend, map[string]any{})
	w.wants(a2a.InvalidParams, admin, a2a.MethodSend, to("nobody", "x"))
	for _, params := range []map[string]any{{"pageSize": 0}, {"pageSize": 101}, {"pageToken": "?"}, {"status": "DONE"}, {"historyLength": -1}, {"statusTimestampAfter": "yesterday"}} {
		w.wants(a2a.InvalidParams, admin, a2a.MethodList, params)
	}
}

func unknownTasks(w *a2aWorld) {
	for _, method := range []string{a2a.MethodGet, a2a.MethodCancel, a2a.MethodSubscribe} {
		w.wants(a2a.TaskNotFound, admin, method, map[string]any{"id": "01JNOSUCHTASK"})
	}
	w.wants(a2a.TaskNotFound, admin, a2a.MethodSend, message("x", "taskId", "01JNOSUCHTASK"))
	w.wants(a2a.TaskNotFound, admin, a2a.MethodStream, message("x", "taskId", "01JNOSUCHTASK"))
	w.begin(admin, "boss")
	child := w.begin(admin, "boss").Pending[0].Run
	w.wants(a2a.TaskNotFound, admin, a2a.MethodGet, map[string]any{"tenant": "payer", "id": child}) // a part of a task is none
}

func listPages(w *a2aWorld) {
	var ids []string
	for range 3 {
		ids = append(ids, w.start("tck-input-required").ID)
	}
	w.start("go", "taskId", ids[0]) // which is now the latest
	want := []string{ids[0], ids[2], ids[1]}
	var got []string
	params := map[string]any{"pageSize": 2}
	for {
		raw, no := w.call(admin, a2a.MethodList, params)
		var page a2a.Page
		if no != nil || json.Unmarshal(raw, &page) != nil || page.Total != 3 || page.Size != 2 || len(page.Tasks) > 2 || strings.Contains(string(raw), `"artifacts"`) || !strings.Contains(string(raw), `"nextPageToken"`) {
			w.t.Fatalf("%s %+v", raw, no)
		}
		for _, task := range page.Tasks {
			got = append(got, task.ID)
		}
		if page.Next == "" {
			break
		}
		params["pageToken"] = page.Next
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("%q, want %q", got, want)
	}
	one := gets[a2a.Page](w, admin, a2a.MethodList, map[string]any{"status": a2a.Completed, "includeArtifacts": true, "historyLength": 1})
	if one.Total != 1 || one.Tasks[0].ID != ids[0] || len(one.Tasks[0].Artifacts) != 1 || len(one.Tasks[0].History) != 1 {
		w.t.Errorf("%+v", one)
	}
	later := gets[a2a.Page](w, admin, a2a.MethodList, map[string]any{"statusTimestampAfter": time.Now().Add(time.Hour).UTC().Format(time.RFC3339)})
	if later.Total != 0 || later.Tasks == nil {
		w.t.Errorf("%+v", later)
	}
}

func cancelEnds(w *a2aWorld) {
	waiting := w.start("tck-input-required")
	working := *gets[a2a.Update](w, admin, a2a.MethodSend, atOnce(to("holder", "hold"))).Task
	for _, task := range []a2a.Task{waiting, working} {
		params := map[string]any{"id": task.ID}
		if task.ID == working.ID {
			params["tenant"] = "holder"
		}
		if got := gets[a2a.Task](w, admin, a2a.MethodCancel, params); got.ID != task.ID || got.Status.State != a2a.Canceled {
			w.t.Errorf("%+v", got.Status)
		}
		w.wants(a2a.TaskNotCancelable, admin, a2a.MethodCancel, params)
	}
	w.wants(a2a.TaskNotCancelable, admin, a2a.MethodCancel, map[string]any{"id": w.start("tck-complete-task").ID})
}

func idsAreUnique(w *a2aWorld) {
	one := w.start("tck-complete-task")
	if two := w.start("tck-complete-task"); one.ID == two.ID || one.ContextID == two.ContextID {
		w.t.Errorf("%s %s and %s %s", one.ID, one.ContextID, two.ID, two.ContextID)
	}
	// The same message is the same task: the first answer may have been lost.
	again := message("tck-complete-task")
	three := gets[a2a.Update](w, admin, a2a.MethodSend, again).Task
	if four := gets[a2a.Update](w, admin, a2a.MethodSend, again).Task; three.ID != four.ID || three.ContextID != four.ContextID {
		w.t.Errorf("%s and %s", three.ID, four.ID)
	}
}

func contextIsTheTasks(w *a2aWorld) {
	task := w.start("tck-input-required")
	w.wants(a2a.InvalidParams, admin, a2a.MethodSend, message("x", "taskId", task.ID, "contextId", "another"))
	w.wants(a2a.UnsupportedOperation, admin, a2a.MethodSend, message("x", "contextId", task.ContextID)) // the task has not ended
	reply := message("x", "taskId", task.ID, "parts", []any{map[string]any{"text": "the left one"}})
	for range 2 { // the second is the first once more, and answers nothing else
		got := *gets[a2a.Update](w, admin, a2a.MethodSend, reply).Task
		if got.ID != task.ID || got.ContextID != task.ContextID || got.Status.State != a2a.Completed || *got.Artifacts[0].Parts[0].Text != "Echo: go" {
			w.t.Errorf("%+v", got)
		}
	}
}

func historyIsBounded(w *a2aWorld) {
	task := w.start("tck-input-required")
	w.start("x", "taskId", task.ID, "parts", []any{map[string]any{"text": "answer"}})
	for length, want := range []string{"", "answer", "Please provide input answer", "go Please provide input answer", "go Please provide input answer"} {
		got := gets[a2a.Task](w, admin, a2a.MethodGet, map[string]any{"id": task.ID, "historyLength": length})
		var texts []string
		for _, m := range got.History {
			texts = append(texts, *m.Parts[0].Text)
		}
		if strings.Join(texts, " ") != want {
			w.t.Errorf("%d messages are %q, want %q", length, texts, want)
		}
	}
	params := message("tck-complete-task")
	params["configuration"] = map[string]any{"historyLength": 0}
	if got := *gets[a2a.Update](w, admin, a2a.MethodSend, params).Task; got.History != nil {
		w.t.Errorf("%+v", got.History)
	}
}

func taskHasItsForm(w *a2aWorld) {
	task := w.start("tck-complete-task")
	raw, _ := w.call(admin, a2a.MethodGet, map[string]any{"id": task.ID})
	var all map[string]any
	must(w.t, json.Unmarshal(raw, &all))
	status := all["status"].(map[string]any)
	sent := all["history"].([]any)[0].(map[string]any)
	artifact := all["artifacts"].([]any)[0].(map[string]any)
	at, err := time.Parse("2006-01-02T15:04:05.999Z", status["timestamp"].(string))
	if all["id"] == "" || all["contextId"] == "" || status["state"] != "TASK_STATE_COMPLETED" || err != nil || time.Since(at) > time.Hour ||
		sent["messageId"] == "" || sent["role"] != "ROLE_USER" || artifact["artifactId"] == "" || artifact["parts"].([]any)[0].(map[string]any)["text"] != "Hello from TCK" {
		w.t.Errorf("%s", raw)
	}
}

func unknownFieldsAreIgnored(w *a2aWorld) {
	task := w.start("tck-input-required")
	if got := gets[a2a.Page](w, admin, a2a.MethodList, map[string]any{"context_id": task.ContextID}); got.Total != 1 || got.Tasks[0].ID != task.ID {
		w.t.Errorf("a name as in a2a.proto: %+v", got)
	}
	params := message("tck-complete-task", "tomorrow", 1)
	params["later"] = map[string]any{}
	if _, no := w.call(admin, a2a.MethodSend, params); no != nil {
		w.t.Errorf("%+v", no)
	}
}

func subscribersHearTheSame(w *a2aWorld) {
	task := w.start("tck-input-required")
	var streams []*updates
	for range 4 {
		u := w.stream(admin, a2a.MethodSubscribe, map[string]any{"id": task.ID})
		if first, ok := u.next(); !ok || first.Task == nil || first.Task.ID != task.ID || first.Task.Status.State != a2a.InputRequired {
			w.t.Fatalf("%+v", first)
		}
		streams = append(streams, u)
	}
	if err := streams[0].close(); err != nil { // which does not end the others
		w.t.Fatal(err)
	}
	w.start("x", "taskId", task.ID)
	want := []string{"status TASK_STATE_WORKING", "artifact Echo: go", "status TASK_STATE_COMPLETED"}
	for _, u := range streams[1:] {
		if got := u.rest(); !slices.Equal(got, want) {
			w.t.Errorf("%q, want %q", got, want)
		}
	}
}

func terminalIsNotSubscribed(w *a2aWorld) {
	for _, prefix := range []string{"tck-complete-task", "tck-reject-task"} {
		w.wants(a2a.UnsupportedOperation, admin, a2a.MethodSubscribe, map[string]any{"id": w.start(prefix).ID})
	}
}

func versions(w *a2aWorld) {
	for said, ok := range map[string]bool{"1.0": true, "1.0.7": true, "": false, "0.3": false, "1.1": false, "99.0": false, "one": false} {
		r := w.request(admin, a2a.MethodList, map[string]any{})
		if r.header.Set(a2a.VersionHeader, said); said == "" {
			r.header.Del(a2a.VersionHeader)
		}
		res, data := w.send(r)
		if _, no := w.outcome(res, data); (no == nil) != ok || no != nil && no.reason != a2a.VersionNotSupported.Reason {
			w.t.Errorf("version %q: %+v", said, no)
		}
	}
	r := w.request(admin, a2a.MethodList, map[string]any{})
	r.header.Del(a2a.VersionHeader)
	r.path += "?A2A-Version=1.0"
	if res, data := w.send(r); res.StatusCode != http.StatusOK {
		w.t.Errorf("the version as a parameter: %s", data)
	}
}

func pushIsNotSupported(w *a2aWorld) {
	if c, _, _ := w.card(a2a.CardPath); c.Capabilities.PushNotifications {
		w.t.Error("the card promises push notifications")
	}
	params := message("tck-complete-task")
	params["configuration"] = map[string]any{"taskPushNotificationConfig": map[string]any{"url": "https://hooks.example.org"}}
	w.wants(a2a.PushNotSupported, admin, a2a.MethodSend, params)
}
