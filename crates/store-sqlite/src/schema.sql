-- Version 1. A change of this file is a new version, with a migration from the one before.
-- Ids are 16 bytes, digests 32. Times are microseconds since 1970. `v` is the version of the JSON beside it.
-- Wide columns come last, so that narrow ones are read without them.

CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE nodes (
  id         BLOB PRIMARY KEY,
  expires_at INTEGER NOT NULL,
  dead       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- status: 0 idle, 1 ready, 2 running, 3 waiting, 4 done, 5 failed, 6 terminated.
CREATE TABLE threads (
  id            BLOB PRIMARY KEY,
  epoch         INTEGER NOT NULL,
  owner         BLOB,
  seq           INTEGER NOT NULL,
  last_line     INTEGER NOT NULL,
  status        INTEGER NOT NULL,
  attempts      INTEGER NOT NULL,
  wake_at       INTEGER,
  terminated_at INTEGER,
  root          BLOB NOT NULL,
  input_tokens  INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  steps         INTEGER NOT NULL,
  below         INTEGER NOT NULL,
  ready_at      INTEGER NOT NULL,
  bundle        BLOB NOT NULL,
  parent        BLOB,
  depth         INTEGER NOT NULL,
  created_at    INTEGER NOT NULL,
  agent         TEXT NOT NULL,
  user_id       TEXT,
  tags          TEXT NOT NULL
) STRICT, WITHOUT ROWID;
-- The commit of a running thread sets no column that any of these reads.
CREATE INDEX threads_root  ON threads(root);
CREATE INDEX threads_ready ON threads(ready_at) WHERE status = 1;
CREATE INDEX threads_wake  ON threads(wake_at) WHERE wake_at IS NOT NULL AND owner IS NULL AND status <> 1;
CREATE INDEX threads_owner ON threads(owner) WHERE owner IS NOT NULL;

CREATE TABLE events (
  position INTEGER PRIMARY KEY,
  thread   BLOB NOT NULL,
  seq      INTEGER NOT NULL,
  epoch    INTEGER NOT NULL,
  v        INTEGER NOT NULL,
  body     BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX events_thread ON events(thread, seq);

CREATE TABLE lines (
  thread  BLOB NOT NULL,
  number  INTEGER NOT NULL,
  message INTEGER NOT NULL,
  v       INTEGER NOT NULL,
  body    BLOB NOT NULL,
  PRIMARY KEY (thread, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE keys (
  thread BLOB NOT NULL,
  key    TEXT NOT NULL,
  number INTEGER NOT NULL,
  v      INTEGER NOT NULL,
  body   BLOB NOT NULL,
  PRIMARY KEY (thread, key)
) STRICT, WITHOUT ROWID;

-- What keys for root threads were used for.
CREATE TABLE root_keys (
  key     TEXT PRIMARY KEY,
  thread  BLOB NOT NULL,
  request BLOB NOT NULL,
  run     TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX root_keys_thread ON root_keys(thread);

-- status: 0 pending, 1 running, 2 done, 3 failed, 4 cancelled.
CREATE TABLE runs (
  number           INTEGER PRIMARY KEY,
  id               TEXT NOT NULL UNIQUE,
  thread           BLOB NOT NULL,
  parent           BLOB,
  status           INTEGER NOT NULL,
  cancel_requested INTEGER NOT NULL,
  created_at       INTEGER NOT NULL,
  started_at       INTEGER,
  ended_at         INTEGER,
  delivered_at     INTEGER,
  agent            TEXT NOT NULL,
  request          TEXT NOT NULL,
  result           TEXT,
  error            TEXT
) STRICT;
CREATE INDEX runs_created ON runs(created_at, id);
CREATE INDEX runs_thread  ON runs(thread);

CREATE TABLE blobs (
  digest BLOB NOT NULL UNIQUE,
  body   BLOB NOT NULL
) STRICT;

CREATE TABLE files (
  thread     BLOB NOT NULL,
  path       TEXT NOT NULL,
  digest     BLOB NOT NULL,
  size       INTEGER NOT NULL,
  mime_type  TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (thread, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE dead_letters (
  id     INTEGER PRIMARY KEY,
  thread BLOB NOT NULL,
  number INTEGER NOT NULL,
  at     INTEGER NOT NULL,
  reason TEXT NOT NULL,
  v      INTEGER NOT NULL,
  body   BLOB NOT NULL
) STRICT;
