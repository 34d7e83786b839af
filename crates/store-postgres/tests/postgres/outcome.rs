//! Outcomes that nobody knows: the connection is cut, the server restarts, and nothing is lost or done twice.

use crate::lossy::Lossy;
use crate::world::{World, message, new_thread, step};
use entourage_model::{Digest, ThreadStatus};
use entourage_store::contract::sample::BUNDLE;
use entourage_store::{Commit, CommitError, NewLine, Store};
use entourage_store_postgres::{Options, PostgresStore};
use entourage_testkit::postgres::{Database, Server, Stop};
use futures::future::join_all;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Steps of each thread while connections are cut.
const STEPS: u64 = 60;

#[tokio::test(flavor = "multi_thread")]
async fn commits_happen_once_though_connections_are_cut() {
    let world = World::new();
    let store = Arc::new(world.open().await);
    let cutting = Arc::new(AtomicBool::new(true));
    let cutter = {
        let (cutting, database) = (Arc::clone(&cutting), Arc::clone(&world.database));
        tokio::task::spawn_blocking(move || {
            let mut cuts = 0;
            while cutting.load(Ordering::Relaxed) {
                cuts += database.cut_connections();
            }
            cuts
        })
    };
    let mut claims = Vec::new();
    for seed in 0..8 {
        claims.push(world.held(&*store, seed).await);
    }
    let work = claims.iter().map(|claim| {
        let store = Arc::clone(&store);
        async move {
            for seq in 1..=STEPS {
                let done = store.commit(claim.lease, step(claim, seq)).await.expect("it is told what happened");
                assert!(done.position > 0 && !done.parked);
            }
        }
    });
    join_all(work).await;
    let lines = (0..40).map(|seed| {
        let line = NewLine { item: message(seed, "text"), key: None, run: None, messages_max: 1000 };
        store.enqueue(claims[0].lease.thread, line, None)
    });
    let queued = join_all(lines).await;
    cutting.store(false, Ordering::Relaxed);
    assert!(cutter.await.expect("it ends") > 0, "nothing was cut");
    assert!(queued.iter().all(Result::is_ok), "{queued:?}");
    assert_eq!(store.lines(claims[0].lease.thread, 0).await.expect("it can be read").len(), 41, "each line once");
    for claim in &claims {
        let row = store.thread(claim.lease.thread).await.expect("it can be read").expect("it exists");
        assert_eq!((row.seq, row.usage.steps), (STEPS + 1, STEPS), "each step once");
    }
    store.put_blob(Digest::of(BUNDLE), BUNDLE).await.expect("it can be kept");
    assert_eq!(store.check().await.expect("it can be checked"), []);
}

/// Each write has happened when its answer is lost; it must be told as if nothing had been, and not be made again.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_lost_is_read_back() {
    let world = World::new();
    let server = world.database.url().split_once("@").expect("a user is named").1;
    let (server, name) = server.split_once('/').expect("a database is named");
    let wire = Lossy::before(server).await;
    // One round trip for each write, so that the lost answer is the write's own.
    let url = format!("postgres://postgres@127.0.0.1:{}/{name}?listen=off&schema={}", wire.port, world.schema);
    let store = PostgresStore::open(&url, Options::default()).await.expect("it can be opened");
    let node = world.node(&store, 1).await;
    wire.lose_one();
    let claim = store.create(new_thread(1), Some(node)).await.expect("it is read back").expect("it was asked for");
    let thread = claim.lease.thread;
    assert!(wire.has_lost());
    let parking = Commit { status: ThreadStatus::Idle, consumed: vec![1], seen: 1, ..step(&claim, 2) };
    for (commit, parked) in [(step(&claim, 1), false), (parking, true)] {
        wire.lose_one();
        let done = store.commit(claim.lease, commit).await.expect("it is read back");
        let journal = store.journal(thread, 0, 10).await.expect("it can be read");
        assert!(wire.has_lost());
        assert_eq!((done.parked, Some(done.position)), (parked, journal.last().map(|event| event.position)));
    }
    wire.lose_one();
    let line = NewLine { item: message(1, "text"), key: None, run: None, messages_max: 9 };
    let queued = store.enqueue(thread, line, Some(node)).await.expect("it is read back");
    let claim = queued.claim.expect("it was parked");
    assert!(wire.has_lost() && queued.number == 2 && !queued.repeated);
    store.release(claim.lease).await.expect("it is held");
    wire.lose_one();
    let claims = store.claim(node, 9, None).await.expect("it is read back");
    assert!(wire.has_lost());
    assert_eq!(claims.iter().map(|claim| (claim.lease.epoch, claim.lines.len())).collect::<Vec<_>>(), [(3, 1)]);
    let row = store.thread(thread).await.expect("it can be read").expect("it exists");
    assert_eq!((row.seq, row.usage.steps, row.epoch), (3, 2, 3), "each happened once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_restarts_at_once_costs_only_time() {
    let mut server = Server::start();
    let place = Database::at(server.url());
    let store = PostgresStore::open(place.url(), Options::default()).await.expect("it can be opened");
    let world = World::new();
    let claim = world.held(&store, 1).await;
    store.commit(claim.lease, step(&claim, 1)).await.expect("the lease is good");
    let restart = tokio::task::spawn_blocking(move || {
        server.stop(Stop::Immediate);
        server.run();
        server
    });
    for seq in 2..=20 {
        store.commit(claim.lease, step(&claim, seq)).await.expect("the server comes back");
    }
    let _server = restart.await.expect("it restarts");
    store.commit(claim.lease, step(&claim, 21)).await.expect("the lease is good");
    let journal = store.journal(claim.lease.thread, 0, 100).await.expect("it can be read");
    assert_eq!(journal.len(), 22);
}

/// The function as the store calls it, with a token that the test chooses.
#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_is_sent_again_is_answered_as_before_and_written_once() {
    let world = World::new();
    let store = world.open().await;
    let claim = world.held(&store, 1).await;
    let client = world.client().await;
    let (thread, node) = (claim.lease.thread, claim.lease.node);
    let events = "ARRAY['{\"type\":\"x\"}']";
    let more = "'{\"claim\":false,\"children_total\":9,\"consumed\":[1],\"buried\":[],\"burial\":\"\",\"spawn\":[],\
                \"spawned_events\":0,\"deliver\":[],\"runs\":[],\"files\":[],\"agents\":[]}'::json";
    for (seq, status, more, token) in [(1, 2, "NULL", 1), (2, 2, more, 2), (3, 3, "NULL", 3)] {
        let call = format!(
            "SELECT commit('{thread}', '{node}', 1, {seq}, '00000000-0000-0000-0000-00000000000{token}', {events}, 1,
                           {status}::smallint, 9, NULL, NULL, ARRAY[1, 1, 1]::bigint[], 0, {more})"
        );
        let first: String = client.query_one(&call, &[]).await.expect("it can be called").get(0);
        let again: String = client.query_one(&call, &[]).await.expect("it can be called").get(0);
        assert_eq!(first, again);
        assert!(!first.contains("refused"), "{first}");
        let stale: String = client
            .query_one(&call.replace("-00000000000", "-00000000009"), &[])
            .await
            .expect("it can be called")
            .get(0);
        assert!(stale.contains("fenced"), "another commit behind the same events: {stale}");
    }
    let row = store.thread(thread).await.expect("it can be read").expect("it exists");
    assert_eq!((row.seq, row.usage.steps, row.status), (4, 3, ThreadStatus::Waiting));
}

/// One of those that share a transaction breaks it; the others must not notice.
#[tokio::test(flavor = "multi_thread")]
async fn one_bad_commit_does_not_harm_those_that_come_with_it() {
    let world = World::new();
    let store = world.open().await;
    let mut claims = Vec::new();
    for seed in 0..40 {
        claims.push(world.held(&store, seed).await);
    }
    let client = world.client().await;
    let bad = claims[7].lease.thread;
    let trap = format!(
        "CREATE FUNCTION trap() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'broken'; END $$;
         CREATE TRIGGER trap BEFORE INSERT ON events FOR EACH ROW WHEN (NEW.thread = '{bad}') EXECUTE FUNCTION trap()"
    );
    client.batch_execute(&trap).await.expect("the test's own trap");
    let answers = join_all(claims.iter().map(|claim| store.commit(claim.lease, step(claim, 1)))).await;
    for (claim, answer) in claims.iter().zip(answers) {
        match answer {
            Err(CommitError::Store(fault)) => assert!(claim.lease.thread == bad, "{fault}"),
            other => assert!(claim.lease.thread != bad && other.is_ok(), "{other:?}"),
        }
    }
}
