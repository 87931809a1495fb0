// Package keyring stores the key that encrypts the token files of MCP servers in the keyring of
// the system: the Secret Service of a Linux desktop, the Keychain of macOS, the Credential
// Manager of Windows.
//
// The keyring holds this one key and no tokens: tokens can be longer than an entry may be on
// macOS and Windows, and each renewal would write to it.
package keyring

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/zalando/go-keyring"
)

const service, account = "pawl", "tokens of MCP servers"

// A keyring that is locked asks a person, who may not be there.
const (
	patience = 10 * time.Second
	dialogue = time.Minute // while a person logs in
)

// Key returns the key of 32 bytes that is kept in the keyring. create: make one if there is
// none, and wait for a person who has to unlock the keyring.
func Key(create bool) ([]byte, error) {
	wait := patience
	if create {
		wait = dialogue
	}
	return within(wait, create)
}

func within(wait time.Duration, create bool) ([]byte, error) {
	if err := bus(); err != nil {
		return nil, err
	}
	type answer struct {
		key []byte
		err error
	}
	came := make(chan answer, 1)
	go func() {
		defer func() { // the client of the bus does so if the bus ends while it waits for a person
			if p := recover(); p != nil {
				came <- answer{err: fmt.Errorf("the keyring: %v", p)}
			}
		}()
		key, err := ask(create)
		came <- answer{key, err}
	}()
	select {
	case a := <-came:
		return a.key, a.err
	case <-time.After(wait):
		return nil, fmt.Errorf("the keyring has not answered for %v; unlock it", wait)
	}
}

func ask(create bool) ([]byte, error) {
	text, err := keyring.Get(service, account)
	if errors.Is(err, keyring.ErrNotFound) && create {
		key := make([]byte, 32)
		_, _ = rand.Read(key) // it never fails
		if err = keyring.Set(service, account, base64.StdEncoding.EncodeToString(key)); err == nil {
			text, err = keyring.Get(service, account) // another login may have made one, too
		}
	}
	if errors.Is(err, keyring.ErrNotFound) {
		return nil, errors.New("the keyring has no key of pawl")
	}
	if err != nil {
		return nil, fmt.Errorf("the keyring: %w", err)
	}
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(key) != 32 {
		return nil, errors.New("what the keyring has for pawl is no key")
	}
	return key, nil
}

// bus reports that there is no session bus. The client of the bus would start one, which has
// no keyring, and which nobody ends.
func bus() error {
	if runtime.GOOS != "linux" || os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return nil
	}
	if _, err := os.Stat("/run/user/" + strconv.Itoa(os.Getuid()) + "/bus"); err != nil {
		return errors.New("there is no session bus (DBUS_SESSION_BUS_ADDRESS is not set), and so no keyring")
	}
	return nil
}
