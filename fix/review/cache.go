package review

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
)

// A Cache keeps what a model found in a file, by the digests of the two contents, the model
// and what it is asked. It is a directory with a file for each result.
type Cache struct{ Dir string }

// kept is how long a result stays in a cache after it was put there.
const kept = 30 * 24 * time.Hour

// Key is the key of a file's result. name is the name of the model as the user wrote it.
func Key(f *File, name string, model pawl.Model) string {
	endpoint := ""
	if d, ok := model.(pawl.Describer); ok {
		endpoint = d.Describe().Endpoint
	}
	parts, err := json.Marshal([]string{f.Path, f.Old, f.New, name, endpoint, prompt, find, refute, string(found), string(ruling)})
	if err != nil { // texts always marshal
		return ""
	}
	sum := sha256.Sum256(parts)
	return hex.EncodeToString(sum[:])
}

// Take moves the files whose results are known to the report, and returns the others.
func (c *Cache) Take(files []*File, key func(*File) string, r *Report) (open []*File) {
	for _, f := range files {
		known, ok := c.get(key(f))
		if !ok {
			open = append(open, f)
			continue
		}
		r.add(f.Path, known)
		r.Cached++
	}
	r.sort()
	return open
}

// get returns a result. One that cannot be read is none.
func (c *Cache) get(key string) (known Judged, ok bool) {
	if c == nil {
		return known, false
	}
	raw, err := os.ReadFile(c.file(key))
	if err != nil || json.Unmarshal(raw, &known) != nil {
		return Judged{}, false
	}
	return known, true
}

// put keeps a result, whole or not at all. Without a key it does not.
func (c *Cache) put(key string, result Judged) error {
	if c == nil || key == "" {
		return nil
	}
	raw, err := json.Marshal(result)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(c.Dir, "new-") // with mode 0600
	if err != nil {
		return err
	}
	_, err = temp.Write(raw)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), c.file(key))
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}

func (c *Cache) file(key string) string { return filepath.Join(c.Dir, key+".json") }

// Prune removes results that are older than 30 days.
func (c *Cache) Prune(now time.Time) error {
	list, err := os.ReadDir(c.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range list {
		info, err := e.Info()
		if err != nil || now.Sub(info.ModTime()) < kept || !strings.HasSuffix(e.Name(), ".json") && !strings.HasPrefix(e.Name(), "new-") {
			continue
		}
		if err := os.Remove(filepath.Join(c.Dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
