package fakeprovider

import "github.com/pawl-run/pawl"

// checkResponses is what the Responses API asks of its input. The sentences are
// its own.
type checkResponses struct{ *inbound }

func (c checkResponses) items(list []node) {
	if len(list) == 0 {
		c.wrong("input", "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation_id' must be provided.")
	}
	calls, ids := map[string]bool{}, map[string]bool{} // calls: whether there is a result
	var order []string
	for i, it := range list {
		if id := it.at("id").text(); id != "" {
			if ids[id] {
				c.wrong("input", "Duplicate item found with id %s. Remove duplicate items from your input and try again.", id)
			}
			ids[id] = true
			c.led(list, i, id)
		}
		id := it.at("call_id").text()
		switch it.at("type").text() {
		case "reasoning":
			c.reasoning(list, i)
		case "function_call":
			if id == "" {
				c.wrong(it.path+".call_id", "Missing required parameter: '%s.call_id'.", it.path)
			}
			c.function(it)
			if _, twice := calls[id]; twice {
				c.wrong("input", "Duplicate function_call with call_id %s.", id)
			}
			calls[id] = false
			order = append(order, id)
		case "function_call_output":
			answered, known := calls[id]
			switch {
			case !known:
				c.wrong("input", "No tool call found for function call output with call_id %s.", id)
			case answered:
				c.wrong("input", "Duplicate function call output found for call_id %s.", id)
			}
			calls[id] = true
			if !it.at("output").has() {
				c.wrong(it.path+".output", "Missing required parameter: '%s.output'.", it.path)
			}
		}
	}
	for _, id := range order {
		if !calls[id] {
			c.wrong("input", "No tool output found for function call %s.", id)
			calls[id] = true
		}
	}
}

// reasoning must be followed by what it led to.
func (c checkResponses) reasoning(list []node, i int) {
	id := list[i].at("id").text()
	followed := false
	if i+1 < len(list) {
		switch next := list[i+1]; next.at("type").text() {
		case "function_call", "reasoning", "web_search_call", "code_interpreter_call":
			followed = true
		case "", "message":
			followed = next.at("role").text() == "assistant"
		}
	}
	if !followed {
		c.wrong("input", "Item '%s' of type 'reasoning' was provided without its required following item.", id)
	}
	sealed := list[i].at("encrypted_content")
	switch {
	case !sealed.has():
		c.wrong("input", "Item with id '%s' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.", id)
	case !c.memory.genuine(sealed.text()):
		c.complain(&refusal{class: pawl.ClassInvalid, code: "invalid_encrypted_content", message: "The encrypted content for item " + id + " could not be verified. Reason: Encrypted content could not be decrypted or parsed."})
	}
}

// led looks for the reasoning before an item that had some.
func (c checkResponses) led(list []node, i int, id string) {
	c.memory.mu.Lock()
	rs, needs := c.memory.needs[id]
	c.memory.mu.Unlock()
	if needs && (i == 0 || list[i-1].at("id").text() != rs) {
		c.wrong("input", "Item '%s' of type '%s' was provided without its required 'reasoning' item: '%s'.", id, list[i].at("type").text(), rs)
	}
}
