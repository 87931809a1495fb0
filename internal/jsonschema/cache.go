package jsonschema

import "sync"

// cache keeps compiled schemas by their text.
type cache struct {
	mu   sync.RWMutex
	kept map[cacheKey]*Schema
}

type cacheKey struct {
	schema string
	closed bool
}

// mostKept bounds the cache. When it is full it is emptied: a program with more
// schemas than that makes them up as it goes, and gains nothing from keeping any.
const mostKept = 512

var compiled = cache{kept: map[cacheKey]*Schema{}}

// get returns the compiled schema. Errors are not kept.
func (c *cache) get(schema []byte, closed bool) (*Schema, error) {
	c.mu.RLock()
	s := c.kept[cacheKey{string(schema), closed}]
	c.mu.RUnlock()
	if s != nil {
		return s, nil
	}
	s, err := compile(schema, closed)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.kept) >= mostKept {
		clear(c.kept)
	}
	c.kept[cacheKey{string(schema), closed}] = s
	return s, nil
}
