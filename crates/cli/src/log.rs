//! The log: causes and details for whoever looks for them, on stderr.

use crate::arguments::LogLevel;
use crate::screen::Screen;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Starts the log. Of the crates that we use only warnings are told, whatever the level.
pub(crate) fn start(level: LogLevel, screen: &Screen) {
    let level = level.filter();
    let filter = Targets::new().with_default(level.min(LevelFilter::WARN)).with_target("entourage", level);
    // What it says about certificates is an error that we report ourselves.
    let filter = filter.with_target("rustls_platform_verifier", LevelFilter::OFF);
    let lines = fmt::layer()
        .with_ansi(screen.note_paint().coloured)
        .with_writer(screen.clone())
        .with_timer(fmt::time::uptime())
        .with_target(false);
    // Only `main` starts a log: nobody was there before.
    _ = tracing_subscriber::registry().with(filter).with(lines).try_init();
}
