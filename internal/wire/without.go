package wire

import "encoding/json"

// Without returns a JSON object without some of its members. It returns any
// other text as it is.
func Without(object []byte, names []string) []byte {
	var members map[string]json.RawMessage
	if len(names) == 0 || json.Unmarshal(object, &members) != nil {
		return object
	}
	for _, name := range names {
		delete(members, name)
	}
	rest, _ := json.Marshal(members)
	return rest
}
