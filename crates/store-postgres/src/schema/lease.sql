-- Nodes, and who holds what.

CREATE FUNCTION @.sweep() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  moment bigint := @.micros();
  swept bigint;
BEGIN
  UPDATE @.nodes SET dead = true WHERE NOT dead AND expires_at < moment;
  -- A thread whose owner was never registered is swept as well: nobody could ever notice that owner's death.
  PERFORM 1 FROM @.threads t WHERE owner IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM @.nodes n WHERE n.id = t.owner AND NOT n.dead) ORDER BY id FOR NO KEY UPDATE;
  UPDATE @.threads t SET status = 1, epoch = epoch + 1, owner = NULL, ready_at = moment WHERE owner IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM @.nodes n WHERE n.id = t.owner AND NOT n.dead);
  GET DIAGNOSTICS swept = ROW_COUNT;
  DELETE FROM @.receipts WHERE at < moment - 600000000;
  DELETE FROM @.nodes n WHERE dead AND expires_at < moment - 86400000000;
  RETURN swept;
END $$;

-- A process ends well: its attempts do not count.
CREATE FUNCTION @.retire(p_node uuid) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  released bigint;
BEGIN
  UPDATE @.nodes SET dead = true WHERE id = p_node;
  PERFORM 1 FROM @.threads WHERE owner = p_node ORDER BY id FOR NO KEY UPDATE;
  UPDATE @.threads SET status = 1, epoch = epoch + 1, owner = NULL, ready_at = @.micros(),
         attempts = greatest(attempts - 1, 0) WHERE owner = p_node;
  GET DIAGNOSTICS released = ROW_COUNT;
  RETURN released;
END $$;

-- Takes up what is ready or due, longest waiting first. If there are suspects among it, one of them alone.
-- Rows that others have locked are theirs. A claim that is sent again is told what it took the first time.
CREATE FUNCTION @.claim(p_node uuid, p_max bigint, p_root uuid, p_suspect integer, p_token uuid) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  moment bigint := @.micros();
  known text;
BEGIN
  PERFORM 1 FROM @.nodes WHERE id = p_node AND NOT dead;
  IF NOT FOUND THEN
    RETURN '{"dead":true}';
  END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended(p_token::text, 0));
  SELECT answer INTO known FROM @.receipts WHERE token = p_token;
  IF FOUND THEN
    RETURN known;
  END IF;
  WITH ready AS MATERIALIZED (
    SELECT id, ready_at AS since, attempts FROM @.threads
    WHERE status = 1 AND (p_root IS NULL OR root = p_root)
    ORDER BY ready_at, id LIMIT p_max FOR NO KEY UPDATE SKIP LOCKED
  ), due AS MATERIALIZED (
    SELECT id, wake_at AS since, attempts FROM @.threads
    WHERE wake_at IS NOT NULL AND owner IS NULL AND status <> 1 AND wake_at <= moment
      AND (p_root IS NULL OR root = p_root)
    ORDER BY wake_at, id LIMIT p_max FOR NO KEY UPDATE SKIP LOCKED
  ), waiting AS MATERIALIZED (
    SELECT * FROM ready UNION ALL SELECT * FROM due ORDER BY since, id LIMIT p_max
  ), suspect AS MATERIALIZED (
    SELECT * FROM waiting WHERE attempts >= p_suspect ORDER BY attempts, since, id LIMIT 1
  ), chosen AS MATERIALIZED (
    SELECT * FROM suspect UNION ALL SELECT * FROM waiting WHERE NOT EXISTS (SELECT 1 FROM suspect)
  ), taken AS (
    UPDATE @.threads t SET status = 2, owner = p_node, epoch = t.epoch + 1, attempts = t.attempts + 1
    FROM chosen c WHERE t.id = c.id RETURNING t AS thread, c.since
  )
  SELECT json_build_object('claims', json_agg(@.claim_of(thread) ORDER BY since, (thread).id)) INTO known FROM taken;
  IF known::json->>'claims' IS NULL THEN
    RETURN '{"claims":[]}';
  END IF;
  INSERT INTO @.receipts (token, at, answer) VALUES (p_token, moment, known);
  RETURN known;
END $$;

-- A line from outside. A key that was used before is answered first, whatever has become of the thread since.
CREATE FUNCTION @.enqueue(p_to uuid, p_token uuid, p_message boolean, p_v integer, p_body text, p_key text,
  p_messages_max bigint, p_node uuid, p_run json) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  t @.threads;
  k @.keys;
  holder uuid;
  parked boolean;
  told text;
BEGIN
  SELECT * INTO t FROM @.threads WHERE id = p_to FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    RETURN '{"refused":"no_thread"}';
  END IF;
  SELECT answer INTO told FROM @.receipts WHERE token = p_token;
  IF FOUND THEN
    RETURN told;
  END IF;
  IF p_key IS NOT NULL THEN
    SELECT * INTO k FROM @.keys WHERE thread = p_to AND key = p_key;
    IF FOUND THEN
      RETURN json_build_object('number', k.number, 'first', json_build_array(k.number, k.v, k.body));
    END IF;
  END IF;
  IF t.terminated_at IS NOT NULL THEN
    RETURN '{"refused":"terminated"}';
  END IF;
  -- Counts no further than it matters.
  IF p_message AND p_messages_max <=
     (SELECT count(*) FROM (SELECT 1 FROM @.lines WHERE thread = p_to AND message LIMIT p_messages_max) counted) THEN
    RETURN '{"refused":"full"}';
  END IF;
  holder := t.owner;
  parked := t.owner IS NULL AND t.status <> 1;
  t := @.put(t, p_message, p_v, p_body, p_node);
  IF p_key IS NOT NULL THEN
    INSERT INTO @.keys (thread, key, number, v, body) VALUES (p_to, p_key, t.last_line, p_v, p_body);
  END IF;
  IF p_run IS NOT NULL THEN
    PERFORM @.make_run(p_run);
  END IF;
  told := json_build_object('number', t.last_line, 'holder', holder, 'root', t.root,
    'claim', CASE WHEN parked AND p_node IS NOT NULL THEN @.claim_of(t) END,
    'ready', parked AND p_node IS NULL);
  INSERT INTO @.receipts (token, at, answer) VALUES (p_token, @.micros(), told);
  RETURN told;
END $$;
