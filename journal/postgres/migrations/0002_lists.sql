-- What else lists select by, as digests, for an index takes nothing long.
CREATE INDEX runs_loop ON runs (sha256(loop), ref) WHERE loop <> '';
CREATE INDEX runs_thread ON runs (sha256(thread), ref) WHERE thread <> '';
