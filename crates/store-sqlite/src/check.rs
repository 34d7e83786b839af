//! Looks for damage: what SQLite finds in its pages, then what must hold between our tables.

use crate::body::RawBody;
use crate::column::thread_id;
use crate::fault::{Fault, is_fatal};
use entourage_model::{Digest, Report};
use rusqlite::Connection;

const QUICK_CHECK_MAX: u32 = 20;

pub(crate) fn check(connection: &Connection) -> Result<Vec<Report>, Fault> {
    let mut reports = pages(connection)?;
    // What lies in damaged pages says nothing about the rest.
    if reports.is_empty() {
        for (sql, report) in RULES {
            let mut query = connection.prepare(sql)?;
            let threads = query.query_map([], |row| thread_id(row, 0))?;
            for thread in threads {
                reports.push(report(&thread?.to_string()));
            }
        }
        reports.extend(bodies(connection)?);
        reports.extend(blobs(connection)?);
        reports.extend(bundles(connection)?);
        reports.extend(dead_letters(connection)?);
    }
    Ok(reports)
}

type Rule = (&'static str, fn(&str) -> Report);

/// Each finds the threads that break it.
const RULES: [Rule; 5] = [
    (
        "SELECT t.id FROM threads t LEFT JOIN
           (SELECT thread, count(*) AS many, max(seq) AS last, min(seq) AS first FROM events GROUP BY thread) e
           ON e.thread = t.id
         WHERE t.seq <> ifnull(e.last, 0) OR t.seq <> ifnull(e.many, 0) OR ifnull(e.first, 1) <> 1",
        |thread| Report::error("S002", format!("the journal of thread {thread} has a gap")).hint(RESTORE),
    ),
    (
        "SELECT DISTINCT t.id FROM threads t JOIN lines l ON l.thread = t.id
         WHERE l.number < 1 OR l.number > t.last_line",
        |thread| {
            let what = format!("the queue of thread {thread} holds a line that was never counted");
            Report::error("S003", what).hint(REMOVE)
        },
    ),
    (
        "SELECT DISTINCT t.id FROM threads t JOIN runs r ON r.thread = t.id
         WHERE t.status = 6 AND r.status NOT IN (2, 3, 4)",
        |thread| {
            let what = format!("thread {thread} is terminated, but a run of it has not ended");
            Report::warning("S004", what).hint(REMOVE)
        },
    ),
    (
        "SELECT DISTINCT thread FROM
           (SELECT thread FROM events UNION SELECT thread FROM lines UNION SELECT thread FROM keys
            UNION SELECT thread FROM root_keys
            UNION SELECT thread FROM files UNION SELECT thread FROM dead_letters)
         WHERE thread NOT IN (SELECT id FROM threads)",
        |thread| {
            let what = format!("there are rows of thread {thread}, which does not exist");
            Report::error("S005", what)
                .hint("they take space and do no harm; whoever removed the thread's row knows more")
        },
    ),
    (
        "SELECT r.id FROM threads r
         WHERE r.id = r.root AND r.below <> (SELECT count(*) - 1 FROM threads t WHERE t.root = r.id)",
        |thread| Report::error("S006", format!("the tree of thread {thread} is counted wrongly")).hint(REMOVE),
    ),
];

const RESTORE: &str = "restore the data folder from a copy";
/// For what is wrong with one thread.
const REMOVE: &str = "remove the thread by `DELETE /threads/ID` of a server, or restore the data folder from a copy";
const UPGRADE: &str =
    "use the version of entourage that wrote it; if there is none, remove the thread or restore a copy";
const AGAIN: &str = "their runs have failed; send them again if they still matter";

fn pages(connection: &Connection) -> Result<Vec<Report>, Fault> {
    let damaged = |word: &str| Report::error("S001", format!("the file is damaged: {word}")).hint(RESTORE);
    match quick_check(connection) {
        Ok(words) => Ok(words.iter().filter(|word| *word != "ok").map(|word| damaged(word)).collect()),
        // Too much damage even to be looked through.
        Err(error) if is_fatal(&error) => Ok(vec![damaged(&error.to_string())]),
        Err(error) => Err(error.into()),
    }
}

fn quick_check(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut query = connection.prepare(&format!("PRAGMA quick_check({QUICK_CHECK_MAX})"))?;
    query.query_map([], |row| row.get(0))?.collect()
}

/// Every event and every item can be read by this program.
fn bodies(connection: &Connection) -> Result<Vec<Report>, Fault> {
    let mut reports = Vec::new();
    let mut query = connection.prepare("SELECT thread, seq, v, body FROM events")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        if let Err(fault) = RawBody::read(row, 2)?.event() {
            let (thread, seq) = (thread_id(row, 0)?, row.get::<_, i64>(1)?);
            let what = format!("event {seq} of thread {thread} cannot be read: {fault}");
            reports.push(Report::error("S007", what).hint(UPGRADE));
        }
    }
    let mut query = connection.prepare(
        "SELECT thread, number, v, body FROM lines UNION ALL SELECT thread, number, v, body FROM keys
         UNION ALL SELECT thread, number, v, body FROM dead_letters",
    )?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        if let Err(fault) = RawBody::read(row, 2)?.item() {
            let (thread, number) = (thread_id(row, 0)?, row.get::<_, i64>(1)?);
            let what = format!("line {number} of thread {thread} cannot be read: {fault}");
            reports.push(Report::error("S007", what).hint(UPGRADE));
        }
    }
    Ok(reports)
}

/// Every blob is what its digest says, and nothing points at one that is not there.
fn blobs(connection: &Connection) -> Result<Vec<Report>, Fault> {
    let mut reports = Vec::new();
    let mut query = connection.prepare("SELECT digest, body FROM blobs")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let digest = crate::column::digest(row, 0)?;
        if Digest::of(row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?) != digest {
            reports.push(Report::error("S008", format!("the content of blob {digest} has changed")).hint(RESTORE));
        }
    }
    let mut query =
        connection.prepare("SELECT DISTINCT digest FROM files WHERE digest NOT IN (SELECT digest FROM blobs)")?;
    let missing = query.query_map([], |row| crate::column::digest(row, 0))?;
    for digest in missing {
        let what = format!("a file points at blob {}, which does not exist", digest?);
        reports.push(Report::error("S009", what).hint("put the file again, or remove it"));
    }
    Ok(reports)
}

/// Every thread's agents are there.
fn bundles(connection: &Connection) -> Result<Vec<Report>, Fault> {
    let missing = "SELECT bundle, count(*) FROM threads WHERE bundle NOT IN (SELECT digest FROM blobs) GROUP BY bundle";
    let mut query = connection.prepare(missing)?;
    let found = query.query_map([], |row| Ok((crate::column::digest(row, 0)?, row.get::<_, i64>(1)?)))?;
    let report = |(bundle, threads): (Digest, i64)| {
        let what = format!("the agents of {threads} threads are missing: there is no blob {bundle}");
        Report::error("S050", what).hint(RESTORE)
    };
    Ok(found.map(|found| found.map(report)).collect::<rusqlite::Result<_>>()?)
}

/// What was put aside, because nobody could work on its thread with it.
fn dead_letters(connection: &Connection) -> Result<Vec<Report>, Fault> {
    let mut query =
        connection.prepare("SELECT thread, count(*), min(reason) FROM dead_letters GROUP BY thread ORDER BY thread")?;
    let found = query.query_map([], |row| {
        let (thread, count, why) = (thread_id(row, 0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?);
        let what = format!("{count} messages to thread {thread} were put aside: {why}");
        Ok(Report::warning("S051", what).hint(AGAIN))
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}
