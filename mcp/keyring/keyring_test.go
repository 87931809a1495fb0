package keyring

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// A secretService is what a Linux desktop has, by the published interface of
// org.freedesktop.secrets: a collection that may be locked until a person answers.
type secretService struct {
	secret          atomic.Value // the only item; nil: there is none
	locked, refuses atomic.Bool
}

type wireSecret struct {
	Session     dbus.ObjectPath
	Parameters  []byte
	Value       []byte
	ContentType string
}

const (
	root  = dbus.ObjectPath("/org/freedesktop/secrets")
	login = root + "/collection/login"
	item  = login + "/1"
	none  = dbus.ObjectPath("/")
)

func (s *secretService) OpenSession(algorithm string, _ dbus.Variant) (dbus.Variant, dbus.ObjectPath, *dbus.Error) {
	if algorithm != "plain" {
		return dbus.MakeVariant(""), none, dbus.NewError("org.freedesktop.DBus.Error.NotSupported", nil)
	}
	return dbus.MakeVariant(""), root + "/session/1", nil
}

func (s *secretService) Unlock(objects []dbus.ObjectPath) ([]dbus.ObjectPath, dbus.ObjectPath, *dbus.Error) {
	switch {
	case s.refuses.Load():
		return nil, none, dbus.NewError("org.freedesktop.DBus.Error.AccessDenied", nil)
	case s.locked.Load():
		return nil, root + "/prompt/1", nil
	}
	return objects, none, nil
}

func (s *secretService) Prompt(string) *dbus.Error { return nil } // nobody answers

func (s *secretService) Get(_, property string) (dbus.Variant, *dbus.Error) {
	if property != "Collections" {
		return dbus.MakeVariant(""), dbus.NewError("org.freedesktop.DBus.Error.UnknownProperty", nil)
	}
	return dbus.MakeVariant([]dbus.ObjectPath{login}), nil
}

func (s *secretService) SearchItems(attributes map[string]string) ([]dbus.ObjectPath, *dbus.Error) {
	if s.secret.Load() == nil || attributes["service"] != service || attributes["username"] != account {
		return []dbus.ObjectPath{}, nil
	}
	return []dbus.ObjectPath{item}, nil
}

func (s *secretService) CreateItem(_ map[string]dbus.Variant, secret wireSecret, _ bool) (dbus.ObjectPath, dbus.ObjectPath, *dbus.Error) {
	s.secret.Store(string(secret.Value))
	return item, none, nil
}

func (s *secretService) GetSecret(session dbus.ObjectPath) (wireSecret, *dbus.Error) {
	value, _ := s.secret.Load().(string)
	return wireSecret{Session: session, Value: []byte(value), ContentType: "text/plain"}, nil
}

func (s *secretService) Close() *dbus.Error { return nil }

// desktop starts a session bus with a Secret Service.
func desktop(t *testing.T) *secretService {
	program, err := exec.LookPath("dbus-daemon")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	c := exec.CommandContext(t.Context(), program, "--session", "--nofork", "--print-address")
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", strings.TrimSpace(address))
	conn, err := dbus.Connect(strings.TrimSpace(address))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	s := &secretService{}
	for path, places := range map[dbus.ObjectPath][]string{
		root:                {"org.freedesktop.Secret.Service", "org.freedesktop.DBus.Properties"},
		login:               {"org.freedesktop.Secret.Collection"},
		item:                {"org.freedesktop.Secret.Item"},
		root + "/session/1": {"org.freedesktop.Secret.Session"},
		root + "/prompt/1":  {"org.freedesktop.Secret.Prompt"},
	} {
		for _, place := range places {
			if err := conn.Export(s, path, place); err != nil {
				t.Fatal(err)
			}
		}
	}
	if reply, err := conn.RequestName("org.freedesktop.secrets", dbus.NameFlagDoNotQueue); err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatal(reply, err)
	}
	return s
}

func wrong(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, want one with %q", err, want)
	}
}

// A desktop has one key, which is made when it is first needed. A keyring that waits for a
// person does not hold up a program for ever.
func TestKey(t *testing.T) {
	s := desktop(t)
	_, err := Key(false)
	wrong(t, err, "the keyring has no key of pawl")
	key, err := Key(true)
	if err != nil || len(key) != 32 {
		t.Fatalf("%d bytes, %v", len(key), err)
	}
	for _, create := range []bool{false, true} {
		if again, err := Key(create); err != nil || !bytes.Equal(again, key) {
			t.Errorf("the key is another one: %v", err)
		}
	}
	s.locked.Store(true)
	_, err = within(100*time.Millisecond, false)
	wrong(t, err, "the keyring has not answered for 100ms; unlock it")
	s.locked.Store(false)
	s.secret.Store("short")
	_, err = Key(false)
	wrong(t, err, "is no key")
	s.refuses.Store(true)
	_, err = Key(true)
	wrong(t, err, "the keyring: org.freedesktop.DBus.Error.AccessDenied")
}

// A machine without a desktop has no keyring. Nothing starts a bus to learn that.
func TestNoBus(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	if err := bus(); err != nil { // a desktop has one all the same
		_, err = Key(true)
		wrong(t, err, "there is no session bus")
	}
}
