-- What others write (ids, names, owners) is bytes and not text: it may hold
-- what no encoding of a database can, and bytes sort and compare as Go does.

-- The version of these tables.
CREATE TABLE version (version integer NOT NULL);

-- A run: who owns it, and its head. ref is the age of the run, claim tells one
-- taking of the lease from another, until is by this server's clock, labels are
-- a JSON object. marks are digests of the agent and of each label, by which lists find them.
-- lane, rank and turn are the place of a queued run: lane is a digest of the label tenant,
-- rank the priority with its sign turned, turn counts the runs of the lane; see queue.go.
CREATE TABLE runs (
  ref        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id         bytea NOT NULL UNIQUE,
  owner      bytea NOT NULL,
  epoch      bigint NOT NULL,
  until      timestamptz,
  claim      bytea NOT NULL,
  seq        bigint NOT NULL DEFAULT 0,
  iterations bigint NOT NULL DEFAULT 0,
  cost       double precision NOT NULL DEFAULT 0,
  priced     boolean NOT NULL DEFAULT false,
  updated    timestamptz,
  status     text NOT NULL DEFAULT '',
  agent      bytea NOT NULL DEFAULT '',
  loop       bytea NOT NULL DEFAULT '',
  labels     bytea,
  marks      bytea[],
  thread     bytea NOT NULL DEFAULT '',
  parent     bytea NOT NULL DEFAULT '',
  origin     bytea NOT NULL DEFAULT '',
  created    timestamptz,
  wake_at    timestamptz,
  lane       bytea NOT NULL DEFAULT '',
  rank       integer NOT NULL DEFAULT 0,
  turn       bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 60); -- every append rewrites the row of its run; with room in the page no index is touched

-- None of these columns changes while a run goes on, so that appends need not touch the
-- indexes. Some are digests, because an index takes nothing long.
CREATE INDEX runs_status ON runs (status, ref);
CREATE INDEX runs_marks ON runs USING gin (marks);
CREATE INDEX runs_loop ON runs (sha256(loop), ref) WHERE loop <> '';
CREATE INDEX runs_thread ON runs (sha256(thread), ref) WHERE thread <> '';
CREATE INDEX runs_created ON runs (created) WHERE created IS NOT NULL;
CREATE INDEX runs_wake_at ON runs (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX runs_queue ON runs (sha256(agent), rank, turn, ref) WHERE status = 'queued';

-- The runs that may have an owner, by which the runs of an agent or a lane are counted. A
-- renewal does not change it.
CREATE INDEX runs_owned ON runs (ref) WHERE owner <> '';

-- The words that searches find runs by, in ASCII; see search.go.
CREATE TABLE texts (
  run   bigint PRIMARY KEY,
  words tsvector NOT NULL
);
CREATE INDEX texts_words ON texts USING gin (words);

-- The records of one append: seq is that of the last record, data the records back
-- to back, sizes the lengths of all but the last as varints, digests the digest of the
-- log at each record; see internal/journals.
CREATE TABLE batches (
  run     bigint NOT NULL,
  seq     bigint NOT NULL,
  epoch   bigint NOT NULL,
  sizes   bytea,
  digests bytea NOT NULL,
  data    bytea NOT NULL,
  PRIMARY KEY (run, seq)
);

-- The signals, unique by run, kind and request.
CREATE TABLE signals (
  id      bigint PRIMARY KEY,
  run     bigint NOT NULL,
  kind    text NOT NULL,
  request bytea NOT NULL,
  sender  bytea NOT NULL,
  body    bytea,
  time    timestamptz
);
CREATE UNIQUE INDEX signals_request ON signals (run, kind, sha256(request));
CREATE INDEX signals_run ON signals (run, id);

-- The id given last. A sender holds this row until its commit is visible, so signals
-- become visible in the order of their ids, which a sequence does not promise.
CREATE TABLE mailbox (last bigint NOT NULL);
INSERT INTO mailbox VALUES (0);

-- Large bytes by their SHA-256, and when they were stored last.
CREATE TABLE blobs (
  digest bytea PRIMARY KEY,
  stored timestamptz NOT NULL DEFAULT clock_timestamp(),
  data   bytea NOT NULL
);

-- The turn that each lane was given last, and, in the empty lane, the turn that was taken
-- last. agent and lane are digests.
CREATE TABLE turns (
  agent bytea   NOT NULL,
  rank  integer NOT NULL,
  lane  bytea   NOT NULL,
  turn  bigint  NOT NULL,
  PRIMARY KEY (agent, rank, lane)
) WITH (fillfactor = 50);

-- The buckets of rates that programs share, each as the time at which all that was taken
-- from it will have been filled again; see rate.go. wait is the answer to the caller that asked
-- last, in microseconds.
CREATE TABLE rates (
  name     bytea       PRIMARY KEY,
  requests timestamptz NOT NULL,
  tokens   timestamptz NOT NULL,
  wait     bigint      NOT NULL
) WITH (fillfactor = 50);

-- The accounts of budgets, in tokens and billionths of a dollar; see package budget.
CREATE TABLE budgets (
  account         bytea  PRIMARY KEY,
  spent_tokens    bigint NOT NULL,
  spent_cost      bigint NOT NULL,
  reserved_tokens bigint NOT NULL,
  reserved_cost   bigint NOT NULL,
  most_tokens     bigint NOT NULL,
  most_cost       bigint NOT NULL
) WITH (fillfactor = 50);

-- What runs have reserved for a model call in progress.
CREATE TABLE reservations (
  run     bigint NOT NULL,
  account bytea  NOT NULL,
  tokens  bigint NOT NULL,
  cost    bigint NOT NULL,
  PRIMARY KEY (run, account)
);

-- Small records by name, such as standing permissions; see package approval.
CREATE TABLE kept (
  name bytea PRIMARY KEY,
  data bytea NOT NULL
);
