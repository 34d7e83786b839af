//! Looks for damage: what must hold between our tables.

use crate::blob::{Found, Outside, untold};
use crate::body::{body, digest, get, thread_id};
use crate::database::Database;
use entourage_model::{Digest, Event, Item, Report};
use entourage_store::StoreError;
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

/// Rows that are read at once.
const PAGE: i64 = 1000;
const RESTORE: &str = "restore the database from a copy";
/// For what is wrong with one thread.
const REMOVE: &str = "remove the thread by `DELETE /threads/ID` of a server, or restore the database from a copy";
const UPGRADE: &str =
    "use the version of entourage that wrote it; if there is none, remove the thread or restore a copy";
const AGAIN: &str = "their runs have failed; send them again if they still matter";
const RESTORE_OUTSIDE: &str = "restore the place of the long blobs from a copy";

pub(crate) async fn check(database: &Database, outside: Option<&Outside>) -> Result<Vec<Report>, StoreError> {
    let mut reports = Vec::new();
    for (sql, report) in RULES {
        for row in database.rows(sql, &[]).await? {
            reports.push(report(&thread_id(&row, 0)?.to_string()));
        }
    }
    for (table, number, read) in BODIES {
        reports.extend(bodies(database, table, number, read).await?);
    }
    reports.extend(blobs(database).await?);
    reports.extend(bundles(database).await?);
    reports.extend(dead_letters(database).await?);
    reports.extend(blobs_outside(database, outside).await?);
    Ok(reports)
}

type Rule = (&'static str, fn(&str) -> Report);

/// Each finds the threads that break it.
const RULES: [Rule; 5] = [
    (
        "SELECT t.id FROM @.threads t LEFT JOIN
           (SELECT thread, count(*) AS many, max(seq) AS last, min(seq) AS first FROM @.events GROUP BY thread) e
           ON e.thread = t.id
         WHERE t.seq <> coalesce(e.last, 0) OR t.seq <> coalesce(e.many, 0) OR coalesce(e.first, 1) <> 1",
        |thread| Report::error("S002", format!("the journal of thread {thread} has a gap")).hint(RESTORE),
    ),
    (
        "SELECT DISTINCT t.id FROM @.threads t JOIN @.lines l ON l.thread = t.id
         WHERE l.number < 1 OR l.number > t.last_line",
        |thread| {
            let what = format!("the queue of thread {thread} holds a line that was never counted");
            Report::error("S003", what).hint(REMOVE)
        },
    ),
    (
        "SELECT DISTINCT t.id FROM @.threads t JOIN @.runs r ON r.thread = t.id
         WHERE t.status = 6 AND r.status NOT IN (2, 3, 4)",
        |thread| {
            let what = format!("thread {thread} is terminated, but a run of it has not ended");
            Report::warning("S004", what).hint(REMOVE)
        },
    ),
    (
        "SELECT DISTINCT thread FROM
           (SELECT thread FROM @.events UNION SELECT thread FROM @.lines UNION SELECT thread FROM @.keys
            UNION SELECT thread FROM @.root_keys
            UNION SELECT thread FROM @.files UNION SELECT thread FROM @.dead_letters) rows
         WHERE NOT EXISTS (SELECT 1 FROM @.threads t WHERE t.id = rows.thread)",
        |thread| {
            let what = format!("there are rows of thread {thread}, which does not exist");
            Report::error("S005", what)
                .hint("they take space and do no harm; whoever removed the thread's row knows more")
        },
    ),
    (
        "SELECT r.id FROM @.threads r
         WHERE r.id = r.root AND r.below <> (SELECT count(*) - 1 FROM @.threads t WHERE t.root = r.id)",
        |thread| Report::error("S006", format!("the tree of thread {thread} is counted wrongly")).hint(REMOVE),
    ),
];

type Read = fn(&Row) -> Result<(), StoreError>;

const BODIES: [(&str, &str, Read); 4] = [
    ("events", "seq", |row| body::<Event>(row, 2).map(drop)),
    ("lines", "number", |row| body::<Item>(row, 2).map(drop)),
    ("keys", "number", |row| body::<Item>(row, 2).map(drop)),
    ("dead_letters", "number", |row| body::<Item>(row, 2).map(drop)),
];

/// Every event and every item can be read by this program.
async fn bodies(database: &Database, table: &str, number: &str, read: Read) -> Result<Vec<Report>, StoreError> {
    let sql = format!(
        "SELECT thread, {number}, v, body FROM @.{table} WHERE (thread, {number}) > ($1, $2)
         ORDER BY thread, {number} LIMIT $3"
    );
    let (mut thread, mut last, mut reports) = (Uuid::nil(), 0_i64, Vec::new());
    let what = if table == "events" { "event" } else { "line" };
    loop {
        let params: [crate::database::Param<'_>; 3] = [(&thread, Type::UUID), (&last, Type::INT8), (&PAGE, Type::INT8)];
        let rows = database.rows(&sql, &params).await?;
        for row in &rows {
            (thread, last) = (get(row, 0)?, get(row, 1)?);
            if let Err(fault) = read(row) {
                let what = format!("{what} {last} of thread {thread} cannot be read: {fault}");
                reports.push(Report::error("S007", what).hint(UPGRADE));
            }
        }
        if rows.is_empty() {
            return Ok(reports);
        }
    }
}

/// Every blob is what its digest says, and nothing points at one that is not there.
async fn blobs(database: &Database) -> Result<Vec<Report>, StoreError> {
    let changed = "SELECT digest, body FROM @.blobs WHERE body IS NOT NULL AND digest > $1 ORDER BY digest LIMIT 16";
    let mut reports = Vec::new();
    let mut after: Vec<u8> = Vec::new();
    loop {
        let rows = database.rows(changed, &[(&after, Type::BYTEA)]).await?;
        for row in &rows {
            let named = digest(row, 0)?;
            after = named.as_bytes().to_vec();
            if Digest::of(&get::<Vec<u8>>(row, 1)?) != named {
                reports.push(changed_blob(named).hint(RESTORE));
            }
        }
        if rows.is_empty() {
            break;
        }
    }
    let missing = "SELECT DISTINCT digest FROM @.files f
                   WHERE NOT EXISTS (SELECT 1 FROM @.blobs b WHERE b.digest = f.digest)";
    for row in database.rows(missing, &[]).await? {
        let what = format!("a file points at blob {}, which does not exist", digest(&row, 0)?);
        reports.push(Report::error("S009", what).hint("put the file again, or remove it"));
    }
    Ok(reports)
}

/// Every thread's agents are there.
async fn bundles(database: &Database) -> Result<Vec<Report>, StoreError> {
    let missing = "SELECT bundle, count(*) FROM @.threads t
                   WHERE NOT EXISTS (SELECT 1 FROM @.blobs b WHERE b.digest = t.bundle) GROUP BY bundle ORDER BY bundle";
    let mut reports = Vec::new();
    for row in database.rows(missing, &[]).await? {
        let (bundle, threads) = (digest(&row, 0)?, get::<i64>(&row, 1)?);
        let what = format!("the agents of {threads} threads are missing: there is no blob {bundle}");
        reports.push(Report::error("S050", what).hint(RESTORE));
    }
    Ok(reports)
}

/// What was put aside, because nobody could work on its thread with it.
async fn dead_letters(database: &Database) -> Result<Vec<Report>, StoreError> {
    let sql = "SELECT thread, count(*), min(reason) FROM @.dead_letters GROUP BY thread ORDER BY thread";
    let mut reports = Vec::new();
    for row in database.rows(sql, &[]).await? {
        let (thread, count) = (thread_id(&row, 0)?, get::<i64>(&row, 1)?);
        let why = get::<String>(&row, 2)?;
        let what = format!("{count} messages to thread {thread} were put aside: {why}");
        reports.push(Report::warning("S051", what).hint(AGAIN));
    }
    Ok(reports)
}

/// The same of those that lie outside.
async fn blobs_outside(database: &Database, outside: Option<&Outside>) -> Result<Vec<Report>, StoreError> {
    let page = "SELECT digest FROM @.blobs WHERE body IS NULL AND digest > $1 ORDER BY digest LIMIT $2";
    let mut reports = Vec::new();
    let mut after: Vec<u8> = Vec::new();
    loop {
        let rows = database.rows(page, &[(&after, Type::BYTEA), (&PAGE, Type::INT8)]).await?;
        for row in &rows {
            let named = digest(row, 0)?;
            after = named.as_bytes().to_vec();
            let report = match outside.ok_or_else(|| untold(named))?.find(named).await? {
                Found::Whole(_) => continue,
                Found::Changed => changed_blob(named),
                Found::Lost => Report::error("S049", format!("the place outside the database has lost blob {named}")),
            };
            reports.push(report.hint(RESTORE_OUTSIDE));
        }
        if rows.is_empty() {
            return Ok(reports);
        }
    }
}

fn changed_blob(digest: Digest) -> Report {
    Report::error("S008", format!("the content of blob {digest} has changed"))
}
