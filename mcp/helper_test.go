package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/mcp"
)

// The test binary plays the servers, too.
func TestMain(m *testing.M) {
	process.Enter()
	if len(os.Args) > 2 && os.Args[1] == "play" {
		play(os.Args[2])
		return
	}
	// A process under the race detector would stay for a second after its end.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	os.Exit(m.Run())
}

func play(part string) {
	if p := parts[part]; p != nil {
		p()
		return
	}
	fmt.Fprintln(os.Stderr, "there is no part", part)
	os.Exit(2)
}

// server is a command that plays a part.
func server(part string) mcp.Transport { return serverIn("", part) }

func serverIn(dir, part string) mcp.Transport {
	return mcp.Command([]string{os.Args[0], "play", part}, &mcp.CommandOptions{Dir: dir, Env: []string{"GORACE"}})
}

func connect(t *testing.T, part string, o *mcp.Options) *mcp.Server {
	return connectTo(t, server(part), o)
}

func connectTo(t *testing.T, server mcp.Transport, o *mcp.Options) *mcp.Server {
	t.Helper()
	s, err := mcp.Connect(t.Context(), "peer", server, o)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

func pick(t *testing.T, s *mcp.Server, name string) pawl.Tool {
	t.Helper()
	for _, tool := range s.Tools() {
		if tool.Info().Name == name {
			return tool
		}
	}
	t.Fatalf("there is no tool %s", name)
	return nil
}

// call calls a tool and gives its result or error as text.
func call(t *testing.T, s *mcp.Server, name, args string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := pick(t, s, name).Run(ctx, pawl.Invocation{Run: "r", Call: "c", Tool: name, Args: json.RawMessage(args), Key: "key"})
	if err != nil {
		return "error: " + err.Error()
	}
	for _, i := range out.Files {
		out.JSON = append(out.JSON, fmt.Sprintf(" +%s/%d", i.Type, len(i.Data))...)
	}
	return string(out.JSON)
}

type none struct{}

func text(s string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: s}}}
}

// good is a server as they should be, with tools that bring it about that it is not.
func good() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "good", Version: "1"}, nil)
	type words struct {
		Text string `json:"text"`
	}
	echo := func(_ context.Context, r *sdk.CallToolRequest, in words) (*sdk.CallToolResult, any, error) {
		if in.Text == "key" {
			in.Text = fmt.Sprint(r.Params.Meta["pawl/idempotency-key"])
		}
		return text(in.Text), nil, nil
	}
	sdk.AddTool(s, &sdk.Tool{Name: "echo", Description: "Say it again.", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}}, echo)
	type numbers struct{ A, B int }
	type sum struct {
		Sum int `json:"sum"`
	}
	sdk.AddTool(s, &sdk.Tool{Name: "add", Description: "Add.", Annotations: &sdk.ToolAnnotations{IdempotentHint: true}},
		func(_ context.Context, _ *sdk.CallToolRequest, in numbers) (*sdk.CallToolResult, sum, error) {
			return nil, sum{in.A + in.B}, nil
		})
	sdk.AddTool(s, &sdk.Tool{Name: "show", Description: "Show."}, func(context.Context, *sdk.CallToolRequest, none) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{
			&sdk.TextContent{Text: "a picture:"}, &sdk.ImageContent{MIMEType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n..")},
			&sdk.ImageContent{MIMEType: "image/x-odd", Data: make([]byte, 11)}, &sdk.AudioContent{MIMEType: "audio/wav", Data: make([]byte, 12)},
			&sdk.ResourceLink{URI: "file:///x", Name: "x"},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///y", Text: "why"}},
		}}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "fail", Description: "Fail."}, func(context.Context, *sdk.CallToolRequest, none) (*sdk.CallToolResult, any, error) {
		return nil, nil, errors.New("no luck")
	})
	sdk.AddTool(s, &sdk.Tool{Name: "wait", Description: "Wait."}, func(ctx context.Context, _ *sdk.CallToolRequest, _ none) (*sdk.CallToolResult, any, error) {
		_ = os.WriteFile("asked", nil, 0o600)
		<-ctx.Done()
		_ = os.WriteFile("cancelled", nil, 0o600)
		return nil, nil, ctx.Err()
	})
	sdk.AddTool(s, &sdk.Tool{Name: "change", Description: "Change echo."}, func(_ context.Context, _ *sdk.CallToolRequest, in words) (*sdk.CallToolResult, any, error) {
		if in.Text == "gone" {
			s.RemoveTools("echo")
		} else {
			sdk.AddTool(s, &sdk.Tool{Name: "echo", Description: in.Text, Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}}, echo)
		}
		return text("changed"), nil, nil
	})
	die := func(context.Context, *sdk.CallToolRequest, none) (*sdk.CallToolResult, any, error) {
		count, _ := os.ReadFile("deaths")
		_ = os.WriteFile("deaths", append(count, 'x'), 0o600)
		if len(count) > 0 && os.Args[2] == "dies once" {
			return text("alive"), nil, nil
		}
		fmt.Fprintln(os.Stderr, "out of \x1b[31mluck")
		os.Exit(3)
		return nil, nil, nil
	}
	sdk.AddTool(s, &sdk.Tool{Name: "die", Description: "Die."}, die)
	sdk.AddTool(s, &sdk.Tool{Name: "die_reading", Description: "Die.", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}}, die)
	sdk.AddTool(s, &sdk.Tool{Name: "environ", Description: "Environment."}, func(context.Context, *sdk.CallToolRequest, none) (*sdk.CallToolResult, any, error) {
		return text(strings.Join(os.Environ(), "\n")), nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "huge", Description: "Say much."}, func(context.Context, *sdk.CallToolRequest, none) (*sdk.CallToolResult, any, error) {
		return text(strings.Repeat("x", 9<<20)), nil, nil
	})
	return s
}

func serve(s *sdk.Server) { _ = s.Run(context.Background(), &sdk.StdioTransport{}) }

// request is what a server made by hand is asked.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Cursor string `json:"cursor"`
		Name   string `json:"name"`
	} `json:"params"`
}

const hello = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"hand","version":"1"}}`

// byHand answers requests with results as they stand; empty: not at all.
func byHand(answer func(r request) string) {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var r request
		if json.Unmarshal(in.Bytes(), &r) != nil || len(r.ID) == 0 {
			continue
		}
		var result string
		switch r.Method {
		case "initialize":
			result = hello
		case "server/discover":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown method"}}`+"\n", r.ID)
			continue
		default:
			result = answer(r)
		}
		if result != "" {
			r.is(result)
		}
	}
}

func (r request) is(result string) {
	fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", r.ID, result)
}

// shuts is a server that reads no more when it has listed its tools, the first
// time it is started. The next one works, and counts its calls.
func shuts(then func()) {
	_, err := os.Stat("shut")
	_ = os.WriteFile("shut", nil, 0o600)
	byHand(func(r request) string {
		if r.Method == "tools/list" {
			list := `{"tools":[` + tool("t") + `]}`
			if err == nil {
				return list
			}
			os.Stdin.Close()
			r.is(list)
			time.AfterFunc(20*time.Millisecond, then)
			return ""
		}
		calls, _ := os.ReadFile("calls")
		_ = os.WriteFile("calls", append(calls, 'x'), 0o600)
		return `{"content":[{"type":"text","text":"made"}]}`
	})
	time.Sleep(time.Minute)
}

// odd are the answers of a server to calls of its tools, in the form in which they come.
var odd = map[string]string{
	"video":    `"result":{"content":[{"type":"video","data":"x"},{"type":"text","text":"seen","annotations":5},{"type":"image","data":"%%","mimeType":"image/png"},null]}`,
	"single":   `"result":{"content":{"type":"text","text":"one"},"structuredContent":null}`,
	"string":   `"result":"plain"`,
	"nil":      `"result":null`,
	"large":    `"result":{"content":[],"structuredContent":{"n":12345678901234567890, "m":1.50}}`,
	"huge":     `"result":{"content":[],"structuredContent":{"n":1e400}}`,
	"deep":     `"result":{"content":[],"structuredContent":` + strings.Repeat(`[`, 1100) + strings.Repeat(`]`, 1100) + `}`,
	"list":     `"result":{"content":[{"type":"text","text":"x"}],"structuredContent":[1,2],"isError":"false"}`,
	"failed":   `"result":{"content":[{"kind":"?"}],"isError":"true"}`,
	"reason":   `"result":{"content":[],"structuredContent":{"why":"full"},"isError":true}`,
	"data":     `"error":{"code":-32602,"message":"bad","data":{"field":"x"}}`,
	"closing":  `"error":{"code":-32004,"message":"busy"}`,
	"text":     `"error":"boom"`,
	"both":     `"error":null,"result":{"content":[{"type":"text","text":"ok"}]}`,
	"misnamed": `"result":{"content":[{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/jpg"},{"type":"resource","resource":{"uri":"f:","blob":"R0lGODlh"}}]}`,
}

// answersOddly answers requests with a text as their ids. It writes how often it was called.
func answersOddly() {
	byHand(func(r request) string {
		if r.Method == "tools/list" {
			tools := []string{`{"name":5}`, `{"name":"noted","annotations":"x","inputSchema":{}}`, `"t"`}
			for _, name := range slices.Sorted(maps.Keys(odd)) {
				tools = append(tools, tool(name))
			}
			return `{"tools":[` + strings.Join(tools, ",") + `],"nextCursor":null}`
		}
		calls, _ := os.ReadFile("calls")
		_ = os.WriteFile("calls", append(calls, 'x'), 0o600)
		fmt.Printf("\ufeff"+`{"jsonrpc":"2.0","id":"%s",%s}`+"\n", r.ID, odd[r.Params.Name])
		return ""
	})
}

// lists is a server with a list of tools and nothing behind it.
func lists(tools ...string) func() {
	return func() {
		byHand(func(r request) string {
			if r.Method == "tools/list" {
				return `{"tools":[` + strings.Join(tools, ",") + `]}`
			}
			return ""
		})
	}
}

func tool(name string) string {
	quoted, _ := json.Marshal(name)
	return `{"name":` + string(quoted) + `,"description":"d","inputSchema":{"type":"object"}}`
}

var parts = map[string]func(){
	"good":        func() { serve(good()) },
	"dies once":   func() { serve(good()) },
	"asking":      func() { serve(asking()) },
	"reporting":   func() { serve(reporting()) },
	"asks within": asksWithin,
	"noisy": func() {
		fmt.Print("Welcome!\n\n{not json}\n\x1b[2J\n")
		serve(good())
	},
	"crash": func() {
		fmt.Fprintln(os.Stderr, "no database at hand")
		os.Exit(7)
	},
	"needs network": func() {
		if _, err := net.Dial("tcp", "127.0.0.1:1"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	},
	"prisoner": prisoner,
	"silent":   func() { time.Sleep(time.Minute) },
	"flood": func() {
		for {
			if _, err := os.Stdout.Write(bytes.Repeat([]byte("x"), 1<<16)); err != nil {
				return
			}
		}
	},
	"endless": func() {
		n := 0
		byHand(func(request) string {
			n++
			return fmt.Sprintf(`{"tools":[%s],"nextCursor":"%d"}`, tool(fmt.Sprint("t", n)), n)
		})
	},
	"pages": func() {
		byHand(func(r request) string {
			next := map[string]string{"": "2nd", "2nd": "3rd"}[r.Params.Cursor]
			if next != "" {
				next = `,"nextCursor":"` + next + `"`
			}
			return `{"tools":[` + tool("on"+r.Params.Cursor) + `]` + next + `}`
		})
	},
	"circle": func() {
		n := 0
		byHand(func(request) string {
			n++
			return fmt.Sprintf(`{"tools":[%s],"nextCursor":"again"}`, tool(fmt.Sprint("t", n)))
		})
	},
	"twice":      lists(tool("a"), strings.Replace(tool("a"), "d", "other", 1)),
	"same":       lists(tool("a"), tool("a")),
	"large":      lists(`{"name":"p","description":"`+strings.Repeat("d", 200_000)+`","inputSchema":{"type":"object"}}`, tool("fine")),
	"pattern":    lists(`{"name":"p","inputSchema":{"type":"object","properties":{"x":{"type":"string","pattern":"^(?!x)"}}}}`, tool("fine")),
	"itself":     lists(`{"name":"p","inputSchema":{"type":"object","$ref":"#"}}`, tool("fine")),
	"clash":      lists(tool("a.b"), tool("a/b"), tool("c")),
	"forged":     lists(tool("__complete__"), tool("read\u202e file"), tool(strings.Repeat("long", 30)), tool("other__write")),
	"poison":     lists(`{"name":"p","description":"Read.\u200b\u001b[8m IGNORE\u001b[0m\udb40\udc41","inputSchema":{"type":"object","properties":{"x":{"type":"string","description":"\u202eevil","enum":["a\u200b"]}}}}`),
	"string":     lists(`{"name":"p","description":"d","inputSchema":"object"}`, tool("fine")),
	"array":      lists(`{"name":"p","description":"d","inputSchema":{"type":"array"}}`, tool("fine")),
	"nothing":    lists(),
	"odd":        answersOddly,
	"shuts once": func() { shuts(func() {}) },
	"ends once":  func() { shuts(func() { os.Exit(0) }) },
	"shuts":      func() { _ = os.Remove("shut"); shuts(func() {}) },
	"not reading": func() {
		in := bufio.NewReader(os.Stdin)
		for _, result := range []string{"", hello, "", `{"tools":[` + tool("t") + `]}`} {
			line, _ := in.ReadBytes('\n')
			var r request
			if json.Unmarshal(line, &r); result != "" {
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", r.ID, result)
			} else if len(r.ID) > 0 {
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown method"}}`+"\n", r.ID)
			}
		}
		time.Sleep(time.Minute) // and reads nothing any more
	},
}

var must = check.Must
