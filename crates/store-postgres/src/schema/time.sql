-- Time and order.

-- The database's clock when the client's statement began.
CREATE FUNCTION @.micros() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT (extract(epoch FROM statement_timestamp()) * 1000000)::bigint $$;

-- Added to all positions: it is raised where a copy of the database begins with small transaction numbers again.
CREATE FUNCTION @.position_base() RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT 0::bigint $$;

-- The position before the first event of the transaction with this number. Each transaction has room for 2^20 events.
CREATE FUNCTION @.position_of(p_transaction xid8) RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
AS $$ SELECT @.position_base() + (p_transaction::text::bigint << 20) $$;

-- The events of a tree behind a position, in order, and none before whose place another may still take.
--
-- Positions are in order of transaction numbers, not of commits: a reader who saw a later one first would never see
-- the earlier. So only what lies before the oldest transaction that is still open is shown. Should that one belong to
-- somebody else, who may keep it open for long, then only those count that have events to write: they lock the table
-- before they get a number. The lists of locks and of transactions are read before the events, by a snapshot each.
CREATE FUNCTION @.tree_events(p_root uuid, p_after bigint, p_limit bigint)
RETURNS TABLE (thread uuid, seq bigint, "position" bigint, epoch bigint, v integer, body text)
LANGUAGE plpgsql AS $$
DECLARE
  next bigint := pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
  oldest bigint := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
BEGIN
  IF oldest < next THEN
    -- The list of locks shows the lower half of a transaction's number only. Younger ones than `next` do not matter.
    SELECT coalesce(min(next - open.age), next) INTO oldest FROM (
      SELECT (next - held.transactionid::text::bigint) & 4294967295 AS age
      FROM pg_locks writes JOIN pg_locks held USING (pid, virtualtransaction)
      WHERE writes.locktype = 'relation' AND writes.relation = '@.events'::regclass
        AND writes.mode = 'RowExclusiveLock' AND writes.granted
        AND writes.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
        AND held.locktype = 'transactionid' AND held.mode = 'ExclusiveLock' AND held.granted
    ) open WHERE open.age < 2147483648;
  ELSE
    oldest := next;
  END IF;
  RETURN QUERY
    SELECT e.thread, e.seq, e.position, e.epoch, e.v, e.body FROM @.events e
    WHERE e.root = p_root AND e.position > p_after AND e.position < @.position_base() + (oldest << 20)
    ORDER BY e.position LIMIT p_limit;
END $$;
