//! The driver: it sends to whichever node listens, disturbs, and remembers what was acknowledged.

use super::cluster::{Cluster, Recipe};
use super::fault::Fault;
use crate::checker::{self, Witnessed};
use crate::kill::brain;
use crate::letters::Letters;
use crate::node::{Answer, Command};
use crate::process::lines;
use anyhow::Context as _;
use entourage_model::ThreadId;
use entourage_store::Store as _;
use entourage_store_postgres::{Options, PostgresStore};
use entourage_testkit::postgres::{Database, Server, Stop};
use entourage_testkit::{FakeModel, Recording, Request};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long the nodes may take to make the first threads.
const START: Duration = Duration::from_secs(60);
/// After so long without an answer a question is put again.
const AGAIN: Duration = Duration::from_secs(5);
const PACE: Duration = Duration::from_millis(8);

#[derive(Clone, Debug)]
pub struct Settings {
    /// The program that is a node.
    pub node: PathBuf,
    pub rounds: usize,
    pub nodes: usize,
    pub roots: usize,
    /// How long a node lives from one heartbeat to the next.
    pub life: Duration,
    /// So many of the nodes never say that they live, and go on though others have taken their threads.
    pub zombies: usize,
    /// Lets everybody commit who once held a thread: what must not be shows then.
    pub unguarded: bool,
    /// How long the nodes may take to bring everything to rest.
    pub rest: Duration,
}

/// What happened, in numbers, and what must not have.
#[derive(Debug, Serialize)]
pub struct Disturbed {
    pub nodes: usize,
    pub faults: BTreeMap<Fault, usize>,
    pub acknowledged: usize,
    pub sent_again: usize,
    pub threads: usize,
    pub events: usize,
    pub effects: usize,
    pub outcomes_unknown: usize,
    /// Commits of nodes that had lost the thread: refused, as they must be.
    pub stale_refused: usize,
    /// The same, but written.
    pub stale_written: usize,
    pub seconds: f64,
    pub violations: Vec<String>,
}

struct Driver {
    settings: Settings,
    server: Server,
    database: Database,
    cluster: Cluster,
    recipe: Recipe,
    roots: Vec<ThreadId>,
    letters: Letters,
    faults: BTreeMap<Fault, usize>,
    sent_again: usize,
    sent: usize,
    // What the nodes stand on, in the order in which it may go.
    _model: FakeModel,
    _folder: tempfile::TempDir,
}

/// Plays all rounds and checks what is left.
pub async fn run(settings: Settings) -> anyhow::Result<Disturbed> {
    let began = Instant::now();
    let mut driver = Driver::start(settings).await?;
    driver.make_roots().await?;
    for round in 0..driver.settings.rounds {
        driver.round(Fault::of_round(round)).await?;
    }
    let is_at_rest = driver.rest().await?;
    driver.judge(began, is_at_rest).await
}

impl Driver {
    async fn start(settings: Settings) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        std::fs::create_dir(folder.path().join("data"))?;
        let server = blocking(Server::start);
        let database = blocking(|| Database::at(server.url()));
        let model = FakeModel::start_with(|request: &Request| brain::reply(request), Recording::Off).await;
        let store = PostgresStore::open(database.url(), Options::default()).await?;
        if settings.unguarded {
            store.remove_guard().await?;
        }
        store.close().await;
        blocking(|| watch_epochs(&database));
        let recipe = Recipe {
            program: settings.node.clone(),
            folder: folder.path().to_owned(),
            model_url: model.url().to_owned(),
            store: database.url().to_owned(),
            life: settings.life,
            zombies: settings.zombies,
        };
        Ok(Self {
            cluster: Cluster::start(recipe.clone(), settings.nodes)?,
            recipe,
            settings,
            server,
            database,
            roots: Vec::new(),
            letters: Letters::default(),
            faults: BTreeMap::new(),
            sent_again: 0,
            sent: 0,
            _model: model,
            _folder: folder,
        })
    }

    async fn make_roots(&mut self) -> anyhow::Result<()> {
        for number in 0..self.settings.roots {
            self.cluster.tell(&Command::Create { number }).await?;
        }
        while self.roots.len() < self.settings.roots {
            let answer = tokio::time::timeout(START, self.cluster.hear()).await.context("no thread is made")?;
            if let Answer::Created { thread, .. } = answer? {
                self.roots.push(thread);
            }
        }
        Ok(())
    }

    /// Messages go to whoever listens, while something happens to the nodes or to the database.
    async fn round(&mut self, fault: Fault) -> anyhow::Result<()> {
        *self.faults.entry(fault).or_default() += 1;
        self.cluster.mend()?;
        self.send_again().await?;
        self.load_for(Duration::from_millis(fastrand::u64(50..600))).await?;
        let place = fastrand::usize(..self.cluster.len());
        match fault {
            Fault::Kill => self.cluster.kill(place).await?,
            Fault::Drain => self.cluster.drain(place).await?,
            Fault::Pause => {
                self.cluster.pause(place);
                self.load_for(self.settings.life * 2).await?;
                self.cluster.go_on(place);
            }
            Fault::Restart => {
                let server = &mut self.server;
                blocking(|| {
                    server.stop(Stop::Immediate);
                    server.run();
                });
            }
            Fault::Cut => {
                let database = &self.database;
                _ = blocking(|| database.cut_connections());
            }
        }
        self.load_for(Duration::from_millis(fastrand::u64(50..600))).await
    }

    async fn load_for(&mut self, time: Duration) -> anyhow::Result<()> {
        let over = tokio::time::sleep(time);
        tokio::pin!(over);
        let mut pace = tokio::time::interval(PACE);
        pace.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = &mut over => return Ok(()),
                answer = self.cluster.hear() => self.note(answer?),
                _ = pace.tick() => self.send_one().await?,
            }
        }
    }

    async fn send_one(&mut self) -> anyhow::Result<()> {
        let root = fastrand::usize(..self.roots.len());
        let kind = ["say", "job", "bgd"][fastrand::usize(..3)];
        let (thread, text) = (self.roots[root], format!("{kind}-{root}-{}", self.sent));
        self.sent += 1;
        self.letters.post(thread, text.clone());
        self.cluster.tell(&Command::Send { thread, text }).await
    }

    async fn send_again(&mut self) -> anyhow::Result<()> {
        for (thread, text) in self.letters.open() {
            self.sent_again += 1;
            self.cluster.tell(&Command::Send { thread, text }).await?;
        }
        Ok(())
    }

    fn note(&mut self, answer: Answer) {
        if let Answer::Sent { text } = answer {
            self.letters.acknowledge(&text);
        }
    }

    /// The nodes are left alone until everything is done; false if they never come to an end.
    async fn rest(&mut self) -> anyhow::Result<bool> {
        let begin = Instant::now();
        while begin.elapsed() < self.settings.rest {
            self.cluster.mend()?;
            self.send_again().await?;
            if self.letters.are_acknowledged() {
                self.cluster.tell(&Command::Rest { roots: self.roots.clone() }).await?;
            }
            let again = tokio::time::sleep(AGAIN);
            tokio::pin!(again);
            loop {
                tokio::select! {
                    () = &mut again => break,
                    answer = self.cluster.hear() => match answer? {
                        Answer::AtRest => return Ok(true),
                        answer @ (Answer::Created { .. } | Answer::Sent { .. } | Answer::Ended { .. }) => {
                            let was_open = !self.letters.are_acknowledged();
                            self.note(answer);
                            if was_open && self.letters.are_acknowledged() {
                                break;
                            }
                        }
                    },
                }
            }
        }
        Ok(false)
    }

    async fn judge(self, began: Instant, at_rest: bool) -> anyhow::Result<Disturbed> {
        let Self { cluster, recipe, database, settings, letters, .. } = self;
        let open = letters.open().len();
        cluster.end().await?;
        let store = PostgresStore::open(database.url(), Options::default()).await?;
        let dump = checker::dump(&store).await?;
        let effects = lines(&recipe.ledger())?;
        let acknowledged = letters.into_acknowledged();
        let witnessed = Witnessed { acknowledged, effects, at_rest, ..Witnessed::default() };
        let mut violations = checker::check(&dump, &witnessed);
        violations.extend(store.check().await?.iter().map(ToString::to_string));
        if at_rest {
            violations.extend(checker::missing_results(&dump, &witnessed));
        } else {
            violations.push(format!("the trees never come to rest; {open} messages are open"));
        }
        store.close().await;
        let stale = blocking(|| stale_events(&database));
        violations.extend(stale.iter().map(|event| format!("written under a lost lease: {event}")));
        Ok(Disturbed {
            nodes: settings.nodes,
            faults: self.faults,
            acknowledged: witnessed.acknowledged.len(),
            sent_again: self.sent_again,
            threads: dump.threads.len(),
            events: dump.journals.values().map(Vec::len).sum(),
            effects: witnessed.effects.len(),
            outcomes_unknown: checker::unknown_outcomes(&dump),
            stale_refused: lines(&recipe.refused())?.len(),
            stale_written: stale.len(),
            seconds: began.elapsed().as_secs_f64(),
            violations,
        })
    }
}

/// Lets the database itself note every event that is written under an epoch which is not its thread's newest. The
/// events that a thread is made with have none.
fn watch_epochs(database: &Database) {
    database.run(
        "CREATE TABLE public.stale (thread TEXT, seq BIGINT, epoch BIGINT);
         CREATE FUNCTION public.note_stale() RETURNS trigger LANGUAGE plpgsql AS $$
         DECLARE newest BIGINT;
         BEGIN
           EXECUTE format('SELECT epoch FROM %I.threads WHERE id = $1', TG_TABLE_SCHEMA) INTO newest USING NEW.thread;
           IF NEW.epoch > 0 AND NEW.epoch < newest THEN
             INSERT INTO public.stale VALUES (NEW.thread::text, NEW.seq, NEW.epoch);
           END IF;
           RETURN NEW;
         END $$;
         DO $$
         DECLARE place TEXT;
         BEGIN
           SELECT schemaname INTO STRICT place FROM pg_tables WHERE tablename = 'events';
           EXECUTE format('CREATE TRIGGER note_stale BEFORE INSERT ON %I.events
                           FOR EACH ROW EXECUTE FUNCTION public.note_stale()', place);
         END $$;",
    );
}

fn stale_events(database: &Database) -> Vec<String> {
    database.run("SELECT thread, seq, epoch FROM public.stale").lines().map(str::to_owned).collect()
}

/// Programs are waited for where nothing else has to go on.
fn blocking<T>(work: impl FnOnce() -> T) -> T {
    tokio::task::block_in_place(work)
}
