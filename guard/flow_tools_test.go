package guard_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-run/pawl"
)

// catalogue are the tools of the scenarios.
var catalogue = toolsOf(`
read untrusted fetch url from#
read untrusted web_search query
read untrusted read_mail from subject~ id
read untrusted list_mail
read untrusted get_ticket id
read untrusted read_issue repo number#
read untrusted read_pull repo number#
read untrusted read_attachment name
read untrusted read_reviews product
read untrusted list_events date
read untrusted read_channel channel
read untrusted read_upload path
read trusted read_file path start# end#
read trusted list_files path
read trusted search_files pattern path
read trusted find_contact name
read trusted get_account id
read trusted get_order id
read trusted list_orders status
read trusted get_customer id
read trusted list_channels
read trusted query_db sql
read trusted git_log max#
read trusted get_stock sku
read trusted list_devices room
write trusted send_email to[] cc[] bcc[] subject~ body~ attachments[]
write trusted forward_email id to note~
write trusted delete_email id
write trusted send_sms number text~
write trusted pay iban amount# currency=EUR|USD reference~
write trusted transfer from to amount#
write trusted refund order_id amount# reason~
idempotent trusted submit_po vendor amount# item
write trusted delete_file path
idempotent trusted write_file path content~
write trusted edit_file path old~ new~
write trusted move_file from to
write trusted run_command argv[]
write trusted shell command
write trusted http_post url body~
write trusted create_event title~ start end attendees[] location
write trusted cancel_event id
write trusted update_ticket id status=open|pending|closed comment~
write trusted close_ticket id comment~
write trusted assign_ticket id assignee
write trusted create_issue repo title~ body~ labels[]
write trusted comment_issue repo number# body~
write trusted merge_pull repo number#
write trusted git_push remote branch
write trusted git_commit message~
write trusted execute_sql sql
write trusted update_record table id field value
write trusted post_message channel text~
write trusted invite_user email role=member|admin
write trusted grant_access user resource level=read|write|owner
write trusted set_device room device state=on|off
write trusted reboot
write trusted publish_post title~ body~
write trusted order_item sku quantity# address
write trusted share_file path email level=view|edit
write trusted change_password user password
write trusted add_contact name email
write trusted book_room room date time
write trusted book_flight from to date
write trusted set_dns record value
write trusted deploy service version environment=staging|production
write trusted remember key value
`)

// toolsOf reads tools, one a line: its effect, its label, its name and its
// arguments, a list with [], a number with #, a boolean with ?, choices with = and |.
// An argument that ends with @ says where a call goes, one with ~ is prose.
func toolsOf(text string) map[string]pawl.ToolInfo {
	all := map[string]pawl.ToolInfo{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		info := pawl.ToolInfo{Name: words[2], Description: "It does."}
		if err := info.Effect.UnmarshalText([]byte(words[0])); err != nil {
			panic(err)
		}
		if err := info.Trust.UnmarshalText([]byte(words[1])); err != nil {
			panic(err)
		}
		properties := map[string]any{}
		for _, arg := range words[3:] {
			plain := strings.TrimRight(arg, "@~")
			name, choices, chosen := strings.Cut(plain, "=")
			arg, declared := plain, arg[len(plain):]
			schema := map[string]any{"type": "string"}
			switch {
			case chosen:
				schema["enum"] = strings.Split(choices, "|")
			case strings.HasSuffix(arg, "#"):
				name, schema["type"] = strings.TrimSuffix(arg, "#"), "number"
			case strings.HasSuffix(arg, "*"):
				name, schema = strings.TrimSuffix(arg, "*"), map[string]any{}
			case strings.HasSuffix(arg, "?"):
				name, schema["type"] = strings.TrimSuffix(arg, "?"), "boolean"
			case strings.HasSuffix(arg, "[]"):
				name = strings.TrimSuffix(arg, "[]")
				schema = map[string]any{"type": "array", "items": schema}
			}
			switch declared {
			case "@":
				info.Reaches = append(info.Reaches, name)
			case "~":
				info.Content = append(info.Content, name)
			}
			properties[name] = schema
		}
		var err error
		if info.Input, err = json.Marshal(map[string]any{"type": "object", "properties": properties}); err != nil {
			panic(err)
		}
		if all[info.Name].Name != "" {
			panic(fmt.Sprint("twice: ", info.Name))
		}
		all[info.Name] = info
	}
	return all
}
