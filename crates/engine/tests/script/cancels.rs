//! Cancelling one run, whatever the thread is doing for it.

use crate::check;

#[test]
fn a_run_is_cancelled_while_its_model_thinks() {
    check(
        "boss",
        r#"
        < ask r1 hi ...
        < cancel r1
        ! SessionEnded cancelled "The run was cancelled." rest=idle
        > EndRun r1 cancelled "The run was cancelled."
        > Abort
        = idle
        < model too late
        < cancel r1
        < ask r2 next
        ! SessionStarted a
        ! Posted user "next" r2
        > StartRun r2
        > CallModel boss a 0
        | system "You are boss/a."
        | user "hi"
        | user "next"
        "#,
    );
}

#[test]
fn a_run_is_cancelled_while_its_tools_run() {
    check(
        "boss tools=look,pay",
        r#"
        < ask r1 hi ...
        < model | k1=look | k2=pay | k3=look ...
        < cancel r1
        ! CallEnded k1 look cancelled "The run was cancelled."
        ! CallEnded k2 pay cancelled "The run was cancelled."
        ! CallEnded k3 look cancelled "The run was cancelled."
        ! SessionEnded cancelled "The run was cancelled." rest=idle
        > EndRun r1 cancelled "The run was cancelled."
        > Abort
        = idle
        < tool k1 done too late
        < ask r2 next
        ! SessionStarted a
        ! Posted user "next" r2
        > StartRun r2
        > CallModel boss a 0
        | system "You are boss/a."
        | user "hi"
        | assistant "" k1 k2 k3
        | tool k1 "The run was cancelled."
        | tool k2 "The run was cancelled."
        | tool k3 "The run was cancelled."
        | user "next"
        "#,
    );
}

#[test]
fn a_changing_tool_that_had_begun_when_its_run_was_cancelled_has_an_unknown_outcome() {
    check(
        "boss tools=pay,put,look",
        r#"
        < ask r1 hi ...
        < model | k1=pay | k2=look ...
        < cancel r1
        ! CallEnded k1 pay unknown "The run was cancelled. The outcome of `pay` is unknown: it was interrupted after it had begun, and was not repeated. Check what it did before you call it again."
        ! CallEnded k2 look cancelled "The run was cancelled."
        ! SessionEnded cancelled "The run was cancelled." rest=idle
        > EndRun r1 cancelled "The run was cancelled."
        > Abort
        "#,
    );
}

#[test]
fn a_cancelled_run_cancels_the_children_it_waits_for_and_those_in_the_background() {
    check(
        "boss children=writer,scout&,helper*",
        r#"
        < ask r1 hi ...
        < model | k1=writer {"message":"write"} | k2=scout {"message":"look"} | k3=subagent_create {"agent":"helper","message":"help","name":"Ann"} ...
        < cancel r1
        ! ChildCancelled c1
        ! CallEnded k1 writer cancelled "The run was cancelled."
        ! ChildCancelled c3
        ! CallEnded k3 subagent_create cancelled "The run was cancelled."
        ! ChildCancelled c2
        ! SessionEnded cancelled "The run was cancelled." rest=idle
        > Deliver c1 Cancel r2
        > Deliver c3 Cancel r4
        > Deliver c2 Cancel r3
        > EndRun r1 cancelled "The run was cancelled."
        > Abort
        = idle
        < ended r2 cancelled The run was cancelled.
        ! ChildEnded c1 r2 cancelled
        > DeliveredRun r2
        < ended r3 done was just ready
        ! ChildEnded c2 r3 done
        > DeliveredRun r3
        < ended r4 cancelled The run was cancelled.
        ! ChildEnded c3 r4 cancelled
        > DeliveredRun r4
        = idle
        < ask r5 next
        ! SessionStarted a
        ! Posted user "next" r5
        > StartRun r5
        > CallModel boss a 0
        | system "You are boss/a."
        | system "Subagents of this conversation:\n- @c3: Ann (helper), idle: Good at helper."
        | user "hi"
        | assistant "" k1 k2 k3
        | tool k1 "The run was cancelled."
        | tool k2 "The subagent was initiated successfully. Reference: @c2"
        | tool k3 "The run was cancelled."
        | user "next"
        "#,
    );
}

#[test]
fn every_request_of_a_background_child_is_cancelled() {
    check(
        "boss children=helper*&",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"help","name":"Ann"} ...
        < model | k2=subagent_message {"referenceId":"@c1","message":"more"} ...
        < cancel r1
        ! ChildCancelled c1
        ! SessionEnded cancelled "The run was cancelled." rest=idle
        > Deliver c1 Cancel r2
        > Deliver c1 Cancel r3
        > EndRun r1 cancelled "The run was cancelled."
        > Abort
        "#,
    );
}

#[test]
fn a_run_is_cancelled_while_its_message_waits() {
    check(
        "boss",
        r#"
        < ask r1 first ...
        < ask r2->p second ...
        < cancel r2
        > EndRun r2 cancelled "The run was cancelled before it began."
        > Deliver p ChildEnded t0 r2 cancelled "The run was cancelled before it began."
        = running
        < model for the first
        ! Answered a "for the first"
        ! TurnEnded a response next=a
        ! SessionEnded done "for the first" rest=idle
        > EndRun r1 done "for the first"
        "#,
    );
}

#[test]
fn a_message_that_nobody_had_looked_at_is_cancelled_before_it_begins() {
    check(
        "boss",
        r#"
        + ask r1 hi
        < cancel r1
        > EndRun r1 cancelled "The run was cancelled before it began."
        = idle
        "#,
    );
}

#[test]
fn one_of_two_runs_of_a_session_is_cancelled_and_the_other_goes_on() {
    check(
        "boss tools=look
         thread boss child resumable",
        r#"
        + ask r1->p first
        < ask r2->p second ...
        < cancel r1
        ! RunCancelled r1
        > EndRun r1 cancelled "The run was cancelled."
        > Deliver p ChildEnded t0 r1 cancelled "The run was cancelled."
        = running
        < cancel r1
        < model | k1=look ...
        < cancel r2
        ! CallEnded k1 look cancelled "The run was cancelled."
        ! SessionEnded cancelled "The run was cancelled." rest=idle
        > EndRun r2 cancelled "The run was cancelled."
        > Deliver p ChildEnded t0 r2 cancelled "The run was cancelled."
        > Abort
        = idle
        "#,
    );
}

#[test]
fn cancelling_an_ended_or_unknown_run_changes_nothing() {
    check(
        "boss",
        r#"
        < cancel r7
        = idle
        < ask r1 hi ...
        < cancel r7
        < model hello ...
        < cancel r1
        = idle
        "#,
    );
}

#[test]
fn a_cancelled_child_tells_its_parent_and_ends_its_own_children() {
    check(
        "solo children=writer
         thread solo child",
        r#"
        < ask r1->p go ...
        < model | k1=writer {"message":"write"} ...
        < cancel r1
        ! ChildCancelled c1
        ! CallEnded k1 writer cancelled "The run was cancelled."
        ! SessionEnded cancelled "The run was cancelled." rest=failed
        > Deliver c1 Cancel r2
        > EndRun r1 cancelled "The run was cancelled."
        > Deliver p ChildEnded t0 r1 cancelled "The run was cancelled."
        > Deliver c1 Terminate
        > Abort
        = failed
        "#,
    );
}

#[test]
fn a_cancel_beside_the_last_result_wins() {
    check(
        "boss tools=look",
        r#"
        < ask r1 hi ...
        < model | k1=look ...
        + cancel r1
        < tool k1 done seen
        ! CallEnded k1 look done "seen"
        ! SessionEnded cancelled "The run was cancelled." rest=idle
        > EndRun r1 cancelled "The run was cancelled."
        > Abort
        "#,
    );
}

#[test]
fn a_cancel_beside_an_answer_with_children_cancels_them_as_well() {
    check(
        "boss children=writer",
        r#"
        < ask r1 hi ...
        + cancel r1
        < model | k1=writer {"message":"write"}
        ! Answered a "" k1
        ! ChildStarted c1 writer r2 call=k1
        ! ChildCancelled c1
        ! CallEnded k1 writer cancelled "The run was cancelled."
        ! SessionEnded cancelled "The run was cancelled." rest=idle
        > Spawn c1 writer depth=1 Message user "write" r2->t0
        > Deliver c1 Cancel r2
        > EndRun r1 cancelled "The run was cancelled."
        > Abort
        "#,
    );
}

#[test]
fn a_message_behind_a_cancel_starts_the_next_session() {
    check(
        "boss",
        r#"
        < ask r1 hi ...
        + cancel r1
        < ask r2 next
        ! SessionEnded cancelled "The run was cancelled." rest=idle
        ! SessionStarted a
        ! Posted user "next" r2
        > EndRun r1 cancelled "The run was cancelled."
        > StartRun r2
        > Abort
        > CallModel boss a 0
        "#,
    );
}
