//! `entourage serve`: the API of this project's threads, until somebody ends the process.

use crate::declarations::{self, is_of_packages};
use crate::failure::{Exit, Failure};
use crate::interrupt::Interrupts;
use crate::invocation::Invocation;
use crate::models;
use crate::private_file;
use crate::project::Project;
use crate::readiness::Readiness;
use crate::server_file::ServerFile;
use crate::servers;
use crate::settings::{Settings, SettingsFile};
use crate::source::alone;
use crate::storage::Storage;
use crate::token_file;
use crate::workbench::{self, Equipment, Workbench};
use clap::Args;
use entourage_model::{Name, Report, Severity, Team};
use entourage_serve::{Drain, Server, Service, Teams, Token};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use std::net::SocketAddr;
use std::sync::Arc;

const DESCRIPTORS: u64 = 16_384;
const LISTEN: &str = "127.0.0.1:7717";

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  entourage serve                            on this machine; the printed link opens the web page
  entourage serve --listen 127.0.0.1:0       on a free port
  entourage --project oci:registry.example/team:1 serve

Unfinished threads go on by themselves. Every request but `/healthz` needs `Authorization: Bearer TOKEN`; the token is
in the file `token` of the data folder. The printed link opens the web page once, within a quarter of an hour.")]
pub(crate) struct Arguments {
    /// The address to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = LISTEN, value_parser = address)]
    listen: SocketAddr,
}

/// An address and a port. The one name that is looked up nowhere stands for the address that it has everywhere.
fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    let parsed = port.as_deref().unwrap_or(text).parse();
    parsed.map_err(|_| format!("it is no address with a port, such as `{LISTEN}` or `localhost:7717`"))
}

impl Arguments {
    /// On a free port of this machine.
    pub(crate) fn anywhere() -> Self {
        Self { listen: SocketAddr::from(([127, 0, 0, 1], 0)) }
    }
}

pub(crate) async fn perform(invocation: &Invocation, arguments: Arguments) -> Result<(), Failure> {
    let project = &invocation.project;
    if !arguments.listen.ip().is_loopback() && !token_file::exists(project) {
        let what = format!("{} can be reached from elsewhere, and nobody has chosen a token yet", arguments.listen);
        let hint = "serve on 127.0.0.1 once, which makes the file `token` in the data folder, or write one into it";
        return Err(Failure::usage(Report::error("C036", what).hint(hint)));
    }
    let (mut interrupts, mut again) = (listen()?, listen()?);
    raise_descriptor_limit();
    let models = models::settings(invocation)?;
    let readiness = Readiness::new(invocation, &models)?;
    let storage = alone(invocation, Storage::open(invocation).await).await?;
    project.make_data_folder()?;
    let tokens = token_file::open(project)?;
    if tokens.has_short() {
        let report = Report::warning("C059", "the file `token` in the data folder has a token that could be guessed");
        invocation.screen.report(&report.hint("take at least 16 characters that nobody can think of"));
    }
    let server = Server::listen(arguments.listen)
        .await
        .map_err(|fault| Failure::new(Exit::Network, Report::error("C037", fault.to_string())))?;
    let bench = Workbench::open(project, storage, equipment(invocation, models)?).await?;
    let teams = Declared::open(invocation)?;
    let service = Service::new(bench.runtime.clone(), Arc::new(teams), tokens);
    tell_faults(invocation);
    readiness.warn(invocation, &bench).await?;
    bench.runtime.resume(None);
    let (file, service) = ServerFile::write(project, server.address(), service)?;
    announce(invocation, &link(&service, server.address())?);
    let drain = Drain::default();
    let serving = server.run(service, drain.clone());
    let asked = async {
        interrupts.next().await;
        drain.begin();
        file.remove();
        invocation.screen.note("stopping; Ctrl-C again to stop at once");
        // Streams end with the runtime, so that both end together.
        bench.close().await;
    };
    let again = async {
        again.next().await;
        again.next().await;
    };
    tokio::select! {
        ((), ()) = async { tokio::join!(serving, asked) } => {}
        () = again => {}
    }
    Ok(())
}

fn listen() -> Result<Interrupts, Failure> {
    Interrupts::listen().map_err(|fault| {
        Failure::new(Exit::File, Report::error("C027", format!("signals cannot be listened to: {fault}")))
    })
}

/// Every stream is a descriptor, and the system's first answer is often 1,024. If it refuses, fewer fit in.
fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(DESCRIPTORS, |maximum| maximum.min(DESCRIPTORS));
    if limit.current.is_some_and(|current| current < wanted) {
        _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: limit.maximum });
    }
}

pub(super) fn equipment(
    invocation: &Invocation,
    models: entourage_outside::model::ModelSettings,
) -> Result<Equipment, Failure> {
    Ok(Equipment {
        models,
        tools: workbench::tools(invocation),
        servers: servers::open(invocation)?,
        limits: invocation.settings.limits.clone(),
        variables: invocation.settings.variables.clone(),
        remotes: declarations::remotes(invocation),
        reach: workbench::reach(invocation),
        task_files: invocation.settings.task_files,
    })
}

/// The page's address, with a code that opens it once: whoever finds it later in a log or a history gets nowhere.
fn link(service: &Service, address: SocketAddr) -> Result<String, Failure> {
    let code = private_file::randomness().and_then(Token::generate).map_err(|fault| {
        Failure::new(Exit::File, Report::error("C038", format!("a code for the page cannot be made: {fault}")))
    })?;
    let query = format!("?code={}", code.reveal());
    Ok(format!("http://{address}/{}", if service.invite(code) { query } else { String::new() }))
}

fn announce(invocation: &Invocation, link: &str) {
    if invocation.is_json() {
        invocation.screen.json(&json!({ "url": link }));
    } else {
        invocation.screen.data(link);
    }
}

/// A server starts with what is in order; the rest is said.
pub(super) fn tell_faults(invocation: &Invocation) {
    let reports = invocation.declarations().reports;
    for report in reports.iter().filter(|report| report.severity == Severity::Error || is_of_packages(report)) {
        invocation.screen.report(report);
    }
    servers::warn(invocation, &reports);
}

/// What the project declares at the moment.
#[derive(Debug)]
pub(super) struct Declared {
    project: Project,
    settings: Settings,
    files: Vec<SettingsFile>,
}

impl Declared {
    pub(super) fn open(invocation: &Invocation) -> Result<Self, Failure> {
        Ok(Self {
            project: invocation.project.again()?,
            settings: invocation.settings.clone(),
            files: invocation.settings_files.clone(),
        })
    }
}

impl Teams for Declared {
    fn current(&self) -> Arc<Team> {
        Arc::new(declarations::load(&self.project, &self.settings, &self.files).team)
    }

    fn lack(&self, agent: &Name) -> Option<String> {
        let loaded = declarations::load(&self.project, &self.settings, &self.files);
        let Report { code, what, place, .. } = loaded.first_fault(agent)?;
        let place = place.as_ref().map(|place| format!(" at {place}")).unwrap_or_default();
        Some(format!("its declaration has faults, of which the first is {}{place}: {what}", code.0))
    }
}
