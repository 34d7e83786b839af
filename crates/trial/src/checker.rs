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

/// A message whose acceptance was acknowledged, and when: by the clock of whoever sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    pub thread: ThreadId,
    pub text: String,
    /// For the first time.
    pub sent: u64,
    pub acknowledged: u64,
}

/// Work whose end was acknowledged: nothing of the thread, or of what is below it, may begin any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Over {
    pub thread: ThreadId,
    /// How many effects had happened by then.
    pub effects: usize,
}

/// What the outside knows to have happened.
#[derive(Debug, Default)]
pub struct Witnessed {
    pub acknowledged: Vec<Sent>,
    /// The keys of effects that must not happen twice, as often as they happened, in their order.
    pub effects: Vec<String>,
    pub over: Vec<Over>,
    /// Threads whose work somebody wanted to end, so that it may have come to nothing.
    pub disturbed: BTreeSet<ThreadId>,
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
    found.order(dump, witnessed);
    found.runs(dump, witnessed);
    found.effects(dump, witnessed);
    found.late_effects(dump, witnessed);
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

    /// Every acknowledged message is in its transcript exactly once. A thread that was terminated may have left some.
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
        let terminated = terminated(dump);
        for Sent { thread, text, .. } in &witnessed.acknowledged {
            let count = said.get(&(*thread, text.as_str())).copied().unwrap_or(0);
            if count > 1 || (count == 0 && witnessed.at_rest && !terminated.contains(thread)) {
                self.add(format!("{thread}: the acknowledged message `{text}` is there {count} times"));
            }
        }
    }

    /// What was acknowledged before something else was sent to the same thread stands before it.
    fn order(&mut self, dump: &Dump, witnessed: &Witnessed) {
        let sent: BTreeMap<(ThreadId, &str), &Sent> =
            witnessed.acknowledged.iter().map(|sent| ((sent.thread, sent.text.as_str()), sent)).collect();
        for (thread, journal) in &dump.journals {
            let mut latest: Option<&Sent> = None;
            let messages = journal.iter().filter_map(|stored| stored.event.message());
            for sent in messages.filter_map(|message| sent.get(&(*thread, message.content.as_str())).copied()) {
                if let Some(before) = latest.filter(|before| sent.acknowledged < before.sent) {
                    self.add(format!(
                        "{thread}: `{}` stands behind `{}`, which was sent later",
                        sent.text, before.text
                    ));
                }
                latest = latest.filter(|before| before.sent > sent.sent).or(Some(sent));
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
            let is_wanted = run.parent.is_some_and(|parent| !witnessed.disturbed.contains(&parent));
            if witnessed.at_rest && is_wanted && run.status == RunStatus::Done && delivered.is_none() {
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

    /// Once it was acknowledged that work has ended, nothing of it begins.
    fn late_effects(&mut self, dump: &Dump, witnessed: &Witnessed) {
        let rows: BTreeMap<String, &ThreadRow> = dump.threads.iter().map(|row| (row.id.to_string(), row)).collect();
        let above = |row: &&ThreadRow| row.parent.and_then(|parent| rows.get(&parent.to_string()).copied());
        let lineage = |thread: &str| std::iter::successors(rows.get(thread).copied(), above);
        for Over { thread, effects } in &witnessed.over {
            for key in witnessed.effects.iter().skip(*effects) {
                let whose = key.split('/').next().unwrap_or_default();
                if lineage(whose).any(|row| row.id == *thread) {
                    self.add(format!("effect {key} began after the end of {thread} was acknowledged"));
                }
            }
        }
    }

    /// A thread that ended for good has no child that could still do anything. What had ended before stays as it was.
    fn orphans(&mut self, dump: &Dump, witnessed: &Witnessed) {
        use entourage_model::ThreadStatus as Status;
        let ended = terminated(dump);
        for row in dump.threads.iter().filter(|_| witnessed.at_rest) {
            let orphaned = row.parent.is_some_and(|parent| ended.contains(&parent));
            if orphaned && !matches!(row.status, Status::Terminated | Status::Done | Status::Failed) {
                self.add(format!("{}: its parent is terminated, it is {}", row.id, row.status.word()));
            }
        }
    }
}

fn terminated(dump: &Dump) -> BTreeSet<ThreadId> {
    let is_over = |row: &&ThreadRow| row.status == entourage_model::ThreadStatus::Terminated;
    dump.threads.iter().filter(is_over).map(|row| row.id).collect()
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

/// Every job that was sent has its result in its root's transcript, unless somebody wanted the work to end.
pub fn missing_results(dump: &Dump, witnessed: &Witnessed) -> Vec<String> {
    let mut results: BTreeSet<(ThreadId, &str)> = BTreeSet::new();
    for (thread, journal) in &dump.journals {
        for message in journal.iter().filter_map(|stored| stored.event.message()) {
            let words: Vec<&str> = message.content.split_whitespace().collect();
            let told = words.windows(2).filter(|pair| pair[0].ends_with("result-of"));
            results.extend(told.map(|pair| (*thread, pair[1])));
        }
    }
    let jobs = witnessed.acknowledged.iter().filter(|sent| !sent.text.starts_with("say-"));
    let jobs = jobs.filter(|sent| !witnessed.disturbed.contains(&sent.thread));
    jobs.filter(|sent| !results.contains(&(sent.thread, sent.text.as_str())))
        .map(|sent| format!("{}: nothing came of `{}`", sent.thread, sent.text))
        .collect()
}

/// How many calls were answered with "nobody knows".
pub fn unknown_outcomes(dump: &Dump) -> usize {
    let events = dump.journals.values().flatten();
    events.filter(|stored| matches!(stored.event, Event::CallEnded { outcome: Outcome::Unknown, .. })).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use entourage_model::{Digest, Ids, Message, Posted, Started};

    fn thread(seed: u64) -> ThreadId {
        Ids::new(Timestamp(0), seed).thread()
    }

    fn sent(text: &str, (sent, acknowledged): (u64, u64)) -> Sent {
        Sent { thread: thread(1), text: text.to_owned(), sent, acknowledged }
    }

    fn row(id: ThreadId, parent: Option<ThreadId>) -> ThreadRow {
        ThreadRow {
            id,
            parent,
            root: parent.unwrap_or(id),
            depth: u32::from(parent.is_some()),
            agent: "boss".into(),
            bundle: Digest::of(b""),
            status: entourage_model::ThreadStatus::Idle,
            user_id: None,
            tags: Vec::new(),
            created_at: Timestamp(1),
            terminated_at: None,
            usage: Usage::default(),
            seq: 1,
            attempts: 0,
            epoch: 1,
            wake_at: None,
        }
    }

    /// A thread that was told this, in this order.
    fn dump(texts: &[&str]) -> Dump {
        let mut ids = Ids::new(Timestamp(0), 9);
        let mut posted = |text: &&str| {
            Event::Posted(Box::new(Posted::plain(Message::new(ids.message(), Role::User, *text, Timestamp(1)))))
        };
        let started = Started::root(thread(1), "boss".into(), Digest::of(b""), Timestamp(1));
        let events = [Event::Started(started)].into_iter().chain(texts.iter().map(&mut posted));
        let stored =
            events.zip(1..).map(|(event, seq)| StoredEvent { event, seq, position: seq, epoch: 1, thread: thread(1) });
        Dump { journals: BTreeMap::from([(thread(1), stored.collect())]), ..Dump::default() }
    }

    #[test]
    fn what_was_acknowledged_before_another_was_sent_stands_before_it() {
        let found = |texts: &[&str], moments: [(u64, u64); 2]| {
            let acknowledged = vec![sent("one", moments[0]), sent("two", moments[1])];
            check(&dump(texts), &Witnessed { acknowledged, ..Witnessed::default() }).len()
        };
        assert_eq!(found(&["one", "two"], [(1, 2), (3, 4)]), 0);
        assert_eq!(found(&["two", "one"], [(1, 2), (3, 4)]), 1);
        assert_eq!(found(&["two", "one"], [(1, 3), (2, 4)]), 0, "both were on their way");
    }

    #[test]
    fn an_effect_behind_an_acknowledged_end_is_found_and_one_before_it_is_not() {
        let effects: Vec<_> = [1, 2].map(|seed| format!("{}/1/0", thread(seed))).to_vec();
        let mut dump = dump(&[]);
        dump.threads = vec![row(thread(1), None), row(thread(2), Some(thread(1)))];
        let found = |thread, before| {
            let over = vec![Over { thread, effects: before }];
            let mut found = Violations::default();
            found.late_effects(&dump, &Witnessed { effects: effects.clone(), over, ..Witnessed::default() });
            found.0.len()
        };
        assert_eq!([found(thread(1), 0), found(thread(1), 1), found(thread(1), 2)], [2, 1, 0]);
        assert_eq!([found(thread(2), 0), found(thread(2), 2)], [1, 0], "what is above goes on");
    }

    #[test]
    fn a_job_is_done_when_its_result_is_told_and_not_when_it_is_named() {
        let acknowledged = vec![sent("job-1", (1, 2))];
        let witnessed = Witnessed { acknowledged, ..Witnessed::default() };
        assert_eq!(missing_results(&dump(&["job-1", "ack job-1"]), &witnessed).len(), 1);
        assert_eq!(missing_results(&dump(&["job-1", "result-of job-1"]), &witnessed), Vec::<String>::new());
    }
}
