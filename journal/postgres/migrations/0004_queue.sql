-- Where a queued run stands: lane is a digest of the label tenant, rank the priority with
-- its sign turned, turn counts the runs of the lane; see queue.go.
ALTER TABLE runs
  ADD lane bytea   NOT NULL DEFAULT '',
  ADD rank integer NOT NULL DEFAULT 0,
  ADD turn bigint  NOT NULL DEFAULT 0;
CREATE INDEX runs_queue ON runs (sha256(agent), rank, turn, ref) WHERE status = 'queued';

-- The runs that may have an owner, by which the runs of an agent or a lane are counted. A
-- renewal does not change it.
CREATE INDEX runs_owned ON runs (ref) WHERE owner <> '';

-- The turn that each lane was given last, and, in the empty lane, the turn that was taken
-- last. agent and lane are digests.
CREATE TABLE turns (
  agent bytea   NOT NULL,
  rank  integer NOT NULL,
  lane  bytea   NOT NULL,
  turn  bigint  NOT NULL,
  PRIMARY KEY (agent, rank, lane)
) WITH (fillfactor = 50);
