-- A run: who owns it, and what of its head changes rarely. Times are
-- nanoseconds since 1970, NULL for none; ref is the age of the run.
CREATE TABLE runs (
  ref     INTEGER PRIMARY KEY,
  id      TEXT    NOT NULL UNIQUE,
  owner   TEXT    NOT NULL,
  epoch   INTEGER NOT NULL,
  until   INTEGER,
  status  TEXT    NOT NULL DEFAULT '',
  agent   TEXT    NOT NULL DEFAULT '',
  loop    TEXT    NOT NULL DEFAULT '',
  labels  TEXT,
  thread  TEXT    NOT NULL DEFAULT '',
  parent  TEXT    NOT NULL DEFAULT '',
  origin  TEXT    NOT NULL DEFAULT '',
  created INTEGER,
  wake_at INTEGER
) STRICT;

-- Only these: a running loop is not to pay for lists.
CREATE INDEX runs_waiting ON runs (status) WHERE status IN
  ('waiting_approval', 'waiting_input', 'waiting_client_tool', 'waiting_doubt', 'expired');
CREATE INDEX runs_wake_at ON runs (wake_at) WHERE wake_at IS NOT NULL;

-- What one append wrote: id is the run's ref in the upper and the last
-- record's seq in the lower 32 bits, data the records back to back, sizes the
-- lengths of all but the last as varints, crc the CRC-32C of id (big endian),
-- sizes and data as a signed number. The figures are those of the head.
CREATE TABLE batches (
  id         INTEGER PRIMARY KEY,
  iterations INTEGER NOT NULL,
  cost       REAL    NOT NULL,
  priced     INTEGER NOT NULL,
  updated    INTEGER,
  sizes      BLOB,
  crc        INTEGER NOT NULL,
  data       BLOB    NOT NULL
) STRICT;
