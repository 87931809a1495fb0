package wiretest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-run/pawl"
)

// Dot is a PNG of one pixel.
var Dot, _ = base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==")

// User is a message of the user.
func User(parts ...pawl.Part) pawl.Message { return pawl.Message{Role: pawl.RoleUser, Parts: parts} }

// Assistant is a message of the model.
func Assistant(parts ...pawl.Part) pawl.Message {
	return pawl.Message{Role: pawl.RoleAssistant, Parts: parts}
}

// A Dice makes conversations of bytes, for fuzz tests of requests.
type Dice struct{ Bytes []byte }

// Roll gives a number from 0 up to n, without it; 0 once the bytes are used up.
func (d *Dice) Roll(n int) int {
	if len(d.Bytes) == 0 {
		return 0
	}
	v := int(d.Bytes[0]) % n
	d.Bytes = d.Bytes[1:]
	return v
}

// Text gives a text that may be odd.
func (d *Dice) Text() string {
	texts := []string{"", " \n", "text", "\xff\xc3", "\xed\xa0\x80", "a\x00b", "\u2028<&>", string(d.Bytes[:min(9, len(d.Bytes))])}
	return texts[d.Roll(len(texts))]
}

func (d *Dice) raw() json.RawMessage {
	raws := []string{
		`{}`, `{"a":1,"a":[2]}`, `[1]`, `null`, `"{\"city\""`, `{"s":"\ud800"}`, `"\udc00"`, `""`, `1e999`, "{\"x\":\"\xff\"}", ``, `{`,
		`{"type":"reasoning","id":"rs_1","encrypted_content":"x","summary":[]}`, `{"type":"reasoning","id":"rs_2","summary":[]}`,
		`{"phase":"commentary"}`, `{"phase":7,"type":[]}`, `{"reasoning_content":"Hm"}`, `{"type":"thinking","thinking":"Hm","signature":"s"}`, `{"type":"thinking","thinking":"cut off"}`, `{"type":"redacted_thinking","data":"x"}`,
	}
	return json.RawMessage(raws[d.Roll(len(raws))])
}

func (d *Dice) images() (list []pawl.File) {
	for range d.Roll(3) {
		data := [][]byte{Dot, Dot[:30], nil, []byte("<svg/>")}[d.Roll(4)]
		list = append(list, pawl.File{Type: []string{"image/png", "", "image/svg+xml", "\xff"}[d.Roll(4)], Data: data})
	}
	return list
}

// Conversation makes one whose calls are answered in the user's turn that follows,
// as those of a log are; anything else in it is what an entry can hold. Models are
// those that thought.
func (d *Dice) Conversation(models ...string) (msgs []pawl.Message) {
	n := 0
	for len(d.Bytes) > 0 && len(msgs) < 40 {
		ask := pawl.Message{Role: pawl.RoleUser, Parts: []pawl.Part{pawl.Text{Text: d.Text()}}}
		for _, i := range d.images() {
			ask.Parts = append(ask.Parts, i)
		}
		said, did := pawl.Message{Role: pawl.RoleAssistant}, pawl.Message{Role: pawl.RoleUser}
		for range d.Roll(6) {
			switch d.Roll(3) {
			case 0:
				said.Parts = append(said.Parts, pawl.Text{Text: d.Text()})
			case 1:
				said.Parts = append(said.Parts, pawl.Thinking{Text: d.Text(), Opaque: d.raw(), Model: models[d.Roll(len(models))]})
			case 2:
				n++
				refs := []string{"", "same", "c_1", "c_" + fmt.Sprint(n+1), strings.Repeat("x", 70), "\xff"}
				c := pawl.Call{ID: "c_" + fmt.Sprint(n), Ref: refs[d.Roll(len(refs))], Tool: d.Text(), Args: d.raw()}
				said.Parts = append(said.Parts, c)
				did.Parts = append(did.Parts, pawl.ToolResult{Call: c.ID, Ref: c.Ref, Tool: c.Tool, Content: d.raw(), Failed: d.Roll(2) == 1, Images: d.images()})
			}
		}
		if d.Roll(2) == 1 {
			did.Parts = append([]pawl.Part{pawl.Text{Text: d.Text()}}, did.Parts...)
		}
		msgs = append(msgs, ask, said)
		if len(did.Parts) > 0 {
			msgs = append(msgs, did)
		}
	}
	return append(msgs, pawl.Message{Role: pawl.RoleUser, Parts: []pawl.Part{pawl.Text{Text: d.Text()}}})
}
