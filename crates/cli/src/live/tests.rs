//! Events in, lines of a terminal out.

use super::*;
use crate::screen::Paint;
use entourage_model::{
    ChildLink, Communication, Dialect, Digest, Ending, Event, Ids, Message, Rest, Role, RunId, SessionEnd, Side,
    Started, Timestamp, ToolCall, Usage, Wait,
};

const NOW: Timestamp = Timestamp(10_000_000);

/// A picture that is told what happens, thread by thread.
struct Stage {
    picture: Picture,
    threads: Vec<ThreadId>,
}

impl Stage {
    /// A root named `lead`, and so many children named `child`, all at work.
    fn with_children(count: usize) -> Self {
        let mut ids = Ids::new(Timestamp(0), 1);
        let threads: Vec<_> = (0..=count).map(|_| ids.thread()).collect();
        let mut stage = Self { picture: Picture::default(), threads };
        stage.happen(0, &stage.started("lead", None));
        for child in 1..=count {
            stage.happen(0, &stage.child_started(child));
            stage.happen(child, &stage.started("child", Some(stage.threads[0])));
        }
        for thread in 0..=count {
            stage.happen(thread, &Event::SessionStarted { deadline: NOW, acting: Side::A, ask: None });
        }
        stage
    }

    fn started(&self, agent: &str, parent: Option<ThreadId>) -> Event {
        let root = Started::root(self.threads[0], agent.into(), Digest::of(b""), Timestamp(9_600_000));
        Event::Started(Started { parent, ..root })
    }

    fn child_started(&self, child: usize) -> Event {
        Event::ChildStarted(Box::new(ChildLink {
            thread: self.threads[child],
            run: Some(RunId::from("r")),
            wait: Wait::Background,
            agent: "child".into(),
            alias: None,
            title: None,
            description: String::new(),
            given_name: Some(format!("no {child}")),
            group: None,
            dialect: Dialect::Standard,
            resumable: false,
            blocking: true,
            communication: Communication::Implicit,
            at: Timestamp(9_600_000),
        }))
    }

    fn happen(&mut self, thread: usize, event: &Event) -> Option<Step> {
        self.picture.apply(self.threads[thread], event, NOW)
    }

    fn answer(&mut self, thread: usize, tools: &[&str]) -> Option<Step> {
        let mut message = Message::new(Ids::new(NOW, 2).message(), Role::Assistant, "", NOW);
        let call = |(place, tool): (usize, &&str)| ToolCall {
            id: format!("c{place}").into(),
            name: (*tool).into(),
            arguments: String::new(),
        };
        message.tool_calls = tools.iter().enumerate().map(call).collect();
        let usage = Usage { input_tokens: 30, output_tokens: 4, steps: 1 };
        self.happen(thread, &Event::Answered { message: Arc::new(message), usage })
    }

    fn end(&mut self, thread: usize, outcome: Outcome, text: &str) {
        let ending = Ending { outcome, text: text.to_owned(), attachments: Vec::new(), limit: None };
        self.happen(thread, &Event::SessionEnded(Box::new(SessionEnd { ending, rest: Rest::Done })));
    }

    #[track_caller]
    fn check(&self, size: (usize, usize), expected: &[&str]) {
        let lines = drawing::lines(&self.picture, Moment { now: NOW, tick: 0 }, size, Paint { coloured: false });
        assert_eq!(lines, expected);
        assert!(lines.iter().all(|line| console::measure_text_width(line) < size.0), "a line would wrap");
    }
}

#[test]
fn a_tree_shows_what_everybody_does() {
    let mut stage = Stage::with_children(3);
    let step = stage.answer(0, &["child", "child", "read_file"]);
    assert_eq!(
        step,
        Some(Step::Called {
            thread: stage.threads[0],
            tools: vec!["child".into(), "child".into(), "read_file".into()]
        })
    );
    stage.picture.hear(stage.threads[1], "a long answer\nwhose end is what matters");
    stage.end(2, Outcome::Done, "well");
    stage.end(3, Outcome::Failed, "out of luck\nand more");
    stage.check(
        (70, 24),
        &[
            "⠋ lead             calls 2× child, read_file        34 tokens   0.4 s",
            "⠋ ├─ child (no 1)  …er whose end is what matters     0 tokens   0.4 s",
            "✓ ├─ child (no 2)  done                              0 tokens   0.4 s",
            "✗ └─ child (no 3)  failed: out of luck               0 tokens   0.4 s",
        ],
    );
}

#[test]
fn what_has_ended_makes_room_where_there_is_little() {
    let mut stage = Stage::with_children(6);
    for child in [1, 2, 3, 5] {
        stage.end(child, Outcome::Done, "");
    }
    stage.check(
        (60, 6),
        &[
            "⠋ lead             thinks                  0 tokens   0.4 s",
            "⠋ ├─ child (no 4)  thinks                  0 tokens   0.4 s",
            "✓ ├─ child (no 5)  done                    0 tokens   0.4 s",
            "⠋ └─ child (no 6)  thinks                  0 tokens   0.4 s",
            "  … and 3 more that have ended",
        ],
    );
}

#[test]
fn who_does_not_fit_and_works_is_not_said_to_have_ended() {
    let mut stage = Stage::with_children(6);
    let shown = ["⠋ lead             thinks                  0 tokens   0.4 s"];
    let first = "⠋ ├─ child (no 1)  thinks                  0 tokens   0.4 s";
    stage.check((60, 4), &[shown[0], first, "  … and 5 more that have not ended"]);
    stage.end(6, Outcome::Done, "");
    stage.check((60, 4), &[shown[0], first, "  … and 5 more, of which 4 have not ended"]);
    stage.check((20, 2), &["⠋ lead"]);
    stage.check((20, 1), &["⠋ lead"]);
    stage.check((20, 3), &["⠋ lead", "  … and 6 more, of…"]);
}

#[test]
fn whoever_fits_is_shown() {
    let stage = Stage::with_children(3);
    let count = |rows| {
        drawing::lines(&stage.picture, Moment { now: NOW, tick: 0 }, (60, rows), Paint { coloured: false }).len()
    };
    assert_eq!([0, 1, 2, 3, 4, 5, 6].map(count), [4, 1, 1, 2, 3, 4, 4]);
}

#[test]
fn a_narrow_terminal_still_shows_who_there_is() {
    Stage::with_children(1).check((24, 24), &["⠋ lead           ", "⠋ └─ child (no 1)"]);
}

#[test]
fn asking_again_voids_what_was_said() {
    let mut stage = Stage::with_children(0);
    stage.picture.hear(stage.threads[0], "half an ans");
    stage.picture.retry(stage.threads[0], "`a:b` answered 500");
    stage.check((70, 24), &["⠋ lead  asks again: `a:b` answered 500               0 tokens   0.4 s"]);
}
