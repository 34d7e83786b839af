-- Making, waking and removing threads.

-- Threads that do not exist yet: their rows, their events behind `p_position`, their queues and their runs. Held by
-- `p_node`, or else ready if they have something to do. One that exists already breaks the key of its table.
CREATE FUNCTION @.make(p_threads json, p_node uuid, p_v integer, p_position bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  moment bigint := @.micros();
  taken integer := CASE WHEN p_node IS NULL THEN 0 ELSE 1 END;
BEGIN
  INSERT INTO @.threads (id, root, parent, owner, epoch, seq, last_line, ready_at, created_at, attempts, depth, status,
                         bundle, agent, user_id, tags)
  SELECT n.id, n.root, n.parent, p_node, taken, json_array_length(n.events), json_array_length(n.items), moment, moment,
         taken, n.depth, CASE WHEN p_node IS NOT NULL THEN 2 WHEN n.at_work THEN 1 ELSE 0 END, decode(n.bundle, 'hex'),
         n.agent, n.user_id, n.tags
  FROM json_to_recordset(p_threads) AS n(id uuid, root uuid, parent uuid, depth integer, at_work boolean, bundle text,
       agent text, user_id text, tags text[], events json, items json);
  INSERT INTO @.events (thread, root, seq, position, epoch, v, body)
  SELECT n.id, n.root, e.seq, p_position + row_number() OVER (ORDER BY n.place, e.seq), 0, p_v, e.body
  FROM ROWS FROM (json_to_recordset(p_threads) AS (id uuid, root uuid, events json)) WITH ORDINALITY
         AS n(id, root, events, place),
       json_array_elements_text(n.events) WITH ORDINALITY AS e(body, seq);
  INSERT INTO @.lines (thread, number, message, v, body)
  SELECT n.id, l.number, (l.item->>'message')::boolean, p_v, l.item->>'body'
  FROM json_to_recordset(p_threads) AS n(id uuid, items json),
       json_array_elements(n.items) WITH ORDINALITY AS l(item, number);
  PERFORM @.make_run(n.run) FROM json_to_recordset(p_threads) AS n(run json) WHERE n.run IS NOT NULL;
END $$;

-- A run that exists already is left alone.
CREATE FUNCTION @.make_run(p_run json) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  moment bigint := @.micros();
BEGIN
  INSERT INTO @.runs (id, thread, parent, created_at, started_at, status, cancel_requested, agent, request)
  SELECT r.id, r.thread, r.parent, moment, CASE WHEN r.begun THEN moment END, r.begun::integer, false, r.agent,
         r.request
  FROM json_to_record(p_run) AS r(id text, thread uuid, parent uuid, begun boolean, agent text, request text)
  ON CONFLICT (id) DO NOTHING;
END $$;

-- A root thread. With a key it is made once: whoever repeats the request is told what its first call made.
CREATE FUNCTION @.create(p_thread json, p_node uuid, p_v integer, p_key text, p_request bytea) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  first @.root_keys;
BEGIN
  LOCK TABLE @.events IN ROW EXCLUSIVE MODE;
  IF p_key IS NOT NULL THEN
    INSERT INTO @.root_keys (key, thread, request, run)
    SELECT p_key, (p_thread->>'id')::uuid, p_request, p_thread->'run'->>'id' ON CONFLICT (key) DO NOTHING;
    IF NOT FOUND THEN
      SELECT * INTO first FROM @.root_keys WHERE key = p_key;
      IF NOT FOUND THEN
        -- It was deleted in between.
        RAISE serialization_failure;
      END IF;
      RETURN json_build_object('thread', first.thread, 'same', first.request = p_request, 'run', first.run);
    END IF;
  END IF;
  PERFORM @.make(json_build_array(p_thread), p_node, p_v, @.position_of(pg_current_xact_id()));
  RETURN '{}';
END $$;

-- A claim that was just made, with the lines that wait.
CREATE FUNCTION @.claim_of(t @.threads) RETURNS json LANGUAGE plpgsql AS $$
BEGIN
  RETURN json_build_object('thread', t.id, 'epoch', t.epoch, 'attempts', t.attempts, 'seq', t.seq, 'root', t.root,
    'bundle', encode(t.bundle, 'hex'), 'lines', coalesce(
      (SELECT json_agg(json_build_array(l.number, l.v, l.body) ORDER BY l.number) FROM @.lines l WHERE l.thread = t.id),
      '[]'));
END $$;

-- Puts a line into the queue of a thread whose row is locked; a parked one is taken up by `p_node`, or made ready where
-- there is none.
CREATE FUNCTION @.put(INOUT t @.threads, p_message boolean, p_v integer, p_body text, p_node uuid)
LANGUAGE plpgsql AS $$
DECLARE
  parked boolean := t.owner IS NULL AND t.status <> 1;
  wakes boolean := parked AND p_node IS NOT NULL;
BEGIN
  INSERT INTO @.lines (thread, number, message, v, body) VALUES (t.id, t.last_line + 1, p_message, p_v, p_body);
  UPDATE @.threads u SET
    last_line = u.last_line + 1,
    status = CASE WHEN wakes THEN 2 WHEN parked THEN 1 ELSE u.status END,
    ready_at = CASE WHEN parked AND NOT wakes THEN @.micros() ELSE u.ready_at END,
    owner = CASE WHEN wakes THEN p_node ELSE u.owner END,
    epoch = u.epoch + wakes::integer,
    attempts = u.attempts + wakes::integer
  WHERE u.id = t.id RETURNING u.* INTO t;
END $$;

-- Removes a thread with everything below it; returns what is gone. The root's row is locked first, as by whoever
-- spawns, so that nothing is born meanwhile.
CREATE FUNCTION @.remove(p_thread uuid) RETURNS SETOF uuid LANGUAGE plpgsql AS $$
DECLARE
  top uuid := (SELECT root FROM @.threads WHERE id = p_thread);
  gone uuid[];
BEGIN
  PERFORM 1 FROM @.threads WHERE id IN (top, p_thread) ORDER BY id FOR UPDATE;
  WITH RECURSIVE tree AS MATERIALIZED (SELECT id, parent FROM @.threads WHERE root = top),
    below AS (SELECT id FROM tree WHERE id = p_thread UNION SELECT t.id FROM tree t JOIN below b ON t.parent = b.id)
  SELECT array_agg(id) INTO gone FROM below;
  IF gone IS NULL THEN
    RETURN;
  END IF;
  PERFORM 1 FROM @.threads WHERE id = ANY (gone) ORDER BY id FOR UPDATE;
  DELETE FROM @.events WHERE thread = ANY (gone);
  DELETE FROM @.lines WHERE thread = ANY (gone);
  DELETE FROM @.keys WHERE thread = ANY (gone);
  DELETE FROM @.root_keys WHERE thread = ANY (gone);
  DELETE FROM @.runs WHERE thread = ANY (gone);
  DELETE FROM @.files WHERE thread = ANY (gone);
  DELETE FROM @.dead_letters WHERE thread = ANY (gone);
  DELETE FROM @.threads WHERE id = ANY (gone);
  UPDATE @.threads SET below = greatest(below - cardinality(gone), 0) WHERE id = top;
  RETURN QUERY SELECT unnest(gone);
END $$;
