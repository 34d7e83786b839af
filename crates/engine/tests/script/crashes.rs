//! The process dies and the thread is taken up again: what is done again, and what is not.

use crate::check;

#[test]
fn a_model_call_that_was_lost_is_made_again() {
    check(
        "boss",
        r#"
        < ask r1 hi ...
        < crash
        > CallModel boss a 0
        = running
        < model hello
        ! Answered a "hello"
        ! TurnEnded a response next=a
        ! SessionEnded done "hello" rest=idle
        > EndRun r1 done "hello"
        "#,
    );
}

#[test]
fn a_message_that_nobody_had_looked_at_starts_its_session() {
    check(
        "boss",
        r#"
        + ask r1 hi
        < crash
        ! SessionStarted a
        ! Posted user "hi" r1
        > StartRun r1
        > CallModel boss a 0
        "#,
    );
}

#[test]
fn a_thread_at_rest_stays_at_rest() {
    check(
        "boss",
        r#"
        < crash
        = idle
        < ask r1 hi ...
        < model hello ...
        < crash
        = idle
        "#,
    );
}

#[test]
fn pure_calls_are_made_again_but_not_those_that_had_ended() {
    check(
        "boss tools=look,find",
        r#"
        < ask r1 hi ...
        < model | k1=look | k2=find | k3=look ...
        < tool k2 done found ...
        < crash
        > CallTool k1 look
        > CallTool k3 look
        < tool k1 done one ...
        < tool k3 done three
        ! CallEnded k3 look done "three"
        > CallModel boss a 1
        | system "You are boss/a."
        | user "hi"
        | assistant "" k1 k2 k3
        | tool k1 "one"
        | tool k2 "found"
        | tool k3 "three"
        "#,
    );
}

#[test]
fn an_idempotent_call_that_had_begun_is_made_again_with_the_same_key() {
    check(
        "boss tools=look,put",
        r#"
        < ask r1 hi ...
        < model | k1=look | k2=put ...
        < tool k1 done seen
        ! CallEnded k1 look done "seen"
        ! CallStarted k2
        > CallTool k2 put key=@t0/1/1
        < crash
        > CallTool k2 put key=@t0/1/1
        < crash
        > CallTool k2 put key=@t0/1/1
        < tool k2 done put
        ! CallEnded k2 put done "put"
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn an_idempotent_call_that_had_not_begun_begins_when_it_is_due() {
    check(
        "boss tools=look,put",
        r#"
        < ask r1 hi ...
        < model | k1=look | k2=put
        ! Answered a "" k1 k2
        > CallTool k1 look
        < crash
        > CallTool k1 look
        < tool k1 done seen
        ! CallEnded k1 look done "seen"
        ! CallStarted k2
        > CallTool k2 put key=@t0/1/1
        "#,
    );
}

#[test]
fn an_at_most_once_call_that_had_begun_is_never_made_again_and_the_model_is_told() {
    check(
        "boss tools=pay,look",
        r#"
        < ask r1 hi ...
        < model | k1=pay | k2=look
        ! Answered a "" k1 k2
        ! CallStarted k1
        > CallTool k1 pay key=@t0/1/0
        < crash
        ! CallEnded k1 pay unknown "The outcome of `pay` is unknown: it was interrupted after it had begun, and was not repeated. Check what it did before you call it again."
        > CallTool k2 look
        < tool k2 done seen
        ! CallEnded k2 look done "seen"
        > CallModel boss a 1
        | system "You are boss/a."
        | user "hi"
        | assistant "" k1 k2
        | tool k1 "The outcome of `pay` is unknown: it was interrupted after it had begun, and was not repeated. Check what it did before you call it again."
        | tool k2 "seen"
        "#,
    );
}

#[test]
fn an_at_most_once_call_that_had_not_begun_begins_when_it_is_due() {
    check(
        "boss tools=look,pay",
        r#"
        < ask r1 hi ...
        < model | k1=look | k2=pay ...
        < crash
        > CallTool k1 look
        < tool k1 done seen
        ! CallEnded k1 look done "seen"
        ! CallStarted k2
        > CallTool k2 pay key=@t0/1/1
        < crash
        ! CallEnded k2 pay unknown "The outcome of `pay` is unknown: it was interrupted after it had begun, and was not repeated. Check what it did before you call it again."
        > CallModel boss a 1
        = running
        "#,
    );
}

#[test]
fn a_tool_that_is_gone_after_the_crash_is_not_done_again() {
    check(
        "boss tools=put,ship",
        r#"
        < ask r1 hi ...
        < model | k1=put | k2=ship ...
        < crash without put
        ! CallEnded k1 put unknown "The outcome of `put` is unknown: it was interrupted after it had begun, and was not repeated. Check what it did before you call it again."
        ! CallStarted k2
        > CallTool k2 ship key=@t0/1/1
        "#,
    );
}

#[test]
fn a_call_that_waits_for_a_child_still_waits() {
    check(
        "boss children=writer",
        r#"
        < ask r1 hi ...
        < model | k1=writer {"message":"write"} ...
        < crash
        = waiting
        < ended r2 done text
        ! ChildEnded c1 r2 done
        ! CallEnded k1 writer done "text"
        > DeliveredRun r2
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn an_ending_that_lay_in_the_mail_answers_its_call() {
    check(
        "boss children=writer,scout& tools=look",
        r#"
        < ask r1 hi ...
        < model | k1=writer {"message":"write"} | k2=look | k3=scout {"message":"look out"} ...
        + ended r2 done text
        + ended r3 done saw it
        < crash
        ! ChildEnded c1 r2 done
        ! CallEnded k1 writer done "text"
        ! ChildEnded c2 r3 done
        > DeliveredRun r2
        > Deliver t0 Message user "Subagent (reference: @c2) has returned the following result:\n\nsaw it" delivers=r3 silent subagent_id=@c2
        > CallTool k2 look
        < tool k2 done seen
        ! CallEnded k2 look done "seen"
        ! Posted user "Subagent (reference: @c2) has returned the following result:\n\nsaw it" delivers=r3 silent subagent_id=@c2
        > DeliveredRun r3
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn a_cancel_that_lay_in_the_mail_ends_the_run_while_it_would_have_thought_on() {
    check(
        "boss",
        r#"
        < ask r1 hi ...
        + cancel r1
        < crash
        ! SessionEnded cancelled "The run was cancelled." rest=idle
        > EndRun r1 cancelled "The run was cancelled."
        > Abort
        = idle
        "#,
    );
}

#[test]
fn a_stop_that_lay_in_the_mail_ends_the_turn() {
    check(
        "boss tools=pay",
        r#"
        < ask r1 hi ...
        < model | k1=pay ...
        + stop
        < crash
        ! CallEnded k1 pay unknown "The outcome of `pay` is unknown: it was interrupted after it had begun, and was not repeated. Check what it did before you call it again."
        ! TurnEnded a asked next=a
        ! SessionEnded cancelled "Execution stopped." rest=idle
        > EndRun r1 cancelled "Execution stopped."
        > Abort
        "#,
    );
}

#[test]
fn a_terminate_that_lay_in_the_mail_ends_the_thread() {
    check(
        "boss",
        r#"
        < ask r1 hi ...
        + message more
        + terminate
        < crash
        ! Terminated
        > EndRun r1 cancelled "The thread was terminated."
        > Abort
        = terminated
        < crash
        = terminated
        "#,
    );
}

#[test]
fn a_message_that_lay_in_the_mail_is_shown_to_the_repeated_model_call() {
    check(
        "boss",
        r#"
        < ask r1 hi ...
        + message and this
        < crash
        ! Posted user "and this"
        > CallModel boss a 0
        | system "You are boss/a."
        | user "hi"
        | user "and this"
        "#,
    );
}

#[test]
fn a_crash_between_two_turns_goes_on_with_the_next_side() {
    check(
        "pair dual",
        r#"
        < ask r1 hi ...
        < model from a ...
        < crash
        > CallModel pair b 0
        | system "You are pair/b."
        | user "hi"
        | user "from a"
        "#,
    );
}

#[test]
fn a_child_that_was_born_at_work_begins_when_it_is_taken_up() {
    check(
        "solo
         thread solo child",
        r#"
        < born r1->p go
        > CallModel solo a 0
        | system "You are solo/a."
        | user "go"
        < model done
        ! Answered a "done"
        ! TurnEnded a response next=a
        ! SessionEnded done "done" rest=done
        > EndRun r1 done "done"
        > Deliver p ChildEnded t0 r1 done "done"
        "#,
    );
}

#[test]
fn a_child_that_was_cancelled_before_it_was_taken_up_never_begins() {
    check(
        "solo
         thread solo child",
        r#"
        + born r1->p go
        + cancel r1
        < crash
        ! SessionEnded cancelled "The run was cancelled." rest=failed
        > EndRun r1 cancelled "The run was cancelled."
        > Deliver p ChildEnded t0 r1 cancelled "The run was cancelled."
        > Abort
        = failed
        "#,
    );
}

#[test]
fn a_child_that_was_terminated_before_it_was_taken_up_never_begins() {
    check(
        "solo
         thread solo child",
        r#"
        + born r1->p go
        + terminate
        < crash
        ! Terminated
        > EndRun r1 cancelled "The thread was terminated."
        > Deliver p ChildTerminated t0 r1
        > Abort
        = terminated
        "#,
    );
}
