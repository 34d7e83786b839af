//! The key to the server, in a file that only its owner can read.

use crate::failure::Failure;
use crate::private_file;
use crate::project::Project;
use entourage_serve::Token;
use std::io;

const NAME: &str = "token";

pub(crate) fn exists(project: &Project) -> bool {
    private_file::exists(project, NAME)
}

/// The token, made if there is none.
pub(crate) fn open(project: &Project) -> Result<Token, Failure> {
    let generate = || Ok(Token::generate(private_file::randomness()?)?.reveal().to_owned());
    private_file::open(project, NAME, generate, |text| {
        Token::parse(text).ok_or_else(|| io::Error::other("it must be one line of at least 16 characters"))
    })
}

/// The owner's token, if there is one: a command never makes it.
pub(crate) fn own(project: &Project) -> Option<Token> {
    if exists(project) { open(project).ok() } else { None }
}
