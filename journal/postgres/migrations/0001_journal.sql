-- What others write (ids, names, owners) is bytes and not text: it may hold
-- what no encoding of a database can, and bytes sort and compare as Go does.

-- A run: who owns it, and its head. ref is the age of the run, claim tells one
-- taking of the lease from another, until is by this server's clock, labels are
-- a JSON object. marks are digests of the agent and of each label, by which lists find them.
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
  wake_at    timestamptz
) WITH (fillfactor = 60); -- every append writes its run anew; with room in the page no index hears of it

-- Nothing here changes while a run goes on, so that appends need not touch them.
CREATE INDEX runs_status ON runs (status, ref);
CREATE INDEX runs_marks ON runs USING gin (marks);
CREATE INDEX runs_wake_at ON runs (wake_at) WHERE wake_at IS NOT NULL;

-- What one append wrote: seq is that of its last record, data the records back
-- to back, sizes the lengths of all but the last as varints, crc the CRC-32C of
-- the run's id, seq (big endian), sizes and data.
CREATE TABLE batches (
  run   bigint NOT NULL,
  seq   bigint NOT NULL,
  epoch bigint NOT NULL,
  sizes bytea,
  crc   bigint NOT NULL,
  data  bytea NOT NULL,
  PRIMARY KEY (run, seq)
);

-- Letters, unique by run, kind and request.
CREATE TABLE letters (
  id      bigint PRIMARY KEY,
  run     bigint NOT NULL,
  kind    text NOT NULL,
  request bytea NOT NULL,
  sender  bytea NOT NULL,
  body    bytea,
  time    timestamptz
);
-- By digest, for an index takes nothing long, and who chose the request is unknown.
CREATE UNIQUE INDEX letters_request ON letters (run, kind, sha256(request));
CREATE INDEX letters_run ON letters (run, id);

-- The ID given last. Who posts holds this row until his commit is seen, so
-- letters are seen in the order of their IDs, which a sequence does not promise.
CREATE TABLE mailbox (last bigint NOT NULL);
INSERT INTO mailbox VALUES (0);

-- Large bytes by their SHA-256, and when they were stored last.
CREATE TABLE blobs (
  digest bytea PRIMARY KEY,
  stored timestamptz NOT NULL DEFAULT clock_timestamp(),
  data   bytea NOT NULL
);
