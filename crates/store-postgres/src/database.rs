//! The one door to the server: a few connections, statements prepared once, and patience with a server that restarts.

use crate::fault::{Fault, passes};
use crate::refusal;
use crate::settings::Address;
use crate::tls::Tls;
use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod};
use entourage_store::StoreError;
use std::fmt;
use std::time::Duration;
use tokio::time::Instant;
use tokio_postgres::types::{FromSqlOwned, ToSql, Type};
use tokio_postgres::{Client, Config, Row};
use uuid::Uuid;

/// How long the first pause is; each is twice as long as the one before, up to the last.
const PAUSE: Duration = Duration::from_millis(20);
const PAUSE_MAX: Duration = Duration::from_millis(500);
/// How long a store that is being opened waits for its server.
const OPENING: Duration = Duration::from_secs(3);

/// A parameter with its type, so that no statement has to be described first.
pub(crate) type Param<'p> = (&'p (dyn ToSql + Sync), Type);

pub(crate) struct Database {
    pool: Pool,
    config: Config,
    tls: Tls,
    schema: String,
    /// Sessions last, so that a statement prepared once is there the next time.
    prepares: bool,
    patience: Duration,
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl Database {
    /// Nothing is connected yet.
    pub(crate) fn new(address: &Address, patience: Duration) -> Result<Self, StoreError> {
        let tls = address.encryption.connector()?;
        let recycling_method = RecyclingMethod::Fast;
        let manager = Manager::from_config(address.config.clone(), tls.clone(), ManagerConfig { recycling_method });
        let pool = Pool::builder(manager).max_size(address.pool).build();
        let pool = pool.map_err(|fault| StoreError::Unavailable(fault.to_string()))?;
        let (config, schema, prepares) = (address.config.clone(), address.schema.clone(), address.listen);
        Ok(Self { pool, config, tls, schema, prepares, patience })
    }

    pub(crate) fn schema(&self) -> &str {
        &self.schema
    }

    /// The statement as the server reads it: `@.` stands for the schema.
    pub(crate) fn spell(&self, sql: &str) -> String {
        sql.replace("@.", &format!("{}.", self.schema))
    }

    /// Runs a statement that may be run twice: one whose answer is lost is sent again.
    pub(crate) async fn rows(&self, sql: &str, params: &[Param<'_>]) -> Result<Vec<Row>, StoreError> {
        Ok(self.patiently(sql, params).await.result?)
    }

    /// The same, for whoever has to know whether it was sent more than once.
    pub(crate) async fn patiently(&self, sql: &str, params: &[Param<'_>]) -> Tried {
        let sql = self.spell(sql);
        let mut patience = Patience::new(self.patience);
        let mut again = false;
        loop {
            match self.attempt(&sql, params).await {
                Err(fault) if passes(&fault) && patience.wait().await => again = true,
                result => return Tried { result, again },
            }
        }
    }

    /// The one value that a statement answers.
    pub(crate) async fn value<T: FromSqlOwned>(&self, sql: &str, params: &[Param<'_>]) -> Result<T, StoreError> {
        let rows = self.rows(sql, params).await?;
        let row = rows.first().ok_or_else(|| StoreError::Corrupt("a statement had no answer".to_owned()))?;
        row.try_get(0).map_err(|fault| StoreError::Corrupt(fault.to_string()))
    }

    async fn attempt(&self, sql: &str, params: &[Param<'_>]) -> Result<Vec<Row>, Fault> {
        let client = self.client().await?;
        self.ask(&client, sql, params).await
    }

    /// A statement as the server reads it, over this connection.
    pub(crate) async fn ask(&self, client: &Object, sql: &str, params: &[Param<'_>]) -> Result<Vec<Row>, Fault> {
        if !self.prepares {
            return Ok(client.query_typed(sql, params).await?);
        }
        let types: Vec<Type> = params.iter().map(|param| param.1.clone()).collect();
        let statement = client.prepare_typed_cached(sql, &types).await?;
        let values: Vec<&(dyn ToSql + Sync)> = params.iter().map(|param| param.0).collect();
        Ok(client.query(&statement, &values).await?)
    }

    /// Sees to it that `ask` sends this statement at once.
    pub(crate) async fn prepare(&self, client: &Object, sql: &str, params: &[Param<'_>]) -> Result<(), Fault> {
        if self.prepares {
            let types: Vec<Type> = params.iter().map(|param| param.1.clone()).collect();
            client.prepare_typed_cached(sql, &types).await?;
        }
        Ok(())
    }

    /// A connection of the pool. It goes back when it is dropped.
    pub(crate) async fn client(&self) -> Result<Object, Fault> {
        Ok(self.pool.get().await?)
    }

    /// A connection of its own, with whoever drives it.
    pub(crate) async fn connect(
        &self,
    ) -> Result<
        (Client, tokio_postgres::Connection<tokio_postgres::Socket, crate::tls::Encrypted<tokio_postgres::Socket>>),
        Fault,
    > {
        Ok(self.config.connect(self.tls.clone()).await?)
    }

    /// The first connection of all: why there is none is said for people.
    pub(crate) async fn first(&self) -> Result<Object, StoreError> {
        let mut patience = Patience::new(OPENING.min(self.patience));
        loop {
            match self.client().await {
                Ok(client) => return Ok(client),
                Err(fault) if passes(&fault) && patience.wait().await => {}
                Err(Fault::Sql(error)) => return Err(refusal::connection(&error)),
                Err(fault @ (Fault::Closed | Fault::Store(_))) => return Err(fault.into()),
            }
        }
    }

    pub(crate) fn close(&self) {
        self.pool.close();
    }
}

/// What came of a statement.
#[derive(Debug)]
pub(crate) struct Tried {
    pub(crate) result: Result<Vec<Row>, Fault>,
    /// It was sent before, and what became of it then is unknown.
    pub(crate) again: bool,
}

/// How often something is tried again, and how quickly.
#[derive(Debug)]
pub(crate) struct Patience {
    ends: Instant,
    pause: Duration,
}

impl Patience {
    fn new(patience: Duration) -> Self {
        Self { ends: Instant::now() + patience, pause: PAUSE }
    }

    /// Pauses; or returns false, because it has lasted long enough.
    pub(crate) async fn wait(&mut self) -> bool {
        if Instant::now() + self.pause > self.ends {
            return false;
        }
        // Not all at once: what was in each other's way would be so again.
        let jitter = token().as_u128() % (self.pause.as_micros() / 2).max(1);
        tokio::time::sleep(self.pause / 2 + Duration::from_micros(u64::try_from(jitter).unwrap_or(0))).await;
        self.pause = (self.pause * 2).min(PAUSE_MAX);
        true
    }
}

/// What tells a write apart from every other.
pub(crate) fn token() -> Uuid {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the system has random numbers");
    Uuid::from_bytes(bytes)
}
