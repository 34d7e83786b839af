-- One decision made durable: guard, append, take lines, write, settle.

-- Locks everything that some commits will touch, in one order for all, before the first of them: whoever puts several
-- into one transaction begins with this. `p_spawning` are those that make threads, which are counted at their roots.
CREATE FUNCTION @.lock_threads(p_threads uuid[], p_spawning uuid[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  roots uuid[] := ARRAY(SELECT root FROM @.threads WHERE id = ANY (p_spawning));
BEGIN
  -- Before the transaction gets a number: `tree_events` relies on it.
  LOCK TABLE @.events IN ROW EXCLUSIVE MODE;
  PERFORM 1 FROM @.threads WHERE id = ANY (p_threads || roots) ORDER BY id FOR NO KEY UPDATE;
END $$;

CREATE FUNCTION @.committed(p_position bigint, p_parked boolean, p_root uuid, p_effects json) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT format('{"position":%s,"parked":%s,"root":"%s","effects":%s}', p_position, p_parked::text, p_root,
                coalesce(p_effects::text, '[]'))
$$;

-- Why a commit's writes cannot be made, if they cannot: a blob that is missing, a thread that exists, a tree that is
-- full.
CREATE FUNCTION @.refusal(p_root uuid, p_more json) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  missing text;
  existing uuid;
  spawned bigint := json_array_length(p_more->'spawn');
  room bigint;
BEGIN
  SELECT f->>'digest' INTO missing FROM json_array_elements(p_more->'files') f
  WHERE f->>'digest' IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM @.blobs b WHERE b.digest = decode(f->>'digest', 'hex')) LIMIT 1;
  IF missing IS NOT NULL THEN
    RETURN json_build_object('refused', 'no_blob', 'blob', missing);
  END IF;
  IF spawned > 0 THEN
    SELECT t.id INTO existing FROM @.threads t
    WHERE t.id IN (SELECT (s->>'id')::uuid FROM json_array_elements(p_more->'spawn') s) LIMIT 1;
    IF existing IS NOT NULL THEN
      RETURN json_build_object('refused', 'exists', 'thread', existing);
    END IF;
    SELECT greatest((p_more->>'children_total')::bigint - below, 0) INTO room FROM @.threads WHERE id = p_root;
    IF spawned > room THEN
      RETURN json_build_object('refused', 'full', 'left', room);
    END IF;
  END IF;
  RETURN NULL;
END $$;

-- Everything that a commit writes beside its thread's own events; returns what became of each delivery, in order.
CREATE FUNCTION @.write(own @.threads, p_node uuid, p_v integer, p_terminated_at bigint, p_position bigint, p_more json)
RETURNS json LANGUAGE plpgsql AS $$
DECLARE
  claimer uuid := CASE WHEN (p_more->>'claim')::boolean THEN p_node END;
  consumed bigint[] := ARRAY(SELECT json_array_elements_text(p_more->'consumed')::bigint);
  buried bigint[] := ARRAY(SELECT json_array_elements_text(p_more->'buried')::bigint);
BEGIN
  INSERT INTO @.dead_letters (thread, number, at, reason, v, body)
  SELECT l.thread, l.number, @.micros(), p_more->>'burial', l.v, l.body FROM @.lines l
  WHERE l.thread = own.id AND l.number = ANY (buried) AND l.number <> ALL (consumed)
  ORDER BY array_position(buried, l.number);
  DELETE FROM @.lines WHERE thread = own.id AND number = ANY (consumed || buried);
  IF json_array_length(p_more->'spawn') > 0 THEN
    UPDATE @.threads SET below = below + json_array_length(p_more->'spawn') WHERE id = own.root;
    PERFORM @.make(p_more->'spawn', claimer, p_v, p_position);
  END IF;
  PERFORM @.change_runs(p_more->'runs');
  PERFORM @.change_files(p_more->'files');
  UPDATE @.threads t SET agent = a.agent
  FROM json_to_recordset(p_more->'agents') AS a(thread uuid, agent text) WHERE t.id = a.thread;
  RETURN @.deliver(own.id, p_node, claimer, p_v, p_terminated_at IS NOT NULL, p_more);
END $$;

CREATE FUNCTION @.change_runs(p_changes json) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  moment bigint := @.micros();
  c record;
BEGIN
  FOR c IN SELECT * FROM json_to_recordset(p_changes)
           AS x("do" text, run text, new json, status smallint, result text, error text) LOOP
    CASE c."do"
      WHEN 'make' THEN PERFORM @.make_run(c.new);
      WHEN 'start' THEN
        UPDATE @.runs SET status = 1, started_at = coalesce(started_at, moment) WHERE id = c.run AND status IN (0, 5);
      WHEN 'interrupt' THEN UPDATE @.runs SET status = 5 WHERE id = c.run AND status = 1;
      WHEN 'end' THEN
        UPDATE @.runs SET status = c.status, result = c.result, error = c.error, ended_at = moment
        WHERE id = c.run AND status NOT IN (2, 3, 4);
      WHEN 'cancel' THEN
        UPDATE @.runs SET cancel_requested = true WHERE id = c.run AND status NOT IN (2, 3, 4);
      WHEN 'delivered' THEN
        UPDATE @.runs SET delivered_at = moment WHERE id = c.run AND delivered_at IS NULL;
    END CASE;
  END LOOP;
END $$;

-- A missing thread is a no-op. A change without a digest removes the file.
CREATE FUNCTION @.change_files(p_changes json) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  c record;
BEGIN
  FOR c IN SELECT * FROM json_to_recordset(p_changes)
           AS x(thread uuid, path text, digest text, size bigint, mime_type text, created_at bigint) LOOP
    IF c.digest IS NULL THEN
      DELETE FROM @.files WHERE thread = c.thread AND path = c.path;
    ELSE
      INSERT INTO @.files (thread, path, digest, size, mime_type, created_at)
      SELECT t.id, c.path, decode(c.digest, 'hex'), c.size, c.mime_type, c.created_at
      FROM @.threads t WHERE t.id = c.thread
      ON CONFLICT (thread, path) DO UPDATE SET digest = excluded.digest, size = excluded.size,
        mime_type = excluded.mime_type, created_at = excluded.created_at;
    END IF;
  END LOOP;
END $$;

-- Puts the lines of a commit into other threads' queues. What became of each: `null` (dropped, or nobody here is to be
-- told), `notified` (its own node holds it), `queued` (another node does), `ready`, the line's number (it joined a claim
-- that this commit made), or the claim that it made.
CREATE FUNCTION @.deliver(p_from uuid, p_node uuid, p_claimer uuid, p_v integer, p_ends boolean, p_more json)
RETURNS json LANGUAGE plpgsql AS $$
DECLARE
  d record;
  t @.threads;
  parked boolean;
  holder uuid;
  held uuid[] := CASE WHEN p_claimer IS NOT NULL
    THEN ARRAY(SELECT (s->>'id')::uuid FROM json_array_elements(p_more->'spawn') s) END;
  effects json[] := '{}';
BEGIN
  FOR d IN SELECT * FROM json_to_recordset(p_more->'deliver') AS x("to" uuid, message boolean, body text) LOOP
    SELECT * INTO t FROM @.threads WHERE id = d."to";
    IF NOT FOUND OR t.terminated_at IS NOT NULL OR (p_ends AND t.id = p_from) THEN
      effects := effects || 'null'::json;
      CONTINUE;
    END IF;
    holder := t.owner;
    parked := t.owner IS NULL AND t.status <> 1;
    t := @.put(t, d.message, p_v, d.body, p_claimer);
    effects := effects || CASE
      WHEN parked AND p_claimer IS NOT NULL THEN @.claim_of(t)
      WHEN parked THEN '"ready"'
      WHEN t.id = ANY (held) THEN to_json(t.last_line)
      WHEN holder = p_node THEN '"notified"'
      WHEN holder IS NOT NULL THEN '"queued"'
      ELSE 'null' END;
    IF parked AND p_claimer IS NOT NULL THEN
      held := held || t.id;
    END IF;
  END LOOP;
  RETURN array_to_json(effects);
END $$;

-- `p_offset` is how many events earlier commits of the same transaction have appended.
-- A commit that is sent again finds its own token and is answered as it was the first time.
CREATE FUNCTION @.commit(p_thread uuid, p_node uuid, p_epoch bigint, p_seq bigint, p_token uuid, p_events text[],
  p_v integer, p_status smallint, p_seen bigint, p_wake_at bigint, p_terminated_at bigint, p_usage bigint[],
  p_offset bigint, p_more json) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  own @.threads;
  many bigint := cardinality(p_events);
  last bigint;
  parked boolean;
  effects json;
  refused text;
  told text;
BEGIN
  IF p_more IS NULL THEN
    LOCK TABLE @.events IN ROW EXCLUSIVE MODE;
    SELECT * INTO own FROM @.threads WHERE id = p_thread FOR NO KEY UPDATE;
  ELSE
    PERFORM @.lock_threads(p_thread || ARRAY(SELECT (d->>'to')::uuid FROM json_array_elements(p_more->'deliver') d),
                           CASE WHEN json_array_length(p_more->'spawn') > 0 THEN ARRAY[p_thread] END);
    SELECT * INTO own FROM @.threads WHERE id = p_thread;
  END IF;
  IF own.token = p_token THEN
    SELECT position INTO last FROM @.events WHERE thread = p_thread AND seq = p_seq + many;
    parked := own.owner IS DISTINCT FROM p_node;
    RETURN coalesce(own.answer, @.committed(CASE WHEN many > 0 THEN last ELSE 0 END, parked, own.root, NULL));
  END IF;
  IF own.seq IS DISTINCT FROM p_seq
     OR own.epoch <> p_epoch OR own.owner IS DISTINCT FROM p_node -- the guard
  THEN
    RETURN '{"refused":"fenced"}';
  END IF;
  IF p_more IS NOT NULL THEN
    refused := @.refusal(own.root, p_more);
    IF refused IS NOT NULL THEN
      RETURN refused;
    END IF;
  END IF;
  last := @.position_of(pg_current_xact_id()) + p_offset;
  INSERT INTO @.events (thread, root, seq, position, epoch, v, body)
  SELECT p_thread, own.root, p_seq + e.number, last + e.number, p_epoch, p_v, e.body
  FROM unnest(p_events) WITH ORDINALITY AS e(body, number);
  last := last + many;
  IF p_more IS NOT NULL THEN
    effects := @.write(own, p_node, p_v, p_terminated_at, last, p_more);
    last := last + (p_more->>'spawned_events')::bigint;
    many := many + (p_more->>'spawned_events')::bigint;
  END IF;
  parked := p_status <> 2 AND NOT EXISTS (SELECT 1 FROM @.lines WHERE thread = p_thread AND number > p_seen);
  told := @.committed(CASE WHEN many > 0 THEN last ELSE 0 END, parked, own.root, effects);
  UPDATE @.threads SET
    seq = p_seq + cardinality(p_events), attempts = 0,
    token = p_token, answer = CASE WHEN effects IS NOT NULL THEN told END,
    input_tokens = input_tokens + p_usage[1], output_tokens = output_tokens + p_usage[2], steps = steps + p_usage[3],
    wake_at = CASE WHEN p_status <> 6 THEN p_wake_at END,
    terminated_at = coalesce(p_terminated_at, terminated_at, CASE WHEN p_status = 6 THEN @.micros() END),
    owner = CASE WHEN parked THEN NULL ELSE owner END,
    status = CASE WHEN parked THEN p_status ELSE status END,
    ready_at = CASE WHEN parked THEN @.micros() ELSE ready_at END
  WHERE id = p_thread;
  RETURN told;
END $$;
