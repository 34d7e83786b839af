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
    let hidden = hide(&mut positions, rows.saturating_sub(2).max(4));
    let titles: Vec<_> = positions.iter().map(title).collect();
    let width = titles.iter().map(|title| measure_text_width(title)).max().unwrap_or(0);
    let mut lines: Vec<_> = positions
        .iter()
        .zip(&titles)
        .map(|(position, title)| line(position.node, &pad(title, width), moment, (columns, paint)))
        .collect();
    if hidden > 0 {
        lines.push(paint.faint(&format!("  … and {hidden} more that have ended")));
    }
    lines
}

/// Leaves out ended threads until the rest fits; returns how many.
fn hide(positions: &mut Vec<Position<'_>>, rows: usize) -> usize {
    let mut surplus = positions.len().saturating_sub(rows);
    let before = positions.len();
    positions.retain(|position| {
        let is_idle = !position.last.is_empty() && !matches!(position.node.state, NodeState::Working);
        let hides = surplus > 0 && is_idle;
        surplus -= usize::from(hides);
        !hides
    });
    positions.truncate(rows);
    before - positions.len()
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
