package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"github.com/rogpeppe/go-internal/testscript"
)

const goodToken = "ledger-token-0f1e2d3c4b5a"

// guarded serves MCP to those whom its authorisation server gives a token, until the script
// ends, on a port that is free, which it writes into the specs that name the address:
// guarded SPEC ADDRESS. Package mcp has a stricter one in its tests.
func guarded(ts *testscript.TestScript, _ bool, args []string) {
	server := mcp.NewServer(&mcp.Implementation{Name: "ledgers", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "balance", Description: "The balance.", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "12 euros, for " + goodToken}}}, nil, nil
		})
	mux := http.NewServeMux()
	srv := httptest.NewServer(mux)
	ts.Defer(srv.Close)
	answer := func(status int, v func(*http.Request) map[string]any) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			said := v(r)
			if said["error"] != nil {
				w.WriteHeader(http.StatusBadRequest)
			} else {
				w.WriteHeader(status)
			}
			_ = json.NewEncoder(w).Encode(said)
		}
	}
	verify := func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		if token != goodToken {
			return nil, auth.ErrInvalidToken
		}
		return &auth.TokenInfo{Expiration: time.Now().Add(time.Hour)}, nil
	}
	const metadata = "/.well-known/oauth-protected-resource/mcp"
	mux.Handle("/mcp", auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{ResourceMetadataURL: srv.URL + metadata})(
		mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)))
	mux.Handle(metadata, auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{Resource: srv.URL + "/mcp", AuthorizationServers: []string{srv.URL}}))
	mux.HandleFunc("/.well-known/oauth-authorization-server", answer(http.StatusOK, func(*http.Request) map[string]any {
		return map[string]any{
			"issuer": srv.URL, "authorization_endpoint": srv.URL + "/authorize", "token_endpoint": srv.URL + "/token", "registration_endpoint": srv.URL + "/register",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"client_secret_post"},
		}
	}))
	mux.HandleFunc("/register", answer(http.StatusCreated, func(*http.Request) map[string]any {
		return map[string]any{"client_id": "pawl", "token_endpoint_auth_method": "none"}
	}))
	mux.HandleFunc("/authorize", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.FormValue("redirect_uri")+"?code=yes&state="+r.FormValue("state"), http.StatusFound)
	})
	mux.HandleFunc("/token", answer(http.StatusOK, func(r *http.Request) map[string]any {
		if r.FormValue("grant_type") == "client_credentials" && r.FormValue("client_secret") != "a-long-sesame" {
			return map[string]any{"error": "invalid_client"}
		}
		return map[string]any{"access_token": goodToken, "token_type": "Bearer", "expires_in": 3600}
	}))
	for _, name := range []string{args[0], "../person.yaml"} {
		text := strings.ReplaceAll(ts.ReadFile(name), args[1], strings.TrimPrefix(srv.URL, "http://"))
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600))
	}
}

// login runs a command that asks a person to open a page, and opens it: login pawl ARGS….
func login(ts *testscript.TestScript, _ bool, args []string) {
	var c *exec.Cmd
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if path, err := exec.LookPath(filepath.Join(dir, args[0])); err == nil {
			c = exec.Command(path, args[1:]...)
			break
		}
	}
	c.Dir = ts.MkAbs(".")
	c.Env = []string{"PATH=" + ts.Getenv("PATH"), "HOME=" + ts.Getenv("HOME"), "XDG_STATE_HOME=" + ts.Getenv("XDG_STATE_HOME"), "PAWL_MCP_KEY=" + ts.Getenv("PAWL_MCP_KEY")}
	said, err := c.StderrPipe()
	ts.Check(err)
	ts.Check(c.Start())
	page := regexp.MustCompile(`open this page in a browser of this machine: (http://\S+)`)
	all := ""
	for lines := bufio.NewScanner(said); lines.Scan(); {
		all += lines.Text() + "\n"
		if m := page.FindStringSubmatch(lines.Text()); m != nil {
			go func() {
				if r, err := http.Get(m[1]); err == nil {
					r.Body.Close()
				}
			}()
		}
	}
	if err := c.Wait(); err != nil || !strings.Contains(all, "are authorised") {
		ts.Fatalf("%v\n%s", err, all)
	}
}
