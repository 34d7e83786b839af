//! A script that is ready to run.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// JavaScript that can be run at any later time, without the files it was made from.
///
/// A thread pins the programs of its tools with its team, so it calls tomorrow what it was started with today.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The module whose default export is the definition: a key of `modules`.
    pub entry: String,
    /// Path relative to the project, with `/` between its parts, to the module's JavaScript.
    pub modules: BTreeMap<String, Arc<str>>,
}
