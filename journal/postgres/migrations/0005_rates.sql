-- The buckets of rates that programs share, each as the time at which all that was taken
-- from it will have been filled again; see rate.go. wait is the answer to the caller that asked
-- last, in microseconds.
CREATE TABLE rates (
  name     bytea       PRIMARY KEY,
  requests timestamptz NOT NULL,
  tokens   timestamptz NOT NULL,
  wait     bigint      NOT NULL
) WITH (fillfactor = 50);
