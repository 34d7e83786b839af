//! How a command fails: what people read, and the number that scripts see, which is the model's.

use entourage_bundle::Fault;
pub(crate) use entourage_model::Exit;
use entourage_model::Report;
use entourage_runtime::RuntimeError;
use entourage_store::StoreError;

const LOCKED: &str = "C015";
const BAD_ADDRESSES: [&str; 2] = ["S025", "S045"];
pub(crate) const UNANSWERED: &str = "C051";

/// A command that did not do what it was asked to. Everything that is wrong is said at once.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) reports: Vec<Report>,
    pub(crate) exit: Exit,
}

impl Failure {
    pub(crate) fn new(exit: Exit, report: Report) -> Self {
        Self { reports: vec![report], exit }
    }

    /// The fault lies in what was asked for.
    pub(crate) fn usage(report: Report) -> Self {
        Self::new(Exit::Usage, report)
    }

    /// The reports were shown already, as the command's own output.
    pub(crate) fn told(exit: Exit) -> Self {
        Self { reports: Vec::new(), exit }
    }

    /// Packing, reading or fetching an artifact did not happen.
    pub(crate) fn of_bundle(fault: Fault) -> Self {
        let exit = fault.exit();
        Self { reports: fault.into_reports(), exit }
    }

    /// Another process has the store.
    pub(crate) fn is_locked(&self) -> bool {
        self.reports.iter().any(|report| report.code.0 == LOCKED)
    }

    /// The server that has the store does not answer.
    pub(crate) fn is_unanswered(&self) -> bool {
        self.reports.iter().any(|report| report.code.0 == UNANSWERED)
    }

    /// The store at `place` refused.
    pub(crate) fn of_store(error: &StoreError, place: &str) -> Self {
        let (code, hint) = match error {
            // An address that cannot be read is the fault of whoever wrote it.
            StoreError::Refused(report) if BAD_ADDRESSES.contains(&report.code.0) => {
                return Self::usage(report.as_ref().clone());
            }
            StoreError::Refused(report) => return Self::new(Exit::Store, report.as_ref().clone()),
            StoreError::Locked => (LOCKED, "wait until that process has ended, or give another folder by `--data DIR`"),
            StoreError::Newer { .. } => ("C016", "use the version of entourage that wrote it, or a newer one"),
            StoreError::Corrupt(_) => {
                ("C017", "`entourage store check` says more; restore a copy, or start afresh by `--data DIR`")
            }
            StoreError::Full => ("C018", "make room on the disk, then `entourage resume` goes on where it stopped"),
            StoreError::NodeDead | StoreError::Unavailable(_) => {
                ("C019", "what was acknowledged is kept; `entourage resume` goes on where it stopped")
            }
        };
        let what = format!("the store `{place}` cannot be used: {error}");
        Self::new(Exit::Store, Report::error(code, what).hint(hint))
    }

    /// The runtime refused, or the store beneath it at `place`.
    pub(crate) fn of_runtime(error: &RuntimeError, place: &str) -> Self {
        let what = error.to_string();
        match error {
            RuntimeError::Store(error) => Self::of_store(error, place),
            RuntimeError::Journal(fault) => Self::of_store(&StoreError::Corrupt(fault.clone()), place),
            RuntimeError::Broken(fault) => Self::of_store(&StoreError::Unavailable(fault.clone()), place),
            RuntimeError::NoThread(_) | RuntimeError::NoRun(_) => Self::usage(
                Report::error("C020", what).hint("`entourage threads` and `entourage runs` list what there is"),
            ),
            RuntimeError::NoAgent(_) => {
                Self::usage(Report::error("C010", what).hint("`entourage agents` lists what there is"))
            }
            RuntimeError::Terminated => {
                Self::usage(Report::error("C022", what).hint("start a new one by `entourage run`"))
            }
            RuntimeError::QueueFull => Self::usage(
                Report::error("C023", what)
                    .hint("let it work first (`entourage resume`), or raise `queue_messages` in `[limits]`"),
            ),
            RuntimeError::MessageTooLarge { .. } => Self::usage(
                Report::error("C023", what)
                    .hint("give the long part as a file (`--file PATH`), or raise `message_bytes` in `[limits]`"),
            ),
            RuntimeError::KeyConflict => Self::usage(Report::error("C023", what)),
        }
    }
}
