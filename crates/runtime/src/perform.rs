//! Doing what a decision asks for. Every effect comes back as an input to the same thread.

mod dex;
mod look;
mod model;
mod prompt;
mod script;
mod tool;

pub(crate) use look::look;
pub(crate) use model::model;
pub(crate) use prompt::{Interview, prompt};
pub(crate) use script::{Ground, Scene, advised, echo, is_advised, script};
pub(crate) use tool::tool;

use entourage_engine::Input;
use entourage_model::ThreadId;
use futures::future::BoxFuture;

/// An effect under way: what it comes back as, and whether it could have been repeated.
pub(crate) type Flight = BoxFuture<'static, (Input, bool)>;

/// On whose behalf an effect is performed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) root: ThreadId,
    pub(crate) thread: ThreadId,
}
