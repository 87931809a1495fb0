package spec

import (
	"bytes"
	"encoding/json"
)

// JSON converts the document of a spec, in YAML or JSON by the name of its
// file, to JSON with the keys in order. It does not check the content. The
// error is [Problems].
func JSON(name string, data []byte) (json.RawMessage, error) {
	d, root := readDocument(name, string(data))
	if err := d.problems.sorted().asError(); err != nil || root == nil {
		return nil, err
	}
	var b bytes.Buffer
	root.json(&b)
	return b.Bytes(), nil
}
