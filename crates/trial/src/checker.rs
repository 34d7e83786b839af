//! The history checker: what must hold of a store and of the world, whatever happened in between.
//!
//! It reads a whole store and what the outside saw (acknowledged messages, effects) and lists every violation.

use entourage_engine::ThreadState;
use entourage_model::{Event, MessageId, Outcome, Role, RunId, RunStatus, ThreadId, Timestamp, Usage, Wait};
use entourage_store::{
    JournalReader, RunFilter, RunRow, Store, StoreError, StoredEvent, ThreadFilter, ThreadRow, all_runs, all_threads,
};
use std::collections::{BTreeMap, BTreeSet};

/// Everything that a store holds.
#[derive(Debug, Default)]
pub struct Dump {
    pub threads: Vec<ThreadRow>,
    pub journals: BTreeMap<ThreadId, Vec<StoredEvent>>,
    pub runs: BTreeMap<RunId, RunRow>,
    pub lines_left: BTreeMap<ThreadId, usize>,
}

/// What the outside knows to have happened.
#[derive(Debug, Default)]
pub struct Witnessed {
    /// Messages whose acceptance was acknowledged, by thread, as their texts.
    pub acknowledged: Vec<(ThreadId, String)>,
    /// The keys of effects that must not happen twice, as often as they happened.
    pub effects: Vec<String>,
    /// Everything is expected to have come to rest.
    pub at_rest: bool,
}

/// Reads the whole store.
pub async fn dump(store: &dyn Store) -> Result<Dump, StoreError> {
    let threads = all_threads(store, &ThreadFilter::default()).await?;
    let runs = all_runs(store, &RunFilter::default()).await?.into_iter().map(|row| (row.id.clone(), row)).collect();
    let mut dump = Dump { threads, runs, ..Dump::default() };
    for row in &dump.threads {
        let events = dump.journals.entry(row.id).or_default();
        let mut journal = JournalReader::of_thread(store, row.id);
        while let Some(event) = journal.next().await? {
            events.push(event);
        }
        dump.lines_left.insert(row.id, store.lines(row.id, 0).await?.len());
    }
    Ok(dump)
}

/// Every violation found; none is the only good answer.
pub fn check(dump: &Dump, witnessed: &Witnessed) -> Vec<String> {
    let mut found = Violations::default();
    for row in &dump.threads {
        let journal = dump.journals.get(&row.id).map(Vec::as_slice).unwrap_or_default();
        found.journal(row, journal);
        found.calls(row.id, journal);
        found.children(dump, row.id, journal);
        if witnessed.at_rest {
            found.rest(row, dump.lines_left.get(&row.id).copied().unwrap_or(0));
        }
    }
    found.messages(dump, witnessed);
    found.runs(dump, witnessed);
    found.effects(dump, witnessed);
    found.orphans(dump, witnessed);
    found.0
}

#[derive(Debug, Default)]
struct Violations(Vec<String>);

impl Violations {
    fn add(&mut self, what: String) {
        self.0.push(what);
    }

    /// Numbers without gaps, positions and epochs that only grow, and counters that equal the fold.
    fn journal(&mut self, row: &ThreadRow, journal: &[StoredEvent]) {
        for (place, event) in journal.iter().enumerate() {
            if event.seq != place as u64 + 1 {
                self.add(format!("{}: event {} stands at place {}", row.id, event.seq, place + 1));
                break;
            }
        }
        if journal.windows(2).any(|pair| pair[0].position >= pair[1].position || pair[0].epoch > pair[1].epoch) {
            self.add(format!("{}: positions or epochs go back", row.id));
        }
        let Some(state) = ThreadState::fold(journal.iter().map(|stored| &stored.event)) else {
            return self.add(format!("{}: the journal has no beginning", row.id));
        };
        if state.seq != row.seq {
            self.add(format!("{}: the row counts {} events, the journal has {}", row.id, row.seq, state.seq));
        }
        let usage: Usage = state.usage;
        if usage != row.usage {
            self.add(format!("{}: the row says {:?}, the journal {:?}", row.id, row.usage, usage));
        }
    }

    /// Each call of an answer has at most one result, and none is left without one when the next answer comes.
    fn calls(&mut self, thread: ThreadId, journal: &[StoredEvent]) {
        let mut open = BTreeSet::new();
        for stored in journal {
            match &stored.event {
                Event::Answered { message, .. } => {
                    if !open.is_empty() {
                        self.add(format!("{thread}: calls {open:?} have no result before event {}", stored.seq));
                    }
                    open = message.tool_calls.iter().map(|call| call.id.clone()).collect();
                }
                // Immediate children: calls that no model has made.
                Event::Activated { message } => {
                    open.extend(message.tool_calls.iter().map(|call| call.id.clone()));
                }
                Event::CallEnded { message, .. }
                    if !message.tool_call_id.as_ref().is_some_and(|id| open.remove(id)) =>
                {
                    self.add(format!("{thread}: event {} answers a call that is not open", stored.seq));
                }
                Event::Terminated { .. } => open.clear(),
                _ => {}
            }
        }
    }

    /// Each run that was given to a child comes back at most once, and then as its call's result or as one message.
    fn children(&mut self, dump: &Dump, thread: ThreadId, journal: &[StoredEvent]) {
        let mut asked: BTreeMap<RunId, (ThreadId, Wait)> = BTreeMap::new();
        let mut ended: BTreeMap<RunId, u32> = BTreeMap::new();
        let mut news: BTreeMap<RunId, u32> = BTreeMap::new();
        for stored in journal {
            match &stored.event {
                Event::ChildStarted(link) => {
                    asked.extend(link.run.clone().map(|run| (run, (link.thread, link.wait.clone()))));
                }
                Event::ChildAsked { child, run, wait, .. } => {
                    asked.insert(run.clone(), (*child, wait.clone()));
                }
                Event::ChildEnded { run, .. } => *ended.entry(run.clone()).or_default() += 1,
                Event::Posted(posted) => {
                    if let Some(run) = &posted.delivers {
                        *news.entry(run.clone()).or_default() += 1;
                    }
                }
                _ => {}
            }
        }
        for (run, count) in ended.iter().chain(&news).filter(|(_, count)| **count > 1) {
            self.add(format!("{thread}: run {run} came back {count} times"));
        }
        for (run, (child, wait)) in &asked {
            if !dump.journals.contains_key(child) {
                self.add(format!("{thread}: child {child} does not exist"));
            }
            let Some(row) = dump.runs.get(run) else {
                self.add(format!("{thread}: run {run} has no row"));
                continue;
            };
            let told = news.get(run).copied().unwrap_or(0);
            if *wait == Wait::Background && told == 1 && row.delivered_at.is_none() {
                self.add(format!("{thread}: run {run} was told but not marked as delivered"));
            }
        }
    }

    /// After everything has stopped, nothing is half done.
    fn rest(&mut self, row: &ThreadRow, lines: usize) {
        use entourage_model::ThreadStatus as Status;
        if matches!(row.status, Status::Ready | Status::Running | Status::Waiting) {
            self.add(format!("{}: still {}", row.id, row.status.word()));
        }
        if lines > 0 {
            self.add(format!("{}: {lines} lines still wait", row.id));
        }
    }

    /// Every acknowledged message is in its transcript exactly once, in the order in which it was acknowledged.
    fn messages(&mut self, dump: &Dump, witnessed: &Witnessed) {
        let mut ids: BTreeSet<MessageId> = BTreeSet::new();
        let mut said: BTreeMap<(ThreadId, &str), u32> = BTreeMap::new();
        for (thread, journal) in &dump.journals {
            for message in journal.iter().filter_map(|stored| stored.event.message()) {
                if !ids.insert(message.id) {
                    self.add(format!("{thread}: message {} stands twice", message.id));
                }
                if message.role == Role::User {
                    *said.entry((*thread, message.content.as_str())).or_default() += 1;
                }
            }
        }
        for (thread, text) in &witnessed.acknowledged {
            let count = said.get(&(*thread, text.as_str())).copied().unwrap_or(0);
            if count > 1 || (count == 0 && witnessed.at_rest) {
                self.add(format!("{thread}: the acknowledged message `{text}` is there {count} times"));
            }
        }
    }

    fn runs(&mut self, dump: &Dump, witnessed: &Witnessed) {
        for (id, run) in &dump.runs {
            if run.status.is_terminal() != run.ended_at.is_some() {
                self.add(format!("run {id}: {} but ended at {:?}", run.status.word(), run.ended_at));
            }
            if witnessed.at_rest && !run.status.is_terminal() {
                self.add(format!("run {id}: still {}", run.status.word()));
            }
            let (delivered, ended) = (run.delivered_at, run.ended_at);
            if delivered.is_some_and(|at| ended.is_none_or(|ended: Timestamp| at < ended)) {
                self.add(format!("run {id}: delivered before it ended"));
            }
            if witnessed.at_rest && run.parent.is_some() && run.status == RunStatus::Done && delivered.is_none() {
                self.add(format!("run {id}: nobody was given its result"));
            }
        }
    }

    /// No effect happened twice, each was recorded before, and each that the model was told of happened.
    fn effects(&mut self, dump: &Dump, witnessed: &Witnessed) {
        let mut happened: BTreeMap<&str, u32> = BTreeMap::new();
        for key in &witnessed.effects {
            *happened.entry(key).or_default() += 1;
        }
        for (key, count) in happened.iter().filter(|(_, count)| **count > 1) {
            self.add(format!("effect {key} happened {count} times"));
        }
        let recorded: BTreeMap<String, Option<Outcome>> =
            dump.journals.iter().flat_map(|(thread, journal)| recorded_effects(*thread, journal)).collect();
        for key in happened.keys().filter(|key| !recorded.contains_key(**key)) {
            self.add(format!("effect {key} happened without a record"));
        }
        for (key, outcome) in &recorded {
            if *outcome == Some(Outcome::Done) && !happened.contains_key(key.as_str()) {
                self.add(format!("effect {key} is said to be done and did not happen"));
            }
        }
    }

    /// A thread that ended for good has no child at work.
    fn orphans(&mut self, dump: &Dump, witnessed: &Witnessed) {
        use entourage_model::ThreadStatus as Status;
        let ended: BTreeSet<ThreadId> =
            dump.threads.iter().filter(|row| row.status == Status::Terminated).map(|row| row.id).collect();
        for row in dump.threads.iter().filter(|_| witnessed.at_rest) {
            let orphaned = row.parent.is_some_and(|parent| ended.contains(&parent));
            if orphaned && row.status != Status::Terminated {
                self.add(format!("{}: its parent is terminated, it is {}", row.id, row.status.word()));
            }
        }
    }
}

/// The keys of the recorded calls of a thread, `<thread>/<step>/<place>`, with what came of them.
fn recorded_effects(thread: ThreadId, journal: &[StoredEvent]) -> BTreeMap<String, Option<Outcome>> {
    let mut recorded = BTreeMap::new();
    let (mut steps, mut places) = (0, BTreeMap::new());
    for stored in journal {
        match &stored.event {
            Event::Answered { message, usage } => {
                steps += usage.steps;
                places = message.tool_calls.iter().enumerate().map(|(place, call)| (call.id.clone(), place)).collect();
            }
            Event::CallStarted { call } => {
                if let Some(place) = places.get(call) {
                    recorded.insert(format!("{thread}/{steps}/{place}"), None);
                }
            }
            Event::CallEnded { message, outcome, .. } => {
                let place = message.tool_call_id.as_ref().and_then(|id| places.get(id));
                if let Some(known) = place.and_then(|place| recorded.get_mut(&format!("{thread}/{steps}/{place}"))) {
                    *known = Some(*outcome);
                }
            }
            _ => {}
        }
    }
    recorded
}

/// Every job that was sent has its result in its root's transcript.
pub fn missing_results(dump: &Dump, witnessed: &Witnessed) -> Vec<String> {
    let said: BTreeSet<(ThreadId, &str)> = dump
        .journals
        .iter()
        .flat_map(|(thread, journal)| journal.iter().filter_map(|stored| Some((*thread, stored.event.message()?))))
        .flat_map(|(thread, message)| message.content.split_whitespace().map(move |word| (thread, word)))
        .collect();
    let jobs = witnessed.acknowledged.iter().filter(|(_, text)| !text.starts_with("say-"));
    jobs.filter(|(thread, text)| !said.contains(&(*thread, text.as_str())))
        .map(|(thread, text)| format!("{thread}: nothing came of `{text}`"))
        .collect()
}

/// How many calls were answered with "nobody knows".
pub fn unknown_outcomes(dump: &Dump) -> usize {
    let events = dump.journals.values().flatten();
    events.filter(|stored| matches!(stored.event, Event::CallEnded { outcome: Outcome::Unknown, .. })).count()
}
