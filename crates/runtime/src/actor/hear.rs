//! Deciding where hooks hear of what happens: the same input, until they have heard of all of it.

use super::{Actor, Gone};
use crate::perform;
use entourage_engine::{Change, Cue, Decision, Echo, Input, Pause, World, listeners, step};
use entourage_model::{Act, Item};
use futures::pin_mut;
use futures::stream::StreamExt as _;
use std::time::Duration;

/// How long a hook may still run after the process was asked to end.
const GRACE: Duration = Duration::from_secs(3);

impl Actor {
    /// Whoever wants the thread to stop does not wait for hooks: the one that runs is ended, and the input is decided
    /// behind what has arrived.
    pub(super) async fn decide_heard(&mut self, input: Input) -> Result<Decision, Gone> {
        let mut input = input;
        loop {
            if let Some(decision) = self.try_deciding(&input).await? {
                self.forget_aborted(&decision);
                return Ok(decision);
            }
            self.landed.push_front(std::mem::replace(&mut input, Input::Mail));
        }
    }

    /// Nothing is changed, and nothing decided, if somebody wants the thread to stop meanwhile.
    async fn try_deciding(&mut self, input: &Input) -> Result<Option<Decision>, Gone> {
        let (files, definitions) = self.outlook(input).await?;
        let (now, seed) = (self.inner.store.now(), fastrand::u64(..));
        let mut echoes = Vec::new();
        loop {
            let (mut state, mut mail) = (self.state.clone(), self.mail.clone());
            let world = World {
                files: &files,
                definitions: &definitions,
                echoes: &echoes,
                ..self.inner.world(&self.team, self.tree_left)
            };
            let mut decision = step(&world, &mut state, &mut mail, Cue { now, seed, input: input.clone() });
            match decision.pause.take() {
                None => {
                    (self.state, self.mail) = (state, mail);
                    return Ok(Some(decision));
                }
                Some(pause) => match self.attend(*pause).await? {
                    Some(echo) => echoes.push(echo),
                    None => return Ok(None),
                },
            }
        }
    }

    /// Lets hooks hear of it while the flights go on. Nothing if somebody wants the thread to stop.
    async fn attend(&mut self, pause: Pause) -> Result<Option<Echo>, Gone> {
        let Pause { occasion, state } = pause;
        let (inner, bell) = (self.inner.clone(), self.bell.clone());
        let ground = self.ground(state);
        let hearing = perform::echo(&inner, &ground, occasion.clone());
        let ending = async {
            inner.stopping.cancelled().await;
            tokio::time::sleep(GRACE).await;
        };
        pin_mut!(hearing, ending);
        let mut rung = false;
        let echo = loop {
            tokio::select! {
                biased;
                () = bell.notified() => {
                    let lines = inner.store.lines(self.lease.thread, self.seen).await?;
                    if lines.iter().any(|line| is_urgent(&line.item)) {
                        self.receive(lines);
                        return Ok(None);
                    }
                    // The decision under way does not look at what comes meanwhile.
                    rung = true;
                }
                Some(landed) = self.flights.next(), if !self.flights.is_empty() => {
                    let landed = self.landed(landed);
                    self.landed.push_back(landed);
                }
                echo = &mut hearing => break echo,
                () = &mut ending => {
                    let why = "it was stopped: the program is about to end".to_owned();
                    let named = listeners(&ground.team, &ground.state, occasion.name()).into_iter().next();
                    let name = occasion.name().to_owned();
                    let failed = named.map(|(hook, _)| (hook.clone(), name, why));
                    let note = |(hook, occasion, why)| Act::NoteHookFailure { hook, occasion, why };
                    let acts = failed.map(note).into_iter().collect();
                    break Echo { occasion, change: Change::Nothing, acts };
                }
            }
        };
        if rung {
            bell.notify_one();
        }
        Ok(Some(echo))
    }
}

/// Whether it ends what is being worked on.
fn is_urgent(item: &Item) -> bool {
    match item {
        Item::Cancel { .. } | Item::Stop | Item::Terminate | Item::Interrupt { .. } => true,
        Item::Message(_)
        | Item::ChildEnded { .. }
        | Item::ChildFinished { .. }
        | Item::ChildTerminated { .. }
        | Item::ChildReported { .. }
        | Item::Call { .. }
        | Item::Variables { .. }
        | Item::CloseRequest { .. }
        | Item::ChildInterrupted { .. }
        | Item::Resume { .. } => false,
    }
}
