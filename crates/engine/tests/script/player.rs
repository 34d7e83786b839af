//! Plays a script against the engine and writes down what really happened, in the same language.
//!
//! `<` an input · `+` a letter that lies in the mail until the next input · `!` an event · `>` a write or an effect ·
//! on demand `|` the context of the model call, `%` the tools it offers, `=` the thread's status.
//! An input that ends in `...` is played, and what it leads to is not looked at.

use crate::actor::Actor;
use crate::laws::Broken;
use crate::names::Names;
use crate::read::{Play, Reader, Requests};
use crate::render::Renderer;
use crate::team::Setup;
use entourage_engine::{Decision, Effect, Input};
use entourage_model::{Ask, Event, ModelRequest, Posted, Role, Side, Started, Write};
use std::time::Duration;

#[derive(Debug)]
pub(crate) struct Player {
    actor: Actor,
    names: Names,
    requests: Requests,
}

impl Player {
    pub(crate) fn new(setup: Setup) -> Self {
        Self { actor: Actor::new(setup), names: Names::new(), requests: Requests::new() }
    }

    /// The script as it really went, up to the first law that did not hold.
    pub(crate) fn play(&mut self, script: &str) -> String {
        let lines: Vec<&str> = script.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let mut actual = Vec::new();
        let mut lines = lines.into_iter().peekable();
        while let Some(line) = lines.next() {
            actual.push(line.to_owned());
            let mut expected = Vec::new();
            while let Some(line) = lines.next_if(|line| !line.starts_with(['<', '+', '#'])) {
                expected.push(line);
            }
            match self.block(line, &expected) {
                Ok(lines) => actual.extend(lines),
                Err(broken) => {
                    actual.push(format!("LAW BROKEN: {broken}"));
                    actual.extend(lines.by_ref().map(str::to_owned));
                }
            }
        }
        actual.join("\n")
    }

    /// What the last model call of a script is told by the system, joined.
    pub(crate) fn last_system(&mut self, script: &str) -> String {
        let decisions = self.decisions(script);
        let request = decisions.iter().rev().find_map(model_call).expect("a model is asked");
        let texts = request.lines.iter().filter(|line| line.role() == Role::System).map(|line| line.text());
        self.names.shorten(&texts.collect::<Vec<_>>().join("\n\n"))
    }

    /// How the children of a script came to be.
    pub(crate) fn spawned(&mut self, script: &str) -> Vec<Started> {
        let decisions = self.decisions(script);
        let writes = decisions.iter().flat_map(|decision| &decision.writes);
        let born = writes.filter_map(|write| match write {
            Write::Spawn(new) => new.events.first(),
            _ => None,
        });
        born.filter_map(|event| if let Event::Started(started) = event { Some(started.clone()) } else { None })
            .collect()
    }

    fn decisions(&mut self, script: &str) -> Vec<Decision> {
        let lines = script.lines().map(str::trim).filter(|line| !line.is_empty());
        let decided = lines.filter_map(|line| {
            let decision = self.decide(line).expect("the laws hold")?;
            // So that everybody has a small name.
            self.lines(&decision, &[]);
            Some(decision)
        });
        decided.collect()
    }

    fn block(&mut self, line: &str, expected: &[&str]) -> Result<Vec<String>, Broken> {
        let Some(decision) = self.decide(line)? else { return Ok(Vec::new()) };
        let lines = self.lines(&decision, expected);
        Ok(if line.ends_with("...") { Vec::new() } else { lines })
    }

    /// Plays one line; nothing where it only lies in the mail.
    fn decide(&mut self, line: &str) -> Result<Option<Decision>, Broken> {
        let (mark, input) = line.split_at(1);
        let input = input.strip_suffix("...").unwrap_or(input);
        if mark == "#" {
            return Ok(None);
        }
        let play =
            Reader { names: &mut self.names, requests: &self.requests, transcript: &self.actor.state.transcript }
                .read(input.trim());
        let decision = match (play, mark) {
            (Play::Letter(item), "+") => {
                self.actor.post(*item);
                return Ok(None);
            }
            (Play::Letter(item), _) => {
                self.actor.post(*item);
                self.actor.feed(Input::Mail)
            }
            (Play::Input(input), _) => self.actor.feed(input),
            (Play::Tick(time), _) => {
                self.actor.pass_time(time);
                self.actor.feed(Input::Tick)
            }
            (Play::Born(posted), mark) => {
                self.be_born(*posted);
                if mark == "+" {
                    return Ok(None);
                }
                self.actor.crash()
            }
            (Play::Crash(gone), _) => {
                self.actor.setup.tools.retain(|name, _| Some(name) != gone.as_ref());
                self.actor.crash()
            }
        }?;
        self.remember_requests(&decision);
        Ok(Some(decision))
    }

    /// Begins again as a child whose parent made it with this request.
    fn be_born(&mut self, posted: Posted) {
        let setup = self.actor.setup.clone();
        let deadline = setup.started.at.after(Duration::from_secs(setup.limits.run_seconds));
        let acting = setup.started.receives.unwrap_or(Side::A);
        let mut journal = vec![Event::Started(setup.started.clone())];
        if posted.message.content.is_empty() {
            let ask = posted.run.map(|run| Box::new(Ask { run, reply_to: posted.reply_to }));
            journal.push(Event::SessionStarted { deadline, acting, ask });
        } else {
            journal.push(Event::SessionStarted { deadline, acting, ask: None });
            journal.push(Event::Posted(Box::new(posted)));
        }
        self.actor = Actor::born(setup, journal);
    }

    /// Keeps who was asked for what, so that a script can end a run by its name alone.
    fn remember_requests(&mut self, decision: &Decision) {
        for write in &decision.writes {
            let asked = match write {
                Write::Spawn(new) => new.run.as_ref(),
                Write::NewRun(run) => Some(run),
                Write::Deliver { .. }
                | Write::StartRun { .. }
                | Write::InterruptRun { .. }
                | Write::EndRun { .. }
                | Write::CancelRun { .. }
                | Write::DeliveredRun { .. }
                | Write::PutFile { .. }
                | Write::RemoveFile { .. }
                | Write::SetAgent { .. } => None,
            };
            self.requests.extend(asked.map(|run| (run.id.clone(), run.thread)));
        }
    }

    fn lines(&mut self, decision: &Decision, expected: &[&str]) -> Vec<String> {
        let asked_for = |mark| expected.iter().any(|line| line.starts_with(mark));
        let mut renderer = Renderer { names: &mut self.names, setup: &self.actor.setup };
        let mut lines: Vec<String> = Vec::new();
        lines.extend(decision.events.iter().map(|event| format!("! {}", renderer.event(event))));
        lines.extend(decision.writes.iter().map(|write| format!("> {}", renderer.write(write))));
        lines.extend(decision.buried.iter().map(|number| format!("> Bury m{number}")));
        lines.extend(decision.effects.iter().map(|effect| format!("> {}", renderer.effect(effect))));
        if let Some(request) = model_call(decision) {
            if asked_for('|') {
                lines.extend(renderer.context(request).iter().map(|line| format!("| {line}")));
            }
            if asked_for('%') {
                let tools: Vec<_> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
                lines.push(format!("% {}", tools.join(" ")).trim_end().to_owned());
            }
        }
        if asked_for('=') {
            lines.push(format!("= {}", self.actor.state.status().word()));
        }
        lines
    }
}

fn model_call(decision: &Decision) -> Option<&ModelRequest> {
    decision.effects.iter().find_map(|effect| match effect {
        Effect::CallModel(request) => Some(&**request),
        Effect::CallTool { .. } | Effect::Look { .. } | Effect::Abort | Effect::CancelRemote(_) => None,
    })
}
