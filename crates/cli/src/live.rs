//! A tree of threads as it works, shown while somebody waits for it.

mod drawing;
mod picture;

use self::drawing::Moment;
use self::picture::{NodeState, Picture, Step};
use crate::amount::{duration, tokens};
use crate::screen::Screen;
use entourage_model::{Name, Outcome, ThreadId};
use entourage_runtime::{Notice, Runtime, RuntimeError, Watcher};
use entourage_store::JournalReader;
use std::sync::Arc;
use std::time::Duration;

const FRAME: Duration = Duration::from_millis(80);

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Show {
    /// The whole tree, drawn again and again.
    Tree,
    /// A line for every step.
    Lines,
    Nothing,
}

/// Shows one tree. Events are read from the store, so that none is missed or shown twice; notices say when to look
/// and bring what is never stored.
pub(crate) struct Live {
    runtime: Runtime,
    screen: Screen,
    pub(crate) root: ThreadId,
    show: Show,
    watcher: Watcher,
    picture: Picture,
    /// The position of the last event that the picture holds.
    position: u64,
    tick: usize,
}

impl Live {
    /// For a tree that has just been made.
    pub(crate) fn new(runtime: &Runtime, screen: &Screen, root: ThreadId, show: Show) -> Self {
        let watcher = runtime.watch(root);
        let (runtime, screen) = (runtime.clone(), screen.clone());
        Self { runtime, screen, root, show, watcher, picture: Picture::default(), position: 0, tick: 0 }
    }

    /// For a tree with a past, which belongs to the picture but is not told again.
    pub(crate) async fn after_past(mut self) -> Result<Self, RuntimeError> {
        let show = std::mem::replace(&mut self.show, Show::Nothing);
        if show != Show::Nothing {
            self.read().await?;
        }
        Ok(Self { show, ..self })
    }

    /// Shows what happens until it is dropped. A store that cannot be read ends the showing, not the work.
    pub(crate) async fn follow(&mut self) {
        if self.show == Show::Nothing {
            return std::future::pending().await;
        }
        let mut frames = tokio::time::interval(FRAME);
        let mut is_stale = true;
        loop {
            tokio::select! {
                notice = self.watcher.next() => {
                    // Words belong to the step that the store knows last.
                    let is_word = matches!(notice, Notice::Delta { .. });
                    if is_word && std::mem::take(&mut is_stale) && self.read().await.is_err() {
                        return std::future::pending().await;
                    }
                    is_stale |= self.notice(&notice);
                }
                _ = frames.tick() => {
                    if std::mem::take(&mut is_stale) && self.read().await.is_err() {
                        return std::future::pending().await;
                    }
                    if self.show == Show::Tree {
                        self.tick += 1;
                        self.draw();
                    }
                }
            }
        }
    }

    /// Shows the last state and leaves it on the screen.
    pub(crate) async fn finish(&mut self) {
        if self.show == Show::Nothing || self.read().await.is_err() {
            return;
        }
        if self.show == Show::Tree {
            self.draw();
            self.screen.leave();
        }
    }

    /// Returns whether the store knows more now.
    fn notice(&mut self, notice: &Notice) -> bool {
        match notice {
            Notice::Committed { .. } | Notice::Status { .. } | Notice::Lagged => true,
            Notice::Delta { thread, text } => {
                self.picture.hear(*thread, text);
                false
            }
            // The picture shows who works at what, not what programs write.
            Notice::Output { .. } => false,
            Notice::Retrying { thread, why, .. } => {
                let step = self.picture.retry(*thread, why);
                self.tell(step);
                false
            }
        }
    }

    async fn read(&mut self) -> Result<(), RuntimeError> {
        let store = Arc::clone(self.runtime.store());
        let mut journal = JournalReader::of_tree(&*store, self.root, self.position);
        while let Some(stored) = journal.next().await? {
            self.position = stored.position;
            let step = self.picture.apply(stored.thread, &stored.event, store.now());
            self.tell(step);
        }
        Ok(())
    }

    fn draw(&self) {
        let moment = Moment { now: self.runtime.store().now(), tick: self.tick };
        let lines = drawing::lines(&self.picture, moment, self.screen.size(), self.screen.note_paint());
        self.screen.draw(&lines);
    }

    fn tell(&self, step: Option<Step>) {
        let (Show::Lines, Some(step)) = (self.show, step) else { return };
        let (Step::Called { thread, .. } | Step::Retried { thread, .. } | Step::Ended { thread }) = step;
        let Some(node) = self.picture.nodes.get(&thread) else { return };
        let words = match &step {
            Step::Called { tools, .. } => {
                format!("calls {}", tools.iter().map(Name::as_str).collect::<Vec<_>>().join(", "))
            }
            Step::Retried { why, .. } => format!("asks again: {why}"),
            Step::Ended { .. } => {
                let amount = format!("{}, {}", duration(node.worked(self.runtime.store().now())), tokens(node.tokens));
                match &node.state {
                    NodeState::Ended(Outcome::Failed | Outcome::Unknown, why) => format!("failed ({amount}): {why}"),
                    _ => format!("{} ({amount})", node.activity()),
                }
            }
        };
        self.screen.note(&format!("{}: {words}", node.title()));
    }
}

#[cfg(test)]
mod tests;
