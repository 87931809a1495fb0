-- The queued runs that a worker has taken, and not resumed yet.
CREATE INDEX runs_taken ON runs (ref) WHERE status = 'queued' AND owner <> '';
