//! The whole program on trial: killed at random instants, loaded with children, and checked afterwards.
//!
//! Test-only, like `testkit`, and apart from it because it stands on everything else.

pub mod checker;
pub mod children;
pub mod doom;
pub mod fanout;
pub mod kill;
pub mod load;
pub mod node;
pub mod nodes;
pub mod remote;
pub mod runs;
pub mod served;

mod letters;
mod process;
