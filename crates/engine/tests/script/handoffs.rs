//! One agent takes the thread over from another.

use crate::check;

#[test]
fn another_agent_takes_over_with_the_whole_conversation() {
    check(
        "boss tools=look handoffs=clerk\nclerk tools=find",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        > StartRun r1
        > CallModel boss a 0
        % look clerk
        < model | k1=clerk
        ! Answered a "" k1
        ! CallEnded k1 clerk done "Handoff complete"
        ! HandedOff clerk
        > SetAgent t0 clerk
        > CallModel clerk a 1
        | system "You are clerk/a."
        | user "hi"
        | assistant "" k1
        | tool k1 "Handoff complete"
        % find
        < model I am the clerk
        ! Answered a "I am the clerk"
        ! TurnEnded a response next=a
        ! SessionEnded done "I am the clerk" rest=idle
        > EndRun r1 done "I am the clerk"
        = idle
        < ask r2 still there?
        ! SessionStarted a
        ! Posted user "still there?" r2
        > StartRun r2
        > CallModel clerk a 0
        | system "You are clerk/a."
        | user "hi"
        | assistant "" k1
        | tool k1 "Handoff complete"
        | assistant "I am the clerk"
        | user "still there?"
        "#,
    );
}

#[test]
fn a_handoff_is_no_turn() {
    check(
        "boss handoffs=clerk turns=1\nclerk turns=1",
        r#"
        < ask r1 hi ...
        < model one moment | k1=clerk
        ! Answered a "one moment" k1
        ! CallEnded k1 clerk done "Handoff complete"
        ! HandedOff clerk
        > SetAgent t0 clerk
        > CallModel clerk a 1
        < model done
        ! Answered a "done"
        ! TurnEnded a response next=a
        ! SessionEnded done "done" rest=idle
        > EndRun r1 done "done"
        "#,
    );
}

#[test]
fn the_agent_is_told_what_the_call_says() {
    check(
        "boss handoffs=clerk:task\nclerk",
        r#"
        < ask r1 hi ...
        < model | k1=clerk {"task":"file this"}
        ! Answered a "" k1
        ! CallEnded k1 clerk done "Handoff complete"
        ! HandedOff clerk
        ! Posted user "file this"
        > SetAgent t0 clerk
        > CallModel clerk a 1
        | system "You are clerk/a."
        | user "hi"
        | assistant "" k1
        | tool k1 "Handoff complete"
        | user "file this"
        "#,
    );
}

#[test]
fn a_handoff_without_what_it_must_say_is_refused() {
    check(
        "boss handoffs=clerk:task\nclerk",
        r#"
        < ask r1 hi ...
        < model | k1=clerk {"task":" "} | k2=clerk {}
        ! Answered a "" k1 k2
        ! CallEnded k1 clerk failed "{'error':{'code':'subagent_arguments_invalid','message':'`task` must be a text that is not blank'}}"
        ! CallEnded k2 clerk failed "{'error':{'code':'subagent_arguments_invalid','message':'`task` must be a text that is not blank'}}"
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn messages_that_wait_are_for_the_new_agent() {
    check(
        "boss tools=pay handoffs=clerk:task\nclerk",
        r#"
        < ask r1 hi ...
        < model | k1=pay | k2=clerk {"task":"file this"}
        ! Answered a "" k1 k2
        ! CallEnded k2 clerk done "Handoff complete"
        ! CallStarted k1
        > CallTool k1 pay key=@t0/1/0
        + ask r2 and this
        < tool k1 done paid
        ! CallEnded k1 pay done "paid"
        ! HandedOff clerk
        ! Posted user "file this"
        ! Posted user "and this" r2
        > SetAgent t0 clerk
        > StartRun r2
        > CallModel clerk a 1
        | system "You are clerk/a."
        | user "hi"
        | assistant "" k1 k2
        | tool k1 "paid"
        | tool k2 "Handoff complete"
        | user "file this"
        | user "and this"
        < model all filed
        ! Answered a "all filed"
        ! TurnEnded a response next=a
        ! SessionEnded done "all filed" rest=idle
        > EndRun r1 done "all filed"
        > EndRun r2 done "all filed"
        "#,
    );
}

#[test]
fn the_other_calls_of_the_answer_end_first() {
    check(
        "boss tools=look children=scout handoffs=clerk\nclerk",
        r#"
        < ask r1 hi ...
        < model | k1=clerk | k2=scout {"message":"dig"} | k3=look
        ! Answered a "" k1 k2 k3
        ! CallEnded k1 clerk done "Handoff complete"
        ! ChildStarted c1 scout r2 call=k2
        > Spawn c1 scout depth=1 Message user "dig" r2->t0
        > CallTool k3 look
        < tool k3 done seen
        ! CallEnded k3 look done "seen"
        = waiting
        < ended r2 done dug
        ! ChildEnded c1 r2 done
        ! CallEnded k2 scout done "dug"
        ! HandedOff clerk
        > DeliveredRun r2
        > SetAgent t0 clerk
        > CallModel clerk a 1
        "#,
    );
}

#[test]
fn only_the_first_of_two_takes_over() {
    check(
        "boss handoffs=clerk,judge\nclerk\njudge",
        r#"
        < ask r1 hi ...
        < model | k1=judge | k2=clerk
        ! Answered a "" k1 k2
        ! CallEnded k1 judge done "Handoff complete"
        ! CallEnded k2 clerk failed "Only one agent can take over; `clerk` does not."
        ! HandedOff judge
        > SetAgent t0 judge
        > CallModel judge a 1
        "#,
    );
}

#[test]
fn the_immediate_children_of_the_new_agent_start() {
    check(
        "boss handoffs=clerk\nclerk children=scout immediate=scout",
        r#"
        < ask r1 hi ...
        < model | k1=clerk
        ! Answered a "" k1
        ! CallEnded k1 clerk done "Handoff complete"
        ! HandedOff clerk
        ! Activated a | immediate_7_1=scout {}
        ! ChildStarted c1 scout r2 call=immediate_7_1
        > SetAgent t0 clerk
        > Spawn c1 scout depth=1 asked r2
        = waiting
        < ended r2 done clear
        ! ChildEnded c1 r2 done
        ! CallEnded immediate_7_1 scout done "clear"
        > DeliveredRun r2
        > CallModel clerk a 1
        | system "You are clerk/a."
        | user "hi"
        | assistant "" k1
        | tool k1 "Handoff complete"
        | assistant "" immediate_7_1
        | tool immediate_7_1 "clear"
        "#,
    );
}

#[test]
fn an_agent_that_takes_over_again_starts_its_immediate_children_again() {
    check(
        "boss children=scout& immediate=scout handoffs=clerk\nclerk handoffs=boss",
        r#"
        < ask r1 hi ...
        < model | k1=clerk ...
        < model | k2=boss
        ! Answered a "" k2
        ! CallEnded k2 boss done "Handoff complete"
        ! HandedOff boss
        ! Activated a | immediate_13_1=scout {}
        ! ChildStarted c2 scout r3 background
        ! CallEnded immediate_13_1 scout done "The subagent was initiated successfully. Reference: @c2"
        > SetAgent t0 boss
        > Spawn c2 scout depth=1 asked r3
        > CallModel boss a 2
        "#,
    );
}

#[test]
fn children_of_the_former_agent_stay_and_come_home() {
    check(
        "boss children=scout&,helper*& handoffs=clerk\nclerk",
        r#"
        < ask r1 hi ...
        < model | k1=scout {"message":"dig"} | k2=subagent_create {"agent":"helper","message":"go","name":"Ann"} | k3=clerk
        ! Answered a "" k1 k2 k3
        ! ChildStarted c1 scout r2 background
        ! CallEnded k1 scout done "The subagent was initiated successfully. Reference: @c1"
        ! ChildStarted c2 helper r3 background name="Ann"
        ! CallEnded k2 subagent_create done "The subagent was initiated successfully. Reference: @c2"
        ! CallEnded k3 clerk done "Handoff complete"
        ! HandedOff clerk
        > Spawn c1 scout depth=1 Message user "dig" r2->t0
        > Spawn c2 helper depth=1 tag="name:Ann" resumable receives=a Message user "go" r3->t0
        > SetAgent t0 clerk
        > CallModel clerk a 1
        | system "You are clerk/a."
        | system "Subagents of this conversation:\n- @c1: scout (scout), running: Good at scout.\n- @c2: Ann (helper), running: Good at helper."
        | user "hi"
        | assistant "" k1 k2 k3
        | tool k1 "The subagent was initiated successfully. Reference: @c1"
        | tool k2 "The subagent was initiated successfully. Reference: @c2"
        | tool k3 "Handoff complete"
        %
        < model hello ...
        < ended r2 done dug
        ! ChildEnded c1 r2 done
        > Deliver t0 Message user "Subagent (reference: @c1) has returned the following result:\n\ndug" delivers=r2 silent subagent_id=@c1
        < mail
        ! SessionStarted a
        ! Posted user "Subagent (reference: @c1) has returned the following result:\n\ndug" delivers=r2 silent subagent_id=@c1
        > DeliveredRun r2
        > CallModel clerk a 0
        | system "You are clerk/a."
        | system "Subagents of this conversation:\n- @c2: Ann (helper), running: Good at helper."
        | user "hi"
        | assistant "" k1 k2 k3
        | tool k1 "The subagent was initiated successfully. Reference: @c1"
        | tool k2 "The subagent was initiated successfully. Reference: @c2"
        | tool k3 "Handoff complete"
        | assistant "hello"
        | user "Subagent (reference: @c1) has returned the following result:\n\ndug"
        "#,
    );
}

#[test]
fn a_handoff_beside_the_end_of_the_session_does_not_take_over() {
    check(
        "boss tools=finish handoffs=clerk session_stop=finish\nclerk",
        r#"
        < ask r1 hi ...
        < model | k1=clerk | k2=finish ...
        < tool k2 done the end
        ! CallEnded k2 finish done "the end"
        ! SessionEnded done "the end" rest=idle
        > EndRun r1 done "the end"
        = idle
        "#,
    );
}

#[test]
fn a_handoff_goes_before_the_stop_tool() {
    check(
        "boss tools=hand_over stop_tool=hand_over handoffs=clerk\nclerk",
        r#"
        < ask r1 hi ...
        < model | k1=clerk | k2=hand_over ...
        < tool k2 done over
        ! CallEnded k2 hand_over done "over"
        ! HandedOff clerk
        > SetAgent t0 clerk
        > CallModel clerk a 1
        "#,
    );
}

#[test]
fn a_handoff_to_nobody_is_refused() {
    check(
        "boss handoffs=ghost",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        > StartRun r1
        > CallModel boss a 0
        %
        < model | k1=ghost
        ! Answered a "" k1
        ! CallEnded k1 ghost failed "There is no agent `ghost`."
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn a_crash_before_the_calls_have_ended_hands_over_afterwards() {
    check(
        "boss tools=look handoffs=clerk:task\nclerk",
        r#"
        < ask r1 hi ...
        < model | k1=clerk {"task":"file this"} | k2=look ...
        < crash
        > CallTool k2 look
        < tool k2 done seen
        ! CallEnded k2 look done "seen"
        ! HandedOff clerk
        ! Posted user "file this"
        > SetAgent t0 clerk
        > CallModel clerk a 1
        "#,
    );
}

#[test]
fn a_crash_after_the_handoff_asks_the_new_agent() {
    check(
        "boss handoffs=clerk\nclerk",
        r#"
        < ask r1 hi ...
        < model | k1=clerk ...
        < crash
        > CallModel clerk a 1
        "#,
    );
}

#[test]
fn a_crash_of_a_thread_that_was_handed_over_and_rests_changes_nothing() {
    check(
        "boss handoffs=clerk\nclerk",
        r#"
        < ask r1 hi ...
        < model | k1=clerk ...
        < model done ...
        < crash
        = idle
        < ask r2 again
        ! SessionStarted a
        ! Posted user "again" r2
        > StartRun r2
        > CallModel clerk a 0
        "#,
    );
}

#[test]
fn stopping_while_calls_are_open_hands_nothing_over() {
    check(
        "boss tools=look handoffs=clerk\nclerk",
        r#"
        < ask r1 hi ...
        < model | k1=clerk | k2=look ...
        < stop
        ! CallEnded k2 look cancelled "Execution stopped."
        ! TurnEnded a asked next=a
        ! SessionEnded cancelled "Execution stopped." rest=idle
        > EndRun r1 cancelled "Execution stopped."
        > Abort
        = idle
        < ask r2 again
        ! SessionStarted a
        ! Posted user "again" r2
        > StartRun r2
        > CallModel boss a 0
        "#,
    );
}

#[test]
fn terminating_after_a_handoff_ends_the_run() {
    check(
        "boss handoffs=clerk\nclerk",
        r#"
        < ask r1 hi ...
        < model | k1=clerk ...
        < terminate
        ! Terminated
        > EndRun r1 cancelled "The thread was terminated."
        > Abort
        = terminated
        "#,
    );
}

#[test]
fn agents_that_hand_over_to_each_other_for_ever_run_into_the_step_limit() {
    check(
        "boss handoffs=clerk\nclerk handoffs=boss\nlimits steps=3",
        r#"
        < ask r1 hi ...
        < model | k1=clerk ...
        < model | k2=boss ...
        < model | k3=clerk
        ! Answered a "" k3
        ! CallEnded k3 clerk done "Handoff complete"
        ! HandedOff clerk
        ! TurnEnded a limit="steps: the limit of 3 steps is reached" next=a
        ! SessionEnded done "" limit="steps: the limit of 3 steps is reached" rest=idle
        > SetAgent t0 clerk
        > EndRun r1 done "" limit="steps: the limit of 3 steps is reached"
        "#,
    );
}

#[test]
fn the_files_that_a_handoff_names_go_along() {
    check(
        "boss tools=look handoffs=clerk:task files=clerk:papers\nclerk\nfiles /a.txt /b.txt",
        r#"
        < ask r1 hi ...
        < model | k1=clerk {"task":"file this","papers":["/a.txt"]}
        ! Answered a "" k1
        ! CallEnded k1 clerk done "Handoff complete" &/a.txt
        ! HandedOff clerk
        ! Posted user "file this" &/a.txt
        > SetAgent t0 clerk
        > CallModel clerk a 1
        | system "You are clerk/a."
        | user "hi"
        | assistant "" k1
        | tool k1 "Handoff complete"
        | user "file this\n\n/a.txt"
        "#,
    );
}

#[test]
fn the_files_of_a_handoff_go_along_although_another_call_ends_later() {
    check(
        "boss tools=look handoffs=clerk:task files=clerk:papers\nclerk\nfiles /a.txt /b.txt",
        r#"
        < ask r1 hi ...
        < model | k1=clerk {"task":"file this","papers":"/a.txt"} | k2=look ...
        < tool k2 done seen
        ! CallEnded k2 look done "seen"
        ! HandedOff clerk
        ! Posted user "file this" &/a.txt
        > SetAgent t0 clerk
        > CallModel clerk a 1
        | system "You are clerk/a."
        | user "hi"
        | assistant "" k1 k2
        | tool k1 "Handoff complete"
        | tool k2 "seen"
        | user "file this\n\n/a.txt"
        "#,
    );
}

#[test]
fn a_handoff_with_a_file_that_is_not_there_is_refused() {
    check(
        "boss handoffs=clerk files=clerk:papers\nclerk\nfiles /a.txt",
        r#"
        < ask r1 hi ...
        < model | k1=clerk {"papers":["/a.txt","/c.txt"]} | k2=clerk {"papers":"/../etc"} | k3=clerk {"papers":[1]}
        ! Answered a "" k1 k2 k3
        ! CallEnded k1 clerk failed "{'error':{'code':'subagent_arguments_invalid','message':'there is no file `/c.txt` in this thread'}}"
        ! CallEnded k2 clerk failed "{'error':{'code':'subagent_arguments_invalid','message':'`/../etc` is not a path of a file: a part of it is empty, `.` or `..`'}}"
        ! CallEnded k3 clerk failed "{'error':{'code':'subagent_arguments_invalid','message':'attachments must be paths, each of them a text'}}"
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn a_pair_that_takes_over_begins_with_its_side_a() {
    check(
        "boss handoffs=pair\npair dual turns=2",
        r#"
        < ask r1 hi ...
        < model | k1=pair
        ! Answered a "" k1
        ! CallEnded k1 pair done "Handoff complete"
        ! HandedOff pair
        > SetAgent t0 pair
        > CallModel pair a 1
        < model a
        ! Answered a "a"
        ! TurnEnded a response next=b
        > CallModel pair b 0
        < model b
        ! Answered b "b"
        ! TurnEnded b response next=a
        ! SessionEnded done "b" limit="maxSessionTurns: the limit of 2 turns is reached" rest=done
        > EndRun r1 done "b" limit="maxSessionTurns: the limit of 2 turns is reached"
        = done
        "#,
    );
}

#[test]
fn a_child_that_hands_over_still_answers_its_parent() {
    check(
        "solo handoffs=clerk\nclerk\nthread solo child",
        r#"
        < born r1->p go ...
        < model | k1=clerk ...
        < model filed
        ! Answered a "filed"
        ! TurnEnded a response next=a
        ! SessionEnded done "filed" rest=done
        > EndRun r1 done "filed"
        > Deliver p ChildEnded t0 r1 done "filed"
        "#,
    );
}

#[test]
fn the_new_agents_variables_are_those_that_count() {
    check(
        "boss says=A handoffs=clerk env=A:1\nclerk says=A env=A:2",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        > StartRun r1
        > CallModel boss a 0
        | system "You are boss/a. 1"
        | user "hi"
        < model | k1=clerk
        ! Answered a "" k1
        ! CallEnded k1 clerk done "Handoff complete"
        ! HandedOff clerk
        > SetAgent t0 clerk
        > CallModel clerk a 1
        | system "You are clerk/a. 2"
        | user "hi"
        | assistant "" k1
        | tool k1 "Handoff complete"
        "#,
    );
}

#[test]
fn the_agent_that_takes_over_has_its_own_steps() {
    check(
        "boss steps=1 handoffs=clerk
         clerk steps=1",
        r#"
        < ask r1 hi ...
        < model | k1=clerk
        ! Answered a "" k1
        ! CallEnded k1 clerk done "Handoff complete"
        ! HandedOff clerk
        > SetAgent t0 clerk
        > CallModel clerk a 1
        "#,
    );
}

#[test]
fn a_child_whose_side_b_is_written_to_and_that_was_taken_over_can_be_written_to_again() {
    check(
        "pair dual b.handoffs=clerk\nclerk\nthread pair child resumable receives=b dialect=standard",
        r#"
        < born r1->p go ...
        < model | k1=clerk ...
        < model filed
        ! Answered a "filed"
        ! TurnEnded a response next=a
        ! SessionEnded done "filed" rest=idle
        > EndRun r1 done "filed"
        > Deliver p ChildEnded t0 r1 done "filed"
        > Deliver p ChildReported t0 for_others "awaiting_human"
        < ask r2->p more
        ! SessionStarted a
        ! Posted user "more" r2->p
        > StartRun r2
        > CallModel clerk a 0
        "#,
    );
}

#[test]
fn a_pair_that_gets_the_thread_back_is_written_to_on_the_same_side_as_before() {
    check(
        "pair dual handoffs=clerk turns=1\nclerk handoffs=pair\nthread pair child resumable receives=b dialect=standard",
        r#"
        < born r1->p go ...
        < model | k1=clerk ...
        < model | k2=pair ...
        < model back again ...
        < ask r2->p more
        ! SessionStarted b
        ! Posted user "more" r2->p
        > StartRun r2
        > CallModel pair b 0
        "#,
    );
}

#[test]
fn a_child_that_failed_under_another_agent_awaits_nobody() {
    check(
        "pair dual handoffs=clerk\nclerk session_stop=finish tools=finish\nthread pair child resumable dialect=standard",
        r#"
        < born r1->p go ...
        < model | k1=clerk ...
        < model filed
        ! Answered a "filed"
        ! TurnEnded a response next=a
        ! SessionEnded failed "`clerk` stopped without a result: it answered with a text; no session tool was called" rest=idle
        > EndRun r1 failed "`clerk` stopped without a result: it answered with a text; no session tool was called"
        > Deliver p ChildEnded t0 r1 failed "`clerk` stopped without a result: it answered with a text; no session tool was called"
        "#,
    );
}
