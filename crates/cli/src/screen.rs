//! The terminal: data to stdout, everything else to stderr, and a picture on stderr that redraws itself in place.

use crate::environment;
use crate::harmless::{bare, harmless};
use console::{Style, Term};
use entourage_model::{Report, Severity};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;
use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tracing_subscriber::fmt::MakeWriter;

/// How often it is looked whether anybody reads stdout.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// What stdout is for in this call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Json,
}

/// A handle to the terminal. Clones share the picture, so that a log line goes above it and not through it.
#[derive(Clone)]
pub(crate) struct Screen {
    pub(crate) format: Format,
    stderr: Term,
    /// Whether a picture on stderr can be redrawn.
    pub(crate) is_live: bool,
    data_paint: Paint,
    note_paint: Paint,
    /// How many lines of stderr the picture takes up.
    drawn: Arc<Mutex<usize>>,
    /// Why something that was asked for did not come to stdout: the first such fault.
    loss: Arc<OnceLock<io::Error>>,
}

impl Screen {
    pub(crate) fn new(format: Format) -> Self {
        let plain = environment::variable("NO_COLOR").is_some();
        let dumb = environment::variable("TERM").is_none_or(|term| term == "dumb");
        let paint = |is_terminal: bool| Paint { coloured: is_terminal && !plain && !dumb };
        Self {
            format,
            stderr: Term::stderr(),
            is_live: io::stderr().is_terminal() && !dumb,
            data_paint: paint(io::stdout().is_terminal()),
            note_paint: paint(io::stderr().is_terminal()),
            drawn: Arc::default(),
            loss: Arc::default(),
        }
    }

    /// For what goes to stdout.
    pub(crate) fn data_paint(&self) -> Paint {
        self.data_paint
    }

    /// For what goes to stderr.
    pub(crate) fn note_paint(&self) -> Paint {
        self.note_paint
    }

    /// Prints what was asked for: exactly, but where somebody reads it on a terminal. What cannot be printed is no reason
    /// to leave work undone; `is_delivered` and `loss` tell of it afterwards.
    pub(crate) fn data(&self, text: &str) {
        let text = if io::stdout().is_terminal() { harmless(text, self.data_paint) } else { Cow::Borrowed(text) };
        let newline = if text.ends_with('\n') { "" } else { "\n" };
        let mut stdout = io::stdout().lock();
        if let Err(fault) = write!(stdout, "{text}{newline}").and_then(|()| stdout.flush()) {
            // The first fault is the cause of the others.
            _ = self.loss.set(fault);
        }
    }

    /// Whether everything that was printed so far has come to stdout.
    pub(crate) fn is_delivered(&self) -> bool {
        self.loss.get().is_none()
    }

    /// What is to be told of data that did not come to stdout. A reader that went away, as `head` does, is no fault.
    pub(crate) fn loss(&self) -> Option<Report> {
        let fault = self.loss.get().filter(|fault| fault.kind() != io::ErrorKind::BrokenPipe)?;
        let report = Report::error("C057", format!("what was asked for cannot be written to standard output: {fault}"));
        Some(
            report.hint("make room, or print elsewhere; `entourage runs --unread` lists results that nobody was given"),
        )
    }

    /// Waits until nobody reads stdout any more, or it takes nothing.
    pub(crate) async fn abandoned(&self) {
        while self.is_delivered() && !is_stdout_broken() {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Prints the one document of a call with `--json`.
    pub(crate) fn json(&self, document: &impl Serialize) {
        let text = serde_json::to_string_pretty(document).expect("our documents have only text keys");
        self.data(&text);
    }

    /// A line beside the data.
    pub(crate) fn note(&self, text: &str) {
        let text = if io::stderr().is_terminal() { harmless(text, self.note_paint) } else { Cow::Borrowed(text) };
        self.above_picture(format!("{text}\n").as_bytes());
    }

    pub(crate) fn report(&self, report: &Report) {
        self.note(&self.note_paint.report(report));
    }

    /// Columns and rows of the terminal that the picture is on.
    pub(crate) fn size(&self) -> (usize, usize) {
        let (rows, columns) = self.stderr.size();
        (usize::from(columns), usize::from(rows))
    }

    /// Puts these lines in place of the last picture. None of them may be wider than the terminal.
    pub(crate) fn draw(&self, lines: &[String]) {
        let mut drawn = self.drawn();
        let mut frame = erased(*drawn);
        for line in lines {
            frame.push_str(&bare(line, self.note_paint));
            frame.push('\n');
        }
        _ = io::stderr().lock().write_all(frame.as_bytes());
        *drawn = lines.len();
    }

    /// Leaves the picture where it is, set off from the data if both are on the same terminal.
    pub(crate) fn leave(&self) {
        *self.drawn() = 0;
        if io::stdout().is_terminal() {
            _ = io::stderr().lock().write_all(b"\n");
        }
    }

    fn drawn(&self) -> MutexGuard<'_, usize> {
        self.drawn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Erases the picture, writes, and lets the next `draw` put it back below.
    fn above_picture(&self, bytes: &[u8]) {
        let mut drawn = self.drawn();
        let mut stderr = io::stderr().lock();
        // Nobody is left to be told that stderr is closed.
        _ = stderr.write_all(erased(*drawn).as_bytes()).and_then(|()| stderr.write_all(bytes));
        *drawn = 0;
    }
}

/// Whether stdout is a pipe or a connection whose other end is closed. Files and terminals have none.
fn is_stdout_broken() -> bool {
    let stdout = io::stdout();
    let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
    let looked = poll(&mut watched, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
    looked.is_ok() && watched[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}

/// Moves to where a picture of that many lines begins and clears everything below.
fn erased(lines: usize) -> String {
    if lines == 0 { String::new() } else { format!("\x1b[{lines}A\r\x1b[J") }
}

/// The log writes through the screen.
impl<'a> MakeWriter<'a> for Screen {
    type Writer = LogLine<'a>;

    fn make_writer(&'a self) -> LogLine<'a> {
        LogLine(self)
    }
}

pub(crate) struct LogLine<'a>(&'a Screen);

impl io::Write for LogLine<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.above_picture(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Colours, where there are any. Nothing may need them to be understood.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    pub(crate) coloured: bool,
}

impl Paint {
    pub(crate) fn good(self, text: &str) -> String {
        self.apply(Style::new().green(), text)
    }

    pub(crate) fn bad(self, text: &str) -> String {
        self.apply(Style::new().red(), text)
    }

    pub(crate) fn busy(self, text: &str) -> String {
        self.apply(Style::new().cyan(), text)
    }

    pub(crate) fn strong(self, text: &str) -> String {
        self.apply(Style::new().bold(), text)
    }

    pub(crate) fn faint(self, text: &str) -> String {
        self.apply(Style::new().dim(), text)
    }

    fn apply(self, style: Style, text: &str) -> String {
        style.force_styling(self.coloured).apply_to(text).to_string()
    }

    /// A report as its `Display` writes it, with the words that lead its lines in colour.
    pub(crate) fn report(self, report: &Report) -> String {
        let text = report.to_string();
        if !self.coloured {
            return text;
        }
        let (head, rest) = text.split_once(':').unwrap_or((&text, ""));
        let head = match report.severity {
            Severity::Error => self.apply(Style::new().red().bold(), head),
            Severity::Warning => self.apply(Style::new().yellow().bold(), head),
        };
        format!("{head}:{}", rest.replace("\nhint:", &format!("\n{}", self.busy("hint:"))))
    }
}
