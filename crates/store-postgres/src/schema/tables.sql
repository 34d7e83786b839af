-- The tables of version 1. `@.` stands for the schema that the store lies in.
-- Times are microseconds since 1970, by the database's own clock. `v` is the version of the JSON beside it. Texts that
-- may hold a NUL, which PostgreSQL cannot keep, are escaped (`text.rs`). There are no foreign keys: `check` looks after
-- what they would.

CREATE TABLE @.meta (
  name  text PRIMARY KEY,
  value text NOT NULL
);

CREATE TABLE @.nodes (
  id         uuid PRIMARY KEY,
  expires_at bigint NOT NULL,
  dead       boolean NOT NULL
);

-- status: 0 idle, 1 ready, 2 running, 3 waiting, 4 done, 5 failed, 6 terminated.
-- `token` names the last commit, and `answer` is what it was answered: a commit whose outcome nobody knows is sent
-- again and finds itself here.
CREATE TABLE @.threads (
  id            uuid PRIMARY KEY,
  root          uuid NOT NULL,
  parent        uuid,
  owner         uuid,
  token         uuid,
  epoch         bigint NOT NULL,
  seq           bigint NOT NULL,
  last_line     bigint NOT NULL,
  wake_at       bigint,
  terminated_at bigint,
  ready_at      bigint NOT NULL,
  created_at    bigint NOT NULL,
  input_tokens  bigint NOT NULL DEFAULT 0,
  output_tokens bigint NOT NULL DEFAULT 0,
  steps         bigint NOT NULL DEFAULT 0,
  below         bigint NOT NULL DEFAULT 0,
  attempts      integer NOT NULL,
  depth         integer NOT NULL,
  status        smallint NOT NULL,
  bundle        bytea NOT NULL,
  agent         text COLLATE "C" NOT NULL,
  user_id       text COLLATE "C",
  tags          text[] COLLATE "C" NOT NULL,
  answer        text
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
-- The commit of a running thread sets no column that any of these reads, so that it touches no index at all.
CREATE INDEX threads_tree  ON @.threads (root, id);
CREATE INDEX threads_roots ON @.threads (id) WHERE parent IS NULL;
CREATE INDEX threads_user  ON @.threads (user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX threads_ready ON @.threads (ready_at, id) WHERE status = 1;
CREATE INDEX threads_wake  ON @.threads (wake_at, id) WHERE wake_at IS NOT NULL AND owner IS NULL AND status <> 1;
CREATE INDEX threads_owner ON @.threads (owner) WHERE owner IS NOT NULL;

-- `position` grows with the number of the transaction (`@.position`), so that a reader can know what may still come.
CREATE TABLE @.events (
  thread   uuid NOT NULL,
  root     uuid NOT NULL,
  seq      bigint NOT NULL,
  position bigint NOT NULL,
  epoch    bigint NOT NULL,
  v        integer NOT NULL,
  body     text NOT NULL,
  PRIMARY KEY (thread, seq)
);
CREATE INDEX events_tree ON @.events (root, position);

CREATE TABLE @.lines (
  thread  uuid NOT NULL,
  number  bigint NOT NULL,
  message boolean NOT NULL,
  v       integer NOT NULL,
  body    text NOT NULL,
  PRIMARY KEY (thread, number)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

CREATE TABLE @.keys (
  thread uuid NOT NULL,
  key    text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  v      integer NOT NULL,
  body   text NOT NULL,
  PRIMARY KEY (thread, key)
);

-- What keys for root threads were used for.
CREATE TABLE @.root_keys (
  key     text COLLATE "C" PRIMARY KEY,
  thread  uuid NOT NULL,
  request bytea NOT NULL,
  run     text COLLATE "C"
);
CREATE INDEX root_keys_thread ON @.root_keys (thread);

-- status: 0 pending, 1 running, 2 done, 3 failed, 4 cancelled, 5 interrupted.
CREATE TABLE @.runs (
  id               text COLLATE "C" PRIMARY KEY,
  thread           uuid NOT NULL,
  parent           uuid,
  created_at       bigint NOT NULL,
  started_at       bigint,
  ended_at         bigint,
  delivered_at     bigint,
  status           smallint NOT NULL,
  cancel_requested boolean NOT NULL,
  agent            text COLLATE "C" NOT NULL,
  request          text NOT NULL,
  result           text,
  error            text
);
CREATE INDEX runs_created ON @.runs (created_at, id);
CREATE INDEX runs_thread  ON @.runs (thread, created_at, id);
CREATE INDEX runs_parent  ON @.runs (parent, created_at, id) WHERE parent IS NOT NULL;

-- One without a body lies in a place outside the database.
CREATE TABLE @.blobs (
  digest bytea PRIMARY KEY,
  body   bytea
);
ALTER TABLE @.blobs ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE @.files (
  thread     uuid NOT NULL,
  path       text COLLATE "C" NOT NULL,
  digest     bytea NOT NULL,
  size       bigint NOT NULL,
  mime_type  text NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (thread, path)
);

CREATE TABLE @.dead_letters (
  id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  thread uuid NOT NULL,
  number bigint NOT NULL,
  at     bigint NOT NULL,
  reason text NOT NULL,
  v      integer NOT NULL,
  body   text NOT NULL
);
CREATE INDEX dead_letters_thread ON @.dead_letters (thread);

-- What lines from outside and claims were answered, by the token they came with; forgotten after a while.
CREATE TABLE @.receipts (
  token  uuid PRIMARY KEY,
  at     bigint NOT NULL,
  answer text NOT NULL
);
CREATE INDEX receipts_at ON @.receipts (at);
