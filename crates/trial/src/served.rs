//! The program's server as a process of its own, asked over HTTP, killed and started again where it was.

use anyhow::Context as _;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

/// How long a server may take to say where it is.
const START: Duration = Duration::from_secs(60);

/// A project that a server serves.
#[derive(Clone, Debug)]
pub struct Site {
    /// The program.
    pub program: PathBuf,
    pub folder: PathBuf,
    pub model_url: String,
    pub variables: Vec<(String, String)>,
}

/// A server at work. Ends with this value.
#[derive(Debug)]
pub struct Served {
    process: Child,
    pub address: SocketAddr,
    pub token: String,
}

impl Site {
    /// Lays a file into the project.
    #[expect(clippy::disallowed_methods, reason = "a trial lays out what it tries")]
    pub fn lay(&self, path: &str, text: &str) -> anyhow::Result<()> {
        let path = self.folder.join(path);
        std::fs::create_dir_all(path.parent().context("a file lies in a folder")?)?;
        Ok(std::fs::write(path, text)?)
    }

    /// On a free port, or again on the one that it had.
    pub async fn serve(&self, address: Option<SocketAddr>) -> anyhow::Result<Served> {
        let address = address.map_or_else(|| "127.0.0.1:0".to_owned(), |address| address.to_string());
        let mut process = command(&self.program)
            .args(["--log", "error", "--model", "openai:fake", "--trust", "serve", "--listen", &address])
            .current_dir(&self.folder)
            .env("HOME", &self.folder)
            .env("OPENAI_BASE_URL", &self.model_url)
            .env("OPENAI_API_KEY", "test-key")
            .envs(self.variables.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("{} does not start", self.program.display()))?;
        let mut link = String::new();
        let output = process.stdout.take().context("no standard output")?;
        tokio::time::timeout(START, BufReader::new(output).read_line(&mut link)).await??;
        let address = link.trim().strip_prefix("http://").and_then(|rest| rest.split_once('/'));
        let address = address.and_then(|(address, _)| address.parse().ok());
        let address = address.with_context(|| format!("the server gave no link but {link:?}"))?;
        Ok(Served { process, address, token: self.token()? })
    }

    #[expect(clippy::disallowed_methods, reason = "a trial reads what the program wrote")]
    fn token(&self) -> anyhow::Result<String> {
        Ok(std::fs::read_to_string(self.folder.join(".entourage/token"))?.trim().to_owned())
    }
}

impl Served {
    /// `kill -9`, and waits until it is gone.
    pub async fn kill(mut self) -> anyhow::Result<()> {
        Ok(self.process.kill().await?)
    }

    /// What the process holds of the machine's memory.
    #[expect(clippy::disallowed_methods, reason = "the kernel's figures about a process")]
    pub fn resident_kib(&self) -> anyhow::Result<u64> {
        let id = self.process.id().context("the server has ended")?;
        let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).context("the kernel does not say")
    }

    /// What the process has used of the machine's processors so far.
    #[expect(clippy::disallowed_methods, reason = "the kernel's figures about a process")]
    pub fn processor_time(&self) -> anyhow::Result<Duration> {
        let id = self.process.id().context("the server has ended")?;
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat"))?;
        // Behind the name in brackets, which may hold anything; times are in hundredths of a second.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let hundredths = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok());
        let used = hundredths(11).zip(hundredths(12)).context("the kernel does not say")?;
        Ok(Duration::from_millis((used.0 + used.1) * 10))
    }

    pub async fn connect(&self) -> anyhow::Result<SendRequest<Full<Bytes>>> {
        let (sender, connection) = handshake(TokioIo::new(TcpStream::connect(self.address).await?)).await?;
        // It ends with the sender and the body.
        tokio::spawn(connection);
        Ok(sender)
    }

    pub fn request(&self, method: &str, path: &str, body: &Value) -> anyhow::Result<Request<Full<Bytes>>> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = Request::builder().method(method).uri(path).header("host", self.address.to_string());
        let request = request.header("authorization", format!("Bearer {}", self.token));
        Ok(request.header("content-type", "application/json").body(Full::from(body))?)
    }

    /// The document that a request on a connection of its own is answered with.
    pub async fn ask(&self, method: &str, path: &str, body: &Value) -> anyhow::Result<Value> {
        let bytes = self.text(method, path, body).await?;
        Ok(serde_json::from_slice(&bytes)?)
    }

    pub async fn get(&self, path: &str) -> anyhow::Result<Value> {
        self.ask("GET", path, &Value::Null).await
    }

    pub async fn text(&self, method: &str, path: &str, body: &Value) -> anyhow::Result<Bytes> {
        let mut sender = self.connect().await?;
        let response = sender.send_request(self.request(method, path, body)?).await?;
        good(response).await
    }
}

/// The whole body of an answer that says yes.
pub async fn good(response: Response<Incoming>) -> anyhow::Result<Bytes> {
    let status = response.status();
    let body = response.into_body().collect().await?.to_bytes();
    anyhow::ensure!(status.is_success(), "{status}: {}", String::from_utf8_lossy(&body));
    Ok(body)
}

#[expect(clippy::disallowed_methods, reason = "a trial starts what it tries")]
fn command(program: &Path) -> Command {
    Command::new(program)
}
