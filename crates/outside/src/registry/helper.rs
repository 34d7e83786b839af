//! Docker's credential helpers: programs of the user that know passwords, asked by `docker-credential-NAME get`.

use super::credential::Credential;
use serde::Deserialize;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

const ANSWER_BYTES_MAX: u64 = 64 << 10;
/// Long enough for somebody to unlock a keyring.
const SECONDS_MAX: u64 = 60;
/// How helpers say that they know nobody there. They say it on stdout and fail.
const NOT_FOUND: &str = "credentials not found";

#[derive(Deserialize)]
struct Answer {
    #[serde(rename = "Username")]
    username: String,
    #[serde(rename = "Secret")]
    secret: String,
}

/// What the helper `name` knows about `server`. Absent: it knows nothing.
pub(super) async fn get(name: &str, server: &str) -> Result<Option<Credential>, String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    if name.is_empty() || !name.chars().all(is_plain) {
        return Err(format!("`{name}` is no name of a credential helper"));
    }
    let program = format!("docker-credential-{name}");
    let asked = tokio::time::timeout(Duration::from_secs(SECONDS_MAX), ask(&program, server)).await;
    let (is_well, answer) = match asked {
        Ok(asked) => asked.map_err(|fault| format!("`{program}` cannot be asked: {fault}"))?,
        Err(_) => return Err(format!("`{program}` did not answer within {SECONDS_MAX} s")),
    };
    if !is_well {
        // What it says may be anything, a password too: only the one sentence that everybody knows is looked at.
        let is_unknown = String::from_utf8_lossy(&answer).contains(NOT_FOUND);
        return if is_unknown { Ok(None) } else { Err(format!("`{program} get` failed")) };
    }
    let answer: Answer =
        serde_json::from_slice(&answer).map_err(|_| format!("`{program} get` answered nothing that can be read"))?;
    Ok(Some(Credential::of_helper(&answer.username, &answer.secret)).filter(|_| !answer.secret.is_empty()))
}

/// Whether it ended well, and what it wrote. It ends with the future that asks.
async fn ask(program: &str, server: &str) -> std::io::Result<(bool, Vec<u8>)> {
    #[expect(clippy::disallowed_methods, reason = "the one door for credential helpers, which need what the user has")]
    let mut command = Command::new(program);
    command.arg("get").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // One that ends before it has read everything says why by how it ends.
        _ = stdin.write_all(server.as_bytes()).await;
    }
    let mut answer = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        stdout.take(ANSWER_BYTES_MAX).read_to_end(&mut answer).await?;
    }
    Ok((child.wait().await?.success(), answer))
}
