//! The SQLite store from outside: the contract, opening, damage, and sudden death.
#![expect(clippy::disallowed_methods, reason = "the tests look at files, damage them, and start themselves again")]

mod check;
mod contract;
mod journal;
mod kill;
mod open;
mod world;
