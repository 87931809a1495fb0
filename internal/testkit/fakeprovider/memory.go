package fakeprovider

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
)

// A memory is what a provider knows of what it has sent. Signatures tell for
// themselves, so that a server with the same seed knows those of another.
type memory struct {
	key []byte

	mu       sync.Mutex
	signed   map[string]string          // signatures of others that were passed on, and of what
	led      map[string]map[string]bool // calls of a reply -> what had been thought before them
	needs    map[string]string          // Responses: id of an item -> id of the reasoning before it
	attempts map[string]int             // bodies -> how often they came
	rests    map[string]rest            // Google: tokens -> the rest of a reply
	places   map[string]map[string]bool // signatures -> digests of what stood before them
	caches   map[string]bool            // digests of prefixes in the cache
}

func newMemory(seed uint64) *memory {
	return &memory{
		key:    []byte("fakeprovider " + strconv.FormatUint(seed, 10)),
		signed: map[string]string{}, led: map[string]map[string]bool{}, needs: map[string]string{},
		attempts: map[string]int{}, rests: map[string]rest{}, places: map[string]map[string]bool{}, caches: map[string]bool{},
	}
}

func (m *memory) mac(text string) []byte {
	h := hmac.New(sha256.New, m.key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// name is a short name for something, always the same.
func (m *memory) name(of string) string { return hex.EncodeToString(m.mac("name " + of)[:12]) }

// sign makes a signature of a text.
func (m *memory) sign(text string) string {
	return base64.StdEncoding.EncodeToString(m.mac("sign " + text))
}

// signedFor reports whether a signature was given for a text.
func (m *memory) signedFor(signature, text string) bool {
	if hmac.Equal([]byte(signature), []byte(m.sign(text))) {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.signed[signature]
	return ok && known == text
}

// pass remembers a signature that the brain had from somewhere else.
func (m *memory) pass(signature, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.signed[signature] = text
}

// token makes something that can be told from what was changed, and says
// nothing else.
func (m *memory) token(of string) string {
	nonce := m.mac("nonce " + of)[:12]
	return base64.StdEncoding.EncodeToString(append(nonce, m.mac("token "+string(nonce))...))
}

func (m *memory) genuine(token string) bool {
	b, err := base64.StdEncoding.DecodeString(token)
	return err == nil && len(b) > 12 && hmac.Equal(b[12:], m.mac("token "+string(b[:12])))
}

// lead remembers what was thought before the calls of a reply.
func (m *memory) lead(calls, thought string) {
	if calls == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.led[calls] == nil {
		m.led[calls] = map[string]bool{}
	}
	m.led[calls][thought] = true
}

// leads reports whether a reply with these calls is known, and whether this is
// what was thought before them.
func (m *memory) leads(calls, thought string) (known, same bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	thoughts := m.led[calls]
	return len(thoughts) > 0, thoughts[thought]
}

// stand remembers what stood before a signature.
func (m *memory) stand(signature, digest string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.places[signature] == nil {
		m.places[signature] = map[string]bool{}
	}
	m.places[signature][digest] = true
}

// stood reports whether this stood before a signature, as far as the server knows.
func (m *memory) stood(signature, digest string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	digests := m.places[signature]
	return digests == nil || digests[digest]
}

// keep puts a prefix into the cache, for ever.
func (m *memory) keep(digest string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.caches[digest] = true
}

func (m *memory) kept(digest string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.caches[digest]
}

// attempt counts how often a body has come, this time included.
func (m *memory) attempt(body []byte) int {
	sum := string(m.mac(string(body)))
	m.mu.Lock()
	defer m.mu.Unlock()
	m.attempts[sum]++
	return m.attempts[sum]
}

// fingerprint of calls: their names and arguments, since ids are the client's
// to choose on most wires.
type fingerprint struct{ b strings.Builder }

func (f *fingerprint) add(name, args string) {
	var v any
	dec := json.NewDecoder(strings.NewReader(args))
	dec.UseNumber()
	if dec.Decode(&v) == nil {
		args = string(bytes.TrimSpace(marshal(v)))
	}
	f.b.WriteString(strconv.Quote(name) + args)
}

func (f *fingerprint) String() string { return f.b.String() }
