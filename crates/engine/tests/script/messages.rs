//! Queued messages: injected before the next step, or the beginning of a session.

use crate::check;

#[test]
fn a_message_queued_while_thinking_is_injected_before_the_next_step() {
    check(
        "boss tools=look",
        r#"
        < ask r1 hi ...
        < message also this
        = running
        < message and that
        < model | k1=look ...
        < message while it looks
        < tool k1 done seen
        ! CallEnded k1 look done "seen"
        ! Posted user "also this"
        ! Posted user "and that"
        ! Posted user "while it looks"
        > CallModel boss a 1
        | system "You are boss/a."
        | user "hi"
        | assistant "" k1
        | tool k1 "seen"
        | user "also this"
        | user "and that"
        | user "while it looks"
        "#,
    );
}

#[test]
fn messages_that_wait_together_start_one_session() {
    check(
        "boss",
        r#"
        + ask r1 first
        + message second
        < ask r2 third
        ! SessionStarted a
        ! Posted user "first" r1
        ! Posted user "second"
        ! Posted user "third" r2
        > StartRun r1
        > StartRun r2
        > CallModel boss a 0
        < model all three
        ! Answered a "all three"
        ! TurnEnded a response next=a
        ! SessionEnded done "all three" rest=idle
        > EndRun r1 done "all three"
        > EndRun r2 done "all three"
        "#,
    );
}

#[test]
fn a_message_that_waits_when_the_last_answer_comes_starts_the_next_session_at_once() {
    check(
        "boss",
        r#"
        < ask r1 first ...
        < ask r2 second
        < model one
        ! Answered a "one"
        ! TurnEnded a response next=a
        ! SessionEnded done "one" rest=idle
        ! SessionStarted a
        ! Posted user "second" r2
        > EndRun r1 done "one"
        > StartRun r2
        > CallModel boss a 0
        | system "You are boss/a."
        | user "first"
        | assistant "one"
        | user "second"
        < model two
        ! Answered a "two"
        ! TurnEnded a response next=a
        ! SessionEnded done "two" rest=idle
        > EndRun r2 done "two"
        "#,
    );
}

#[test]
fn a_run_that_joins_a_session_ends_with_it() {
    check(
        "boss tools=look",
        r#"
        < ask r1 first ...
        < ask r2 second
        < model | k1=look ...
        < tool k1 done seen
        ! CallEnded k1 look done "seen"
        ! Posted user "second" r2
        > StartRun r2
        > CallModel boss a 1
        < model for both
        ! Answered a "for both"
        ! TurnEnded a response next=a
        ! SessionEnded done "for both" rest=idle
        > EndRun r1 done "for both"
        > EndRun r2 done "for both"
        "#,
    );
}

#[test]
fn a_message_waits_for_the_children_that_a_turn_waits_for() {
    check(
        "boss children=writer",
        r#"
        < ask r1 hi ...
        < model | k1=writer {"message":"write"} ...
        < message are you there?
        = waiting
        < ended r2 done text
        ! ChildEnded c1 r2 done
        ! CallEnded k1 writer done "text"
        ! Posted user "are you there?"
        > DeliveredRun r2
        > CallModel boss a 1
        | system "You are boss/a."
        | user "hi"
        | assistant "" k1
        | tool k1 "text"
        | user "are you there?"
        "#,
    );
}

#[test]
fn a_session_that_failed_is_followed_by_the_next_one_at_once() {
    check(
        "boss",
        r#"
        < ask r1 first ...
        < ask r2 second ...
        < model_failed no answer
        ! SessionEnded failed "no answer" rest=failed
        ! SessionStarted a
        ! Posted user "second" r2
        > EndRun r1 failed "no answer"
        > StartRun r2
        > CallModel boss a 0
        "#,
    );
}

#[test]
fn a_dual_agent_takes_messages_in_between_turns() {
    check(
        "pair dual",
        r#"
        < ask r1 hi ...
        < message faster
        < model from a
        ! Answered a "from a"
        ! TurnEnded a response next=b
        ! Posted user "faster"
        > CallModel pair b 0
        | system "You are pair/b."
        | user "hi"
        | user "from a"
        | user "faster"
        "#,
    );
}
