-- The accounts of budgets, in tokens and billionths of a dollar; see package budget.
CREATE TABLE budgets (
  account         TEXT    PRIMARY KEY,
  spent_tokens    INTEGER NOT NULL,
  spent_cost      INTEGER NOT NULL,
  reserved_tokens INTEGER NOT NULL,
  reserved_cost   INTEGER NOT NULL,
  most_tokens     INTEGER NOT NULL,
  most_cost       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What runs have reserved for a model call in progress.
CREATE TABLE reservations (
  run     INTEGER NOT NULL,
  account TEXT    NOT NULL,
  tokens  INTEGER NOT NULL,
  cost    INTEGER NOT NULL,
  PRIMARY KEY (run, account)
) STRICT, WITHOUT ROWID;
