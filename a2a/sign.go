package a2a

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"

	"github.com/pawl-run/pawl/internal/canon"
)

// A Key signs cards: by ES256, RS256 or EdDSA.
type Key struct {
	private crypto.Signer
	public  JWK
}

// A JWK is a public key as JSON (RFC 7517).
type JWK struct {
	Kty string `json:"kty"`
	Crv string `json:"crv,omitempty"`
	X   string `json:"x,omitempty"`
	Y   string `json:"y,omitempty"`
	N   string `json:"n,omitempty"`
	E   string `json:"e,omitempty"`
	Kid string `json:"kid"`
	Alg string `json:"alg"`
	Use string `json:"use,omitempty"`
}

// JWKS are public keys.
type JWKS struct {
	Keys []JWK `json:"keys"`
}

const pemPrivate = "PRIVATE KEY"

// NewKey makes a key for ES256, as a PEM file that [ParseKey] reads.
func NewKey() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: pemPrivate, Bytes: der}), nil
}

// ParseKey reads a private key from a PEM file: PKCS #8 with an EC key on P-256, an RSA key or
// an Ed25519 key.
func ParseKey(text []byte) (*Key, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != pemPrivate {
		return nil, errors.New("it has no PEM block PRIVATE KEY; make one with: openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256")
	}
	private, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	b := base64.RawURLEncoding.EncodeToString
	var k *Key
	var named string // the members of RFC 7638
	switch key := private.(type) {
	case *ecdsa.PrivateKey:
		point, err := key.PublicKey.Bytes()
		if err != nil || key.Curve != elliptic.P256() {
			return nil, errors.New("its curve is not P-256")
		}
		k = &Key{key, JWK{Kty: "EC", Crv: "P-256", X: b(point[1:33]), Y: b(point[33:]), Alg: "ES256"}}
		named = fmt.Sprintf(`{"crv":%q,"kty":"EC","x":%q,"y":%q}`, k.public.Crv, k.public.X, k.public.Y)
	case *rsa.PrivateKey:
		k = &Key{key, JWK{Kty: "RSA", N: b(key.N.Bytes()), E: b(big.NewInt(int64(key.E)).Bytes()), Alg: "RS256"}}
		named = fmt.Sprintf(`{"e":%q,"kty":"RSA","n":%q}`, k.public.E, k.public.N)
	case ed25519.PrivateKey:
		k = &Key{key, JWK{Kty: "OKP", Crv: "Ed25519", X: b(key.Public().(ed25519.PublicKey)), Alg: "EdDSA"}}
		named = fmt.Sprintf(`{"crv":%q,"kty":"OKP","x":%q}`, k.public.Crv, k.public.X)
	default:
		return nil, fmt.Errorf("a %T cannot sign cards; use an EC key on P-256, RSA or Ed25519", private)
	}
	sum := sha256.Sum256([]byte(named))
	k.public.Kid, k.public.Use = b(sum[:]), "sig"
	return k, nil
}

// Public returns the public half, for those who verify.
func (k *Key) Public() JWK { return k.public }

// Sign adds the key's signature to a card. keys is the URL of the public key; empty: none is
// named.
func (k *Key) Sign(c *Card, keys string) error {
	raw, err := json.Marshal(c)
	if err != nil {
		return err
	}
	payload, err := payloadOf(raw)
	if err != nil {
		return err
	}
	header, err := json.Marshal(struct {
		Alg string `json:"alg"`
		Typ string `json:"typ"`
		Kid string `json:"kid"`
		Jku string `json:"jku,omitempty"`
	}{k.public.Alg, "JOSE", k.public.Kid, keys})
	if err != nil {
		return err
	}
	protected := base64.RawURLEncoding.EncodeToString(header)
	signature, err := k.sign(signingInput(protected, payload))
	if err != nil {
		return err
	}
	c.Signatures = append(c.Signatures, Signature{Protected: protected, Signature: base64.RawURLEncoding.EncodeToString(signature)})
	return nil
}

func signingInput(protected string, payload []byte) []byte {
	return []byte(protected + "." + base64.RawURLEncoding.EncodeToString(payload))
}

func (k *Key) sign(input []byte) ([]byte, error) {
	sum := sha256.Sum256(input)
	switch key := k.private.(type) {
	case *ecdsa.PrivateKey:
		r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
		if err != nil {
			return nil, err
		}
		out := make([]byte, 64)
		r.FillBytes(out[:32])
		s.FillBytes(out[32:])
		return out, nil
	case *rsa.PrivateKey:
		return rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	}
	return k.private.Sign(rand.Reader, input, crypto.Hash(0))
}

// Verify checks that one of keys has signed a card, which is JSON as it was served.
func Verify(card []byte, keys JWKS) error {
	var c struct{ Signatures []Signature }
	if err := json.Unmarshal(card, &c); err != nil {
		return fmt.Errorf("the card is not JSON: %w", err)
	}
	if len(c.Signatures) == 0 {
		return errors.New("the card has no signature")
	}
	payload, err := payloadOf(card)
	if err != nil {
		return err
	}
	for _, s := range c.Signatures {
		raw, err := base64.RawURLEncoding.DecodeString(s.Protected)
		var header struct{ Alg, Kid string }
		if err != nil || json.Unmarshal(raw, &header) != nil {
			continue
		}
		signature, err := base64.RawURLEncoding.DecodeString(s.Signature)
		if err != nil {
			continue
		}
		for _, k := range keys.Keys {
			if k.Kid == header.Kid && k.Alg == header.Alg && k.verifies(signingInput(s.Protected, payload), signature) {
				return nil
			}
		}
	}
	return errors.New("no signature of the card is by a known key")
}

func (k JWK) verifies(input, signature []byte) bool {
	sum := sha256.Sum256(input)
	b := func(text string) []byte {
		raw, _ := base64.RawURLEncoding.DecodeString(text) // a key that cannot be read verifies nothing
		return raw
	}
	switch k.Alg {
	case "ES256":
		public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append(append([]byte{4}, b(k.X)...), b(k.Y)...))
		return err == nil && len(signature) == 64 && ecdsa.Verify(public, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:]))
	case "RS256":
		n := b(k.N)
		e := new(big.Int).SetBytes(b(k.E))
		return len(n) >= 256 && e.IsInt64() && rsa.VerifyPKCS1v15(&rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(e.Int64())}, crypto.SHA256, sum[:], signature) == nil
	case "EdDSA":
		return len(b(k.X)) == ed25519.PublicKeySize && ed25519.Verify(b(k.X), input, signature)
	}
	return false
}

// kept are the fields of a card that stay in the signed text when they are empty, by the
// objects that have them: those that a2a.proto marks as required or optional.
var kept = map[string]bool{
	"name": true, "description": true, "supportedInterfaces": true, "version": true, "documentationUrl": true, "capabilities": true,
	"defaultInputModes": true, "defaultOutputModes": true, "skills": true, "iconUrl": true,
	"url": true, "protocolBinding": true, "protocolVersion": true, "organization": true,
	"streaming": true, "pushNotifications": true, "extendedAgentCard": true,
	"id": true, "tags": true, "protected": true, "signature": true,
	"location": true, "scheme": true, "flows": true, "openIdConnectUrl": true, "authorizationUrl": true, "tokenUrl": true, "deviceAuthorizationUrl": true, "scopes": true,
}

// payloadOf is the signed text of a card: without signatures and default values, in the
// canonical form of RFC 8785.
func payloadOf(card []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(card))
	d.UseNumber()
	var fields map[string]any
	if err := d.Decode(&fields); err != nil {
		return nil, fmt.Errorf("the card is no JSON object: %w", err)
	}
	delete(fields, "signatures")
	prune(fields, false)
	raw, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	return canon.Canonical(nil, raw)
}

// prune removes default values. Maps with names of their own, and free objects, keep all.
func prune(v any, free bool) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			prune(item, free)
		}
	case map[string]any:
		for key, value := range v {
			prune(value, free || key == "params" || key == "scopes")
			if !free && !kept[key] && isDefault(value) {
				delete(v, key)
			}
		}
	}
}

func isDefault(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case json.Number:
		return v == "0"
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}
