//! Measures durable steps per second with 64 threads at work, beside a bare client that sends the same statement, in a store
//! with 1,000 other threads and in one with 1,000,000.
//!
//! `cargo run --release -p entourage-store-postgres --example durable_steps -- postgres://USER@HOST/DATABASE [seconds]`

use anyhow::{Context, Result};
use entourage_model::{Event, Ids, Usage};
use entourage_store::contract::sample;
use entourage_store::{Claim, Commit, Store};
use entourage_store_postgres::{Options, PostgresStore};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio_postgres::{Client, NoTls};
use uuid::Uuid;

const THREADS: u64 = 64;
/// The bare client's connections: as many as threads, so that none waits for another.
const CONNECTIONS: u64 = 64;
const SCHEMA: &str = "entourage_commits";
/// How many threads the store has beside those at work.
const STORED: [i64; 2] = [1_000, 1_000_000];
const ROUNDS: u64 = 3;

#[tokio::main]
#[expect(clippy::print_stdout, reason = "the figures are what it is run for")]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().context("give the address of a database")?;
    let seconds = arguments.next().map_or(Ok(5), |seconds| seconds.parse())?;
    let time = Duration::from_secs(seconds);
    let admin = connect(&url).await?;
    admin.batch_execute(&format!("DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")).await?;
    let store_url = format!("{url}?schema={SCHEMA}");
    let store = Arc::new(PostgresStore::open(&store_url, Options::default()).await?);
    let mut round = 0;
    for stored in STORED {
        fill(&admin, stored).await?;
        for _ in 0..ROUNDS {
            round += 1;
            let bare = bare(&url, &store, round, time).await?;
            let ours = ours(&store, round, time).await?;
            let part = 100.0 * ours / bare;
            println!("{stored} threads stored: bare client {bare:.0}/s, store {ours:.0}/s, {part:.0} %");
        }
    }
    store.close().await;
    admin.batch_execute(&format!("DROP SCHEMA {SCHEMA} CASCADE")).await?;
    Ok(())
}

async fn connect(url: &str) -> Result<Client> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// Parked threads, each with three events and a run, until there are as many.
async fn fill(admin: &Client, stored: i64) -> Result<()> {
    let there: i64 = admin.query_one(&format!("SELECT count(*) FROM {SCHEMA}.threads"), &[]).await?.get(0);
    let more = stored - there;
    admin
        .batch_execute(&format!(
            "CREATE TEMP TABLE made AS SELECT gen_random_uuid() AS id FROM generate_series(1, {more});
             INSERT INTO {SCHEMA}.threads (id, root, epoch, seq, last_line, ready_at, created_at, attempts, depth, status,
                 bundle, agent, tags)
               SELECT id, id, 1, 4, 1, 0, 0, 0, 0, 0, '', 'boss', '{{}}' FROM made;
             INSERT INTO {SCHEMA}.events (thread, root, seq, position, epoch, v, body)
               SELECT id, id, seq, seq, 1, 1, repeat('x', 200) FROM made, generate_series(1, 3) AS seq;
             INSERT INTO {SCHEMA}.runs (id, thread, created_at, status, cancel_requested, agent, request)
               SELECT id::text, id, 0, 2, false, 'boss', 'work' FROM made;
             DROP TABLE made"
        ))
        .await?;
    admin.batch_execute("VACUUM ANALYZE").await?;
    // What filling has left to be written is not what is measured.
    admin.batch_execute("CHECKPOINT").await?;
    Ok(())
}

async fn claims(store: &PostgresStore, round: u64) -> Result<Vec<Claim>> {
    let mut claims = Vec::new();
    for number in 0..THREADS {
        let mut ids = Ids::new(store.now(), round * 1000 + number);
        let (node, id) = (ids.node(), ids.thread());
        store.register(node).await?;
        claims.extend(store.create(sample::new_thread(id, None, id), Some(node)).await?);
    }
    Ok(claims)
}

/// A step as threads have them: an event of about a kilobyte.
fn step(claim: &Claim, seq: u64) -> Commit {
    Commit {
        seq,
        events: vec![Event::ChildReported { child: claim.lease.thread, status: "x".repeat(1000) }],
        usage: Usage { input_tokens: 100, output_tokens: 10, steps: 1 },
        ..sample::blank(claim)
    }
}

async fn ours(store: &Arc<PostgresStore>, round: u64, time: Duration) -> Result<f64> {
    let done = Arc::new(AtomicU64::new(0));
    let mut tasks = Vec::new();
    let claims = claims(store, 2 * round).await?;
    let started = Instant::now();
    for claim in claims {
        let (store, done) = (Arc::clone(store), Arc::clone(&done));
        tasks.push(tokio::spawn(async move {
            let mut seq = claim.seq;
            while started.elapsed() < time {
                store.commit(claim.lease, step(&claim, seq)).await?;
                seq += 1;
                done.fetch_add(1, Ordering::Relaxed);
            }
            anyhow::Ok(())
        }));
    }
    for task in tasks {
        task.await??;
    }
    Ok(done.load(Ordering::Relaxed) as f64 / started.elapsed().as_secs_f64())
}

async fn bare(url: &str, store: &PostgresStore, round: u64, time: Duration) -> Result<f64> {
    let done = Arc::new(AtomicU64::new(0));
    let mut tasks = Vec::new();
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS {
        clients.push(connect(url).await?);
    }
    let claims = claims(store, 2 * round + 1).await?;
    let started = Instant::now();
    for (client, claim) in clients.into_iter().zip(claims) {
        let done = Arc::clone(&done);
        tasks.push(tokio::spawn(async move {
            let sql =
                format!("SELECT {SCHEMA}.commit($1, $2, $3, $4, $5, $6, 1, 2::smallint, 9, NULL, NULL, $7, 0, NULL)");
            let statement = client.prepare(&sql).await?;
            let events = vec![serde_json::to_string(&step(&claim, 1).events[0])?];
            let (thread, node) = (claim.lease.thread.uuid(), claim.lease.node.uuid());
            let (mut seq, usage) = (claim.seq as i64, vec![100_i64, 10, 1]);
            while started.elapsed() < time {
                let token = Uuid::from_u128(started.elapsed().as_nanos());
                client.query(&statement, &[&thread, &node, &1_i64, &seq, &token, &events, &usage]).await?;
                seq += 1;
                done.fetch_add(1, Ordering::Relaxed);
            }
            anyhow::Ok(())
        }));
    }
    for task in tasks {
        task.await??;
    }
    Ok(done.load(Ordering::Relaxed) as f64 / started.elapsed().as_secs_f64())
}
