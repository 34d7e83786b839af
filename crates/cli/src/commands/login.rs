//! `entourage login HOST`: a credential for a registry, tried before it is stored.

use crate::bundle_source;
use crate::failure::{Exit, Failure};
use crate::invocation::Invocation;
use crate::project;
use clap::Args;
use console::Term;
use entourage_bundle::Reference;
use entourage_model::{Report, Secret};
use entourage_outside::registry::Credential;
use serde_json::json;
use std::io::{IsTerminal as _, Read as _};

const PASSWORD_BYTES_MAX: u64 = 64 << 10;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  entourage login registry.example.com --username alice
  printenv TOKEN | entourage login ghcr.io --username alice --password-stdin

The registry is asked whether it takes the credential; one that is refused is not stored. It is kept in
`credentials.json` beside your settings, which only you can read, and goes before what Docker knows.")]
pub(crate) struct Arguments {
    /// The registry, with its port if it has one
    #[arg(value_name = "HOST")]
    host: String,
    /// Who you are there
    #[arg(long, short, value_name = "NAME")]
    username: String,
    /// Read the password from standard input
    #[arg(long)]
    password_stdin: bool,
}

pub(crate) async fn perform(invocation: &Invocation, arguments: Arguments) -> Result<(), Failure> {
    let Arguments { host, username, password_stdin } = arguments;
    // The same rules as at the beginning of a reference.
    let reference: Reference = format!("{host}/x").parse().map_err(|_| bad_host(&host))?;
    if reference.host != host {
        return Err(bad_host(&host));
    }
    let password = if password_stdin { from_stdin()? } else { from_terminal(&username, &host)? };
    let credential = Credential::Password { username: username.clone(), password };
    let registry = bundle_source::registry(invocation);
    registry.try_credential(&host, credential.clone()).await.map_err(Failure::of_bundle)?;
    let kept = bundle_source::credentials().keep(&host, &credential);
    let path = kept.map_err(|fault| Failure::new(Exit::File, Report::error("B046", fault.to_string())))?;
    if invocation.is_json() {
        invocation.screen.json(&json!({ "host": host, "username": username }));
    } else {
        invocation.screen.note(&format!("`{username}` is known to `{host}`; kept in {}", project::shown(&path)));
    }
    Ok(())
}

/// One line end belongs to whoever wrote the password, not to the password.
fn from_stdin() -> Result<Secret, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().take(PASSWORD_BYTES_MAX).read_to_string(&mut text);
    read.map_err(|fault| no_password(&format!("it cannot be read: {fault}")))?;
    let password = text.strip_suffix('\n').map_or(text.as_str(), |text| text.strip_suffix('\r').unwrap_or(text));
    if password.is_empty() { Err(no_password("nothing came")) } else { Ok(Secret::new(password)) }
}

fn from_terminal(username: &str, host: &str) -> Result<Secret, Failure> {
    let terminal = Term::stderr();
    if !std::io::stdin().is_terminal() || !terminal.is_term() {
        return Err(no_password("nobody can be asked for it"));
    }
    let asked = terminal.write_str(&format!("Password of {username} at {host}: "));
    let password = asked.and_then(|()| terminal.read_secure_line());
    let password = password.map_err(|fault| no_password(&format!("it cannot be read: {fault}")))?;
    if password.is_empty() { Err(no_password("nothing was typed")) } else { Ok(Secret::new(password)) }
}

fn bad_host(host: &str) -> Failure {
    let report = Report::error("B047", format!("`{host}` is no host of a registry"));
    Failure::usage(report.hint("as in `registry.example.com` or `localhost:5000`, without a scheme and a path"))
}

fn no_password(reason: &str) -> Failure {
    let report = Report::error("B048", format!("there is no password: {reason}"));
    Failure::usage(report.hint("give it on standard input with `--password-stdin`, or run this in a terminal"))
}
