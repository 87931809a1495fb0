-- Letters, unique by run, kind and request.
CREATE TABLE letters (
  id      INTEGER PRIMARY KEY,
  run     INTEGER NOT NULL REFERENCES runs (ref),
  kind    TEXT    NOT NULL,
  request TEXT    NOT NULL,
  sender  TEXT    NOT NULL,
  body    BLOB,
  time    INTEGER,
  UNIQUE (run, kind, request)
) STRICT;

-- Large bytes by their SHA-256.
CREATE TABLE blobs (
  ref    INTEGER PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE,
  data   BLOB NOT NULL
) STRICT;
