//! What moves to or from a registry, as bars on stderr; nothing where nobody looks.

use crate::amount;
use crate::screen::Screen;
use entourage_outside::registry::{Unwatched, Watch};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Often enough to look alive, and seldom enough to cost nothing.
const FRAME: Duration = Duration::from_millis(80);
const BAR_CELLS: u64 = 24;
const NAME_COLUMNS: usize = 18;

/// Whoever shows a transfer on this screen.
pub(crate) fn watch(screen: &Screen) -> Arc<dyn Watch> {
    if !screen.is_live {
        return Arc::new(Unwatched);
    }
    Arc::new(Bars { screen: screen.clone(), state: Mutex::default() })
}

struct Bars {
    screen: Screen,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    bars: Vec<Bar>,
    drawn: Option<Instant>,
}

#[derive(Debug)]
struct Bar {
    name: String,
    bytes: u64,
    moved: u64,
}

impl Bars {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn draw(&self, state: &mut State, now: Instant) {
        let (columns, rows) = self.screen.size();
        let first = state.bars.len().saturating_sub(rows.saturating_sub(1).max(1));
        let lines: Vec<_> = state.bars[first..].iter().map(|bar| cut(&bar.line(), columns)).collect();
        self.screen.draw(&lines);
        state.drawn = Some(now);
    }
}

impl Watch for Bars {
    fn begins(&self, what: &str, bytes: u64) {
        let mut state = self.state();
        // One that has to be moved again takes its own place.
        if state.bars.last().is_some_and(|bar| bar.name == what) {
            state.bars.pop();
        }
        state.bars.push(Bar { name: what.to_owned(), bytes, moved: 0 });
        self.draw(&mut state, Instant::now());
    }

    fn moved(&self, bytes: u64) {
        let mut state = self.state();
        if let Some(bar) = state.bars.last_mut() {
            bar.moved += bytes;
        }
        let now = Instant::now();
        if state.drawn.is_none_or(|drawn| now - drawn >= FRAME) {
            self.draw(&mut state, now);
        }
    }

    fn ends(&self) {
        let mut state = self.state();
        if let Some(bar) = state.bars.last_mut() {
            bar.moved = bar.bytes;
        }
        self.draw(&mut state, Instant::now());
    }
}

/// The bars go with whoever drew them: what was reached is said in words.
impl Drop for Bars {
    fn drop(&mut self) {
        self.screen.draw(&[]);
    }
}

impl fmt::Debug for Bars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bars").field("state", &self.state).finish_non_exhaustive()
    }
}

impl Bar {
    fn line(&self) -> String {
        let moved = self.moved.min(self.bytes);
        let cells = moved.saturating_mul(BAR_CELLS).checked_div(self.bytes).unwrap_or(BAR_CELLS);
        let full = "━".repeat(usize::try_from(cells).unwrap_or_default());
        let empty = " ".repeat(usize::try_from(BAR_CELLS - cells).unwrap_or_default());
        format!("{:NAME_COLUMNS$} {full}{empty} {} of {}", self.name, amount::bytes(moved), amount::bytes(self.bytes))
    }
}

fn cut(line: &str, columns: usize) -> String {
    line.chars().take(columns.saturating_sub(1).max(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_grows_with_what_has_moved() {
        let line = |moved, bytes| Bar { name: "knowledge".to_owned(), bytes, moved }.line();
        assert_eq!(line(0, 200_000_000), "knowledge                                   0 B of 200.0 MB");
        assert_eq!(line(100_000_000, 200_000_000).matches('━').count(), 12);
        assert_eq!(line(7, 7).matches('━').count(), 24);
        assert_eq!(line(9, 7).matches('━').count(), 24);
        assert_eq!(line(0, 0).matches('━').count(), 24);
    }
}
