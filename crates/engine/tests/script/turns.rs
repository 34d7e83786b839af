//! One turn of one side: messages, answers, and when tools run.

use crate::check;

#[test]
fn a_message_gets_one_answer() {
    check(
        "boss",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        > StartRun r1
        > CallModel boss a 0
        | system "You are boss/a."
        | user "hi"
        = running
        < model hello
        ! Answered a "hello"
        ! TurnEnded a response next=a
        ! SessionEnded done "hello" rest=idle
        > EndRun r1 done "hello"
        = idle
        "#,
    );
}

#[test]
fn a_message_without_a_run_ends_nobodys_run() {
    check(
        "boss",
        r#"
        < message hi
        ! SessionStarted a
        ! Posted user "hi"
        > CallModel boss a 0
        < model hello
        ! Answered a "hello"
        ! TurnEnded a response next=a
        ! SessionEnded done "hello" rest=idle
        "#,
    );
}

#[test]
fn two_pure_tools_run_side_by_side_and_each_once() {
    check(
        "boss tools=look,find",
        r#"
        < ask r1 hi ...
        < model | k1=look {"at":"a"} | k2=find
        ! Answered a "" k1 k2
        > CallTool k1 look
        > CallTool k2 find
        = running
        < tool k1 done seen
        ! CallEnded k1 look done "seen"
        < tool k2 done found
        ! CallEnded k2 find done "found"
        > CallModel boss a 1
        < model both done
        ! Answered a "both done"
        ! TurnEnded a response next=a
        ! SessionEnded done "both done" rest=idle
        > EndRun r1 done "both done"
        "#,
    );
}

#[test]
fn results_are_shown_in_call_order_although_they_came_in_reverse() {
    check(
        "boss tools=look",
        r#"
        < ask r1 hi ...
        < model looking | k1=look | k2=look | k3=look
        ! Answered a "looking" k1 k2 k3
        > CallTool k1 look
        > CallTool k2 look
        > CallTool k3 look
        < tool k3 done third ...
        < tool k2 failed second ...
        < tool k1 done first
        ! CallEnded k1 look done "first"
        > CallModel boss a 1
        | system "You are boss/a."
        | user "hi"
        | assistant "looking" k1 k2 k3
        | tool k1 "first"
        | tool k2 "second"
        | tool k3 "third"
        "#,
    );
}

#[test]
fn a_changing_tool_waits_for_those_before_it_and_later_ones_wait_for_it() {
    check(
        "boss tools=look,pay,ship,put",
        r#"
        < ask r1 hi ...
        < model | k1=look | k2=look | k3=pay | k4=look | k5=put | k6=look
        ! Answered a "" k1 k2 k3 k4 k5 k6
        > CallTool k1 look
        > CallTool k2 look
        < tool k2 done two
        ! CallEnded k2 look done "two"
        < tool k1 done one
        ! CallEnded k1 look done "one"
        ! CallStarted k3
        > CallTool k3 pay key=@t0/1/2
        < tool k3 done paid
        ! CallEnded k3 pay done "paid"
        > CallTool k4 look
        < tool k4 done four
        ! CallEnded k4 look done "four"
        ! CallStarted k5
        > CallTool k5 put key=@t0/1/4
        < tool k5 done put
        ! CallEnded k5 put done "put"
        > CallTool k6 look
        < tool k6 done six
        ! CallEnded k6 look done "six"
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn changing_tools_run_one_after_the_other() {
    check(
        "boss tools=pay,ship",
        r#"
        < ask r1 hi ...
        < model | k1=pay | k2=ship
        ! Answered a "" k1 k2
        ! CallStarted k1
        > CallTool k1 pay key=@t0/1/0
        < tool k1 failed no money
        ! CallEnded k1 pay failed "no money"
        ! CallStarted k2
        > CallTool k2 ship key=@t0/1/1
        < tool k2 done shipped
        ! CallEnded k2 ship done "shipped"
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn a_changing_tool_does_not_wait_for_a_child_that_was_called_before_it() {
    check(
        "boss tools=pay children=writer",
        r#"
        < ask r1 hi ...
        < model | k1=writer {"message":"write"} | k2=pay
        ! Answered a "" k1 k2
        ! ChildStarted c1 writer r2 call=k1
        ! CallStarted k2
        > Spawn c1 writer depth=1 Message user "write" r2->t0
        > CallTool k2 pay key=@t0/1/1
        < ended r2 done text
        ! ChildEnded c1 r2 done
        ! CallEnded k1 writer done "text"
        > DeliveredRun r2
        < tool k2 done paid
        ! CallEnded k2 pay done "paid"
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn calls_with_the_same_id_get_their_own() {
    check(
        "boss tools=look",
        r#"
        < ask r1 hi ...
        < model | k#2=look | k=look | k=look
        ! Answered a "" k#2 k k#2#2
        > CallTool k#2 look
        > CallTool k look
        > CallTool k#2#2 look
        < tool k#2#2 done third ...
        < tool k done second ...
        < tool k#2 done first
        ! CallEnded k#2 look done "first"
        > CallModel boss a 1
        | system "You are boss/a."
        | user "hi"
        | assistant "" k#2 k k#2#2
        | tool k#2 "first"
        | tool k "second"
        | tool k#2#2 "third"
        "#,
    );
}

#[test]
fn an_unknown_tool_is_told_to_the_model_beside_the_tools_there_are() {
    check(
        "boss tools=look children=writer,helper*",
        r#"
        < ask r1 hi ...
        < model | k1=fetch | k2=pay
        ! Answered a "" k1 k2
        ! CallEnded k1 fetch failed "There is no tool `fetch` here. Available: look, writer, subagent_create."
        ! CallEnded k2 pay failed "There is no tool `pay` here. Available: look, writer, subagent_create."
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn an_unknown_tool_where_there_are_none_is_told_so() {
    check(
        "boss",
        r#"
        < ask r1 hi ...
        < model | k1=fetch
        ! Answered a "" k1
        ! CallEnded k1 fetch failed "There is no tool `fetch` here, nor any other."
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn a_text_beside_calls_does_not_end_the_turn() {
    check(
        "boss tools=look",
        r#"
        < ask r1 hi ...
        < model let me see | k1=look ...
        < tool k1 done seen
        ! CallEnded k1 look done "seen"
        > CallModel boss a 1
        < model
        ! Answered a ""
        > CallModel boss a 2
        < model now I know
        ! Answered a "now I know"
        ! TurnEnded a response next=a
        ! SessionEnded done "now I know" rest=idle
        > EndRun r1 done "now I know"
        "#,
    );
}

#[test]
fn what_nobody_asked_for_changes_nothing() {
    check(
        "boss tools=look,pay children=writer",
        r#"
        < mail
        = idle
        < model unasked
        < tool k1 done unasked
        < tick 10
        < ask r1 hi ...
        < tool k1 done unasked
        < mail
        < model | k1=look | k2=writer {"message":"write"} | k4=pay ...
        < tool k4 done not begun
        < model unasked
        < tool k2 done not a tool's to answer
        < tool k3 done unasked
        < tool k1 done seen
        ! CallEnded k1 look done "seen"
        ! CallStarted k4
        > CallTool k4 pay key=@t0/1/2
        < tool k1 done again
        = running
        "#,
    );
}

#[test]
fn a_model_that_cannot_answer_fails_the_run_and_the_thread_takes_a_new_message() {
    check(
        "boss",
        r#"
        < ask r1 hi ...
        < model_failed the provider said no
        ! SessionEnded failed "the provider said no" rest=failed
        > EndRun r1 failed "the provider said no"
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
fn a_thread_whose_agent_is_not_in_its_team_fails_and_does_not_hang() {
    check(
        "boss
         thread ghost",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        ! SessionEnded failed "agent `ghost` has no model on this side" rest=failed
        > StartRun r1
        > EndRun r1 failed "agent `ghost` has no model on this side"
        = failed
        "#,
    );
}
