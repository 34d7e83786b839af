//! The driver: it lets one process after another die, each at its own point, and compares what they leave behind.

use super::{Scenario, brain};
use crate::checker::{self, Dump, Witnessed};
use crate::process::{command, lines};
use anyhow::Context as _;
use entourage_engine::ThreadState;
use entourage_model::{Message, Role};
use entourage_store::Store;
use entourage_store_sqlite::SqliteStore;
use entourage_testkit::{FakeModel, Recording, Request};
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Lives that go on side by side.
const AT_ONCE: usize = 4;

/// What became of all of them.
#[derive(Debug, Default)]
pub struct Doomed {
    /// The points that a life passes if it is left alone.
    pub points: usize,
    pub deaths: usize,
    pub violations: Vec<String>,
}

/// Lets a process die at every point of the scenario, and another one go on each time.
pub async fn run(program: &Path, scenario: Scenario) -> anyhow::Result<Doomed> {
    let model = FakeModel::start_with(|request: &Request| brain::reply(request), Recording::Off).await;
    let driver = Driver { program: program.to_owned(), scenario, model };
    let untouched = Grave::new()?;
    let points = driver.live(&untouched, None).await?.context("a life that nobody ends reaches its end")?;
    let (expected, mut violations) = untouched.open().await?;
    let deaths = stream::iter(1..=points).map(|point| driver.die_and_go_on(point, &expected));
    let found: Vec<(bool, Vec<String>)> = deaths.buffer_unordered(AT_ONCE).try_collect().await?;
    let deaths = found.iter().filter(|(died, _)| *died).count();
    violations.extend(found.into_iter().flat_map(|(_, found)| found));
    Ok(Doomed { points, deaths, violations })
}

struct Driver {
    program: PathBuf,
    scenario: Scenario,
    model: FakeModel,
}

impl Driver {
    /// How many points the life passed; nothing if it died.
    async fn live(&self, grave: &Grave, die_at: Option<usize>) -> anyhow::Result<Option<usize>> {
        let mut process = command(&self.program);
        process.args(["--scenario", &self.scenario.word(), "--model-url", self.model.url()]);
        process.arg("--folder").arg(grave.0.path());
        if let Some(point) = die_at {
            process.args(["--die-at", &point.to_string()]);
        }
        let output = process.stdin(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true).output().await?;
        match output.status.code() {
            Some(0) => Ok(Some(String::from_utf8_lossy(&output.stdout).trim().parse()?)),
            None => Ok(None),
            Some(code) => anyhow::bail!("it ended with {code}: {}", String::from_utf8_lossy(&output.stderr)),
        }
    }

    async fn die_and_go_on(&self, point: usize, expected: &[String]) -> anyhow::Result<(bool, Vec<String>)> {
        let grave = Grave::new()?;
        let died = self.live(&grave, Some(point)).await?.is_none();
        let after = self.live(&grave, None).await.with_context(|| format!("after a death at point {point}"))?;
        anyhow::ensure!(after.is_some(), "the life after point {point} died by itself");
        let (history, mut found) = grave.open().await?;
        if history != expected {
            found.push(format!("other than without a death: {history:#?}"));
        }
        Ok((died, found.into_iter().map(|what| format!("point {point}: {what}")).collect()))
    }
}

/// What the lives of one process leave behind.
struct Grave(tempfile::TempDir);

impl Grave {
    #[expect(clippy::disallowed_methods, reason = "the driver lays out what is read")]
    fn new() -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        std::fs::create_dir(folder.path().join("workspace"))?;
        std::fs::write(folder.path().join("workspace/note.txt"), "a note")?;
        Ok(Self(folder))
    }

    /// What everybody was told and given, without what differs from life to life, and what must not be.
    ///
    /// The store is opened once: a process that is just being started may hold on to what is open here.
    async fn open(&self) -> anyhow::Result<(Vec<String>, Vec<String>)> {
        let store = SqliteStore::open(&self.0.path().join("data"))?;
        let dump = checker::dump(&store).await?;
        let effects = lines(&self.0.path().join("ledger"))?;
        let mut found = checker::check(&dump, &Witnessed { effects, at_rest: true, ..Witnessed::default() });
        found.extend(store.check().await?.iter().map(ToString::to_string));
        let history = history(&store, &dump).await?;
        store.close().await;
        Ok((history, found))
    }
}

async fn history(store: &SqliteStore, dump: &Dump) -> anyhow::Result<Vec<String>> {
    let mut history = Vec::new();
    for row in &dump.threads {
        let journal = dump.journals.get(&row.id).map(Vec::as_slice).unwrap_or_default();
        let state = ThreadState::fold(journal.iter().map(|stored| &stored.event)).context("no beginning")?;
        let whose = format!("{} at depth {}", state.agent, row.depth);
        history.push(format!("{whose} is {}", row.status.word()));
        let heard = state.transcript.iter().filter_map(|message| told(message));
        history.extend(heard.map(|text| format!("{whose}: {text}")));
        let files = store.files(row.id).await?;
        history.extend(files.iter().map(|file| format!("{whose} has {} of {}", file.digest, masked(&file.path))));
    }
    for run in dump.runs.values() {
        let result = run.result.as_deref().map(masked);
        history.push(format!("run of {} {}: {result:?}", run.agent, run.status.word()));
    }
    history.sort();
    Ok(history)
}

/// What was said to a thread, and what its calls came to. What it said itself depends on when it was told.
fn told(message: &Message) -> Option<String> {
    match message.role {
        // Whether it happened is known, or it is not: the ledger of effects is compared with it.
        Role::Tool if message.tool_name.as_ref().is_some_and(|tool| tool.as_str() == "note") => {
            Some("a note".to_owned())
        }
        Role::User | Role::Tool => Some(masked(&message.content)),
        Role::Assistant => (!message.tool_calls.is_empty()).then(|| format!("{} calls", message.tool_calls.len())),
        Role::System => Some(masked(&message.content)),
    }
}

/// Without ids, which are new in each life.
fn masked(text: &str) -> String {
    let is_id_part = |c: char| c.is_ascii_hexdigit() || c == '-';
    let mut masked = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_id_part) {
        let length = rest[start..].find(|c| !is_id_part(c)).unwrap_or(rest.len() - start);
        let word = &rest[start..start + length];
        masked.push_str(&rest[..start]);
        masked.push_str(if word.len() >= 8 && word.contains(|c: char| c.is_ascii_digit() || c == '-') {
            "…"
        } else {
            word
        });
        rest = &rest[start + length..];
    }
    masked + rest
}
