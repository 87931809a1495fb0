package fakeprovider

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"maps"
	"strings"

	"github.com/pawl-run/pawl"
)

// A prefix is what a request says before a place in it, apart from thinking and marks for the
// cache.
type prefix struct {
	hash   hash.Hash
	bytes  int
	places []mark // where a request may be cut for the cache, in order
}

// A mark is the end of a prefix that the provider may have in its cache.
type mark struct {
	digest string
	tokens int
	set    bool // the request asks to keep it
	long   bool // for an hour
}

func newPrefix() *prefix { return &prefix{hash: sha256.New()} }

func (p *prefix) digest() string { return hex.EncodeToString(p.hash.Sum(nil)[:12]) }

// add lengthens the prefix by a block. Blank texts do not count: they cannot be sent back.
func (p *prefix) add(kind string, b node) {
	block, ok := b.object()
	if !ok || strings.HasSuffix(b.at("type").text(), "thinking") || b.at("type").text() == "text" && strings.TrimSpace(b.at("text").text()) == "" {
		return
	}
	block = maps.Clone(block)
	delete(block, "cache_control")
	delete(block, "citations")
	if _, is := b.at("input").object(); b.at("input").has() && !is { // what a model may write, and no client may send
		block["input"] = object{}
	}
	raw := marshal(block)
	p.hash.Write([]byte(kind))
	p.hash.Write(raw)
	p.bytes += len(raw)
	cache := b.at("cache_control")
	p.places = append(p.places, mark{p.digest(), (p.bytes + 3) / 4, cache.has(), cache.at("ttl").text() == "1h"})
}

// behind checks that what stands before each thinking block of a request is what stood there
// when it was made, if the model binds it.
func (c *checkAnthropic) behind(doc node) {
	p := newPrefix()
	for _, t := range doc.at("tools").list(".%d") {
		p.add("tool", t)
	}
	for _, b := range doc.at("system").list(".%d") {
		p.add("system", b)
	}
	if text := doc.at("system").text(); text != "" {
		p.add("system", node{v: object{"type": "text", "text": text}})
	}
	for _, msg := range doc.at("messages").list(".%d") {
		content := msg.at("content")
		if text, ok := content.v.(string); ok {
			content.v = []any{object{"type": "text", "text": text}}
		}
		for _, b := range content.list(".%d") {
			proof := b.at("signature").text() + b.at("data").text()
			if strings.HasSuffix(b.at("type").text(), "thinking") && c.model.Bound && !c.memory.stood(proof, p.digest()) {
				c.wrong(b.path, "Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\".")
			}
			p.add(msg.at("role").text(), b)
		}
	}
	c.prefix = p
}

// cache returns the usage of a request whose prefix may be in the cache, or is kept there.
func (in *inbound) cache(u pawl.Usage) pawl.Usage {
	if in.prefix == nil {
		return u
	}
	from, written, long := in.traits().CacheFrom, 0, false
	for _, m := range in.prefix.places {
		if m.tokens < from {
			continue
		}
		if in.memory.kept(m.digest) {
			u.CacheRead = m.tokens
		}
		if m.set {
			written, long = m.tokens, m.long
			in.memory.keep(m.digest)
		}
	}
	u.CacheRead = min(u.CacheRead, u.Input)
	u.CacheWrite = min(max(0, written-u.CacheRead), u.Input-u.CacheRead)
	if long {
		u.CacheLong = u.CacheWrite
	}
	return u
}
