//! Runs: pending, running, ended once, delivered once.

use super::world::{World, blank, ending};
use crate::row::{Claim, Commit, Page, RunFilter};
use entourage_model::{Ending, NewRun, Outcome, RunId, RunStatus, Write};
use std::time::Duration;

async fn write(world: &World, claim: &Claim, writes: Vec<Write>) {
    world.commit(claim, Commit { writes, ..blank(claim) }).await;
}

async fn held_with_run(world: &mut World) -> (Claim, RunId) {
    let node = world.node().await;
    let claim = world.held(node).await;
    let run = world.new_run(claim.lease.thread);
    write(world, &claim, vec![Write::NewRun(run.clone())]).await;
    (claim, run.id)
}

pub async fn a_run_goes_from_pending_to_running_to_done(mut world: World) {
    let (claim, run) = held_with_run(&mut world).await;
    let row = world.run(&run).await;
    assert_eq!((row.status, row.started_at, row.ended_at), (RunStatus::Pending, None, None));
    world.advance(Duration::from_secs(1)).await;
    write(&world, &claim, vec![Write::StartRun { run: run.clone() }]).await;
    let started = world.run(&run).await;
    assert_eq!(started.status, RunStatus::Running);
    assert!(started.started_at.is_some_and(|at| at > started.created_at));
    world.advance(Duration::from_secs(1)).await;
    write(&world, &claim, vec![Write::StartRun { run: run.clone() }]).await;
    assert_eq!(world.run(&run).await, started, "it starts once");
    let ended = Write::EndRun { run: run.clone(), ending: ending(Outcome::Done, "the result") };
    write(&world, &claim, vec![ended]).await;
    let row = world.run(&run).await;
    assert_eq!((row.status, row.result.as_deref(), row.error), (RunStatus::Done, Some("the result"), None));
    assert!(row.ended_at > row.started_at);
}

pub async fn an_interrupted_run_waits_and_goes_on(mut world: World) {
    let (claim, run) = held_with_run(&mut world).await;
    let interrupt = || vec![Write::InterruptRun { run: run.clone() }];
    write(&world, &claim, interrupt()).await;
    assert_eq!(world.run(&run).await.status, RunStatus::Pending, "only what runs is interrupted");
    write(&world, &claim, vec![Write::StartRun { run: run.clone() }]).await;
    let started = world.run(&run).await;
    world.advance(Duration::from_secs(1)).await;
    write(&world, &claim, interrupt()).await;
    let interrupted = world.run(&run).await;
    assert_eq!((interrupted.status, interrupted.ended_at), (RunStatus::Interrupted, None));
    let unread = RunFilter { unread: true, ..RunFilter::default() };
    let page = || Page { after: None, limit: 10 };
    assert_eq!(world.store().runs(&unread, page()).await.expect("it can be read"), []);
    let asked = world.store().request_cancel(&run).await.expect("it can be asked").expect("it is there");
    assert!(asked.cancel_requested, "it is not terminal");
    write(&world, &claim, vec![Write::StartRun { run: run.clone() }]).await;
    let resumed = world.run(&run).await;
    assert_eq!((resumed.status, resumed.started_at), (RunStatus::Running, started.started_at));
    write(&world, &claim, interrupt()).await;
    let end = Write::EndRun { run: run.clone(), ending: ending(Outcome::Done, "at last") };
    write(&world, &claim, vec![end]).await;
    write(&world, &claim, interrupt()).await;
    let ended = world.run(&run).await;
    assert_eq!((ended.status, ended.result.as_deref()), (RunStatus::Done, Some("at last")));
    assert_eq!(world.store().runs(&unread, page()).await.expect("it can be read"), [ended]);
}

pub async fn a_run_that_has_begun_is_never_pending(mut world: World) {
    let node = world.node().await;
    let claim = world.held(node).await;
    let run = NewRun { begun: true, ..world.new_run(claim.lease.thread) };
    write(&world, &claim, vec![Write::NewRun(run.clone())]).await;
    let row = world.run(&run.id).await;
    assert_eq!((row.status, row.started_at), (RunStatus::Running, Some(row.created_at)));
}

pub async fn a_terminal_run_never_changes(mut world: World) {
    for outcome in [Outcome::Done, Outcome::Failed, Outcome::Cancelled, Outcome::Unknown] {
        let (claim, run) = held_with_run(&mut world).await;
        let end = |outcome, text| Write::EndRun { run: run.clone(), ending: ending(outcome, text) };
        write(&world, &claim, vec![end(outcome, "first")]).await;
        let ended = world.run(&run).await;
        assert_eq!((ended.status, ended.started_at), (outcome.run_status(), None));
        world.advance(Duration::from_secs(1)).await;
        let start = Write::StartRun { run: run.clone() };
        write(&world, &claim, vec![start, end(Outcome::Done, "second"), end(Outcome::Failed, "third")]).await;
        let asked = world.store().request_cancel(&run).await.expect("it can be asked");
        assert_eq!(asked.as_ref(), Some(&ended));
        assert_eq!(world.run(&run).await, ended);
    }
}

pub async fn a_failed_run_says_why(mut world: World) {
    for outcome in [Outcome::Failed, Outcome::Cancelled, Outcome::Unknown] {
        let (claim, run) = held_with_run(&mut world).await;
        let limit = Some("steps".to_owned());
        let ending = Ending { limit, ..ending(outcome, "the limit `steps` was reached") };
        write(&world, &claim, vec![Write::EndRun { run: run.clone(), ending }]).await;
        let row = world.run(&run).await;
        assert_eq!((row.result, row.error.as_deref()), (None, Some("the limit `steps` was reached")));
    }
}

pub async fn a_run_done_at_a_limit_names_it(mut world: World) {
    let (claim, run) = held_with_run(&mut world).await;
    let ending = Ending { limit: Some("steps".to_owned()), ..ending(Outcome::Done, "so far") };
    write(&world, &claim, vec![Write::EndRun { run: run.clone(), ending }]).await;
    let row = world.run(&run).await;
    assert_eq!((row.result.as_deref(), row.error.as_deref()), (Some("so far"), Some("steps")));
}

pub async fn an_existing_run_is_left_alone(mut world: World) {
    let (claim, run) = held_with_run(&mut world).await;
    write(&world, &claim, vec![Write::StartRun { run: run.clone() }]).await;
    let before = world.run(&run).await;
    let again = NewRun { id: run.clone(), request: "other".to_owned(), ..world.new_run(claim.lease.thread) };
    write(&world, &claim, vec![Write::NewRun(again)]).await;
    assert_eq!(world.run(&run).await, before);
}

pub async fn a_result_is_delivered_once(mut world: World) {
    let (claim, run) = held_with_run(&mut world).await;
    let missing = world.run_id();
    write(&world, &claim, vec![Write::DeliveredRun { run: missing.clone() }]).await;
    world.store().mark_delivered(&missing).await.expect("a missing run is no error");
    let ended = Write::EndRun { run: run.clone(), ending: ending(Outcome::Done, "the result") };
    write(&world, &claim, vec![ended]).await;
    assert_eq!(world.run(&run).await.delivered_at, None);
    world.store().mark_delivered(&run).await.expect("it can be noted");
    let first = world.run(&run).await.delivered_at;
    assert!(first.is_some());
    world.advance(Duration::from_secs(1)).await;
    world.store().mark_delivered(&run).await.expect("it can be noted");
    write(&world, &claim, vec![Write::DeliveredRun { run: run.clone() }]).await;
    assert_eq!(world.run(&run).await.delivered_at, first);
}

pub async fn cancelling_is_noted_until_the_end(mut world: World) {
    let (_, run) = held_with_run(&mut world).await;
    assert!(!world.run(&run).await.cancel_requested);
    let row = world.store().request_cancel(&run).await.expect("it can be asked").expect("the run exists");
    assert!(row.cancel_requested);
    assert_eq!(world.run(&run).await, row);
    let missing = world.run_id();
    assert_eq!(world.store().request_cancel(&missing).await.expect("it can be asked"), None);
}
