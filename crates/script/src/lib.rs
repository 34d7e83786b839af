//! TypeScript in, values and callable functions out.
//!
//! Types are stripped by oxc, the JavaScript is evaluated by QuickJS with limits on memory, time and stack. It reaches
//! the project's own modules and the ones that come with the program, and nothing else: no files, no network, no
//! processes. Read the modules in this order.

mod fault;
mod limits;
mod located;
mod sources;

mod lines;
mod marks;
mod nesting;
mod outline;
mod places;
mod specifier;
mod strip;

mod modules;
mod project;
mod sandbox;
mod supply;
mod thrown;
mod value;
mod worker;

mod call;
mod evaluate;
mod hook;
mod remembered;

pub use call::{Door, Given, call};
pub use evaluate::{Evaluated, evaluate};
pub use fault::{Fault, FaultKind, Spot};
pub use hook::{Heard, Occasion, run_hook};
pub use limits::Limits;
pub use located::{Found, Located};
pub use outline::Double;
pub use remembered::Endless;
pub use sources::{Memory, NoMemory, OneReading, Sources};
