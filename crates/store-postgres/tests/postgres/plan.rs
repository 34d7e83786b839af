//! With 100,000 threads, what a step needs is found by indexes: nothing is looked through from end to end.

use crate::world::{World, message, step};
use entourage_model::{Item, ThreadId};
use entourage_store::{Claim, NewLine, Page, RunFilter, Store, ThreadFilter};
use tokio_postgres::Client;

const MANY: u32 = 100_000;

/// Threads with an event, a line and a run each, by the server itself; one in a thousand is ready, one in ten waits for
/// its time.
async fn fill(client: &Client) {
    let stop = serde_json::to_string(&Item::Stop).expect("it can be written");
    let fill = format!(
        "INSERT INTO threads (id, root, epoch, seq, last_line, wake_at, ready_at, created_at, attempts, depth, status,
                              bundle, agent, tags)
         SELECT id, id, 1, 1, 1, CASE WHEN n % 10 = 3 THEN 9000000000000000 + n END, n, n, 0, 0,
                CASE WHEN n % 1000 = 1 THEN 1 ELSE 3 END, decode(repeat('00', 32), 'hex'), 'a', '{{}}'
         FROM (SELECT n, lpad(to_hex(n), 32, '0')::uuid AS id FROM generate_series(1, {MANY}) n) x;
         INSERT INTO events SELECT id, id, 1, row_number() OVER (), 1, 1, '{{}}' FROM threads;
         INSERT INTO lines SELECT id, 1, true, 1, '{stop}' FROM threads;
         INSERT INTO runs (id, thread, parent, created_at, status, cancel_requested, agent, request)
         SELECT 'run' || id, id, id, created_at, 2, false, 'a', 'r' FROM threads;
         ANALYZE threads; ANALYZE events; ANALYZE lines; ANALYZE runs"
    );
    client.batch_execute(&fill).await.expect("the test's own rows");
}

/// How many rows were read from end to end since the last call.
async fn scanned(client: &Client, since: &mut i64) -> i64 {
    let count = "SELECT pg_stat_force_next_flush(), pg_stat_clear_snapshot(),
                   (SELECT coalesce(sum(seq_tup_read), 0)::bigint FROM pg_stat_user_tables
                    WHERE schemaname = current_schema() AND relname IN ('threads', 'events', 'lines', 'runs'))";
    let now: i64 = client.query_one(count, &[]).await.expect("it can be counted").get(2);
    now - std::mem::replace(since, now)
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_looked_through_from_end_to_end() {
    // One connection does everything, and it tells what it did before it is asked.
    let world = World::with("&pool=2&listen=off");
    let store = world.open().await;
    let client = world.client().await;
    fill(&client).await;
    let claim = world.held(&store, 1).await;
    let mut seen = 0;
    // Enough of each that the server settles on its plan.
    for round in 0..8 {
        work(&store, &claim, round).await;
    }
    store.close().await;
    settle(&client).await;
    scanned(&client, &mut seen).await;
    let store = world.open().await;
    for round in 8..16 {
        work(&store, &claim, round).await;
    }
    store.close().await;
    settle(&client).await;
    let scanned = scanned(&client, &mut seen).await;
    assert!(scanned < i64::from(MANY) / 100, "{scanned} rows were read from end to end");
}

/// Until the store's connections are gone: a session's counts are there once it has ended.
async fn settle(client: &Client) {
    let open = "SELECT count(*) FROM pg_stat_activity
                WHERE datname = current_database() AND application_name = 'entourage'";
    while client.query_one(open, &[]).await.expect("it can be asked").get::<_, i64>(0) > 0 {
        tokio::task::yield_now().await;
    }
}

async fn work(store: &dyn Store, claim: &Claim, round: u64) {
    let (thread, node) = (claim.lease.thread, claim.lease.node);
    store.heartbeat(node).await.expect("it lives");
    let claims = store.claim(node, 8, None).await.expect("it lives");
    assert_eq!(claims.len(), 8, "there is enough to do");
    for taken in &claims {
        store.release(taken.lease).await.expect("it is held");
    }
    store.commit(claim.lease, step(claim, 2 * round + 1)).await.expect("the lease is good");
    let consuming = entourage_store::Commit { consumed: vec![round + 1], ..step(claim, 2 * round + 2) };
    store.commit(claim.lease, consuming).await.expect("the lease is good");
    let line = NewLine { item: message(round, "text"), key: Some(round.to_string()), run: None, messages_max: 100 };
    store.enqueue(thread, line, None).await.expect("the queue takes it");
    store.lines(thread, 0).await.expect("it can be read");
    store.journal(thread, 3, 10).await.expect("it can be read");
    store.tree_journal(claim.root, 0, 10).await.expect("it can be read");
    store.heads(&[claim.root]).await.expect("they can be read");
    store.waiting(node).await.expect("it can be read");
    store.sweep().await.expect("it can be swept");
    let some = |id: ThreadId| RunFilter { thread: Some(id), ..RunFilter::default() };
    let filters = [RunFilter::default(), some(thread), RunFilter { parent: Some(thread), ..RunFilter::default() }];
    for filter in filters {
        let runs = store.runs(&filter, Page { after: None, limit: 10 }).await.expect("it can be read");
        let after = runs.last().map(|run| run.id.clone());
        store.runs(&filter, Page { after, limit: 10 }).await.expect("it can be read");
    }
    let tree = ThreadFilter { root: Some(claim.root), ..ThreadFilter::default() };
    let roots = ThreadFilter { roots: true, ..ThreadFilter::default() };
    for filter in [ThreadFilter::default(), tree, roots] {
        store.threads(&filter, Page { after: None, limit: 10 }).await.expect("it can be read");
    }
}
