//! Children that start by themselves when a prompt becomes active.

use crate::check;

#[test]
fn a_blocking_immediate_child_ends_before_the_first_step_and_its_result_is_in_it() {
    check(
        "boss children=scout immediate=scout",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        ! Activated a | immediate_4_1=scout {}
        ! ChildStarted c1 scout r2 call=immediate_4_1
        > StartRun r1
        > Spawn c1 scout depth=1 asked r2
        = waiting
        < ended r2 done all clear
        ! ChildEnded c1 r2 done
        ! CallEnded immediate_4_1 scout done "all clear"
        > DeliveredRun r2
        > CallModel boss a 0
        | system "You are boss/a."
        | user "hi"
        | assistant "" immediate_4_1
        | tool immediate_4_1 "all clear"
        % scout
        "#,
    );
}

#[test]
fn an_immediate_child_in_the_background_does_not_delay_the_first_step() {
    check(
        "boss children=scout& immediate=scout",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        ! Activated a | immediate_4_1=scout {}
        ! ChildStarted c1 scout r2 background
        ! CallEnded immediate_4_1 scout done "The subagent was initiated successfully. Reference: @c1"
        > StartRun r1
        > Spawn c1 scout depth=1 asked r2
        > CallModel boss a 0
        | system "You are boss/a."
        | system "Subagents of this conversation:\n- @c1: scout (scout), running: Good at scout."
        | user "hi"
        | assistant "" immediate_4_1
        | tool immediate_4_1 "The subagent was initiated successfully. Reference: @c1"
        < model hello ...
        < ended r2 done all clear
        ! ChildEnded c1 r2 done
        > Deliver t0 Message user "Subagent (reference: @c1) has returned the following result:\n\nall clear" delivers=r2 silent subagent_id=@c1
        "#,
    );
}

#[test]
fn immediate_children_start_once_however_many_messages_come() {
    check(
        "boss children=scout& immediate=scout",
        r#"
        < ask r1 hi ...
        < model hello ...
        < ask r2 again
        ! SessionStarted a
        ! Posted user "again" r2
        > StartRun r2
        > CallModel boss a 0
        "#,
    );
}

#[test]
fn immediate_children_start_without_anybody_saying_anything() {
    check(
        "boss children=scout& immediate=scout",
        r#"
        < crash
        ! SessionStarted a
        ! Activated a | immediate_3_1=scout {}
        ! ChildStarted c1 scout r1 background
        ! CallEnded immediate_3_1 scout done "The subagent was initiated successfully. Reference: @c1"
        ! SessionEnded done "" rest=idle
        > Spawn c1 scout depth=1 asked r1
        = idle
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        > StartRun r1
        > CallModel boss a 0
        | system "You are boss/a."
        | system "Subagents of this conversation:\n- @c1: scout (scout), running: Good at scout."
        | assistant "" immediate_3_1
        | tool immediate_3_1 "The subagent was initiated successfully. Reference: @c1"
        | user "hi"
        "#,
    );
}

#[test]
fn a_blocking_immediate_child_of_a_silent_thread_is_waited_for_and_the_thread_rests() {
    check(
        "boss children=scout immediate=scout",
        r#"
        < crash
        ! SessionStarted a
        ! Activated a | immediate_3_1=scout {}
        ! ChildStarted c1 scout r1 call=immediate_3_1
        > Spawn c1 scout depth=1 asked r1
        = waiting
        < ended r1 done all clear
        ! ChildEnded c1 r1 done
        ! CallEnded immediate_3_1 scout done "all clear"
        ! SessionEnded done "" rest=idle
        > DeliveredRun r1
        = idle
        < ask r2 hi
        ! SessionStarted a
        ! Posted user "hi" r2
        > StartRun r2
        > CallModel boss a 0
        | system "You are boss/a."
        | assistant "" immediate_3_1
        | tool immediate_3_1 "all clear"
        | user "hi"
        "#,
    );
}

#[test]
fn a_message_that_comes_while_a_silent_thread_waits_is_answered_when_the_child_has_ended() {
    check(
        "boss children=scout immediate=scout",
        r#"
        < crash ...
        < ask r2 hi
        = waiting
        < ended r1 done all clear
        ! ChildEnded c1 r1 done
        ! CallEnded immediate_3_1 scout done "all clear"
        ! Posted user "hi" r2
        > DeliveredRun r1
        > StartRun r2
        > CallModel boss a 0
        | system "You are boss/a."
        | assistant "" immediate_3_1
        | tool immediate_3_1 "all clear"
        | user "hi"
        "#,
    );
}

#[test]
fn the_failure_of_an_immediate_child_is_an_error_that_the_first_step_sees() {
    check(
        "boss children=scout immediate=scout",
        r#"
        < ask r1 hi ...
        < ended r2 failed no way
        ! ChildEnded c1 r2 failed
        ! CallEnded immediate_4_1 scout failed "no way"
        > DeliveredRun r2
        > CallModel boss a 0
        | system "You are boss/a."
        | user "hi"
        | assistant "" immediate_4_1
        | tool immediate_4_1 "no way"
        "#,
    );
}

#[test]
fn every_immediate_child_starts_and_all_blocking_ones_are_waited_for() {
    check(
        "boss tools=look children=scout,writer,mate& immediate=scout,mate,writer",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        ! Activated a | immediate_4_1=scout {} | immediate_4_2=writer {} | immediate_4_3=mate {}
        ! ChildStarted c1 scout r2 call=immediate_4_1
        ! ChildStarted c2 writer r3 call=immediate_4_2
        ! ChildStarted c3 mate r4 background
        ! CallEnded immediate_4_3 mate done "The subagent was initiated successfully. Reference: @c3"
        > StartRun r1
        > Spawn c1 scout depth=1 asked r2
        > Spawn c2 writer depth=1 asked r3
        > Spawn c3 mate depth=1 asked r4
        = waiting
        < ended r3 done written
        ! ChildEnded c2 r3 done
        ! CallEnded immediate_4_2 writer done "written"
        > DeliveredRun r3
        = waiting
        < ended r2 done clear
        ! ChildEnded c1 r2 done
        ! CallEnded immediate_4_1 scout done "clear"
        > DeliveredRun r2
        > CallModel boss a 0
        | system "You are boss/a."
        | system "Subagents of this conversation:\n- @c3: mate (mate), running: Good at mate."
        | user "hi"
        | assistant "" immediate_4_1 immediate_4_2 immediate_4_3
        | tool immediate_4_1 "clear"
        | tool immediate_4_2 "written"
        | tool immediate_4_3 "The subagent was initiated successfully. Reference: @c3"
        "#,
    );
}

#[test]
fn a_resumable_immediate_child_is_called_as_its_agent_and_can_be_written_to() {
    check(
        "boss children=helper* immediate=helper",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        ! Activated a | immediate_4_1=subagent_create {"agent":"helper","name":"helper"}
        ! ChildStarted c1 helper r2 call=immediate_4_1 name="helper"
        > StartRun r1
        > Spawn c1 helper depth=1 tag="name:helper" resumable receives=a asked r2
        < ended r2 done ready
        ! ChildEnded c1 r2 done
        ! CallEnded immediate_4_1 subagent_create done "ready\n\nReference: @c1"
        > DeliveredRun r2
        > CallModel boss a 0
        | system "You are boss/a."
        | system "Subagents of this conversation:\n- @c1: helper (helper), idle: Good at helper."
        | user "hi"
        | assistant "" immediate_4_1
        | tool immediate_4_1 "ready\n\nReference: @c1"
        % subagent_create subagent_message
        < model | k1=subagent_message {"referenceId":"@c1","message":"more"}
        ! Answered a "" k1
        ! ChildAsked c1 r3 call=k1
        > NewRun r3 c1 helper "more"
        > Deliver c1 Message user "more" r3->t0
        "#,
    );
}

#[test]
fn variables_give_immediate_children_a_name_and_a_first_message() {
    check(
        "boss children=helper*&,scout:task& immediate=helper:WHO:WHAT,scout::WHAT names=scout:as env=WHO:Ann,WHAT:dig",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        ! Activated a | immediate_4_1=subagent_create {"agent":"helper","message":"dig","name":"Ann"} | immediate_4_2=scout {"task":"dig"}
        ! ChildStarted c1 helper r2 background name="Ann"
        ! CallEnded immediate_4_1 subagent_create done "The subagent was initiated successfully. Reference: @c1"
        ! ChildStarted c2 scout r3 background
        ! CallEnded immediate_4_2 scout done "The subagent was initiated successfully. Reference: @c2"
        > StartRun r1
        > Spawn c1 helper depth=1 tag="name:Ann" resumable receives=a Message user "dig" r2->t0
        > Spawn c2 scout depth=1 Message user "dig" r3->t0
        > CallModel boss a 0
        | system "You are boss/a."
        | system "Subagents of this conversation:\n- @c1: Ann (helper), running: Good at helper.\n- @c2: scout (scout), running: Good at scout."
        | user "hi"
        | assistant "" immediate_4_1 immediate_4_2
        | tool immediate_4_1 "The subagent was initiated successfully. Reference: @c1"
        | tool immediate_4_2 "The subagent was initiated successfully. Reference: @c2"
        "#,
    );
}

#[test]
fn numbered_variables_start_one_child_each() {
    check(
        "boss children=helper*& immediate=helper:WHO:WHAT env=WHO:Ann,WHO__2:Bob,WHAT__3:dig,WHO__5:Eve",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        ! Activated a | immediate_4_1=subagent_create {"agent":"helper","name":"Ann"} | immediate_4_2=subagent_create {"agent":"helper","name":"Bob"} | immediate_4_3=subagent_create {"agent":"helper","message":"dig","name":"helper"}
        ! ChildStarted c1 helper r2 background name="Ann"
        ! CallEnded immediate_4_1 subagent_create done "The subagent was initiated successfully. Reference: @c1"
        ! ChildStarted c2 helper r3 background name="Bob"
        ! CallEnded immediate_4_2 subagent_create done "The subagent was initiated successfully. Reference: @c2"
        ! ChildStarted c3 helper r4 background name="helper"
        ! CallEnded immediate_4_3 subagent_create done "The subagent was initiated successfully. Reference: @c3"
        > StartRun r1
        > Spawn c1 helper depth=1 tag="name:Ann" resumable receives=a asked r2
        > Spawn c2 helper depth=1 tag="name:Bob" resumable receives=a asked r3
        > Spawn c3 helper depth=1 tag="name:helper" resumable receives=a Message user "dig" r4->t0
        > CallModel boss a 0
        "#,
    );
}

#[test]
fn no_more_numbered_children_start_than_there_may_be() {
    check(
        "boss children=helper*2& immediate=helper:WHO env=WHO:Ann,WHO__2:Bob,WHO__3:Cay",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        ! Activated a | immediate_4_1=subagent_create {"agent":"helper","name":"Ann"} | immediate_4_2=subagent_create {"agent":"helper","name":"Bob"}
        ! ChildStarted c1 helper r2 background name="Ann"
        ! CallEnded immediate_4_1 subagent_create done "The subagent was initiated successfully. Reference: @c1"
        ! ChildStarted c2 helper r3 background name="Bob"
        ! CallEnded immediate_4_2 subagent_create done "The subagent was initiated successfully. Reference: @c2"
        > StartRun r1
        > Spawn c1 helper depth=1 tag="name:Ann" resumable receives=a asked r2
        > Spawn c2 helper depth=1 tag="name:Bob" resumable receives=a asked r3
        > CallModel boss a 0
        "#,
    );
}

#[test]
fn a_blank_variable_is_none() {
    check(
        "boss children=helper*& immediate=helper:WHO:WHAT prompt_env=WHO:,WHO__2:",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        ! Activated a | immediate_4_1=subagent_create {"agent":"helper","name":"helper"}
        ! ChildStarted c1 helper r2 background name="helper"
        ! CallEnded immediate_4_1 subagent_create done "The subagent was initiated successfully. Reference: @c1"
        > StartRun r1
        > Spawn c1 helper depth=1 tag="name:helper" resumable receives=a asked r2
        > CallModel boss a 0
        "#,
    );
}

#[test]
fn each_side_starts_its_own_when_it_acts_first() {
    check(
        "pair dual turns=4 a.children=scout b.children=writer immediate=scout,writer",
        r#"
        < ask r1 hi ...
        < ended r2 done clear ...
        < model over to you
        ! Answered a "over to you"
        ! TurnEnded a response next=b
        ! Activated b | immediate_10_1=writer {}
        ! ChildStarted c2 writer r3 call=immediate_10_1
        > Spawn c2 writer depth=1 asked r3
        = waiting
        < ended r3 done written
        ! ChildEnded c2 r3 done
        ! CallEnded immediate_10_1 writer done "written"
        > DeliveredRun r3
        > CallModel pair b 0
        | system "You are pair/b."
        | user "hi"
        | user "over to you"
        | assistant "" immediate_10_1
        | tool immediate_10_1 "written"
        < model thanks
        ! Answered b "thanks"
        ! TurnEnded b response next=a
        > CallModel pair a 1
        "#,
    );
}

#[test]
fn the_side_that_receives_messages_starts_its_own_first() {
    check(
        "pair dual a.children=scout b.children=writer immediate=scout,writer\nthread pair child resumable receives=b",
        r#"
        < born r1->p go
        ! Activated b | immediate_4_1=writer {}
        ! ChildStarted c1 writer r2 call=immediate_4_1
        > Spawn c1 writer depth=2 asked r2
        "#,
    );
}

#[test]
fn a_child_that_is_born_with_immediate_children_starts_them_when_it_is_taken_up() {
    check(
        "scout dual children=digger immediate=digger\nthread scout child",
        r#"
        < born r1->p go
        ! Activated a | immediate_4_1=digger {}
        ! ChildStarted c1 digger r2 call=immediate_4_1
        > Spawn c1 digger depth=2 asked r2
        = waiting
        < ended r2 done dug
        ! ChildEnded c1 r2 done
        ! CallEnded immediate_4_1 digger done "dug"
        > DeliveredRun r2
        > CallModel scout a 0
        "#,
    );
}

#[test]
fn a_child_that_was_told_nothing_acts_all_the_same() {
    check(
        "scout dual\nthread scout child",
        r#"
        < born r1->p
        > CallModel scout a 0
        | system "You are scout/a."
        < model well
        ! Answered a "well"
        ! TurnEnded a response next=b
        > CallModel scout b 0
        "#,
    );
}

#[test]
fn a_child_that_was_told_nothing_starts_its_own_first() {
    check(
        "scout dual children=digger immediate=digger\nthread scout child",
        r#"
        < born r1->p
        ! Activated a | immediate_3_1=digger {}
        ! ChildStarted c1 digger r2 call=immediate_3_1
        > Spawn c1 digger depth=2 asked r2
        = waiting
        < ended r2 done dug
        ! ChildEnded c1 r2 done
        ! CallEnded immediate_3_1 digger done "dug"
        > DeliveredRun r2
        > CallModel scout a 0
        | system "You are scout/a."
        | assistant "" immediate_3_1
        | tool immediate_3_1 "dug"
        "#,
    );
}
