-- The greatest ref and letter that were removed, so that no other is ever given
-- them: writers and readers of other processes may still hold them.
CREATE TABLE removed (
  run    INTEGER NOT NULL,
  letter INTEGER NOT NULL
) STRICT;
INSERT INTO removed VALUES (0, 0);

-- When a blob was stored last, apart from its bytes, which are not to be
-- written again. One without is from before there was this table.
CREATE TABLE stored (
  blob INTEGER PRIMARY KEY,
  time INTEGER NOT NULL
) STRICT;
