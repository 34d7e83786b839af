//! Children that end with their result: started, answered, refused.

use crate::check;

#[test]
fn a_blocking_child_answers_its_call_with_its_ending() {
    check(
        "boss children=writer",
        r#"
        < ask r1 hi ...
        < model | k1=writer {"message":"write"}
        ! Answered a "" k1
        ! ChildStarted c1 writer r2 call=k1
        > Spawn c1 writer depth=1 Message user "write" r2->t0
        = waiting
        < ended r2 done the text
        ! ChildEnded c1 r2 done
        ! CallEnded k1 writer done "the text"
        > DeliveredRun r2
        > CallModel boss a 1
        = running
        "#,
    );
}

#[test]
fn a_blocking_child_that_failed_gives_its_call_an_error() {
    check(
        "boss children=writer",
        r#"
        < ask r1 hi ...
        < model | k1=writer {"message":"write"} ...
        < ended r2 failed out of ink
        ! ChildEnded c1 r2 failed
        ! CallEnded k1 writer failed "out of ink"
        > DeliveredRun r2
        > CallModel boss a 1
        | system "You are boss/a."
        | user "hi"
        | assistant "" k1
        | tool k1 "out of ink"
        "#,
    );
}

#[test]
fn attachments_are_listed_below_the_text() {
    check(
        "boss children=writer,scout&",
        r#"
        < ask r1 hi ...
        < model | k1=writer {"message":"write"} | k2=scout {"message":"look"} ...
        < ended r3 done a map &/attachments/map.png
        ! ChildEnded c2 r3 done
        > Deliver t0 Message user "Subagent (reference: @c2) has returned the following result:\n\na map\n\n/attachments/map.png" delivers=r3 silent subagent_id=@c2 &/attachments/map.png
        < ended r2 done the text &/attachments/a.txt &/attachments/b.txt
        ! ChildEnded c1 r2 done
        ! CallEnded k1 writer done "the text\n\n/attachments/a.txt\n/attachments/b.txt" &/attachments/a.txt &/attachments/b.txt
        ! Posted user "Subagent (reference: @c2) has returned the following result:\n\na map\n\n/attachments/map.png" delivers=r3 silent subagent_id=@c2 &/attachments/map.png
        > DeliveredRun r2
        > DeliveredRun r3
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn a_child_in_the_background_answers_at_once_and_its_ending_is_a_silent_message() {
    check(
        "boss children=scout&",
        r#"
        < ask r1 hi ...
        < model | k1=scout {"message":"look"}
        ! Answered a "" k1
        ! ChildStarted c1 scout r2 background
        ! CallEnded k1 scout done "The subagent was initiated successfully. Reference: @c1"
        > Spawn c1 scout depth=1 Message user "look" r2->t0
        > CallModel boss a 1
        | system "You are boss/a."
        | system "Subagents of this conversation:\n- @c1: scout (scout), running: Good at scout."
        | user "hi"
        | assistant "" k1
        | tool k1 "The subagent was initiated successfully. Reference: @c1"
        < model on its way ...
        < ended r2 done a river
        ! ChildEnded c1 r2 done
        > Deliver t0 Message user "Subagent (reference: @c1) has returned the following result:\n\na river" delivers=r2 silent subagent_id=@c1
        = idle
        < mail
        ! SessionStarted a
        ! Posted user "Subagent (reference: @c1) has returned the following result:\n\na river" delivers=r2 silent subagent_id=@c1
        > DeliveredRun r2
        > CallModel boss a 0
        | system "You are boss/a."
        | user "hi"
        | assistant "" k1
        | tool k1 "The subagent was initiated successfully. Reference: @c1"
        | assistant "on its way"
        | user "Subagent (reference: @c1) has returned the following result:\n\na river"
        = running
        "#,
    );
}

#[test]
fn a_child_in_the_background_that_failed_is_told_with_the_other_template() {
    check(
        "boss children=scout&",
        r#"
        < ask r1 hi ...
        < model | k1=scout {"message":"look"} ...
        < ended r2 failed fog
        ! ChildEnded c1 r2 failed
        > Deliver t0 Message user "Subagent (reference: @c1) has reported a failure:\n\nfog" delivers=r2 silent subagent_id=@c1
        < model waiting
        ! Answered a "waiting"
        ! TurnEnded a response next=a
        ! SessionEnded done "waiting" rest=idle
        ! SessionStarted a
        ! Posted user "Subagent (reference: @c1) has reported a failure:\n\nfog" delivers=r2 silent subagent_id=@c1
        > EndRun r1 done "waiting"
        > DeliveredRun r2
        > CallModel boss a 0
        "#,
    );
}

#[test]
fn a_second_ending_changes_nothing() {
    check(
        "boss children=writer,scout&",
        r#"
        < ask r1 hi ...
        < model | k1=writer {"message":"write"} | k2=scout {"message":"look"} ...
        < ended r2 done the text ...
        < ended r2 done the text
        < ended r3 done a river ...
        < ended r3 failed a flood
        "#,
    );
}

#[test]
fn the_ending_of_an_unknown_child_changes_nothing() {
    check(
        "boss children=writer",
        r#"
        < ended c7/r7 done who?
        < terminated c7 r7
        < reported c7 busy
        < ask r1 hi ...
        < model | k1=writer {"message":"write"} ...
        < ended c1/r7 done not asked
        "#,
    );
}

#[test]
fn three_children_run_side_by_side_and_are_answered_in_any_order() {
    check(
        "boss children=writer",
        r#"
        < ask r1 hi ...
        < model | k1=writer {"message":"one"} | k2=writer {"message":"two"} | k3=writer {"message":"three"}
        ! Answered a "" k1 k2 k3
        ! ChildStarted c1 writer r2 call=k1
        ! ChildStarted c2 writer r3 call=k2
        ! ChildStarted c3 writer r4 call=k3
        > Spawn c1 writer depth=1 Message user "one" r2->t0
        > Spawn c2 writer depth=1 Message user "two" r3->t0
        > Spawn c3 writer depth=1 Message user "three" r4->t0
        = waiting
        < ended r3 done second
        ! ChildEnded c2 r3 done
        ! CallEnded k2 writer done "second"
        > DeliveredRun r3
        < ended r4 failed third
        ! ChildEnded c3 r4 failed
        ! CallEnded k3 writer failed "third"
        > DeliveredRun r4
        < ended r2 done first
        ! ChildEnded c1 r2 done
        ! CallEnded k1 writer done "first"
        > DeliveredRun r2
        > CallModel boss a 1
        | system "You are boss/a."
        | user "hi"
        | assistant "" k1 k2 k3
        | tool k1 "first"
        | tool k2 "second"
        | tool k3 "third"
        "#,
    );
}

#[test]
fn the_registry_lists_background_children_exactly_while_they_run() {
    check(
        "boss children=scout&,writer tools=look",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        > StartRun r1
        > CallModel boss a 0
        | system "You are boss/a."
        | user "hi"
        < model | k1=scout {"message":"look"} | k2=writer {"message":"write"} ...
        < ended r3 done text
        ! ChildEnded c2 r3 done
        ! CallEnded k2 writer done "text"
        > DeliveredRun r3
        > CallModel boss a 1
        | system "You are boss/a."
        | system "Subagents of this conversation:\n- @c1: scout (scout), running: Good at scout."
        | user "hi"
        | assistant "" k1 k2
        | tool k1 "The subagent was initiated successfully. Reference: @c1"
        | tool k2 "text"
        < reported c1 on a hill
        ! ChildReported c1 "on a hill"
        < model | k3=look ...
        < tool k3 done seen
        ! CallEnded k3 look done "seen"
        > CallModel boss a 2
        | system "You are boss/a."
        | system "Subagents of this conversation:\n- @c1: scout (scout), on a hill: Good at scout."
        | user "hi"
        | assistant "" k1 k2
        | tool k1 "The subagent was initiated successfully. Reference: @c1"
        | tool k2 "text"
        | assistant "" k3
        | tool k3 "seen"
        < ended r2 done a river ...
        < model done
        ! Answered a "done"
        ! TurnEnded a response next=a
        ! SessionEnded done "done" rest=idle
        ! SessionStarted a
        ! Posted user "Subagent (reference: @c1) has returned the following result:\n\na river" delivers=r2 silent subagent_id=@c1
        > EndRun r1 done "done"
        > DeliveredRun r2
        > CallModel boss a 0
        | system "You are boss/a."
        | user "hi"
        | assistant "" k1 k2
        | tool k1 "The subagent was initiated successfully. Reference: @c1"
        | tool k2 "text"
        | assistant "" k3
        | tool k3 "seen"
        | assistant "done"
        | user "Subagent (reference: @c1) has returned the following result:\n\na river"
        "#,
    );
}

#[test]
fn a_child_is_given_its_message_by_the_property_that_is_mapped() {
    check(
        "boss children=writer:task",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        > StartRun r1
        > CallModel boss a 0
        % writer
        < model | k1=writer {"task":"write"} | k2=writer {"message":"write"}
        ! Answered a "" k1 k2
        ! ChildStarted c1 writer r2 call=k1
        ! CallEnded k2 writer failed "{'error':{'code':'subagent_arguments_invalid','message':'`task` must be a text that is not blank'}}"
        > Spawn c1 writer depth=1 Message user "write" r2->t0
        "#,
    );
}

#[test]
fn malformed_arguments_for_a_child_are_told_to_the_model() {
    check(
        "boss children=writer",
        r#"
        < ask r1 hi ...
        < model | k1=writer {"message" | k2=writer ["write"] | k3=writer {"message":"  "} | k4=writer {"message":7}
        ! Answered a "" k1 k2 k3 k4
        ! CallEnded k1 writer failed "{'error':{'code':'subagent_arguments_invalid','message':'the arguments are not valid JSON: EOF while parsing an object at line 1 column 10'}}"
        ! CallEnded k2 writer failed "{'error':{'code':'subagent_arguments_invalid','message':'the arguments must be a JSON object'}}"
        ! CallEnded k3 writer failed "{'error':{'code':'subagent_arguments_invalid','message':'`message` must be a text that is not blank'}}"
        ! CallEnded k4 writer failed "{'error':{'code':'subagent_arguments_invalid','message':'`message` must be a text that is not blank'}}"
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn a_child_at_the_depth_limit_is_refused_and_the_tool_stays_offered() {
    check(
        "boss children=writer
         thread boss child depth=2
         limits depth=2",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        > StartRun r1
        > CallModel boss a 0
        % writer
        < model | k1=writer {"message":"write"}
        ! Answered a "" k1
        ! CallEnded k1 writer failed "{'error':{'code':'depth_limit_reached','message':'subagents may lie at most 2 levels deep; do this work yourself','max':2}}"
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn a_child_at_the_last_level_is_allowed() {
    check(
        "boss children=writer
         thread boss child depth=1
         limits depth=2",
        r#"
        < ask r1 hi ...
        < model | k1=writer {"message":"write"}
        ! Answered a "" k1
        ! ChildStarted c1 writer r2 call=k1
        > Spawn c1 writer depth=2 Message user "write" r2->t0
        "#,
    );
}

#[test]
fn more_live_children_than_allowed_are_refused_at_once() {
    check(
        "boss children=writer,scout&
         limits children_live=2",
        r#"
        < ask r1 hi ...
        < model | k1=scout {"message":"look"} | k2=writer {"message":"one"} | k3=writer {"message":"two"}
        ! Answered a "" k1 k2 k3
        ! ChildStarted c1 scout r2 background
        ! CallEnded k1 scout done "The subagent was initiated successfully. Reference: @c1"
        ! ChildStarted c2 writer r3 call=k2
        ! CallEnded k3 writer failed "{'error':{'code':'subagent_limit_reached','message':'the limit `children_live` of 2 subagents is reached; wait for one of them to end','cap':'children_live','max':2,'references':['@c1','@c2']}}"
        > Spawn c1 scout depth=1 Message user "look" r2->t0
        > Spawn c2 writer depth=1 Message user "one" r3->t0
        < ended r3 done text ...
        < model | k4=writer {"message":"three"}
        ! Answered a "" k4
        ! ChildStarted c3 writer r4 call=k4
        > Spawn c3 writer depth=1 Message user "three" r4->t0
        "#,
    );
}

#[test]
fn more_children_than_fit_into_the_tree_are_refused_at_once() {
    check(
        "boss children=writer
         limits left=1",
        r#"
        < ask r1 hi ...
        < model | k1=writer {"message":"one"} | k2=writer {"message":"two"}
        ! Answered a "" k1 k2
        ! ChildStarted c1 writer r2 call=k1
        ! CallEnded k2 writer failed "{'error':{'code':'subagent_limit_reached','message':'the limit `children_total` of 200 subagents is reached; no more can be started in this tree','cap':'children_total','max':200,'references':['@c1']}}"
        > Spawn c1 writer depth=1 Message user "one" r2->t0
        "#,
    );
}

#[test]
fn a_child_that_nobody_declared_is_refused_by_name() {
    check(
        "boss children=writer",
        r#"
        < ask r1 hi ...
        < model | k1=poet {"message":"write"} | k2=subagent_create {"agent":"writer","message":"m","name":"n"}
        ! Answered a "" k1 k2
        ! CallEnded k1 poet failed "There is no tool `poet` here. Available: writer."
        ! CallEnded k2 subagent_create failed "There is no tool `subagent_create` here. Available: writer."
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn a_child_that_ends_after_its_parents_turn_is_told_later() {
    check(
        "boss children=scout&",
        r#"
        < ask r1 hi ...
        < model | k1=scout {"message":"look"} ...
        + ended r2 done a river
        < model good night
        ! Answered a "good night"
        ! ChildEnded c1 r2 done
        ! TurnEnded a response next=a
        ! SessionEnded done "good night" rest=idle
        > Deliver t0 Message user "Subagent (reference: @c1) has returned the following result:\n\na river" delivers=r2 silent subagent_id=@c1
        > EndRun r1 done "good night"
        = idle
        < mail
        ! SessionStarted a
        ! Posted user "Subagent (reference: @c1) has returned the following result:\n\na river" delivers=r2 silent subagent_id=@c1
        > DeliveredRun r2
        > CallModel boss a 0
        "#,
    );
}

#[test]
fn a_child_that_ends_takes_its_own_children_with_it() {
    check(
        "solo children=scout&,helper*
         thread solo child",
        r#"
        < ask r1->p go ...
        < model | k1=scout {"message":"look"} | k2=subagent_create {"agent":"helper","message":"help","name":"h"} ...
        < ended r3 done helped ...
        < model done
        ! Answered a "done"
        ! TurnEnded a response next=a
        ! SessionEnded done "done" rest=done
        > EndRun r1 done "done"
        > Deliver p ChildEnded t0 r1 done "done"
        > Deliver c1 Terminate
        > Deliver c2 Terminate
        = done
        < terminated c1 r2
        ! ChildTerminated c1
        > DeliveredRun r2
        < terminated c2
        ! ChildTerminated c2
        "#,
    );
}

#[test]
fn of_a_long_result_the_model_is_shown_the_beginning_and_where_all_of_it_lies() {
    check(
        "boss children=writer,scout&\nlimits tool_output_bytes=10",
        r#"
        < message go ...
        < model | k1=writer {"message":"write"} | k2=scout {"message":"look"} ...
        < ended r1 done twelve bytes
        ! ChildEnded c1 r1 done
        ! FilePut /outputs/@r1.txt
        ! CallEnded k1 writer done "twelve byt\n[cut: 10 of 12 bytes shown; all of it is in `/outputs/@r1.txt`, which `read_file` reads]"
        > DeliveredRun r1
        > PutFile t0 /outputs/@r1.txt
        > CallModel boss a 1
        < ended r2 done thirteen here
        ! ChildEnded c2 r2 done
        ! FilePut /outputs/@r2.txt
        > PutFile t0 /outputs/@r2.txt
        > Deliver t0 Message user "Subagent (reference: @c2) has returned the following result:\n\nthirteen h\n[cut: 10 of 13 bytes shown; all of it is in `/outputs/@r2.txt`, which `read_file` reads]" delivers=r2 silent subagent_id=@c2
        "#,
    );
}
