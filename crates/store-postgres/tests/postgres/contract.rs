//! The PostgreSQL store keeps the contract.

use crate::world::World;
use async_trait::async_trait;
use entourage_store::Store;
use entourage_store::contract::{HandClock, Subject};
use entourage_store_postgres::{Options, PostgresStore};
use std::time::Duration;
use tokio_postgres::Client;

/// A store over a database whose clock is moved by hand.
pub(crate) struct InDatabase {
    clock: HandClock,
    store: PostgresStore,
    client: Client,
}

pub(crate) async fn make() -> InDatabase {
    made(World::new()).await
}

pub(crate) async fn made(world: World) -> InDatabase {
    let clock = HandClock::new();
    let options = Options { clock: Some(clock.clock()), ..Options::default() };
    let store = PostgresStore::open(&world.url(), options).await.expect("a fresh schema");
    let subject = InDatabase { client: world.client().await, clock, store };
    subject.advance(Duration::ZERO).await;
    subject
}

#[async_trait]
impl Subject for InDatabase {
    fn store(&self) -> &dyn Store {
        &self.store
    }

    async fn advance(&self, by: Duration) {
        self.clock.advance(by);
        let now = self.clock.clock().now().0;
        let stand = format!(
            "CREATE OR REPLACE FUNCTION micros() RETURNS bigint LANGUAGE sql STABLE AS $$ SELECT {now}::bigint $$"
        );
        self.client.batch_execute(&stand).await.expect("the clock can be set");
    }
}

entourage_store::contract!(make);
