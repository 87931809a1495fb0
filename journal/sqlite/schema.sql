-- A run: who owns it, and the part of its head that changes rarely. Times are
-- nanoseconds since 1970, NULL for none; ref is the age of the run. lane, rank and turn
-- are the place of a queued run: lane is the label tenant, rank the priority with its
-- sign turned, turn counts the runs of the lane; see queue.go.
CREATE TABLE runs (
  ref     INTEGER PRIMARY KEY,
  id      TEXT    NOT NULL UNIQUE,
  owner   TEXT    NOT NULL,
  epoch   INTEGER NOT NULL,
  until   INTEGER,
  status  TEXT    NOT NULL DEFAULT '',
  agent   TEXT    NOT NULL DEFAULT '',
  loop    TEXT    NOT NULL DEFAULT '',
  labels  TEXT    NOT NULL DEFAULT '',
  thread  TEXT    NOT NULL DEFAULT '',
  parent  TEXT    NOT NULL DEFAULT '',
  origin  TEXT    NOT NULL DEFAULT '',
  created INTEGER,
  wake_at INTEGER,
  lane    TEXT    NOT NULL DEFAULT '',
  rank    INTEGER NOT NULL DEFAULT 0,
  turn    INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Lists select by these columns. None of them changes while a loop goes on, and a run
-- that has none of them is in no index.
CREATE INDEX runs_status ON runs (status) WHERE status <> '';
CREATE INDEX runs_agent ON runs (agent) WHERE agent <> '';
CREATE INDEX runs_loop ON runs (loop) WHERE loop <> '';
CREATE INDEX runs_thread ON runs (thread) WHERE thread <> '';
CREATE INDEX runs_created ON runs (created) WHERE created IS NOT NULL;
CREATE INDEX runs_wake_at ON runs (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX runs_queue ON runs (agent, rank, turn) WHERE status = 'queued';

-- The queued runs that a worker has taken, and not resumed yet.
CREATE INDEX runs_taken ON runs (ref) WHERE status = 'queued' AND owner <> '';

-- The labels of each run, which are in runs, too.
CREATE TABLE labels (
  name  TEXT    NOT NULL,
  value TEXT    NOT NULL,
  run   INTEGER NOT NULL,
  PRIMARY KEY (name, value, run)
) STRICT, WITHOUT ROWID;

-- The words that searches find runs by; see internal/journals, which makes them: lower case,
-- separated by spaces. The index keeps which words a run has, and not their text.
CREATE VIRTUAL TABLE texts USING fts5(words, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii');

-- The records of one append: id is the run's ref in the upper and the last
-- record's seq in the lower 32 bits, data the records back to back, sizes the
-- lengths of all but the last as varints, digests the digest of the log at each
-- record; see internal/journals. The figures are those of the head.
CREATE TABLE batches (
  id         INTEGER PRIMARY KEY,
  iterations INTEGER NOT NULL,
  cost       REAL    NOT NULL,
  priced     INTEGER NOT NULL,
  updated    INTEGER,
  sizes      BLOB,
  digests    BLOB    NOT NULL,
  data       BLOB    NOT NULL
) STRICT;

-- The signals, unique by run, kind and request.
CREATE TABLE signals (
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

-- When a blob was stored last, apart from its bytes, which need not be written again.
CREATE TABLE stored (
  blob INTEGER PRIMARY KEY,
  time INTEGER NOT NULL
) STRICT;

-- The greatest ref of a run and id of a signal that were removed, so that no other is
-- ever given them: writers and readers of other processes may still hold them.
CREATE TABLE removed (
  run    INTEGER NOT NULL,
  signal INTEGER NOT NULL
) STRICT;
INSERT INTO removed VALUES (0, 0);

-- The turn that each lane was given last, and, where taken is set, the turn that was taken
-- last.
CREATE TABLE turns (
  agent TEXT    NOT NULL,
  rank  INTEGER NOT NULL,
  lane  TEXT    NOT NULL,
  taken INTEGER NOT NULL,
  turn  INTEGER NOT NULL,
  PRIMARY KEY (agent, rank, lane, taken)
) STRICT, WITHOUT ROWID;

-- The buckets of rates that programs share, each as the time at which all that was taken
-- from it will have been filled again; see internal/journals.
CREATE TABLE rates (
  name     TEXT    PRIMARY KEY,
  requests INTEGER NOT NULL,
  tokens   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The accounts of budgets, in tokens and billionths of a dollar; see package budget.
CREATE TABLE budgets (
  account         TEXT    PRIMARY KEY,
  spent_tokens    INTEGER NOT NULL,
  spent_cost      INTEGER NOT NULL,
  reserved_tokens INTEGER NOT NULL,
  reserved_cost   INTEGER NOT NULL,
  most_tokens     INTEGER NOT NULL,
  most_cost       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What runs have reserved for a model call in progress.
CREATE TABLE reservations (
  run     INTEGER NOT NULL,
  account TEXT    NOT NULL,
  tokens  INTEGER NOT NULL,
  cost    INTEGER NOT NULL,
  PRIMARY KEY (run, account)
) STRICT, WITHOUT ROWID;

-- Small records by name, such as standing permissions; see package approval.
CREATE TABLE kept (
  name TEXT PRIMARY KEY,
  data BLOB NOT NULL
) STRICT, WITHOUT ROWID;
