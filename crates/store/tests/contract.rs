//! The memory store keeps the contract.

use entourage_store::contract::InMemory;

async fn make() -> InMemory {
    InMemory::new()
}

entourage_store::contract!(make);
