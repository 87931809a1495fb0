-- The accounts of budgets, in tokens and billionths of a dollar; see package budget.
CREATE TABLE budgets (
  account         bytea  PRIMARY KEY,
  spent_tokens    bigint NOT NULL,
  spent_cost      bigint NOT NULL,
  reserved_tokens bigint NOT NULL,
  reserved_cost   bigint NOT NULL,
  most_tokens     bigint NOT NULL,
  most_cost       bigint NOT NULL
) WITH (fillfactor = 50);

-- What runs have reserved for a model call in progress.
CREATE TABLE reservations (
  run     bigint NOT NULL,
  account bytea  NOT NULL,
  tokens  bigint NOT NULL,
  cost    bigint NOT NULL,
  PRIMARY KEY (run, account)
);
