//! Children that can be written to again.

use crate::check;

#[test]
fn a_blocking_instance_is_created_answered_and_written_to_again() {
    check(
        "boss children=helper*",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        > StartRun r1
        > CallModel boss a 0
        % subagent_create
        < model | k1=subagent_create {"agent":"helper","message":"help","name":" Ann "}
        ! Answered a "" k1
        ! ChildStarted c1 helper r2 call=k1 name="Ann"
        > Spawn c1 helper depth=1 tag="name:Ann" resumable receives=a Message user "help" r2->t0
        = waiting
        < ended r2 done helped
        ! ChildEnded c1 r2 done
        ! CallEnded k1 subagent_create done "helped\n\nReference: @c1"
        > DeliveredRun r2
        > CallModel boss a 1
        | system "You are boss/a."
        | system "Subagents of this conversation:\n- @c1: Ann (helper), idle: Good at helper."
        | user "hi"
        | assistant "" k1
        | tool k1 "helped\n\nReference: @c1"
        % subagent_create subagent_message
        < model | k2=subagent_message {"referenceId":"@c1","message":"more"}
        ! Answered a "" k2
        ! ChildAsked c1 r3 call=k2
        > NewRun r3 c1 helper "more"
        > Deliver c1 Message user "more" r3->t0
        = waiting
        < ended r3 failed tired
        ! ChildEnded c1 r3 failed
        ! CallEnded k2 subagent_message failed "tired\n\nReference: @c1"
        > DeliveredRun r3
        > CallModel boss a 2
        | system "You are boss/a."
        | system "Subagents of this conversation:\n- @c1: Ann (helper), failed: Good at helper."
        | user "hi"
        | assistant "" k1
        | tool k1 "helped\n\nReference: @c1"
        | assistant "" k2
        | tool k2 "tired\n\nReference: @c1"
        "#,
    );
}

#[test]
fn an_instance_in_the_background_is_told_of_by_messages() {
    check(
        "boss children=helper*&",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"help","name":"Ann"}
        ! Answered a "" k1
        ! ChildStarted c1 helper r2 background name="Ann"
        ! CallEnded k1 subagent_create done "The subagent was initiated successfully. Reference: @c1"
        > Spawn c1 helper depth=1 tag="name:Ann" resumable receives=a Message user "help" r2->t0
        > CallModel boss a 1
        < model started ...
        < ended r2 done helped ...
        < mail
        ! SessionStarted a
        ! Posted user "Subagent (reference: @c1) has returned the following result:\n\nhelped" delivers=r2 silent subagent_id=@c1
        > DeliveredRun r2
        > CallModel boss a 0
        | system "You are boss/a."
        | system "Subagents of this conversation:\n- @c1: Ann (helper), idle: Good at helper."
        | user "hi"
        | assistant "" k1
        | tool k1 "The subagent was initiated successfully. Reference: @c1"
        | assistant "started"
        | user "Subagent (reference: @c1) has returned the following result:\n\nhelped"
        < model | k2=subagent_message {"referenceId":"@c1","message":"more"}
        ! Answered a "" k2
        ! ChildAsked c1 r3 background
        ! CallEnded k2 subagent_message done "The message was queued. Reference: @c1"
        > NewRun r3 c1 helper "more"
        > Deliver c1 Message user "more" r3->t0
        > CallModel boss a 1
        < model ok ...
        < ended r3 done more help
        ! ChildEnded c1 r3 done
        > Deliver t0 Message user "Subagent (reference: @c1) has returned the following result:\n\nmore help" delivers=r3 silent subagent_id=@c1
        < ended r3 done more help
        ! SessionStarted a
        ! Posted user "Subagent (reference: @c1) has returned the following result:\n\nmore help" delivers=r3 silent subagent_id=@c1
        > DeliveredRun r3
        > CallModel boss a 0
        < mail
        "#,
    );
}

#[test]
fn two_requests_of_one_session_are_told_once_and_both_are_over() {
    check(
        "boss children=helper*&",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"help","name":"Ann"} ...
        < model | k2=subagent_message {"referenceId":"@c1","message":"more"}
        ! Answered a "" k2
        ! ChildAsked c1 r3 background
        ! CallEnded k2 subagent_message done "The message was queued. Reference: @c1"
        > NewRun r3 c1 helper "more"
        > Deliver c1 Message user "more" r3->t0
        > CallModel boss a 2
        < ended r2 quiet done for both
        ! ChildEnded c1 r2 done
        > DeliveredRun r2
        < ended r3 done for both
        ! ChildEnded c1 r3 done
        > Deliver t0 Message user "Subagent (reference: @c1) has returned the following result:\n\nfor both" delivers=r3 silent subagent_id=@c1
        "#,
    );
}

#[test]
fn two_requests_of_two_sessions_are_told_twice() {
    check(
        "boss children=helper*&",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"help","name":"Ann"} ...
        < model | k2=subagent_message {"referenceId":"@c1","message":"more"} ...
        < ended r2 done first
        ! ChildEnded c1 r2 done
        > Deliver t0 Message user "Subagent (reference: @c1) has returned the following result:\n\nfirst" delivers=r2 silent subagent_id=@c1
        < ended r3 done second
        ! ChildEnded c1 r3 done
        > Deliver t0 Message user "Subagent (reference: @c1) has returned the following result:\n\nsecond" delivers=r3 silent subagent_id=@c1
        < ended r2 done first
        "#,
    );
}

#[test]
fn the_child_tells_each_asker_once_whoever_else_joined_its_session() {
    check(
        "solo tools=look
         thread solo child resumable",
        r#"
        < ask r1->p first ...
        < ask r2->p second ...
        < ask r3 a person asks as well ...
        < model | k1=look ...
        < tool k1 done seen ...
        < model for all
        ! Answered a "for all"
        ! TurnEnded a response next=a
        ! SessionEnded done "for all" rest=idle
        > EndRun r1 done "for all"
        > Deliver p ChildEnded t0 r1 quiet done "for all"
        > EndRun r2 done "for all"
        > Deliver p ChildEnded t0 r2 done "for all"
        > EndRun r3 done "for all"
        = idle
        "#,
    );
}

#[test]
fn explicit_communication_queues_nothing_by_itself() {
    check(
        "boss children=helper*!&",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"help","name":"Ann"} ...
        < ended r2 done helped
        ! ChildEnded c1 r2 done
        < model what does it say?
        ! Answered a "what does it say?"
        ! TurnEnded a response next=a
        ! SessionEnded done "what does it say?" rest=idle
        > EndRun r1 done "what does it say?"
        "#,
    );
}

#[test]
fn explicit_communication_still_answers_a_call_that_waits() {
    check(
        "boss children=helper*!",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"help","name":"Ann"} ...
        < ended r2 done helped
        ! ChildEnded c1 r2 done
        ! CallEnded k1 subagent_create done "helped\n\nReference: @c1"
        > DeliveredRun r2
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn more_instances_than_allowed_are_refused_with_the_references_there_are() {
    check(
        "boss children=helper*1,other*",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"help","name":"Ann"} ...
        < ended r2 done helped ...
        < model | k2=subagent_create {"agent":"helper","message":"help","name":"Bob"}
        ! Answered a "" k2
        ! CallEnded k2 subagent_create failed "{'error':{'code':'subagent_limit_reached','message':'the limit `maxInstances` of 1 subagents is reached; write to one of them with `subagent_message` instead','cap':'maxInstances','max':1,'references':['@c1']}}"
        > CallModel boss a 2
        < model | k3=subagent_create {"agent":"other","message":"help","name":"Bob"} ...
        < ended r3 done helped ...
        < terminated c1
        ! ChildTerminated c1
        < model | k4=subagent_create {"agent":"helper","message":"help","name":"Cid"}
        ! Answered a "" k4
        ! ChildStarted c3 helper r4 call=k4 name="Cid"
        > Spawn c3 helper depth=1 tag="name:Cid" resumable receives=a Message user "help" r4->t0
        < ended r4 done helped ...
        < model | k5=subagent_create {"agent":"helper","message":"help","name":"Dan"}
        ! Answered a "" k5
        ! CallEnded k5 subagent_create failed "{'error':{'code':'subagent_limit_reached','message':'the limit `maxInstances` of 1 subagents is reached; write to one of them with `subagent_message` instead','cap':'maxInstances','max':1,'references':['@c3']}}"
        > CallModel boss a 5
        "#,
    );
}

#[test]
fn an_unknown_or_terminated_reference_is_not_active() {
    check(
        "boss children=helper*,writer",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"help","name":"Ann"} ...
        < ended r2 done helped ...
        < terminated c1
        ! ChildTerminated c1
        < model | k1=subagent_message {"referenceId":"@c1","message":"more"} | k2=subagent_message {"referenceId":"nobody","message":"more"} | k3=subagent_message {"message":"more"}
        ! Answered a "" k1 k2 k3
        ! CallEnded k1 subagent_message failed "{'error':{'code':'subagent_not_active','message':'there is no active subagent `@c1`'}}"
        ! CallEnded k2 subagent_message failed "{'error':{'code':'subagent_not_active','message':'there is no active subagent `nobody`'}}"
        ! CallEnded k3 subagent_message failed "{'error':{'code':'subagent_arguments_invalid','message':'`referenceId` must be a text that is not blank'}}"
        > CallModel boss a 2
        | system "You are boss/a."
        | system "Subagents of this conversation:\n- @c1: Ann (helper), terminated: Good at helper."
        | user "hi"
        | assistant "" k1
        | tool k1 "helped\n\nReference: @c1"
        | assistant "" k1 k2 k3
        | tool k1 "{'error':{'code':'subagent_not_active','message':'there is no active subagent `@c1`'}}"
        | tool k2 "{'error':{'code':'subagent_not_active','message':'there is no active subagent `nobody`'}}"
        | tool k3 "{'error':{'code':'subagent_arguments_invalid','message':'`referenceId` must be a text that is not blank'}}"
        % writer subagent_create
        "#,
    );
}

#[test]
fn what_is_missing_in_a_create_is_named() {
    check(
        "boss children=helper*,other*,writer",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"m","name":"  "} | k2=subagent_create {"agent":"helper","message":"m"} | k3=subagent_create {"agent":"helper","name":"n"} | k4=subagent_create {"agent":"writer","message":"m","name":"n"} | k5=subagent_create {"message":"m","name":"n"}
        ! Answered a "" k1 k2 k3 k4 k5
        ! CallEnded k1 subagent_create failed "{'error':{'code':'subagent_name_required','message':'`name` must be a text that is not blank'}}"
        ! CallEnded k2 subagent_create failed "{'error':{'code':'subagent_name_required','message':'`name` must be a text that is not blank'}}"
        ! CallEnded k3 subagent_create failed "{'error':{'code':'subagent_arguments_invalid','message':'`message` must be a text that is not blank'}}"
        ! CallEnded k4 subagent_create failed "{'error':{'code':'subagent_arguments_invalid','message':'there is no subagent `writer`; use one of: helper, other'}}"
        ! CallEnded k5 subagent_create failed "{'error':{'code':'subagent_arguments_invalid','message':'`agent` must be a text that is not blank'}}"
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn an_instance_that_works_for_one_call_takes_the_message_of_another() {
    check(
        "boss children=helper*",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"help","name":"Ann"} ...
        < ended r2 done helped ...
        < model | k2=subagent_message {"referenceId":"@c1","message":"one"} | k3=subagent_message {"referenceId":"@c1","message":"two"}
        ! Answered a "" k2 k3
        ! ChildAsked c1 r3 call=k2
        ! ChildAsked c1 r4 call=k3
        > NewRun r3 c1 helper "one"
        > Deliver c1 Message user "one" r3->t0
        > NewRun r4 c1 helper "two"
        > Deliver c1 Message user "two" r4->t0
        = waiting
        < ended r3 done first
        ! ChildEnded c1 r3 done
        ! CallEnded k2 subagent_message done "first\n\nReference: @c1"
        > DeliveredRun r3
        = waiting
        < ended r4 done second
        ! ChildEnded c1 r4 done
        ! CallEnded k3 subagent_message done "second\n\nReference: @c1"
        > DeliveredRun r4
        > CallModel boss a 2
        "#,
    );
}

#[test]
fn an_instance_whose_runs_were_asked_to_end_is_busy_until_they_have() {
    check(
        "boss children=helper*&",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"help","name":"Ann"} ...
        < cancel r1 ...
        < ask r3 again ...
        < model | k2=subagent_message {"referenceId":"@c1","message":"more"}
        ! Answered a "" k2
        ! CallEnded k2 subagent_message failed "{'error':{'code':'subagent_busy','message':'subagent `@c1` is still working for another call'}}"
        > CallModel boss a 1
        < ended r2 cancelled The run was cancelled.
        ! ChildEnded c1 r2 cancelled
        > DeliveredRun r2
        < model | k3=subagent_message {"referenceId":"@c1","message":"more"}
        ! Answered a "" k3
        ! ChildAsked c1 r4 background
        ! CallEnded k3 subagent_message done "The message was queued. Reference: @c1"
        > NewRun r4 c1 helper "more"
        > Deliver c1 Message user "more" r4->t0
        > CallModel boss a 2
        < ended r4 done helped
        ! ChildEnded c1 r4 done
        > Deliver t0 Message user "Subagent (reference: @c1) has returned the following result:\n\nhelped" delivers=r4 silent subagent_id=@c1
        "#,
    );
}

#[test]
fn waking_an_instance_counts_as_one_more_live_child() {
    check(
        "boss children=helper*,scout&
         limits children_live=1",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"help","name":"Ann"} ...
        < ended r2 done helped ...
        < model | k2=scout {"message":"look"} | k3=subagent_message {"referenceId":"@c1","message":"more"}
        ! Answered a "" k2 k3
        ! ChildStarted c2 scout r3 background
        ! CallEnded k2 scout done "The subagent was initiated successfully. Reference: @c2"
        ! CallEnded k3 subagent_message failed "{'error':{'code':'subagent_limit_reached','message':'the limit `children_live` of 1 subagents is reached; wait for one of them to end','cap':'children_live','max':1,'references':['@c1','@c2']}}"
        > Spawn c2 scout depth=1 Message user "look" r3->t0
        > CallModel boss a 2
        "#,
    );
}

#[test]
fn only_a_side_that_has_instances_of_its_own_is_offered_to_write_to_them() {
    check(
        "pair dual a.children=helper*",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"help","name":"Ann"} ...
        < ended r2 done helped
        ! ChildEnded c1 r2 done
        ! CallEnded k1 subagent_create done "helped\n\nReference: @c1"
        > DeliveredRun r2
        > CallModel pair a 1
        % subagent_create subagent_message
        < model your turn
        ! Answered a "your turn"
        ! TurnEnded a response next=b
        > CallModel pair b 0
        %
        "#,
    );
}

#[test]
fn the_receiving_side_is_told_to_the_child() {
    check(
        "boss children=helper*@b",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"help","name":"Ann"}
        ! Answered a "" k1
        ! ChildStarted c1 helper r2 call=k1 name="Ann"
        > Spawn c1 helper depth=1 tag="name:Ann" resumable receives=b acting=b Message user "help" r2->t0
        "#,
    );
}

#[test]
fn a_status_that_comes_after_the_termination_does_not_hide_it() {
    check(
        "boss children=helper*",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"help","name":"Ann"} ...
        < reported c1 half way
        ! ChildReported c1 "half way"
        < terminated c1 r2 ...
        < reported c1 late
        "#,
    );
}

#[test]
fn two_relationships_with_one_agent_are_called_and_counted_apart() {
    check(
        "boss children=first=helper*1&,second=helper*1&,~secret=helper*",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"first","message":"a","name":"A"} | k2=subagent_create {"agent":"second","message":"b","name":"B"} | k3=subagent_create {"agent":"first","message":"c","name":"C"} | k4=subagent_create {"agent":"helper","message":"d","name":"D"} | k5=subagent_create {"agent":"secret","message":"e","name":"E"}
        ! Answered a "" k1 k2 k3 k4 k5
        ! ChildStarted c1 helper r2 background name="A"
        ! CallEnded k1 subagent_create done "The subagent was initiated successfully. Reference: @c1"
        ! ChildStarted c2 helper r3 background name="B"
        ! CallEnded k2 subagent_create done "The subagent was initiated successfully. Reference: @c2"
        ! CallEnded k3 subagent_create failed "{'error':{'code':'subagent_limit_reached','message':'the limit `maxInstances` of 1 subagents is reached; write to one of them with `subagent_message` instead','cap':'maxInstances','max':1,'references':['@c1']}}"
        ! CallEnded k4 subagent_create failed "{'error':{'code':'subagent_arguments_invalid','message':'there is no subagent `helper`; use one of: first, second'}}"
        ! CallEnded k5 subagent_create failed "{'error':{'code':'subagent_arguments_invalid','message':'there is no subagent `secret`; use one of: first, second'}}"
        > Spawn c1 helper depth=1 tag="name:A" resumable receives=a Message user "a" r2->t0
        > Spawn c2 helper depth=1 tag="name:B" resumable receives=a Message user "b" r3->t0
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn an_instance_that_somebody_else_wrote_to_tells_its_parent_what_it_came_to() {
    check(
        "helper dual a.tools=finish,give_up a.session_stop=finish.summary a.session_fail=give_up.why\nthread helper child resumable dialect=standard",
        r#"
        < message psst ...
        < model | k1=finish {"summary":"heard"} ...
        < tool k1 done ok
        ! CallEnded k1 finish done "ok"
        ! SessionEnded done "heard" rest=idle
        > Deliver p ChildFinished t0 done "heard"
        = idle
        "#,
    );
}

#[test]
fn what_an_instance_came_to_without_being_asked_is_news_unless_it_is_explicit() {
    check(
        "boss children=helper*",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"help","name":"Ann"} ...
        < ended r2 done helped ...
        < model thanks ...
        < finished c1 failed no luck
        ! ChildReported c1 "failed"
        > Deliver t0 Message user "Subagent (reference: @c1) has reported a failure:\n\nno luck" silent subagent_id=@c1
        < terminated c1 ...
        < finished c1 done late
        "#,
    );
    check(
        "boss children=helper*!&",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"help","name":"Ann"} ...
        < model thanks ...
        < ended r2 done helped ...
        < finished c1 done quietly
        ! ChildReported c1 "idle"
        "#,
    );
}

#[test]
fn a_registry_says_that_an_instance_works_for_somebody_else() {
    check(
        "
        kid tools=look
        thread kid child resumable dialect=standard",
        r#"
        + born r1->p work
        < crash ...
        < model one ...
        < message of a person
        ! SessionStarted a
        ! Posted user "of a person"
        > Deliver p ChildReported t0 for_others "running"
        > CallModel kid a 0
        < model_failed refused
        ! SessionEnded failed "refused" rest=idle
        > Deliver p ChildReported t0 for_others "failed"
        "#,
    );
}

#[test]
fn an_instance_at_work_says_of_itself_what_it_likes() {
    check(
        "boss children=helper*&",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"help","name":"Ann"} ...
        < reported c1 half way
        ! ChildReported c1 "half way"
        < reported c1 for_others idle
        < reported c1 for_others running
        < reported c1 failed
        ! ChildReported c1 "failed"
        < reported c1 idle
        ! ChildReported c1 "idle"
        "#,
    );
}

#[test]
fn a_registry_says_that_an_instance_awaits_a_person() {
    check(
        "boss children=helper*",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"help","name":"Ann"} ...
        + ended r2 done filed
        < reported c1 for_others awaiting_human
        ! ChildEnded c1 r2 done
        ! CallEnded k1 subagent_create done "filed\n\nReference: @c1"
        ! ChildReported c1 "awaiting_human"
        > DeliveredRun r2
        > CallModel boss a 1
        | system "You are boss/a."
        | system "Subagents of this conversation:\n- @c1: Ann (helper), awaiting_human: Good at helper."
        | user "hi"
        | assistant "" k1
        | tool k1 "filed\n\nReference: @c1"
        "#,
    );
}
