//! The commands, one file each: arguments in, data on stdout or a failure out.

pub(crate) mod agents;
pub(crate) mod cancel;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod mcp;
pub(crate) mod result;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod send;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod stop;
pub(crate) mod store;
pub(crate) mod tail;
pub(crate) mod terminate;
pub(crate) mod threads;

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
        Command::Demo(arguments) => return wait_for(demo::perform(&arguments, options, screen.clone())),
        _ => {}
    }
    let invocation = Invocation::open(options, screen.clone())?;
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
        Command::Check(_) | Command::Agents(_) | Command::Demo(_) | Command::Completions(_) => Ok(()),
    }
}

/// Starts the threads that drive futures, as late as this, and leaves without waiting for those that hang.
fn wait_for(work: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    let workers = std::thread::available_parallelism().map_or(2, |cores| cores.get().max(2));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build();
    let runtime = runtime.map_err(|fault| {
        Failure::new(Exit::File, Report::error("C027", format!("no threads can be started: {fault}")))
    })?;
    let done = runtime.block_on(Box::pin(work));
    runtime.shutdown_background();
    done
}
