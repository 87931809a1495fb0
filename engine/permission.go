package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
)

// ErrUnknownPermission is the error of a permission that the journal does not have.
var ErrUnknownPermission = errors.New("unknown permission")

// Permissions yields the standing permissions that a journal keeps, with all also those that are
// over. A journal that is no [approval.Keeper] has none.
func Permissions(ctx context.Context, j pawl.Journal, all bool) iter.Seq2[approval.Permission, error] {
	return func(yield func(approval.Permission, error) bool) {
		_, err := eachPermission(ctx, j, func(_ approval.Keeper, _ approval.Record, p *approval.Permission) (bool, error) {
			return (all || p.Over(time.Now()) == "") && !yield(*p, nil), nil
		})
		if err != nil {
			yield(approval.Permission{}, err)
		}
	}
}

// eachPermission calls do for each permission, until it is done.
func eachPermission(ctx context.Context, j pawl.Journal, do func(approval.Keeper, approval.Record, *approval.Permission) (done bool, err error)) (done bool, err error) {
	k, ok := j.(approval.Keeper)
	if !ok {
		return false, nil
	}
	for record, err := range k.Kept(ctx, kept) {
		var p approval.Permission
		if err == nil {
			err = json.Unmarshal(record.Data, &p)
		}
		if err == nil {
			done, err = do(k, record, &p)
		}
		if done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// Revoke ends the permission with an id in the name of the user by: no later call uses it. It is
// harmless to repeat. The error is [ErrUnknownPermission] if there is none.
func Revoke(ctx context.Context, j pawl.Journal, id, by string) error {
	done, err := eachPermission(ctx, j, func(k approval.Keeper, record approval.Record, p *approval.Permission) (bool, error) {
		if p.ID != id {
			return false, nil
		}
		if !p.RevokedAt.IsZero() {
			return true, nil
		}
		p.RevokedBy, p.RevokedAt = by, time.Now().UTC().Truncate(time.Second)
		return true, change(ctx, k, record, p)
	})
	switch {
	case errors.Is(err, pawl.ErrConflict): // a call has used it
		return Revoke(ctx, j, id, by)
	case err == nil && !done:
		return fmt.Errorf("%s: %w; pawl approvals lists them", id, ErrUnknownPermission)
	}
	return err
}

// PrunePermissions removes the permissions that were over at a time, and returns how many.
func PrunePermissions(ctx context.Context, j pawl.Journal, before time.Time) (n int, err error) {
	_, err = eachPermission(ctx, j, func(k approval.Keeper, record approval.Record, p *approval.Permission) (bool, error) {
		if p.Over(before) == "" || p.RevokedAt.After(before) || p.Given.After(before) {
			return false, nil
		}
		n++
		return false, k.Keep(ctx, record.Name, record.Data, nil)
	})
	return n, err
}
