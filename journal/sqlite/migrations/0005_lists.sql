-- What lists select by. None of it changes while a loop goes on, and a run that
-- has none of it is in no index.
DROP INDEX runs_waiting;
DROP INDEX runs_running;
CREATE INDEX runs_status ON runs (status) WHERE status <> '';
CREATE INDEX runs_agent ON runs (agent) WHERE agent <> '';
CREATE INDEX runs_loop ON runs (loop) WHERE loop <> '';
CREATE INDEX runs_thread ON runs (thread) WHERE thread <> '';

-- The labels of each run, which stand in runs, too.
CREATE TABLE labels (
  name  TEXT    NOT NULL,
  value TEXT    NOT NULL,
  run   INTEGER NOT NULL,
  PRIMARY KEY (name, value, run)
) STRICT, WITHOUT ROWID;
INSERT INTO labels SELECT key, value, ref FROM runs, json_each(runs.labels);
