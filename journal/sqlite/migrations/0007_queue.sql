-- Where a queued run stands: lane is the label tenant, rank the priority with its sign
-- turned, turn counts the runs of the lane; see queue.go.
ALTER TABLE runs ADD lane TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD rank INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD turn INTEGER NOT NULL DEFAULT 0;
CREATE INDEX runs_queue ON runs (agent, rank, turn) WHERE status = 'queued';

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
