-- The words that searches find runs by, in ASCII; see search.go.
CREATE TABLE texts (
  run   bigint PRIMARY KEY,
  words tsvector NOT NULL
);
CREATE INDEX texts_words ON texts USING gin (words);

-- Runs of before there was an index. The first search adds them to it.
CREATE TABLE unindexed (run bigint PRIMARY KEY);
INSERT INTO unindexed SELECT ref FROM runs;

CREATE INDEX runs_created ON runs (created) WHERE created IS NOT NULL;
