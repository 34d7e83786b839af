//! Threads.

use crate::body::{
    digest, get, limit, small, thread_code, thread_id, thread_id_or_none, thread_status, time, time_or_none, unsigned,
};
use crate::database::{Database, Param};
use crate::text::{escape, unescape};
use entourage_model::{Name, ThreadId, Usage};
use entourage_store::{Page, StoreError, ThreadFilter, ThreadRow};
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

const COLUMNS: &str = "id, parent, root, depth, agent, bundle, status, user_id, created_at, terminated_at,
    input_tokens, output_tokens, steps, seq, attempts, epoch, wake_at, tags";

/// Ready, running or waiting.
const UNSETTLED: &str = "status IN (1, 2, 3)";

pub(crate) async fn one(database: &Database, id: ThreadId) -> Result<Option<ThreadRow>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM @.threads WHERE id = $1");
    let rows = database.rows(&sql, &[(&id.uuid(), Type::UUID)]).await?;
    rows.first().map(row).transpose()
}

/// Newest first: ids begin with the time.
pub(crate) async fn list(
    database: &Database,
    filter: &ThreadFilter,
    page: Page<ThreadId>,
) -> Result<Vec<ThreadRow>, StoreError> {
    let mut conditions = Conditions::default();
    conditions.when("id < ?", page.after.map(ThreadId::uuid), Type::UUID);
    // A thread shares its root with its parent, and only the root has an index.
    conditions.when("root = (SELECT root FROM @.threads WHERE id = ?)", filter.parent.map(ThreadId::uuid), Type::UUID);
    conditions.when("parent = ?", filter.parent.map(ThreadId::uuid), Type::UUID);
    conditions.when("root = ?", filter.root.map(ThreadId::uuid), Type::UUID);
    conditions.when("agent = ?", filter.agent.as_ref().map(|name| escape(name.as_str()).into_owned()), Type::TEXT);
    conditions.when("status = ?", filter.status.map(thread_code), Type::INT2);
    conditions.when("user_id = ?", filter.user_id.as_deref().map(|user| escape(user).into_owned()), Type::TEXT);
    conditions.when("? = ANY (tags)", filter.tag.as_deref().map(|tag| escape(tag).into_owned()), Type::TEXT);
    conditions.only("parent IS NULL", filter.roots);
    conditions.only(UNSETTLED, filter.unsettled);
    let (clause, rows) = (conditions.clause(), conditions.value(limit(page.limit), Type::INT8));
    let sql = format!("SELECT {COLUMNS} FROM @.threads {clause} ORDER BY id DESC LIMIT {rows}");
    database.rows(&sql, &conditions.params()).await?.iter().map(row).collect()
}

/// Removes a thread with everything below it; returns what is gone.
pub(crate) async fn delete(database: &Database, id: ThreadId) -> Result<Vec<ThreadId>, StoreError> {
    let rows = database.rows("SELECT * FROM @.remove($1)", &[(&id.uuid(), Type::UUID)]).await?;
    rows.iter().map(|row| thread_id(row, 0)).collect()
}

fn row(row: &Row) -> Result<ThreadRow, StoreError> {
    let usage =
        Usage { input_tokens: unsigned(row, 10)?, output_tokens: unsigned(row, 11)?, steps: unsigned(row, 12)? };
    Ok(ThreadRow {
        id: thread_id(row, 0)?,
        parent: thread_id_or_none(row, 1)?,
        root: thread_id(row, 2)?,
        depth: small(row, 3)?,
        agent: Name::from(unescape(get(row, 4)?)),
        bundle: digest(row, 5)?,
        status: thread_status(row, 6)?,
        user_id: get::<Option<String>>(row, 7)?.map(unescape),
        tags: get::<Vec<String>>(row, 17)?.into_iter().map(unescape).collect(),
        created_at: time(row, 8)?,
        terminated_at: time_or_none(row, 9)?,
        usage,
        seq: unsigned(row, 13)?,
        attempts: small(row, 14)?,
        epoch: unsigned(row, 15)?,
        wake_at: time_or_none(row, 16)?,
    })
}

/// The conditions of a listing, each with its value.
#[derive(Default)]
pub(crate) struct Conditions {
    terms: Vec<String>,
    values: Vec<(Box<dyn ToSql + Sync + Send>, Type)>,
}

impl Conditions {
    /// Holds if there is no value. The term's parameter is a plain `?`.
    pub(crate) fn when<V: ToSql + Sync + Send + 'static>(&mut self, term: &str, value: Option<V>, kind: Type) {
        if let Some(value) = value {
            let parameter = self.value(value, kind);
            self.terms.push(term.replace('?', &parameter));
        }
    }

    /// The parameter that stands for this value.
    pub(crate) fn value<V: ToSql + Sync + Send + 'static>(&mut self, value: V, kind: Type) -> String {
        self.values.push((Box::new(value), kind));
        format!("${}", self.values.len())
    }

    pub(crate) fn only(&mut self, term: &str, wanted: bool) {
        if wanted {
            self.terms.push(term.to_owned());
        }
    }

    /// The `WHERE` clause; empty if there is no condition.
    pub(crate) fn clause(&self) -> String {
        if self.terms.is_empty() { String::new() } else { format!("WHERE {}", self.terms.join(" AND ")) }
    }

    pub(crate) fn params(&self) -> Vec<Param<'_>> {
        self.values.iter().map(|(value, kind)| (value.as_ref() as &(dyn ToSql + Sync), kind.clone())).collect()
    }
}
