//! Terminating a thread: final, with everything below it, and no failure queued behind it.

use crate::check;

#[test]
fn a_thread_at_rest_is_terminated() {
    check(
        "boss",
        r#"
        < terminate
        ! Terminated
        > Abort
        = terminated
        < terminate
        < cancel r1
        < stop
        < tick 99999
        < crash
        < ask r1 too late
        > EndRun r1 cancelled "The thread was terminated."
        = terminated
        "#,
    );
}

#[test]
fn a_thinking_thread_is_terminated() {
    check(
        "boss",
        r#"
        < ask r1 hi ...
        < terminate
        ! Terminated
        > EndRun r1 cancelled "The thread was terminated."
        > Abort
        = terminated
        < model too late
        "#,
    );
}

#[test]
fn a_thread_with_tools_running_is_terminated() {
    check(
        "boss tools=look,pay",
        r#"
        < ask r1 hi ...
        < model | k1=look | k2=pay ...
        < terminate
        ! Terminated
        > EndRun r1 cancelled "The thread was terminated."
        > Abort
        < tool k1 done too late
        "#,
    );
}

#[test]
fn every_child_is_terminated_with_its_parent() {
    check(
        "boss children=writer,scout&,helper*",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"help","name":"Ann"} ...
        < ended r2 done helped ...
        < model | k2=writer {"message":"write"} | k3=scout {"message":"look"} ...
        < terminate
        ! Terminated
        > Deliver c1 Terminate
        > Deliver c2 Terminate
        > Deliver c3 Terminate
        > EndRun r1 cancelled "The thread was terminated."
        > Abort
        = terminated
        < ended r3 done crossed the termination
        < terminated c3 r4
        < terminated c1
        < terminated c1
        = terminated
        "#,
    );
}

#[test]
fn a_child_at_work_tells_its_parent_that_it_is_terminated() {
    check(
        "solo
         thread solo child resumable",
        r#"
        < ask r1->p go ...
        < terminate
        ! Terminated
        > EndRun r1 cancelled "The thread was terminated."
        > Deliver p ChildTerminated t0 r1
        > Abort
        "#,
    );
}

#[test]
fn a_child_at_rest_tells_its_parent_that_it_is_terminated() {
    check(
        "solo
         thread solo child resumable",
        r#"
        < ask r1->p go ...
        < model done ...
        < terminate
        ! Terminated
        > Deliver p ChildTerminated t0
        > Abort
        < terminate
        "#,
    );
}

#[test]
fn a_child_that_had_not_begun_tells_its_parent_which_run_is_over() {
    check(
        "solo
         thread solo child",
        r#"
        + ask r1->p go
        < terminate
        ! Terminated
        > EndRun r1 cancelled "The thread was terminated."
        > Deliver p ChildTerminated t0 r1
        > Abort
        = terminated
        "#,
    );
}

#[test]
fn what_is_queued_behind_a_termination_is_over_too() {
    check(
        "solo
         thread solo child resumable",
        r#"
        < ask r1->p first ...
        < ask r2->p second ...
        + terminate
        + ask r3->p third
        + cancel r3
        < ask r4 fourth
        ! Terminated
        > EndRun r1 cancelled "The thread was terminated."
        > Deliver p ChildTerminated t0 r1
        > EndRun r2 cancelled "The thread was terminated."
        > Deliver p ChildTerminated t0 r2
        > EndRun r3 cancelled "The thread was terminated."
        > Deliver p ChildTerminated t0 r3
        > EndRun r4 cancelled "The thread was terminated."
        > Abort
        "#,
    );
}

#[test]
fn a_child_whose_ending_was_on_its_way_is_terminated() {
    check(
        "boss children=helper*,writer",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"help","name":"Ann"} | k2=writer {"message":"write"} ...
        + ended r2 done just in time
        < terminated c1
        ! ChildEnded c1 r2 done
        ! CallEnded k1 subagent_create done "just in time\n\nReference: @c1"
        ! ChildTerminated c1
        > DeliveredRun r2
        < terminated c2 r3
        ! ChildTerminated c2
        ! CallEnded k2 writer cancelled "{'error':{'code':'subagent_terminated','message':'subagent `@c2` was terminated'}}"
        > DeliveredRun r3
        > CallModel boss a 1
        < ended r3 done after the termination
        "#,
    );
}

#[test]
fn a_call_that_waits_for_a_terminated_child_is_answered_with_an_error() {
    check(
        "boss children=writer,helper*",
        r#"
        < ask r1 hi ...
        < model | k1=writer {"message":"write"} | k2=subagent_create {"agent":"helper","message":"help","name":"Ann"} ...
        < terminated c1 r2
        ! ChildTerminated c1
        ! CallEnded k1 writer cancelled "{'error':{'code':'subagent_terminated','message':'subagent `@c1` was terminated'}}"
        > DeliveredRun r2
        = waiting
        < terminated c2 r3
        ! ChildTerminated c2
        ! CallEnded k2 subagent_create cancelled "{'error':{'code':'subagent_terminated','message':'subagent `@c2` was terminated'}}"
        > DeliveredRun r3
        > CallModel boss a 1
        | system "You are boss/a."
        | system "Subagents of this conversation:\n- @c2: Ann (helper), terminated: Good at helper."
        | user "hi"
        | assistant "" k1 k2
        | tool k1 "{'error':{'code':'subagent_terminated','message':'subagent `@c1` was terminated'}}"
        | tool k2 "{'error':{'code':'subagent_terminated','message':'subagent `@c2` was terminated'}}"
        < terminated c2 r3
        "#,
    );
}

#[test]
fn a_call_whose_request_crossed_the_termination_is_answered_too() {
    check(
        "boss children=helper*",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"help","name":"Ann"} ...
        < ended r2 done helped ...
        < model | k2=subagent_message {"referenceId":"@c1","message":"more"} ...
        # The child was terminated before the message reached it, so it knows nothing of the run.
        < terminated c1
        ! ChildTerminated c1
        ! CallEnded k2 subagent_message cancelled "{'error':{'code':'subagent_terminated','message':'subagent `@c1` was terminated'}}"
        > EndRun r3 cancelled "The thread was terminated."
        > DeliveredRun r3
        > CallModel boss a 2
        = running
        "#,
    );
}

#[test]
fn a_background_child_that_is_terminated_queues_no_failure() {
    check(
        "boss children=scout&,helper*&",
        r#"
        < ask r1 hi ...
        < model | k1=scout {"message":"look"} | k2=subagent_create {"agent":"helper","message":"help","name":"Ann"} ...
        < model waiting ...
        < terminated c1 r2
        ! ChildTerminated c1
        > DeliveredRun r2
        < terminated c2 r3
        ! ChildTerminated c2
        > DeliveredRun r3
        = idle
        "#,
    );
}

#[test]
fn a_termination_beside_an_answer_with_children_terminates_them_as_well() {
    check(
        "boss children=writer tools=look",
        r#"
        < ask r1 hi ...
        + terminate
        < model | k1=writer {"message":"write"} | k2=look
        ! Answered a "" k1 k2
        ! ChildStarted c1 writer r2 call=k1
        ! Terminated
        > Spawn c1 writer depth=1 Message user "write" r2->t0
        > Deliver c1 Terminate
        > EndRun r1 cancelled "The thread was terminated."
        > Abort
        "#,
    );
}
