//! A process dies at every single point of a piece of work; what the next one brings it to is what it would have come to.

use entourage_trial::doom::{Scenario, run};
use std::path::Path;

async fn check(scenario: Scenario, points_min: usize) {
    let doomed = run(Path::new(env!("CARGO_BIN_EXE_doomed")), scenario).await.expect("the trial can be held");
    assert_eq!(doomed.violations, Vec::<String>::new());
    assert!(doomed.points >= points_min, "too few points: {doomed:?}");
    // Two threads at work may pass a point more or less from life to life.
    assert!(doomed.deaths + 4 >= doomed.points, "it did not die where it should: {doomed:?}");
}

#[tokio::test]
async fn a_blocking_delegation_has_its_result_once() {
    check(Scenario::Blocking, 14).await;
}

#[tokio::test]
async fn a_delegation_in_the_background_queues_its_result_once() {
    check(Scenario::Background, 14).await;
}

#[tokio::test]
async fn an_instance_that_is_written_to_again_answers_each_call_once() {
    check(Scenario::Resumable, 18).await;
}

#[tokio::test]
async fn an_instance_in_the_background_queues_each_result_once() {
    check(Scenario::ResumableBackground, 18).await;
}

#[tokio::test]
async fn a_child_that_waited_for_a_variable_starts_once() {
    check(Scenario::Variables, 14).await;
}

#[tokio::test]
async fn a_handoff_happens_once() {
    check(Scenario::Handoff, 8).await;
}

#[tokio::test]
async fn an_immediate_child_starts_once() {
    check(Scenario::Immediate, 10).await;
}

#[tokio::test]
async fn files_are_copied_once_in_both_directions() {
    check(Scenario::Attachments, 16).await;
}

#[tokio::test]
async fn an_effect_of_a_child_happens_once_and_its_result_comes_once() {
    check(Scenario::Effects, 12).await;
}

#[tokio::test]
async fn what_is_cancelled_is_cancelled_with_everything_below_it() {
    check(Scenario::Cancelled, 8).await;
}

#[tokio::test]
async fn what_is_terminated_is_terminated_with_everything_below_it() {
    check(Scenario::Terminated, 8).await;
}
