//! The picture as lines of a terminal: a tree with what everybody does, cut to the terminal's size.

use super::picture::{Node, NodeState, Picture, Position};
use crate::amount::{duration, tokens};
use crate::screen::Paint;
use console::{measure_text_width, truncate_str};
use entourage_model::{Outcome, Timestamp};

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// Names longer than this are cut, so that there is room for what happens.
const TITLE_COLUMNS_MAX: usize = 34;

/// One moment of the picture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) now: Timestamp,
    /// Counts up, to turn the spinner.
    pub(super) tick: usize,
}

pub(super) fn lines(picture: &Picture, moment: Moment, (columns, rows): (usize, usize), paint: Paint) -> Vec<String> {
    let mut positions = picture.walk();
    let hidden = hide(&mut positions, room(rows));
    let titles: Vec<_> = positions.iter().map(title).collect();
    let width = titles.iter().map(|title| measure_text_width(title)).max().unwrap_or(0);
    let mut lines: Vec<_> = positions
        .iter()
        .zip(&titles)
        .map(|(position, title)| line(position.node, &pad(title, width), moment, (columns, paint)))
        .collect();
    if let Some(words) = hidden.words() {
        lines.push(paint.faint(&truncate_str(&words, columns.saturating_sub(1), "…")));
    }
    lines
}

/// How many lines fit: below them the cursor has a row of its own, without which the terminal would scroll at every
/// drawing. One without a size is taken for a usual one.
fn room(rows: usize) -> usize {
    match rows {
        0 => 23,
        rows => (rows - 1).max(1),
    }
}

/// Threads that there is no room for.
#[derive(Clone, Copy, Debug, Default)]
struct Hidden {
    ended: usize,
    /// At work, or yet to begin.
    live: usize,
}

impl Hidden {
    fn words(self) -> Option<String> {
        match (self.ended, self.live) {
            (0, 0) => None,
            (ended, 0) => Some(format!("  … and {ended} more that have ended")),
            (0, live) => Some(format!("  … and {live} more that have not ended")),
            (ended, live) => Some(format!("  … and {} more, of which {live} have not ended", ended + live)),
        }
    }
}

/// Leaves out threads until the rest fits with the line that tells of them: ended ones first. Where there is one line
/// only, it is the root's, and nothing is told.
fn hide(positions: &mut Vec<Position<'_>>, room: usize) -> Hidden {
    if positions.len() <= room {
        return Hidden::default();
    }
    let rows = room.saturating_sub(1).max(1);
    let mut surplus = positions.len() - rows;
    let (mut hidden, mut kept) = (Hidden::default(), 0);
    positions.retain(|position| {
        let has_ended = matches!(position.node.state, NodeState::Ended(..) | NodeState::Terminated);
        let hides = surplus > 0 && has_ended && !position.last.is_empty();
        surplus -= usize::from(hides);
        hidden.ended += usize::from(hides);
        !hides
    });
    positions.retain(|position| {
        kept += 1;
        let has_ended = matches!(position.node.state, NodeState::Ended(..) | NodeState::Terminated);
        hidden.ended += usize::from(kept > rows && has_ended);
        hidden.live += usize::from(kept > rows && !has_ended);
        kept <= rows
    });
    if room == 1 { Hidden::default() } else { hidden }
}

fn title(position: &Position<'_>) -> String {
    let mut title = String::new();
    if let Some((own, above)) = position.last.split_last() {
        for last in above {
            title.push_str(if *last { "   " } else { "│  " });
        }
        title.push_str(if *own { "└─ " } else { "├─ " });
    }
    title.push_str(&position.node.title());
    truncate_str(&title, TITLE_COLUMNS_MAX, "…").into_owned()
}

fn line(node: &Node, title: &str, moment: Moment, (columns, paint): (usize, Paint)) -> String {
    let mark = mark(node, moment.tick, paint);
    let amount = format!("{:>11}  {:>6}", tokens(node.tokens), duration(node.worked(moment.now)));
    // The mark, three gaps, and one column that stays free so that no terminal wraps.
    let taken = measure_text_width(title) + measure_text_width(&amount) + 7;
    let room = columns.saturating_sub(taken);
    if room < 8 {
        return truncate_str(&format!("{mark} {title}"), columns.saturating_sub(1), "…").into_owned();
    }
    let words = pad(&cut(node, room), room);
    let words = match &node.state {
        NodeState::Ended(Outcome::Failed | Outcome::Unknown, _) => paint.bad(&words),
        NodeState::Working if node.is_speaking() => words,
        _ => paint.faint(&words),
    };
    format!("{mark} {title}  {words}  {}", paint.faint(&amount))
}

/// Of an answer that is coming the end is shown, of everything else the beginning.
fn cut(node: &Node, room: usize) -> String {
    let words = node.activity();
    let surplus = measure_text_width(&words).saturating_sub(room);
    if surplus == 0 || !node.is_speaking() {
        return truncate_str(&words, room, "…").into_owned();
    }
    let kept: String = words.chars().skip(surplus + 1).collect();
    truncate_str(&format!("…{kept}"), room, "").into_owned()
}

fn mark(node: &Node, tick: usize, paint: Paint) -> String {
    match &node.state {
        NodeState::Waiting => paint.faint("·"),
        NodeState::Working => paint.busy(SPINNER[tick % SPINNER.len()]),
        NodeState::Ended(Outcome::Done, _) => paint.good("✓"),
        NodeState::Ended(Outcome::Cancelled, _) | NodeState::Terminated => paint.faint("✗"),
        NodeState::Ended(Outcome::Failed | Outcome::Unknown, _) => paint.bad("✗"),
    }
}

fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(measure_text_width(text))))
}
