//! Decisions as the lines of a script.

use crate::names::Names;
use crate::team::Setup;
use entourage_engine::{Effect, Look};
use entourage_model::{
    Attachment, ChildLink, EffectClass, Ending, Event, Item, Line, Message, ModelRequest, NewThread, Outcome, Posted,
    RemoteTask, ReplyTo, Rest, Role, RunId, SessionEnd, Side, Stop, TaskItem, ToolCall, VariableValue, Wait, Write,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// Knows the small names that the lines use.
#[derive(Debug)]
pub(crate) struct Renderer<'a> {
    pub(crate) names: &'a mut Names,
    pub(crate) setup: &'a Setup,
}

impl Renderer<'_> {
    pub(crate) fn event(&mut self, event: &Event) -> String {
        match event {
            Event::Started(started) => format!("Started {}", started.agent),
            Event::SessionStarted { acting, .. } => format!("SessionStarted {}", word(acting)),
            Event::Posted(posted) => format!("Posted {}", self.posted(posted)),
            Event::Answered { message, .. } => format!("Answered {} {}", side(message.side), self.answer(message)),
            Event::CallStarted { call } => format!("CallStarted {call}"),
            Event::CallEnded { message, outcome, .. } => self.call_ended(message, *outcome),
            Event::ChildStarted(link) => self.child_started(link),
            Event::ChildAsked { child, run, wait, .. } => {
                format!("ChildAsked {} {} {}", self.names.thread(*child), self.names.run(run), waits(wait))
            }
            Event::ChildReleased { child, run, .. } => {
                format!("ChildReleased {} {}", self.names.thread(*child), self.names.run(run))
            }
            Event::Activated { message } => self.activated(message),
            Event::ChildAwaited { child, run, wait } => {
                format!("ChildAwaited {} {} {}", self.names.thread(*child), self.names.run(run), waits(wait))
            }
            Event::RunDismissed { child, run } => {
                format!("RunDismissed {} {}", self.names.thread(*child), self.names.run(run))
            }
            Event::RunRead { run } => format!("RunRead {}", self.names.run(run)),
            Event::CallJoined { call, .. } => format!("CallJoined {call}"),
            Event::ChildInterrupted { child, run } => {
                format!("ChildInterrupted {} {}", self.names.thread(*child), self.names.run(run))
            }
            Event::ChildResumed { child, run, wait } => {
                format!("ChildResumed {} {} {}", self.names.thread(*child), self.names.run(run), waits(wait))
            }
            Event::SessionInterrupted => "SessionInterrupted".to_owned(),
            Event::SessionResumed { .. } => "SessionResumed".to_owned(),
            Event::TaskSaved(item) => self.task_saved(item),
            Event::HandedOff { agent } => format!("HandedOff {agent}"),
            Event::VariablesRequested(request) => {
                let id = self.names.request(request.id);
                format!("VariablesRequested {id} {} missing={}", request.entry.name(), request.missing.join(","))
            }
            Event::RequestClosed { request, child } => {
                let child = child.map(|child| format!(" {}", self.names.thread(child))).unwrap_or_default();
                format!("RequestClosed {}{child}", self.names.request(*request))
            }
            Event::ChildEnded { child, run, outcome } => {
                format!("ChildEnded {} {} {}", self.names.thread(*child), self.names.run(run), word(outcome))
            }
            Event::ChildCancelled { child } => format!("ChildCancelled {}", self.names.thread(*child)),
            Event::ChildTerminated { child } => format!("ChildTerminated {}", self.names.thread(*child)),
            Event::ChildReported { child, status } => {
                format!("ChildReported {} {}", self.names.thread(*child), self.quote(status))
            }
            Event::RunCancelled { run } => format!("RunCancelled {}", self.names.run(run)),
            Event::TurnEnded { side, stop, next } => {
                format!("TurnEnded {} {} next={}", word(side), why(stop), word(next))
            }
            Event::SessionEnded(end) => self.session_ended(end),
            Event::Terminated { .. } => "Terminated".to_owned(),
            Event::VariablesSet { variables } => format!("VariablesSet{}", held(variables)),
            Event::ValueSet { key, value } => format!("ValueSet {key} {value}"),
            Event::Injected { message } => format!("Injected {}", self.message(message)),
            Event::MessageReplaced { message } => format!("MessageReplaced {}", self.message(message)),
            Event::MessageDeleted { .. } => "MessageDeleted".to_owned(),
            Event::CallQueued { call } => self.queued(call),
            Event::FilePut(file) => format!("FilePut {}", self.names.shorten(&file.path)),
            Event::FileRemoved { path } => format!("FileRemoved {path}"),
            Event::PromptAnswered { prompt, answer, .. } => {
                format!("PromptAnswered {prompt} {}", self.answer(answer))
            }
            Event::Emitted { name, data } => format!("Emitted {name} {data}"),
            Event::CreationHeard => "CreationHeard".to_owned(),
            Event::HookFailed { hook, occasion, why } => format!("HookFailed {hook} {occasion} {why}"),
        }
    }

    pub(crate) fn write(&mut self, write: &Write) -> String {
        match write {
            Write::Spawn(new) => self.spawn(new),
            Write::Deliver { to, item } => format!("Deliver {} {}", self.names.thread(*to), self.item(item)),
            Write::NewRun(run) => {
                let (thread, id) = (self.names.thread(run.thread), self.names.run(&run.id));
                format!("NewRun {id} {thread} {} {}", run.agent, self.quote(&run.request))
            }
            Write::StartRun { run } => format!("StartRun {}", self.names.run(run)),
            Write::InterruptRun { run } => format!("InterruptRun {}", self.names.run(run)),
            Write::EndRun { run, ending } => format!("EndRun {} {}", self.names.run(run), self.ending(ending)),
            Write::CancelRun { run } => format!("CancelRun {}", self.names.run(run)),
            Write::DeliveredRun { run } => format!("DeliveredRun {}", self.names.run(run)),
            Write::PutFile { thread, file } => {
                format!("PutFile {} {}", self.names.thread(*thread), self.names.shorten(&file.path))
            }
            Write::SetAgent { thread, agent } => format!("SetAgent {} {agent}", self.names.thread(*thread)),
            Write::RemoveFile { thread, path } => format!("RemoveFile {} {path}", self.names.thread(*thread)),
        }
    }

    /// The key of a call is shown where it matters: a pure one may be made as often as one likes.
    pub(crate) fn effect(&mut self, effect: &Effect) -> String {
        match effect {
            Effect::CallModel(request) => {
                let chosen = [("temperature", request.sampling.temperature), ("top_p", request.sampling.top_p)];
                let chosen = chosen.map(|(name, chosen)| chosen.map(|number| format!(" {name}={number}")));
                let chosen: String = chosen.into_iter().flatten().collect();
                let far = request.remote.as_ref().map(|task| self.task(task)).unwrap_or_default();
                format!("CallModel {} {} {}{chosen}{far}", request.agent, word(&request.side), request.step)
            }
            Effect::CallTool { call, key } => {
                let pure = self.setup.world().class(None, &call.name) == Some(EffectClass::Pure);
                let key = if pure { String::new() } else { format!(" key={}", self.names.shorten(key)) };
                format!("CallTool {} {}{key}", call.id, call.name)
            }
            Effect::Look { call, look } => format!("Look {} {}", call.id, self.look(look)),
            Effect::Abort => "Abort".to_owned(),
            Effect::CancelRemote(task) => format!("CancelRemote {}{}", task.agent, self.task(task)),
        }
    }

    fn task(&mut self, task: &RemoteTask) -> String {
        let resumed = if task.resumed { " resumed" } else { "" };
        self.names.thread(task.session);
        format!(" {} {}{resumed}", self.names.shorten(&task.id), self.quote(&task.input))
    }

    fn look(&mut self, look: &Look) -> String {
        match look {
            Look::Run { run, .. } => format!("Run {}", self.names.run(run)),
            Look::Joined { tasks } => format!("Joined {}", tasks.len()),
            Look::Output { run, from } => format!("Output {} {from}", self.names.run(run)),
        }
    }

    pub(crate) fn context(&self, request: &ModelRequest) -> Vec<String> {
        request.lines.iter().map(|line| self.line(line)).collect()
    }

    fn line(&self, line: &Line) -> String {
        let calls: String = line.tool_calls().iter().map(|call| format!(" {}", call.id)).collect();
        let of = match line {
            Line::Message { role: Role::Tool, message, .. } => message.tool_call_id.as_ref(),
            Line::Message { .. } | Line::System(_) => None,
        };
        let of = of.map(|id| format!(" {id}")).unwrap_or_default();
        format!("{}{of} {}{calls}", word(&line.role()), self.quote(line.text()))
    }

    fn posted(&mut self, posted: &Posted) -> String {
        let Posted { message, run, reply_to, delivers } = posted;
        let mut text = format!("{} {}", word(&message.role), self.quote(&message.content));
        text += &run.as_ref().map(|run| format!(" {}", self.names.run(run))).unwrap_or_default();
        text += &reply_to.as_ref().map(|to| self.reply_to(to)).unwrap_or_default();
        text += &delivers.as_ref().map(|run| format!(" delivers={}", self.names.run(run))).unwrap_or_default();
        text + &self.marks(message)
    }

    fn message(&self, message: &Message) -> String {
        format!("{} {}{}", word(&message.role), self.quote(&message.content), self.marks(message))
    }

    fn marks(&self, message: &Message) -> String {
        let mut text = if message.silent { " silent" } else { "" }.to_owned();
        for (key, value) in &message.metadata {
            text += &format!(" {key}={}", self.names.shorten(value.as_str().unwrap_or("?")));
        }
        text + &files(self.names, &message.attachments)
    }

    fn reply_to(&mut self, to: &ReplyTo) -> String {
        format!("->{}", self.names.thread(to.thread))
    }

    fn answer(&self, message: &Message) -> String {
        let calls: String = message.tool_calls.iter().map(|call| format!(" {}", call.id)).collect();
        self.quote(&message.content) + &calls
    }

    fn activated(&self, message: &Message) -> String {
        let call = |call: &ToolCall| format!(" | {}={} {}", call.id, call.name, self.names.shorten(&call.arguments));
        format!("Activated {}{}", side(message.side), message.tool_calls.iter().map(call).collect::<String>())
    }

    fn queued(&self, call: &ToolCall) -> String {
        format!("CallQueued {} {} {}", call.id, call.name, self.names.shorten(&call.arguments))
    }

    fn task_saved(&mut self, item: &TaskItem) -> String {
        let mut text = format!("TaskSaved {} {:?} {}", item.id, item.title, item.progress.word());
        if let Some(assignment) = &item.assignment {
            let run = assignment.run.as_ref().map_or("unstarted".to_owned(), |run| self.names.run(run));
            text += &format!(" {} {run} {}", assignment.agent, assignment.status.word());
            text += &assignment.response.as_ref().map(|said| format!(" {said:?}")).unwrap_or_default();
        }
        text
    }

    fn call_ended(&self, message: &Message, outcome: Outcome) -> String {
        let id = message.tool_call_id.as_ref().map_or("?", |id| id.as_str());
        let tool = message.tool_name.as_ref().map_or("?", |name| name.as_str());
        let status = message.tool_status.as_ref().map(word).unwrap_or_default();
        // The word for people follows from the outcome.
        let odd = (outcome == Outcome::Done) != (status == "success");
        let odd = if odd { format!(" BUT {status}") } else { String::new() };
        format!("CallEnded {id} {tool} {}{odd} {}{}", word(&outcome), self.quote(&message.content), self.marks(message))
    }

    fn child_started(&mut self, link: &ChildLink) -> String {
        let child = self.names.thread(link.thread);
        let run = link.run.as_ref().map_or("unasked".to_owned(), |run| self.names.run(run));
        let name = link.given_name.as_ref().map(|name| format!(" name={name:?}")).unwrap_or_default();
        format!("ChildStarted {child} {} {run} {}{name}", link.agent, waits(&link.wait))
    }

    fn session_ended(&self, end: &SessionEnd) -> String {
        let rest = match end.rest {
            Rest::Idle => "idle",
            Rest::Done => "done",
            Rest::Failed => "failed",
        };
        format!("SessionEnded {} rest={rest}", self.ending(&end.ending))
    }

    fn ending(&self, ending: &Ending) -> String {
        let limit = ending.limit.as_ref().map(|limit| format!(" limit={limit:?}")).unwrap_or_default();
        let files = files(self.names, &ending.attachments);
        format!("{} {}{limit}{files}", word(&ending.outcome), self.quote(&ending.text))
    }

    fn spawn(&mut self, new: &NewThread) -> String {
        let child = self.names.thread(new.id);
        let mut text = format!("Spawn {child} {} depth={}", new.agent, new.depth);
        text.extend(new.tags.iter().map(|tag| format!(" tag={tag:?}")));
        for event in &new.events {
            if let Event::Started(started) = event {
                text += if started.resumable { " resumable" } else { "" };
                text += &started.receives.map(|side| format!(" receives={}", word(&side))).unwrap_or_default();
            } else if let Event::Posted(posted) = event {
                text += &format!(" Message {}", self.posted(posted));
            } else if let Event::SessionStarted { acting, ask, .. } = event {
                text += if *acting == Side::B { " acting=b" } else { "" };
                text += &ask.as_ref().map(|ask| format!(" asked {}", self.names.run(&ask.run))).unwrap_or_default();
            } else if let Event::Injected { message } = event {
                text += &format!(" Injected {}", self.message(message));
            } else if let Event::VariablesSet { variables } = event {
                text += &format!(" VariablesSet{}", held(variables));
            }
        }
        for item in &new.items {
            text += &format!(" queued {}", self.item(item));
        }
        text
    }

    fn item(&mut self, item: &Item) -> String {
        match item {
            Item::Message(posted) => format!("Message {}", self.posted(posted)),
            Item::ChildEnded { child, run, ending, quiet, note } => {
                let (child, run) = (self.names.thread(*child), self.names.run(run));
                let quiet = if *quiet { " quiet" } else { "" };
                let note = note.as_ref().map(|note| format!(" note {note:?}")).unwrap_or_default();
                format!("ChildEnded {child} {run}{quiet} {}{note}", self.ending(ending))
            }
            Item::ChildFinished { child, ending } => {
                format!("ChildFinished {} {}", self.names.thread(*child), self.ending(ending))
            }
            Item::ChildTerminated { child, run } => {
                let run = run.as_ref().map(|run: &RunId| format!(" {}", self.names.run(run))).unwrap_or_default();
                format!("ChildTerminated {}{run}", self.names.thread(*child))
            }
            Item::ChildReported { child, status, for_others } => {
                let for_others = if *for_others { " for_others" } else { "" };
                format!("ChildReported {}{for_others} {}", self.names.thread(*child), self.quote(status))
            }
            Item::Variables { request, child, variables, fingerprint: _ } => {
                format!("Variables {} {}{}", self.names.request(*request), self.names.thread(*child), held(variables))
            }
            Item::CloseRequest { request } => format!("CloseRequest {}", self.names.request(*request)),
            Item::ChildInterrupted { child, run } => {
                format!("ChildInterrupted {} {}", self.names.thread(*child), self.names.run(run))
            }
            Item::Interrupt { run } => format!("Interrupt {}", self.names.run(run)),
            Item::Resume { run, message } => {
                let text = message.as_ref().map(|message| format!(" {}", self.quote(&message.content)));
                format!("Resume {}{}", self.names.run(run), text.unwrap_or_default())
            }
            Item::Cancel { run } => format!("Cancel {}", self.names.run(run)),
            Item::Stop => "Stop".to_owned(),
            Item::Terminate => "Terminate".to_owned(),
            Item::Call { call } => format!("Call {} {} {}", call.id, call.name, call.arguments),
        }
    }

    fn quote(&self, text: &str) -> String {
        // JSON inside a text stays readable.
        format!("{:?}", self.names.shorten(text)).replace("\\\"", "'")
    }
}

fn files(names: &Names, files: &[Attachment]) -> String {
    files.iter().map(|file| format!(" &{}", names.shorten(&file.path))).collect()
}

fn held(variables: &BTreeMap<String, VariableValue>) -> String {
    let shown = |(name, value): (&String, &VariableValue)| {
        let secret = if value.is_secret() { " secret" } else { "" };
        format!("{secret} {name}={}", value.reveal())
    };
    variables.iter().map(shown).collect()
}

fn waits(wait: &Wait) -> String {
    match wait {
        Wait::Call(call) => format!("call={call}"),
        Wait::Timed { call, .. } => format!("timed={call}"),
        Wait::Background => "background".to_owned(),
    }
}

fn why(stop: &Stop) -> String {
    match stop {
        Stop::StopTool | Stop::Response | Stop::EveryStep | Stop::Asked => word(stop),
        Stop::Limit(limit) => format!("limit={limit:?}"),
    }
}

fn side(side: Option<Side>) -> String {
    side.as_ref().map_or("nobody".to_owned(), word)
}

/// A word as the journal spells it.
fn word(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).expect("a word is written");
    value.as_str().expect("a word is a text").to_owned()
}
