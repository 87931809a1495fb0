-- A database as version 1 left it, with one run of two batches.
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

CREATE INDEX runs_waiting ON runs (status) WHERE status IN
  ('waiting_approval', 'waiting_input', 'waiting_client_tool', 'waiting_doubt', 'expired');
CREATE INDEX runs_wake_at ON runs (wake_at) WHERE wake_at IS NOT NULL;

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

INSERT INTO runs (ref, id, owner, epoch, until, status, agent, loop, labels, created)
VALUES (1, 'run-1', '', 4, NULL, 'waiting_approval', 'buyer', 'react', '{"team":"ops"}', 1700000000000000000);

INSERT INTO batches (id, iterations, cost, priced, updated, sizes, crc, data) VALUES
  (4294967297, 1, 0.125, 1, 1700000001000000000, NULL, 139322702, CAST('{"seq":1}' AS BLOB)),
  (4294967299, 2, 0.25, 1, 1700000009000000000, x'09', -1636653372, CAST('{"seq":2}{"seq":3}' AS BLOB));

PRAGMA application_id = 1346459468;
PRAGMA user_version = 1;
