//! The commands, one file each: arguments in, data on stdout or a failure out.

pub(crate) mod agents;
pub(crate) mod build;
pub(crate) mod cancel;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod diff;
pub(crate) mod export;
pub(crate) mod extract;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod inspect;
pub(crate) mod login;
pub(crate) mod materialize;
pub(crate) mod mcp;
pub(crate) mod pull;
pub(crate) mod push;
pub(crate) mod result;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod send;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod sign;
pub(crate) mod stop;
pub(crate) mod store;
pub(crate) mod tail;
pub(crate) mod terminate;
pub(crate) mod threads;
pub(crate) mod trust;
pub(crate) mod verify;

use crate::arguments::{Arguments, Command};
use crate::failure::{Exit, Failure};
use crate::invocation::Invocation;
use crate::screen::Screen;
use entourage_model::Report;

/// Does what was typed.
pub(crate) fn perform(arguments: Arguments, screen: &Screen) -> Result<(), Failure> {
    let Arguments { options, command } = arguments;
    // These need no project.
    match command {
        Command::Completions(arguments) => {
            completions::perform(&arguments, screen);
            return Ok(());
        }
        Command::Trust(arguments) => return trust::perform(&arguments, &options, screen),
        Command::Demo(arguments) => return wait_for(demo::perform(&arguments, options, screen.clone())),
        _ => {}
    }
    let mut invocation = Invocation::open(options, screen.clone())?;
    if reads_declarations(&command) {
        invocation.open_bundle()?;
    }
    // These tell what is wrong with the settings, and go on.
    match command {
        Command::Check(_) => return check::perform(&invocation),
        Command::Agents(_) => {
            agents::perform(&invocation);
            return Ok(());
        }
        _ => {}
    }
    invocation.insist_on_settings()?;
    perform_in(&invocation, command)
}

/// Whether it needs to know what the project declares, so that a bundle has to be there for it.
fn reads_declarations(command: &Command) -> bool {
    matches!(
        command,
        Command::Run(_)
            | Command::Resume(_)
            | Command::Send(_)
            | Command::Serve(_)
            | Command::Mcp(_)
            | Command::Agents(_)
            | Command::Check(_)
            | Command::Export(_)
            | Command::Import(_)
    )
}

/// Does it in a project whose settings are in order.
fn perform_in(invocation: &Invocation, command: Command) -> Result<(), Failure> {
    match command {
        Command::Run(arguments) => wait_for(run::perform(invocation, arguments)),
        Command::Resume(arguments) => wait_for(resume::perform(invocation, arguments)),
        Command::Serve(arguments) => wait_for(serve::perform(invocation, arguments)),
        Command::Mcp(arguments) => wait_for(mcp::perform(invocation, arguments)),
        Command::Init(arguments) => init::perform(invocation, &arguments),
        Command::Import(arguments) => import::perform(invocation, &arguments),
        Command::Export(arguments) => export::perform(invocation, &arguments),
        Command::Build(arguments) => wait_for(build::perform(invocation, arguments)),
        Command::Inspect(arguments) => wait_for(inspect::perform(invocation, arguments)),
        Command::Verify(arguments) => wait_for(verify::perform(invocation, arguments)),
        Command::Extract(arguments) => wait_for(extract::perform(invocation, arguments)),
        Command::Diff(arguments) => wait_for(diff::perform(invocation, arguments)),
        Command::Push(arguments) => wait_for(push::perform(invocation, arguments)),
        Command::Sign(arguments) => wait_for(sign::perform(invocation, arguments)),
        Command::Pull(arguments) => pull::perform(invocation, &arguments),
        Command::Materialize(arguments) => wait_for(materialize::perform(invocation, arguments)),
        Command::Login(arguments) => wait_for(login::perform(invocation, arguments)),
        Command::Threads(arguments) => wait_for(threads::perform(invocation, arguments)),
        Command::Show(arguments) => wait_for(show::perform(invocation, arguments)),
        Command::Tail(arguments) => wait_for(tail::perform(invocation, arguments)),
        Command::Send(arguments) => wait_for(send::perform(invocation, arguments)),
        Command::Stop(arguments) => wait_for(stop::perform(invocation, arguments)),
        Command::Terminate(arguments) => wait_for(terminate::perform(invocation, arguments)),
        Command::Runs(arguments) => wait_for(runs::perform(invocation, arguments)),
        Command::Result(arguments) => wait_for(result::perform(invocation, arguments)),
        Command::Cancel(arguments) => wait_for(cancel::perform(invocation, arguments)),
        Command::Store(store::Command::Check) => wait_for(store::check(invocation)),
        Command::Store(store::Command::Migrate) => wait_for(store::migrate(invocation)),
        Command::Store(store::Command::Copy(arguments)) => wait_for(store::copy(invocation, arguments)),
        Command::Check(_) | Command::Agents(_) | Command::Demo(_) | Command::Completions(_) | Command::Trust(_) => {
            Ok(())
        }
    }
}

/// Starts the threads that drive futures, as late as this, and leaves without waiting for those that hang.
pub(crate) fn wait_for<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let workers = std::thread::available_parallelism().map_or(2, |cores| cores.get().max(2));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build();
    let runtime = runtime.map_err(|fault| {
        Failure::new(Exit::File, Report::error("C027", format!("no threads can be started: {fault}")))
    })?;
    let done = runtime.block_on(Box::pin(work));
    runtime.shutdown_background();
    done
}
