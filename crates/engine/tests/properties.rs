//! Whatever happens to a thread, in whatever order: the laws hold, and whoever asked is told once.

#[path = "script/actor.rs"]
mod actor;
#[path = "properties/deeds.rs"]
mod deeds;
#[path = "script/entry.rs"]
mod entry;
#[path = "script/hook.rs"]
mod hook;
#[path = "script/laws.rs"]
mod laws;
#[path = "properties/ledger.rs"]
mod ledger;
#[path = "properties/moves.rs"]
mod moves;
#[path = "properties/outside.rs"]
mod outside;
#[path = "script/team.rs"]
mod team;
#[path = "properties/tree.rs"]
mod tree;

use actor::Actor;
use entourage_engine::{Cue, Input, Letter, Mail, ThreadState, step};
use entourage_model::{Event, Item, ModelAnswer, ThreadStatus, Timestamp, ToolCall, Write};
use laws::Broken;
use ledger::Ledger;
use moves::{Asker, Move};
use outside::Outside;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use team::Setup;
use tree::Tree;

/// The same cases at every run; `PROPTEST_CASES` and `PROPTEST_RNG_SEED` ask for more and for others.
fn config() -> ProptestConfig {
    let asked = ProptestConfig::default();
    let rng_seed = match asked.rng_seed {
        RngSeed::Random => RngSeed::Fixed(1),
        RngSeed::Fixed(seed) => RngSeed::Fixed(seed),
    };
    ProptestConfig { rng_seed, failure_persistence: None, ..asked }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn anything_in_any_order_keeps_the_laws_and_ends_every_run_once(team in moves::team(), moves in moves::moves()) {
        let played = play(&team, moves, Outside { answers: Vec::new() });
        prop_assert!(played.is_ok(), "{}", played.unwrap_err());
    }

    #[test]
    fn a_crash_at_any_point_changes_nothing_of_what_comes_out(
        team in moves::team(),
        answers in prop::collection::vec(moves::answer(repeatable_call(), 0..4), 0..8),
        crashes in prop::collection::vec(any::<bool>(), 40),
    ) {
        let whole = journal(&team, answers.clone(), Vec::new());
        let broken = journal(&team, answers, crashes);
        prop_assert!(whole.is_ok() && broken.is_ok(), "{whole:?} {broken:?}");
        prop_assert_eq!(whole, broken);
    }

    #[test]
    fn a_whole_tree_comes_to_rest_and_every_result_arrives_once(acts in tree::acts()) {
        let mut tree = Tree::new();
        let played = acts.iter().try_for_each(|act| tree.play(act)).and_then(|()| tree.settle());
        prop_assert!(played.is_ok(), "{}", played.unwrap_err());
    }
}

/// Plays the moves, lets the thread come to rest, and terminates it.
fn play(team: &str, moves: Vec<Move>, mut outside: Outside) -> Result<(), Broken> {
    let mut actor = Actor::new(Setup::read(team));
    let mut ledger = Ledger::default();
    for drawn in moves {
        let crashes = matches!(drawn, Move::Crash);
        let Some(input) = moves::input(drawn, &mut actor, &mut ledger) else { continue };
        let decision = if crashes { actor.crash() } else { actor.feed(input) }?;
        ledger.book(&actor, &decision)?;
    }
    let decision = actor.feed(Input::Mail)?;
    ledger.book(&actor, &decision)?;
    outside.settle(&mut actor, || false, |actor, decision| ledger.book(actor, decision))?;
    ledger.close()?;
    actor.post(Item::Terminate);
    let decision = actor.feed(Input::Mail)?;
    ledger.book(&actor, &decision)?;
    laws::hold(actor.state.status() == ThreadStatus::Terminated, || "not terminated".to_owned())
}

/// What can be made again: at-most-once tools are left out, for a crash is what they are told of.
fn repeatable_call() -> impl Strategy<Value = (String, String)> {
    let tools = prop::sample::select(vec!["look", "find", "put", "finish", "give_up", "report", "hand_over", "fetch"]);
    prop_oneof![
        tools.prop_map(|name| (name.to_owned(), "{}".to_owned())),
        moves::child_call(),
        moves::agentscope_call()
    ]
}

/// The journal of a thread that is asked twice, with crashes before the inputs that `crashes` says.
fn journal(team: &str, answers: Vec<ModelAnswer>, crashes: Vec<bool>) -> Result<Vec<Event>, Broken> {
    let mut actor = Actor::new(Setup::read(team));
    let mut outside = Outside { answers };
    let mut crashes = crashes.into_iter();
    for number in 0..2 {
        actor.post(Item::Message(moves::request(number, Asker::Parent)));
        outside.settle(&mut actor, || crashes.next().unwrap_or_default(), |_, _| Ok(()))?;
    }
    Ok(actor.journal)
}

#[test]
fn two_thousand_children_of_one_answer_all_come_home() {
    let mut setup = Setup::read("boss children=writer\nlimits children_live=2000 left=2000");
    setup.limits.children_total = 2_000;
    let mut state = ThreadState::born(&Event::Started(setup.started.clone())).expect("the first event");
    let mut mail = Mail::from([Letter { number: 1, item: Item::Message(moves::request(1, Asker::Nobody)) }]);
    let mut seed = 0;
    let mut feed = |state: &mut ThreadState, mail: &mut Mail, input| {
        seed += 1;
        step(&setup.world(), state, mail, Cue { now: Timestamp(0), seed, input })
    };
    feed(&mut state, &mut mail, Input::Mail);
    let call = |n| ToolCall {
        id: format!("k{n}").into(),
        name: "writer".into(),
        arguments: "{\"message\":\"go\"}".to_owned(),
    };
    let answer = ModelAnswer { calls: (0..2_000).map(call).collect(), ..ModelAnswer::default() };
    let decision = feed(&mut state, &mut mail, Input::Answered(Ok(answer)));
    assert_eq!((decision.writes.len(), state.status()), (2_000, ThreadStatus::Waiting));
    for write in decision.writes.into_iter().rev() {
        let Write::Spawn(new) = write else { continue };
        let Some(run) = new.run.map(|run| run.id) else { continue };
        let ending = moves::ending(entourage_model::Outcome::Done);
        mail.push_back(Letter {
            number: 2,
            item: Item::ChildEnded { child: new.id, run, ending, quiet: false, note: None },
        });
        feed(&mut state, &mut mail, Input::Mail);
    }
    assert_eq!((state.children.len(), state.status()), (0, ThreadStatus::Running));
}
