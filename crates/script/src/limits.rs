//! How much a script may use. Everything in this crate that grows has its bound here.

use std::time::Duration;

/// What one evaluation or one call may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of JavaScript's heap.
    pub bytes: usize,
    /// Of wall time, waiting included.
    pub time: Duration,
}

impl Limits {
    /// What a definition gets.
    pub const DEFINITION: Self = Self { bytes: 64 << 20, time: Duration::from_secs(5) };
}

/// How long it is believed that a definition does not end, while its files stay the same.
pub(crate) const ENDLESS_KEPT: Duration = Duration::from_secs(600);
/// A source file.
pub(crate) const SOURCE_BYTES_MAX: usize = 8 << 20;
/// Modules of the project behind one definition, itself included.
pub(crate) const MODULES_MAX: usize = 256;
/// Paths that are looked at to find them: each import without an ending names several.
pub(crate) const PATHS_MAX: usize = 4096;
/// Faults of imports that a script may have caught.
pub(crate) const CAUGHT_MAX: usize = 64;
/// Objects and lists inside each other in an exported value.
pub(crate) const VALUE_DEPTH_MAX: usize = 64;
/// Values in an exported value.
pub(crate) const VALUE_NODES_MAX: usize = 1_000_000;
/// A module specifier, as it is written.
pub(crate) const SPECIFIER_BYTES_MAX: usize = 1024;
/// Frames of a stack that are looked at for a place, and bytes of one.
pub(crate) const FRAMES_MAX: usize = 64;
pub(crate) const FRAME_BYTES_MAX: usize = 4096;
/// What is kept of a message that a script throws.
pub(crate) const MESSAGE_CHARS_MAX: usize = 2000;
/// Requests of one call that are under way at the same time.
pub(crate) const ASKED_MAX: usize = 1000;
/// Timers of one call that run at the same time.
pub(crate) const TIMERS_MAX: usize = 1000;
/// Of the thread that calls. It parses nothing but JSON.
pub(crate) const CALL_STACK_BYTES: usize = 4 << 20;
/// Of the thread that parses and evaluates.
pub(crate) const STACK_BYTES: usize = 32 << 20;
/// How much longer than its time limit a script is waited for before its thread is left behind.
pub(crate) const GRACE: Duration = Duration::from_secs(1);
/// Threads that were left behind and still run.
pub(crate) const LEFT_BEHIND_MAX: usize = 16;
/// Levels of a source, by the bound that is found before it is parsed. A level costs the parser, and what comes after
/// it, less than 2,400 bytes of `STACK_BYTES`, measured without optimisation.
pub(crate) const NESTING_MAX: usize = 4000;
/// Groups and classes inside each other in a regular expression that the parser looks into.
pub(crate) const PATTERN_NESTING_MAX: usize = 250;
/// Bytes to parse, each counted as often as the parser may have to try it.
pub(crate) const WORK_MAX: u64 = 32 << 20;
/// Lines that may begin with a division or with a regular expression.
pub(crate) const DOUBTS_MAX: usize = 10_000;
/// Of these, type arguments that are open at once: the parser's time grows with their square.
pub(crate) const ANGLES_MAX: usize = 1000;
