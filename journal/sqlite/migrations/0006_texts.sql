-- The words that searches find runs by; see internal/wordset, which makes them: lower case,
-- separated by spaces. The index keeps which words a run has, and not their text.
CREATE VIRTUAL TABLE texts USING fts5(words, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii');

-- Runs of before there was an index. The first search adds them to it.
CREATE TABLE unindexed (run INTEGER PRIMARY KEY) STRICT;
INSERT INTO unindexed SELECT ref FROM runs;

CREATE INDEX runs_created ON runs (created) WHERE created IS NOT NULL;
