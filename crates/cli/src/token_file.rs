//! The keys to the server, in a file that only its owner can read.

use crate::failure::Failure;
use crate::private_file;
use crate::project::Project;
use entourage_serve::{Token, Tokens};
use std::io;

const NAME: &str = "token";

pub(crate) fn exists(project: &Project) -> bool {
    private_file::exists(project, NAME)
}

/// The tokens, and one of the owner's if there was no file.
pub(crate) fn open(project: &Project) -> Result<Tokens, Failure> {
    let generate = || Ok(Token::generate(private_file::randomness()?)?.reveal().to_owned());
    private_file::open(project, NAME, generate, |text| Tokens::parse(text).map_err(io::Error::other))
}

/// The owner's token, if there is one: a command never makes it.
pub(crate) fn own(project: &Project) -> Option<Token> {
    if exists(project) { open(project).ok()?.owner().cloned() } else { None }
}
