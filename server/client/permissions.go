package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/pawl-run/pawl/approval"
)

// Permissions are standing permissions.
type Permissions struct {
	Permissions []approval.Permission `json:"permissions"`
}

// Permissions lists the standing permissions, with all also those that are over.
func (c *Client) Permissions(ctx context.Context, all bool) ([]approval.Permission, error) {
	k := get("v1", "approvals")
	if all {
		k.query = url.Values{"all": {"true"}}
	}
	var out Permissions
	err := c.do(ctx, k, &out)
	return out.Permissions, err
}

// Revoke revokes a standing permission. by is recorded if the token has no name.
func (c *Client) Revoke(ctx context.Context, id, by string) error {
	k := &call{method: http.MethodDelete, path: []string{"v1", "approvals", id}, query: url.Values{"by": {by}}, again: true}
	return c.do(ctx, k, new(Permissions))
}
