//! Threads and runs as people name them: whole, or by a beginning or an end that only one of them has.

use crate::failure::Failure;
use crate::source::Source;
use entourage_model::{Report, RunId, ThreadId};
use entourage_store::{RunFilter, RunRow, ThreadFilter, ThreadRow};

/// Shorter parts say too little.
const CHARACTERS_MIN: usize = 4;
/// So many of several matches are named.
const NAMED_MAX: usize = 8;

/// The thread that `text` means.
pub(crate) async fn thread(source: &dyn Source, text: &str) -> Result<ThreadRow, Failure> {
    if let Ok(id) = text.parse::<ThreadId>() {
        return source.thread(id).await?.ok_or_else(|| unknown("thread", text));
    }
    let rows = source.threads(&ThreadFilter::default(), usize::MAX).await?;
    only("thread", text, rows, |row| row.id.to_string())
}

/// The run that `text` means.
pub(crate) async fn run(source: &dyn Source, text: &str) -> Result<RunRow, Failure> {
    if let Some(row) = source.run(&RunId::from(text)).await? {
        return Ok(row);
    }
    let rows = source.runs(&RunFilter::default(), usize::MAX).await?;
    only("run", text, rows, |row| row.id.to_string())
}

/// The one row whose id begins or ends with `text`.
fn only<T>(kind: &str, text: &str, rows: Vec<T>, id: impl Fn(&T) -> String) -> Result<T, Failure> {
    let matches = |row: &T| id(row).starts_with(text) || id(row).ends_with(text);
    let mut found: Vec<_> = rows.into_iter().filter(matches).collect();
    if text.chars().count() < CHARACTERS_MIN {
        let report = Report::error("C020", format!("`{text}` is too short to name a {kind}"));
        return Err(Failure::usage(report.hint(format!("give at least {CHARACTERS_MIN} characters of its id"))));
    }
    match (found.pop(), found.len()) {
        (Some(row), 0) => Ok(row),
        (None, _) => Err(unknown(kind, text)),
        (Some(last), others) => {
            let ids: Vec<_> = found.iter().chain([&last]).take(NAMED_MAX).map(|row| format!("`{}`", id(row))).collect();
            let report = Report::error("C021", format!("`{text}` names {} {kind}s", others + 1));
            Err(Failure::usage(report.hint(format!("give more of the id: {}", ids.join(", ")))))
        }
    }
}

fn unknown(kind: &str, text: &str) -> Failure {
    let report = Report::error("C020", format!("there is no {kind} `{text}`"));
    Failure::usage(
        report.hint(format!("`entourage {kind}s` lists them; a part of an id from its beginning or end is enough")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<&'static str, String> {
        let rows = vec!["aaaa-1111-zzzz", "aaaa-2222-yyyy"];
        only("run", text, rows, ToString::to_string).map_err(|failure| failure.reports[0].to_string())
    }

    #[test]
    fn a_part_that_only_one_id_has_is_enough() {
        assert_eq!(check("aaaa-1"), Ok("aaaa-1111-zzzz"));
        assert_eq!(check("yyyy"), Ok("aaaa-2222-yyyy"));
        assert_eq!(
            check("aaaa"),
            Err("error[C021]: `aaaa` names 2 runs\nhint: give more of the id: `aaaa-1111-zzzz`, `aaaa-2222-yyyy`"
                .to_owned())
        );
        assert!(check("zzz").unwrap_err().contains("too short"));
        assert!(check("bbbb").unwrap_err().contains("there is no run `bbbb`"));
    }
}
