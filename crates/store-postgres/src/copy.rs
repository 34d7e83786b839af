//! Everything in the database as plain rows, and plain rows into an empty one.

use crate::blob::{Outside, untold};
use crate::database::Database;
use crate::fault::store_error;
use crate::text::{escape, unescape};
use async_trait::async_trait;
use entourage_model::Digest;
use entourage_store::{Batch, Cell, Export, Import, StoreError, Table, in_use, not_empty};
use futures::future::try_join_all;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row, Statement};
use uuid::Uuid;

/// A connection that is used for nothing else, and closed in the end whatever state it is in.
struct Dedicated {
    client: Client,
    /// The schema that the store lies in, with its dot.
    schema: String,
}

impl fmt::Debug for Dedicated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dedicated").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl Dedicated {
    async fn open(database: &Database) -> Result<Self, StoreError> {
        let (client, connection) = database.connect().await?;
        // Ends with the client.
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::warn!(%error, "the connection of a copy broke");
            }
        });
        Ok(Self { client, schema: format!("{}.", database.schema()) })
    }

    fn spell(&self, sql: &str) -> String {
        sql.replace("@.", &self.schema)
    }

    async fn run(&self, sql: &str) -> Result<(), StoreError> {
        self.client.batch_execute(&self.spell(sql)).await.map_err(|error| store_error(&error))
    }

    async fn rows(&self, sql: &str) -> Result<Vec<Row>, StoreError> {
        self.client.query_typed(&self.spell(sql), &[]).await.map_err(|error| store_error(&error))
    }
}

/// Rows come from one transaction, which sees what was there when it began.
#[derive(Debug)]
pub(crate) struct PostgresExport {
    database: Dedicated,
    tables: std::vec::IntoIter<Table>,
    /// The table whose rows are being read.
    open: Option<Table>,
    /// Where blobs lie that the database only knows of.
    outside: Option<Arc<Outside>>,
}

impl PostgresExport {
    pub(crate) async fn start(database: &Database, outside: Option<Arc<Outside>>) -> Result<Self, StoreError> {
        let database = Dedicated::open(database).await?;
        database.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
        let living = "SELECT count(*) FROM @.nodes WHERE NOT dead AND expires_at > @.micros()";
        let living: i64 = database.rows(living).await?.first().map_or(0, |row| row.get(0));
        match u64::try_from(living) {
            Ok(0) | Err(_) => {}
            Ok(nodes) => return Err(in_use(nodes)),
        }
        Ok(Self { database, tables: Vec::from(Table::ALL).into_iter(), open: None, outside })
    }

    /// Fetches the blobs of a batch that lie elsewhere.
    async fn complete(&self, batch: &mut Batch) -> Result<(), StoreError> {
        for row in batch.rows.iter_mut().filter(|_| batch.table == Table::Blobs) {
            let [Cell::Bytes(digest), body @ Cell::Null] = row.as_mut_slice() else { continue };
            let digest = digest_of(digest)?;
            let outside = self.outside.as_ref().ok_or_else(|| untold(digest))?;
            *body = Cell::Bytes(outside.get(digest).await?);
        }
        Ok(())
    }
}

#[async_trait]
impl Export for PostgresExport {
    async fn next(&mut self) -> Result<Option<Batch>, StoreError> {
        loop {
            let Some(table) = self.open else {
                let Some(table) = self.tables.next() else { return Ok(None) };
                let declare = format!("DECLARE everything NO SCROLL CURSOR FOR {}", select(table));
                self.database.run(&declare).await?;
                self.open = Some(table);
                continue;
            };
            let rows = self.database.rows(&format!("FETCH {} FROM everything", table.batch())).await?;
            if rows.is_empty() {
                self.database.run("CLOSE everything").await?;
                self.open = None;
                continue;
            }
            let rows = rows.iter().map(|row| cells(table, row)).collect::<Result<_, _>>()?;
            let mut batch = Batch { table, rows };
            self.complete(&mut batch).await?;
            return Ok(Some(batch));
        }
    }
}

fn select(table: Table) -> String {
    let column = |name: &&str| match (table, *name) {
        // What somebody holds is ready in the copy, and nobody can write there who held it here.
        (Table::Threads, "epoch") => "epoch + (owner IS NOT NULL)::int::bigint".to_owned(),
        (Table::Threads, "status") => "CASE WHEN owner IS NULL THEN status ELSE 1::smallint END".to_owned(),
        (Table::Position, _) => "@.position_of(pg_snapshot_xmax(pg_current_snapshot()))".to_owned(),
        (_, name) => format!("\"{name}\""),
    };
    let columns: Vec<String> = table.columns().iter().map(column).collect();
    let from = name(table).map_or(String::new(), |name| format!(" FROM @.{name}"));
    let order = match table.order() {
        [] => String::new(),
        order => format!(" ORDER BY {}", order.join(", ")),
    };
    format!("SELECT {}{from}{order}", columns.join(", "))
}

fn name(table: Table) -> Option<&'static str> {
    match table {
        Table::Blobs => Some("blobs"),
        Table::Threads => Some("threads"),
        Table::Events => Some("events"),
        Table::Lines => Some("lines"),
        Table::Keys => Some("keys"),
        Table::RootKeys => Some("root_keys"),
        Table::Runs => Some("runs"),
        Table::Files => Some("files"),
        Table::DeadLetters => Some("dead_letters"),
        Table::Position => None,
    }
}

fn cells(table: Table, row: &Row) -> Result<Vec<Cell>, StoreError> {
    let unreadable = |error: tokio_postgres::Error| store_error(&error);
    let mut cells = Vec::with_capacity(row.len());
    for (place, column) in row.columns().iter().enumerate() {
        let cell = match *column.type_() {
            Type::UUID => {
                row.try_get::<_, Option<Uuid>>(place).map(|id| id.map(|id| Cell::Bytes(id.as_bytes().to_vec())))
            }
            Type::INT8 => row.try_get::<_, Option<i64>>(place).map(|number| number.map(Cell::Integer)),
            Type::INT4 => row.try_get::<_, Option<i32>>(place).map(|number| number.map(|n| Cell::Integer(n.into()))),
            Type::INT2 => row.try_get::<_, Option<i16>>(place).map(|number| number.map(|n| Cell::Integer(n.into()))),
            Type::BOOL => row.try_get::<_, Option<bool>>(place).map(|is| is.map(|is| Cell::Integer(is.into()))),
            Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(place).map(|bytes| bytes.map(Cell::Bytes)),
            Type::TEXT_ARRAY => {
                row.try_get::<_, Option<Vec<String>>>(place).map(|texts| texts.map(|texts| tags(&texts)))
            }
            _ if column.name() == "body" && table != Table::Blobs => {
                row.try_get::<_, Option<String>>(place).map(|text| text.map(|text| Cell::Bytes(text.into_bytes())))
            }
            _ => row.try_get::<_, Option<String>>(place).map(|text| text.map(|text| Cell::Text(unescape(text)))),
        };
        cells.push(cell.map_err(unreadable)?.unwrap_or(Cell::Null));
    }
    Ok(cells)
}

/// As one text, in the form that every engine's copy has.
fn tags(texts: &[String]) -> Cell {
    let texts: Vec<String> = texts.iter().cloned().map(unescape).collect();
    Cell::Text(serde_json::to_string(&texts).expect("texts can be written as JSON"))
}

/// One transaction.
#[derive(Debug)]
pub(crate) struct PostgresImport {
    database: Dedicated,
    inserts: BTreeMap<Table, Statement>,
    /// Where blobs go that are too long for the database. What lies there when a copy fails is nobody's.
    outside: Option<Arc<Outside>>,
}

impl PostgresImport {
    pub(crate) async fn start(database: &Database, outside: Option<Arc<Outside>>) -> Result<Self, StoreError> {
        let database = Dedicated::open(database).await?;
        database.run("BEGIN").await?;
        let has_rows = "SELECT EXISTS (SELECT 1 FROM @.threads) OR EXISTS (SELECT 1 FROM @.blobs)";
        if database.rows(has_rows).await?.first().is_some_and(|row| row.get(0)) {
            return Err(not_empty());
        }
        Ok(Self { database, inserts: BTreeMap::new(), outside })
    }

    async fn insert(&mut self, table: Table) -> Result<Statement, StoreError> {
        if let Some(statement) = self.inserts.get(&table) {
            return Ok(statement.clone());
        }
        let columns = table.columns();
        let mut names: Vec<String> = columns.iter().map(|name| format!("\"{name}\"")).collect();
        let mut values: Vec<String> = (1..=columns.len()).map(|place| format!("${place}")).collect();
        if table == Table::Events {
            names.push("root".to_owned());
            values.push("(SELECT t.root FROM @.threads t WHERE t.id = $2)".to_owned());
        }
        let into = name(table).expect("a position is no row");
        let sql = format!("INSERT INTO @.{into} ({}) VALUES ({})", names.join(", "), values.join(", "));
        let prepared = self.database.client.prepare(&self.database.spell(&sql)).await;
        let statement = prepared.map_err(|error| store_error(&error))?;
        self.inserts.insert(table, statement.clone());
        Ok(statement)
    }

    /// Takes the blobs of a batch out of it that are too long for the database.
    async fn put_outside(&self, batch: &mut Batch) -> Result<(), StoreError> {
        let Some(outside) = &self.outside else { return Ok(()) };
        for row in batch.rows.iter_mut().filter(|_| batch.table == Table::Blobs) {
            let [Cell::Bytes(digest), cell] = row.as_mut_slice() else { continue };
            if let Cell::Bytes(body) = &*cell
                && outside.takes(body.len())
            {
                outside.put(digest_of(digest)?, body).await?;
                *cell = Cell::Null;
            }
        }
        Ok(())
    }

    /// What is appended later lies behind everything that was copied.
    async fn raise_positions(&self, rows: &[Vec<Cell>]) -> Result<(), StoreError> {
        let Some([Cell::Integer(last)]) = rows.first().map(Vec::as_slice) else { return Err(strange("position")) };
        let base =
            format!("SELECT greatest(@.position_base(), {last}::bigint - (pg_current_xact_id()::text::bigint << 20))");
        let base: i64 = self.database.rows(&base).await?.first().map_or(0, |row| row.get(0));
        let sql = format!(
            "CREATE OR REPLACE FUNCTION @.position_base() RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
             AS $$ SELECT {base}::bigint $$"
        );
        self.database.run(&sql).await
    }
}

#[async_trait]
impl Import for PostgresImport {
    async fn put(&mut self, mut batch: Batch) -> Result<(), StoreError> {
        if batch.table == Table::Position {
            return self.raise_positions(&batch.rows).await;
        }
        self.put_outside(&mut batch).await?;
        let statement = self.insert(batch.table).await?;
        let mut rows = Vec::with_capacity(batch.rows.len());
        for row in batch.rows {
            let values = row.into_iter().zip(statement.params()).map(|(cell, kind)| value(cell, kind));
            rows.push(values.collect::<Result<Vec<_>, _>>()?);
        }
        let client = &self.database.client;
        let inserted = rows.into_iter().map(|row| client.execute_raw(&statement, row));
        try_join_all(inserted).await.map(drop).map_err(|error| store_error(&error))
    }

    async fn finish(self: Box<Self>) -> Result<(), StoreError> {
        // Behind a pooler the session is another's next, who may well choose the same names.
        self.database.run("DEALLOCATE ALL; COMMIT").await?;
        self.database.run("ANALYZE @.threads, @.events, @.runs, @.lines").await
    }
}

type Value = Box<dyn ToSql + Sync + Send>;

fn value(cell: Cell, kind: &Type) -> Result<Value, StoreError> {
    let number = |cell: &Cell| match cell {
        Cell::Null => Ok(None),
        Cell::Integer(number) => Ok(Some(*number)),
        Cell::Text(_) | Cell::Bytes(_) => Err(strange("number")),
    };
    let narrow = |number: Option<i64>| number.map(i32::try_from).transpose().map_err(|_| strange("number"));
    Ok(match *kind {
        Type::INT8 => Box::new(number(&cell)?),
        Type::INT4 => Box::new(narrow(number(&cell)?)?),
        Type::INT2 => Box::new(narrow(number(&cell)?)?.map(i16::try_from).transpose().map_err(|_| strange("number"))?),
        Type::BOOL => Box::new(number(&cell)?.map(|number| number != 0)),
        Type::UUID => Box::new(bytes(cell)?.map(|id| Uuid::from_slice(&id)).transpose().map_err(|_| strange("id"))?),
        Type::BYTEA => Box::new(bytes(cell)?),
        Type::TEXT_ARRAY => {
            let texts = text_of(cell)?.map(|text| serde_json::from_str::<Vec<String>>(&text));
            let texts = texts.transpose().map_err(|_| strange("list"))?;
            Box::new(texts.map(|texts| texts.iter().map(|text| escape(text).into_owned()).collect::<Vec<String>>()))
        }
        _ => match cell {
            // A body: JSON, which holds no character that a text cannot.
            Cell::Bytes(body) => Box::new(Some(String::from_utf8(body).map_err(|_| strange("body"))?)),
            Cell::Null | Cell::Integer(_) | Cell::Text(_) => {
                Box::new(text_of(cell)?.map(|text| escape(&text).into_owned()))
            }
        },
    })
}

fn digest_of(bytes: &[u8]) -> Result<Digest, StoreError> {
    Ok(Digest::from_bytes(bytes.try_into().map_err(|_| strange("digest"))?))
}

fn bytes(cell: Cell) -> Result<Option<Vec<u8>>, StoreError> {
    match cell {
        Cell::Null => Ok(None),
        Cell::Bytes(bytes) => Ok(Some(bytes)),
        Cell::Integer(_) | Cell::Text(_) => Err(strange("row of bytes")),
    }
}

fn text_of(cell: Cell) -> Result<Option<String>, StoreError> {
    match cell {
        Cell::Null => Ok(None),
        Cell::Text(text) => Ok(Some(text)),
        Cell::Integer(_) | Cell::Bytes(_) => Err(strange("text")),
    }
}

fn strange(what: &str) -> StoreError {
    StoreError::Corrupt(format!("a row to be copied holds something else in the place of a {what}"))
}
