-- The buckets of rates that programs share, each as the time at which all that was taken
-- from it will have been filled again; see internal/bucket.
CREATE TABLE rates (
  name     TEXT    PRIMARY KEY,
  requests INTEGER NOT NULL,
  tokens   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
