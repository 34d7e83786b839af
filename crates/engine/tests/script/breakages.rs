//! The program broke over a thread: what was worked on fails, and the thread can be written to again.

use crate::check;

#[test]
fn a_thread_that_broke_while_thinking_fails_its_run() {
    check(
        "boss",
        r#"
        < ask r1 hi ...
        < broke index out of bounds
        ! SessionEnded failed "internal error: index out of bounds" rest=failed
        > EndRun r1 failed "internal error: index out of bounds"
        > Abort
        = failed
        < ask r2 again
        ! SessionStarted a
        ! Posted user "again" r2
        > StartRun r2
        > CallModel boss a 0
        "#,
    );
}

#[test]
fn a_thread_that_broke_answers_its_open_calls_and_cancels_their_children() {
    check(
        "boss tools=pay,look children=writer
         thread boss child",
        r#"
        < ask r1->p hi ...
        < model | k1=look | k2=writer {"message":"write"} | k3=pay ...
        < broke out of memory
        ! CallEnded k1 look cancelled "internal error: out of memory"
        ! ChildCancelled c1
        ! CallEnded k2 writer cancelled "internal error: out of memory"
        ! CallEnded k3 pay cancelled "internal error: out of memory"
        ! SessionEnded failed "internal error: out of memory" rest=failed
        > Deliver c1 Cancel r2
        > EndRun r1 failed "internal error: out of memory"
        > Deliver p ChildEnded t0 r1 failed "internal error: out of memory"
        > Deliver c1 Terminate
        > Abort
        "#,
    );
}

#[test]
fn a_thread_that_broke_at_rest_goes_on_with_what_waits() {
    check(
        "boss",
        r#"
        < broke something
        = idle
        + ask r1 hi
        < broke something
        ! SessionStarted a
        ! Posted user "hi" r1
        > StartRun r1
        > CallModel boss a 0
        "#,
    );
}

#[test]
fn messages_that_are_to_blame_are_buried_and_their_runs_fail() {
    check(
        "boss
         thread boss child",
        r#"
        + ask r1->p poison
        + message more poison
        < bury it broke five times
        > EndRun r1 failed "internal error: it broke five times"
        > Deliver p ChildEnded t0 r1 failed "internal error: it broke five times"
        > Bury m1
        > Bury m2
        = idle
        "#,
    );
}

#[test]
fn what_is_no_message_is_acted_on_beside_a_burial() {
    check(
        "boss children=scout&,writer",
        r#"
        < ask r1 hi ...
        < model | k1=scout {"message":"look"} | k2=writer {"message":"write"} ...
        + ask r4 poison
        + ended r2 done a river
        + ended r3 done the text
        < bury it broke five times
        ! ChildCancelled c2
        ! CallEnded k2 writer cancelled "internal error: it broke five times"
        ! SessionEnded failed "internal error: it broke five times" rest=failed
        ! ChildEnded c1 r2 done
        ! ChildEnded c2 r3 done
        > Deliver c2 Cancel r3
        > EndRun r1 failed "internal error: it broke five times"
        > EndRun r4 failed "internal error: it broke five times"
        > Deliver t0 Message user "Subagent (reference: @c1) has returned the following result:\n\na river" delivers=r2 silent subagent_id=@c1
        > DeliveredRun r3
        > Bury m2
        > Abort
        = failed
        < mail
        ! SessionStarted a
        ! Posted user "Subagent (reference: @c1) has returned the following result:\n\na river" delivers=r2 silent subagent_id=@c1
        > DeliveredRun r2
        > CallModel boss a 0
        "#,
    );
}

#[test]
fn a_termination_is_not_buried() {
    check(
        "boss",
        r#"
        + ask r1 poison
        + terminate
        < bury it broke five times
        ! Terminated
        > EndRun r1 failed "internal error: it broke five times"
        > Bury m1
        > Abort
        = terminated
        "#,
    );
}
