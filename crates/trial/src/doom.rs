//! Ending a process at every single point of a piece of work, and going on: what is there in the end must be what would
//! have been there without a death.

mod brain;
mod driver;
mod life;
mod scenario;

pub use driver::{Doomed, run};
pub use life::{Settings, live};
pub use scenario::Scenario;
