//! Whether the server can be trusted, and making or renewing the tables: one process at a time, all of it or nothing.

use crate::database::Database;
use crate::fault::store_error;
use crate::refusal;
use crate::settings::Address;
use deadpool_postgres::Object;
use entourage_store::StoreError;
use tokio_postgres::error::SqlState;

/// Each brings the tables from the version before it to its own, which is its place in this list, from 1.
const MIGRATIONS: [&[&str]; 1] = [&[
    include_str!("schema/tables.sql"),
    include_str!("schema/time.sql"),
    include_str!("schema/thread.sql"),
    include_str!("schema/lease.sql"),
    include_str!("schema/commit.sql"),
]];
const VERSION: u32 = MIGRATIONS.len() as u32;
/// The oldest server that has what the statements use.
const SERVER_MIN: i32 = 140_000;

/// Opens what is there, and makes what is not.
pub(crate) async fn prepare(database: &Database, address: &Address) -> Result<(), StoreError> {
    let client = database.first().await?;
    check_server(&client, address).await?;
    match version(database, &client).await? {
        Some(VERSION) => {}
        Some(found) if found > VERSION => return Err(StoreError::Newer { found, known: VERSION }),
        _ => migrate(database, &client).await?,
    }
    keep_positions_growing(database, &client).await
}

async fn check_server(client: &Object, address: &Address) -> Result<(), StoreError> {
    let setting = async |name: &str| {
        let rows = client.query_typed(&format!("SHOW {name}"), &[]).await.map_err(|error| store_error(&error))?;
        Ok::<String, StoreError>(rows.first().map(|row| row.get(0)).unwrap_or_default())
    };
    if setting("server_version_num").await?.parse::<i32>().unwrap_or(0) < SERVER_MIN {
        return Err(refusal::too_old(&setting("server_version").await?));
    }
    let encoding = setting("server_encoding").await?;
    if encoding != "UTF8" {
        return Err(refusal::encoding(&encoding));
    }
    for name in ["fsync", "synchronous_commit", "full_page_writes"] {
        if !address.accept_loss && setting(name).await? == "off" {
            return Err(refusal::forgetful(name));
        }
    }
    let standby = client.query_typed("SELECT pg_is_in_recovery()", &[]).await.map_err(|error| store_error(&error))?;
    if standby.first().is_some_and(|row| row.get(0)) {
        return Err(refusal::read_only());
    }
    Ok(())
}

/// Which version the tables have; none if there are no tables.
async fn version(database: &Database, client: &Object) -> Result<Option<u32>, StoreError> {
    let sql = database.spell("SELECT value FROM @.meta WHERE name = 'version'");
    match client.query_typed(&sql, &[]).await {
        Ok(rows) => {
            let value = rows.first().map(|row| row.get::<_, String>(0));
            value.map(|value| value.parse().map_err(|_| refusal::foreign(database.schema()))).transpose()
        }
        Err(error) => match error.code() {
            Some(code) if *code == SqlState::UNDEFINED_TABLE || *code == SqlState::INVALID_SCHEMA_NAME => Ok(None),
            _ => Err(refused(&error)),
        },
    }
}

/// Under a lock that everybody takes who wants to do the same; whoever comes second finds it done.
async fn migrate(database: &Database, client: &Object) -> Result<(), StoreError> {
    let sql = |error: tokio_postgres::Error| refused(&error);
    let schema = database.schema();
    let lock = format!("BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('entourage {schema}', 0));");
    client.batch_execute(&lock).await.map_err(sql)?;
    let migrated = migrate_locked(database, client).await;
    let end = if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" };
    client.batch_execute(end).await.map_err(sql)?;
    migrated
}

async fn migrate_locked(database: &Database, client: &Object) -> Result<(), StoreError> {
    let sql = |error: tokio_postgres::Error| refused(&error);
    let schema = database.schema();
    let exists = "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1";
    let many = client.query_typed(exists, &[(&schema, tokio_postgres::types::Type::TEXT)]).await.map_err(sql)?;
    let is_empty = many.first().is_none_or(|row| row.get::<_, i64>(0) == 0);
    let found = if is_empty {
        let there = "SELECT 1 FROM pg_namespace WHERE nspname = $1";
        let there = client.query_typed(there, &[(&schema, tokio_postgres::types::Type::TEXT)]).await.map_err(sql)?;
        if there.is_empty() {
            client.batch_execute(&format!("CREATE SCHEMA {schema}")).await.map_err(sql)?;
        }
        0
    } else {
        let ours = "SELECT 1 FROM pg_class WHERE oid = to_regclass($1)";
        let meta = format!("{schema}.meta");
        let ours = client.query_typed(ours, &[(&meta, tokio_postgres::types::Type::TEXT)]).await.map_err(sql)?;
        if ours.is_empty() {
            return Err(refusal::foreign(schema));
        }
        version(database, client).await?.ok_or_else(|| refusal::foreign(schema))?
    };
    for migration in MIGRATIONS.iter().skip(found as usize) {
        for part in *migration {
            client.batch_execute(&database.spell(part)).await.map_err(sql)?;
        }
    }
    let keep = format!(
        "INSERT INTO {schema}.meta (name, value) VALUES ('version', '{VERSION}')
         ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    );
    client.batch_execute(&keep).await.map_err(sql)
}

/// A copy of the database in another cluster begins with small transaction numbers again, and so would positions.
async fn keep_positions_growing(database: &Database, client: &Object) -> Result<(), StoreError> {
    let sql = |error: tokio_postgres::Error| refused(&error);
    let same = "SELECT coalesce((SELECT value = (pg_control_system()).system_identifier::text FROM @.meta
                                 WHERE name = 'system'), false)";
    let same = match client.query_typed(&database.spell(same), &[]).await {
        Ok(rows) => rows.first().is_some_and(|row| row.get(0)),
        // Where that is not told, nobody but the server's owner can make such a copy.
        Err(error) if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => true,
        Err(error) => return Err(sql(error)),
    };
    if same {
        return Ok(());
    }
    let schema = database.schema();
    let raise = format!(
        "BEGIN;
         SELECT pg_advisory_xact_lock(hashtextextended('entourage {schema}', 0));
         LOCK TABLE {schema}.events IN SHARE MODE;
         DO $do$ BEGIN EXECUTE format(
           'CREATE OR REPLACE FUNCTION {schema}.position_base() RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE '
           'AS $f$ SELECT %s::bigint $f$',
           greatest({schema}.position_base(),
             coalesce((SELECT max(position) FROM {schema}.events), 0) - (pg_current_xact_id()::text::bigint << 20)));
         END $do$;
         INSERT INTO {schema}.meta (name, value)
           VALUES ('system', (SELECT system_identifier::text FROM pg_control_system()))
           ON CONFLICT (name) DO UPDATE SET value = excluded.value;
         COMMIT"
    );
    match client.batch_execute(&raise).await {
        Ok(()) => Ok(()),
        Err(error) => {
            // Only a transaction that was begun can be left; there may be none.
            let _ = client.batch_execute("ROLLBACK").await;
            Err(sql(error))
        }
    }
}

fn refused(error: &tokio_postgres::Error) -> StoreError {
    match error.code() {
        Some(code) if *code == SqlState::INSUFFICIENT_PRIVILEGE => refusal::forbidden(&crate::fault::text(error)),
        _ => store_error(error),
    }
}

/// The one condition without which a stale commit is let through; it is marked in the function.
#[cfg(feature = "trial")]
pub(crate) async fn remove_guard(database: &Database) -> Result<(), StoreError> {
    let text = include_str!("schema/commit.sql");
    let unguarded: String =
        text.lines().filter(|line| !line.ends_with("-- the guard")).map(|line| format!("{line}\n")).collect();
    let unguarded = database.spell(&unguarded.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION"));
    let client = database.client().await?;
    client.batch_execute(&unguarded).await.map_err(|error| refused(&error))
}
