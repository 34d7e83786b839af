//! `entourage mcp`: this project's agents for another harness, by the Model Context Protocol on standard input and output.

use super::serve;
use crate::failure::{Exit, Failure};
use crate::interrupt::Interrupts;
use crate::invocation::Invocation;
use crate::models;
use crate::readiness::Readiness;
use crate::remote_server;
use crate::server_file::ServerFile;
use crate::source::unanswered;
use crate::storage::Storage;
use crate::token_file;
use crate::workbench::Workbench;
use clap::Args;
use entourage_model::Report;
use entourage_serve::mcp::{Answerer, Mcp, Relay, Switch};
use entourage_serve::{Drain, Server, Service};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;

/// How often, and how long apart, it is looked whether that process answers or has gone: it may just be starting.
const TRIES: usize = 50;
const PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  claude mcp add entourage -- entourage mcp     give Claude Code subagents that outlive it
  entourage --project ../other mcp              those of another project

Tell your harness to start `entourage mcp` in the project's folder. Its subagents are kept in the data folder and outlive
the connection. Where a server holds the data folder already, everything is passed on to it; otherwise this process serves
others as well, on a free port of this machine and with the same token.")]
pub(crate) struct Arguments {}

pub(crate) async fn perform(invocation: &Invocation, _arguments: Arguments) -> Result<(), Failure> {
    let mut interrupts = Interrupts::listen().map_err(|fault| {
        Failure::new(Exit::File, Report::error("C027", format!("signals cannot be listened to: {fault}")))
    })?;
    let mut held = None;
    let (switch, mut searches) = Switch::new(find(invocation, &mut held).await?);
    let mut conversation = switch.converse();
    let ended = loop {
        tokio::select! {
            ended = &mut conversation => break ended,
            () = interrupts.next() => break Ok(()),
            Some(search) = searches.recv() => {
                let found = find(invocation, &mut held).await;
                // A client that has gone meanwhile is not told.
                _ = search.send(found.map_err(|failure| why(&failure)));
            }
        }
    };
    if let Some(held) = held {
        held.close().await;
    }
    // A client that has gone, and being asked to end, are both good endings.
    ended.map_err(|fault| {
        let hint = "`entourage mcp` is started by an MCP client, which talks to it on standard input";
        Failure::usage(Report::error("C048", fault.to_string()).hint(hint))
    })
}

/// Who answers for the data folder: the server that holds it, else this process from now on.
async fn find(invocation: &Invocation, held: &mut Option<Held>) -> Result<Answerer, Failure> {
    let mut tries = 1..TRIES;
    loop {
        let locked = match Storage::open(invocation).await {
            Ok(storage) => {
                let (holding, mcp) = Held::open(invocation, storage).await?;
                *held = Some(holding);
                return Ok(Answerer::Here(mcp));
            }
            Err(failure) if failure.is_locked() => failure,
            Err(failure) => return Err(failure),
        };
        if let Some(relay) = holder(invocation).await? {
            return Ok(Answerer::There(relay));
        }
        if tries.next().is_none() {
            return Err(unanswered(locked, &invocation.project));
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// The server that holds the data folder, if it answers.
async fn holder(invocation: &Invocation) -> Result<Option<Relay>, Failure> {
    let Some(address) = remote_server::address(&invocation.project).await else { return Ok(None) };
    let Some(token) = token_file::own(&invocation.project) else { return Ok(None) };
    match Relay::connect(address, &token).await {
        Ok(relay) => Ok(Some(relay)),
        Err(fault) => {
            tracing::info!("the server cannot be used: {fault}");
            Ok(None)
        }
    }
}

fn why(failure: &Failure) -> String {
    failure.reports.iter().map(|report| report.what.as_str()).collect::<Vec<_>>().join("; ")
}

/// The data folder in this process: it works on the threads for its own client and for those that come later.
struct Held {
    bench: Workbench,
    file: ServerFile,
    drain: Drain,
    /// Ends with the drain.
    serving: JoinHandle<()>,
}

impl Held {
    async fn open(invocation: &Invocation, storage: Storage) -> Result<(Self, Mcp), Failure> {
        let project = &invocation.project;
        let models = models::settings(invocation)?;
        let readiness = Readiness::new(invocation, &models)?;
        project.make_data_folder()?;
        let tokens = token_file::open(project)?;
        let server = Server::listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
            .await
            .map_err(|fault| Failure::new(Exit::Network, Report::error("C037", fault.to_string())))?;
        let bench = Workbench::open(project, storage, serve::equipment(invocation, models)?).await?;
        let teams = serve::Declared::open(invocation)?;
        let service = Service::new(bench.runtime.clone(), Arc::new(teams), tokens);
        serve::tell_faults(invocation);
        readiness.warn(invocation, &bench).await?;
        bench.runtime.resume(None);
        let (file, service) = ServerFile::write(project, server.address(), service)?;
        let drain = Drain::default();
        let serving = tokio::spawn(server.run(service.clone(), drain.clone()));
        Ok((Self { bench, file, drain, serving }, Mcp::new(service)))
    }

    async fn close(self) {
        self.drain.begin();
        self.file.remove();
        self.bench.close().await;
        if let Err(broken) = self.serving.await {
            tracing::warn!("the server broke: {broken}");
        }
    }
}
