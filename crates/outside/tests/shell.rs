//! Commands in every sandbox that there is: what they give, what they may touch, and that nothing is left of them.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test builds its own files, may break, and says what it cannot test here"
)]

mod shell {
    mod attacks;
    mod box_of_files;
    mod endings;
    mod git;
    mod outputs;
    pub(crate) mod stage;
}
