//! The deadline of a session.

use crate::check;

const MINUTE: &str = "
    boss tools=look,pay children=writer,scout&
    limits run_seconds=60";

#[test]
fn a_tick_before_the_deadline_changes_nothing() {
    check(
        MINUTE,
        r#"
        < ask r1 hi ...
        < tick 59
        = running
        "#,
    );
}

#[test]
fn a_session_is_over_at_its_deadline_and_not_a_moment_before() {
    check(
        MINUTE,
        r#"
        # Every event takes a millisecond: the session has two when the waiting begins.
        < ask r1 hi ...
        < tick 59997ms
        < tick 1ms
        ! SessionEnded failed "run_seconds: the limit of 60 seconds is reached" limit="run_seconds: the limit of 60 seconds is reached" rest=failed
        > EndRun r1 failed "run_seconds: the limit of 60 seconds is reached" limit="run_seconds: the limit of 60 seconds is reached"
        > Abort
        "#,
    );
}

#[test]
fn a_deadline_ends_a_session_whose_model_thinks() {
    check(
        MINUTE,
        r#"
        < ask r1 hi ...
        < tick 60
        ! SessionEnded failed "run_seconds: the limit of 60 seconds is reached" limit="run_seconds: the limit of 60 seconds is reached" rest=failed
        > EndRun r1 failed "run_seconds: the limit of 60 seconds is reached" limit="run_seconds: the limit of 60 seconds is reached"
        > Abort
        = failed
        < tick 60
        < model too late
        "#,
    );
}

#[test]
fn a_deadline_ends_a_session_whose_tools_run() {
    check(
        MINUTE,
        r#"
        < ask r1 hi ...
        < model | k1=pay | k2=look ...
        < tick 60
        ! CallEnded k1 pay unknown "The time for this run is over. The outcome of `pay` is unknown: it was interrupted after it had begun, and was not repeated. Check what it did before you call it again."
        ! CallEnded k2 look cancelled "The time for this run is over."
        ! SessionEnded failed "run_seconds: the limit of 60 seconds is reached" limit="run_seconds: the limit of 60 seconds is reached" rest=failed
        > EndRun r1 failed "run_seconds: the limit of 60 seconds is reached" limit="run_seconds: the limit of 60 seconds is reached"
        > Abort
        < tool k1 done too late
        "#,
    );
}

#[test]
fn a_deadline_cancels_the_children_that_the_session_waits_for() {
    check(
        MINUTE,
        r#"
        < ask r1 hi ...
        < model | k1=writer {"message":"write"} | k2=scout {"message":"look"} ...
        < tick 61
        ! ChildCancelled c1
        ! CallEnded k1 writer cancelled "The time for this run is over."
        ! SessionEnded failed "run_seconds: the limit of 60 seconds is reached" limit="run_seconds: the limit of 60 seconds is reached" rest=failed
        > Deliver c1 Cancel r2
        > EndRun r1 failed "run_seconds: the limit of 60 seconds is reached" limit="run_seconds: the limit of 60 seconds is reached"
        > Abort
        = failed
        < ended r2 cancelled The run was cancelled.
        ! ChildEnded c1 r2 cancelled
        > DeliveredRun r2
        "#,
    );
}

#[test]
fn a_thread_at_rest_has_no_deadline() {
    check(
        MINUTE,
        r#"
        < tick 600
        < ask r1 hi ...
        < model hello ...
        < tick 600
        = idle
        "#,
    );
}

#[test]
fn every_session_has_a_deadline_of_its_own() {
    check(
        MINUTE,
        r#"
        < ask r1 hi ...
        < tick 50 ...
        < ask r2 next ...
        < model hello ...
        < tick 20
        < tick 40
        ! SessionEnded failed "run_seconds: the limit of 60 seconds is reached" limit="run_seconds: the limit of 60 seconds is reached" rest=failed
        > EndRun r2 failed "run_seconds: the limit of 60 seconds is reached" limit="run_seconds: the limit of 60 seconds is reached"
        > Abort
        "#,
    );
}

#[test]
fn what_a_process_left_has_all_its_time_again_from_when_the_next_one_came() {
    check(
        MINUTE,
        r#"
        < ask r1 hi ...
        < tick 50
        < crash
        > CallModel boss a 0
        < tick 40
        ! SessionResumed
        < tick 19
        < tick 1
        ! SessionEnded failed "run_seconds: the limit of 60 seconds is reached" limit="run_seconds: the limit of 60 seconds is reached" rest=failed
        > EndRun r1 failed "run_seconds: the limit of 60 seconds is reached" limit="run_seconds: the limit of 60 seconds is reached"
        > Abort
        # What begins in the next process has its own time, as ever.
        < ask r2 next ...
        < tick 59
        < tick 1
        ! SessionEnded failed "run_seconds: the limit of 60 seconds is reached" limit="run_seconds: the limit of 60 seconds is reached" rest=failed
        > EndRun r2 failed "run_seconds: the limit of 60 seconds is reached" limit="run_seconds: the limit of 60 seconds is reached"
        > Abort
        "#,
    );
}

#[test]
fn a_message_that_waits_at_the_deadline_starts_the_next_session() {
    check(
        MINUTE,
        r#"
        < ask r1 hi ...
        < ask r2 next ...
        < tick 60
        ! SessionEnded failed "run_seconds: the limit of 60 seconds is reached" limit="run_seconds: the limit of 60 seconds is reached" rest=failed
        ! SessionStarted a
        ! Posted user "next" r2
        > EndRun r1 failed "run_seconds: the limit of 60 seconds is reached" limit="run_seconds: the limit of 60 seconds is reached"
        > StartRun r2
        > Abort
        > CallModel boss a 0
        "#,
    );
}

#[test]
fn a_child_that_is_out_of_time_tells_its_parent() {
    check(
        "solo
         thread solo child
         limits run_seconds=60",
        r#"
        < ask r1->p go ...
        < tick 60
        ! SessionEnded failed "run_seconds: the limit of 60 seconds is reached" limit="run_seconds: the limit of 60 seconds is reached" rest=failed
        > EndRun r1 failed "run_seconds: the limit of 60 seconds is reached" limit="run_seconds: the limit of 60 seconds is reached"
        > Deliver p ChildEnded t0 r1 failed "run_seconds: the limit of 60 seconds is reached" limit="run_seconds: the limit of 60 seconds is reached"
        > Abort
        = failed
        "#,
    );
}
