//! What a tool does to its thread: it becomes part of the decision that ends its call.

use crate::check;

const TEAM: &str = "boss tools=note,look children=mate*&\ntool note";
const CHILD: &str = "boss tools=note,look\ntool note\nthread boss child resumable";

#[test]
fn a_tool_of_the_team_is_recorded_before_it_begins_and_goes_before_one_of_the_process() {
    check(
        "boss tools=look\ntool look",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        > StartRun r1
        > CallModel boss a 0
        % look
        < model | k1=look
        ! Answered a "" k1
        ! CallStarted k1
        > CallTool k1 look key=@t0/1/0
        "#,
    );
}

#[test]
fn what_a_tool_did_is_durable_with_its_end_and_in_its_order() {
    check(
        TEAM,
        r#"
        < ask r1 hi ...
        < model | k1=note ...
        < tool k1 done noted ; value count 1 ; env REGION north ; put /a.txt ; remove /b.txt ; emit saved {"n":1}
        ! ValueSet count 1
        ! VariablesSet REGION=north
        ! FilePut /a.txt
        ! FileRemoved /b.txt
        ! Emitted saved {"n":1}
        ! CallEnded k1 note done "noted"
        > PutFile t0 /a.txt
        > RemoveFile t0 /b.txt
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn a_tool_that_a_crash_interrupted_has_done_nothing_and_its_outcome_is_unknown() {
    check(
        TEAM,
        r#"
        < ask r1 hi ...
        < model | k1=note ...
        < crash
        ! CallEnded k1 note unknown "The outcome of `note` is unknown: it was interrupted after it had begun, and was not repeated. Check what it did before you call it again."
        > CallModel boss a 1
        < tool k1 done noted ; value count 1 ; emit saved 1
        "#,
    );
}

#[test]
fn what_a_tool_did_counts_once_however_often_its_end_comes() {
    check(
        TEAM,
        r#"
        < ask r1 hi ...
        < model | k1=note ...
        < tool k1 done noted ; notify hello ; value count 1 ...
        < tool k1 done noted ; notify hello ; value count 1
        < stop ...
        < tool k1 done noted ; notify hello ; value count 1
        "#,
    );
}

#[test]
fn a_tool_that_failed_in_an_orderly_way_has_done_what_it_did() {
    check(
        TEAM,
        r#"
        < ask r1 hi ...
        < model | k1=note ...
        < tool k1 failed no paper ; value tries 1
        ! ValueSet tries 1
        ! CallEnded k1 note failed "no paper"
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn an_injected_message_is_shown_behind_the_results_and_asks_for_nothing() {
    check(
        TEAM,
        r#"
        < ask r1 hi ...
        < model | k1=note ...
        < tool k1 done noted ; inject system remember
        ! Injected system "remember"
        ! CallEnded k1 note done "noted"
        > CallModel boss a 1
        | system "You are boss/a."
        | user "hi"
        | assistant "" k1
        | tool k1 "noted"
        | system "remember"
        "#,
    );
}

#[test]
fn a_replaced_message_is_read_in_its_new_words() {
    check(
        TEAM,
        r#"
        < ask r1 my password is 1234 ...
        < model | k1=note ...
        < tool k1 done noted ; replace 0 my password is gone
        ! MessageReplaced user "my password is gone"
        ! CallEnded k1 note done "noted"
        > CallModel boss a 1
        | system "You are boss/a."
        | user "my password is gone"
        | assistant "" k1
        | tool k1 "noted"
        "#,
    );
}

#[test]
fn a_deleted_answer_takes_the_results_of_its_calls_with_it_and_no_others() {
    check(
        TEAM,
        r#"
        < ask r1 hi ...
        < model thinking | k1=look | k2=look ...
        < tool k1 done one ...
        < tool k2 done two ...
        < model | k1=note ...
        < tool k1 done noted ; delete 1
        ! MessageDeleted
        ! CallEnded k1 note done "noted"
        > CallModel boss a 2
        | system "You are boss/a."
        | user "hi"
        | assistant "" k1
        | tool k1 "noted"
        < model that is all
        ! Answered a "that is all"
        ! TurnEnded a response next=a
        ! SessionEnded done "that is all" rest=idle
        > EndRun r1 done "that is all"
        "#,
    );
}

#[test]
fn a_deleted_text_is_not_the_result_any_more() {
    check(
        "boss tools=note steps=2\ntool note",
        r#"
        < ask r1 hi ...
        < model first words | k1=look ...
        < model second words | k2=note ...
        < tool k2 done noted ; delete 3
        ! CallEnded k2 note done "noted"
        ! TurnEnded a limit="maxSteps: the limit of 2 steps is reached" next=a
        ! SessionEnded done "second words" limit="maxSteps: the limit of 2 steps is reached" rest=idle
        > EndRun r1 done "second words" limit="maxSteps: the limit of 2 steps is reached"
        "#,
    );
}

#[test]
fn earlier_sessions_stay_hidden_when_a_line_before_them_is_deleted() {
    check(
        "boss tools=note chat=no past_tools=no\ntool note",
        r#"
        < ask r1 one ...
        < model first ...
        < ask r2 two ...
        < model | k1=note ...
        < tool k1 done noted ; delete 0
        ! MessageDeleted
        ! CallEnded k1 note done "noted"
        > CallModel boss a 1
        | system "You are boss/a."
        | user "two"
        | assistant "" k1
        | tool k1 "noted"
        "#,
    );
}

#[test]
fn neither_the_answer_that_made_the_call_nor_a_result_alone_can_be_deleted() {
    check(
        TEAM,
        r#"
        < ask r1 hi ...
        < model | k1=look ...
        < tool k1 done seen ...
        < model | k2=note ...
        < tool k2 done noted ; delete 2 ; delete 3
        ! CallEnded k2 note done "noted"
        > CallModel boss a 2
        | system "You are boss/a."
        | user "hi"
        | assistant "" k1
        | tool k1 "seen"
        | assistant "" k2
        | tool k2 "noted"
        "#,
    );
}

#[test]
fn a_queued_call_is_made_behind_the_others_and_the_model_reads_its_result() {
    check(
        TEAM,
        r#"
        < ask r1 hi ...
        < model | k1=note | k2=look ...
        < tool k1 done noted ; call look {"at":"it"} ; call note {}
        ! CallQueued queued_1_2 look {"at":"it"}
        ! CallQueued queued_1_3 note {}
        ! CallEnded k1 note done "noted"
        > CallTool k2 look
        > CallTool queued_1_2 look
        < tool queued_1_2 done there ...
        < tool k2 done seen
        ! CallEnded k2 look done "seen"
        ! CallStarted queued_1_3
        > CallTool queued_1_3 note key=@t0/1/3
        < tool queued_1_3 done noted again
        ! CallEnded queued_1_3 note done "noted again"
        > CallModel boss a 1
        | system "You are boss/a."
        | user "hi"
        | assistant "" k1 k2 queued_1_2 queued_1_3
        | tool k1 "noted"
        | tool k2 "seen"
        | tool queued_1_2 "there"
        | tool queued_1_3 "noted again"
        "#,
    );
}

#[test]
fn a_queued_call_survives_a_crash() {
    check(
        TEAM,
        r#"
        < ask r1 hi ...
        < model | k1=note ...
        < tool k1 done noted ; call look {} ; call note {} ...
        < crash
        > CallTool queued_1_1 look
        < tool queued_1_1 done seen
        ! CallEnded queued_1_1 look done "seen"
        ! CallStarted queued_1_2
        > CallTool queued_1_2 note key=@t0/1/2
        < crash
        ! CallEnded queued_1_2 note unknown "The outcome of `note` is unknown: it was interrupted after it had begun, and was not repeated. Check what it did before you call it again."
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn only_tools_that_the_side_may_call_and_the_teams_own_can_be_queued() {
    check(
        "boss tools=note,look children=mate\nstranger dual\ntool note\ntool other",
        r#"
        < ask r1 hi ...
        < model | k1=note ...
        < tool k1 done noted ; call pay {} ; call nothing {} ; call stranger {"message":"go"} ; call subagent_create {"agent":"mate","message":"go","name":"n"} ; call other {}
        ! CallQueued queued_1_1 other {}
        ! CallEnded k1 note done "noted"
        ! CallStarted queued_1_1
        > CallTool queued_1_1 other key=@t0/1/1
        "#,
    );
}

#[test]
fn a_queued_child_is_started_and_waited_for_like_one_that_a_model_calls() {
    check(
        "boss tools=note children=mate:task,~ghost:task\ntool note",
        r#"
        < ask r1 hi ...
        < model | k1=note ...
        < tool k1 done noted ; call mate {"task":"dig"} ; call ghost {"task":"haunt"} ; call mate {"job":"dig"}
        ! CallQueued queued_1_1 mate {"task":"dig"}
        ! ChildStarted c1 mate r2 call=queued_1_1
        ! CallQueued queued_1_2 ghost {"task":"haunt"}
        ! ChildStarted c2 ghost r3 call=queued_1_2
        ! CallQueued queued_1_3 mate {"job":"dig"}
        ! CallEnded queued_1_3 mate failed "{'error':{'code':'subagent_arguments_invalid','message':'`task` must be a text that is not blank'}}"
        ! CallEnded k1 note done "noted"
        > Spawn c1 mate depth=1 Message user "dig" r2->t0
        > Spawn c2 ghost depth=1 Message user "haunt" r3->t0
        = waiting
        < crash
        = waiting
        < ended r3 done boo ...
        < ended r2 done dug
        ! ChildEnded c1 r2 done
        ! CallEnded queued_1_1 mate done "dug"
        > DeliveredRun r2
        > CallModel boss a 1
        | system "You are boss/a."
        | user "hi"
        | assistant "" k1 queued_1_1 queued_1_2 queued_1_3
        | tool k1 "noted"
        | tool queued_1_1 "dug"
        | tool queued_1_2 "boo"
        | tool queued_1_3 "{'error':{'code':'subagent_arguments_invalid','message':'`task` must be a text that is not blank'}}"
        < model | k2=ghost {"task":"haunt"}
        ! Answered a "" k2
        ! CallEnded k2 ghost failed "There is no tool `ghost` here. Available: note, mate."
        > CallModel boss a 2
        "#,
    );
}

#[test]
fn code_starts_and_writes_to_instances_that_no_model_is_shown() {
    check(
        "boss tools=note children=~ghost:task*&\ntool note\nfiles /a.txt",
        r#"
        < ask r1 hi ...
        < model | k1=note ...
        < tool k1 done noted ; put /b.txt ; call ghost {"task":"haunt"} ; call subagent_create {"agent":"ghost","message":"go","name":"Bob","attachments":["/a.txt","/b.txt"]}
        ! FilePut /b.txt
        ! CallQueued queued_1_1 ghost {"task":"haunt"}
        ! ChildStarted c1 ghost r2 background name="ghost"
        ! CallEnded queued_1_1 ghost done "The subagent was initiated successfully. Reference: @c1"
        ! CallQueued queued_1_2 subagent_create {"agent":"ghost","message":"go","name":"Bob","attachments":["/a.txt","/b.txt"]}
        ! ChildStarted c2 ghost r3 background name="Bob"
        ! CallEnded queued_1_2 subagent_create done "The subagent was initiated successfully. Reference: @c2"
        ! CallEnded k1 note done "noted"
        > PutFile t0 /b.txt
        > Spawn c1 ghost depth=1 tag="name:ghost" resumable receives=a Message user "haunt" r2->t0
        > Spawn c2 ghost depth=1 tag="name:Bob" resumable receives=a Message user "go" r3->t0 &/attachments/a-#.txt &/attachments/b-#.txt
        > PutFile c2 /attachments/a-#.txt
        > PutFile c2 /attachments/b-#.txt
        > CallModel boss a 1
        % note
        < model | k2=subagent_message {"referenceId":"@c1","message":"more"}
        ! Answered a "" k2
        ! CallEnded k2 subagent_message failed "There is no tool `subagent_message` here. Available: note."
        > CallModel boss a 2
        < model | k3=note ...
        < tool k3 done noted ; call subagent_message {"referenceId":"@c1","message":"more"} ; call subagent_create {"agent":"nobody","message":"more","name":"n"}
        ! CallQueued queued_3_1 subagent_message {"referenceId":"@c1","message":"more"}
        ! ChildAsked c1 r4 background
        ! CallEnded queued_3_1 subagent_message done "The message was queued. Reference: @c1"
        ! CallQueued queued_3_2 subagent_create {"agent":"nobody","message":"more","name":"n"}
        ! CallEnded queued_3_2 subagent_create failed "{'error':{'code':'subagent_arguments_invalid','message':'there is no subagent `nobody`; use one of: ghost'}}"
        ! CallEnded k3 note done "noted"
        > NewRun r4 c1 ghost "more"
        > Deliver c1 Message user "more" r4->t0
        > CallModel boss a 3
        "#,
    );
}

#[test]
fn a_queued_child_for_which_there_is_no_room_is_refused_and_a_branch_that_is_off_as_well() {
    check(
        "boss tools=note children=mate,spare optional=spare:DEEP\ntool note\nlimits left=1",
        r#"
        < ask r1 hi ...
        < model | k1=note ...
        < tool k1 done noted ; call mate {"message":"go"} ; call mate {"message":"go"} ; call spare {"message":"go"}
        ! CallQueued queued_1_1 mate {"message":"go"}
        ! ChildStarted c1 mate r2 call=queued_1_1
        ! CallQueued queued_1_2 mate {"message":"go"}
        ! CallEnded queued_1_2 mate failed "{'error':{'code':'subagent_limit_reached','message':'the limit `children_total` of 200 subagents is reached; no more can be started in this tree','cap':'children_total','max':200,'references':['@c1']}}"
        ! CallQueued queued_1_3 spare {"message":"go"}
        ! CallEnded queued_1_3 spare failed "{'error':{'code':'subagent_disabled','message':'subagent `spare` is switched off'}}"
        ! CallEnded k1 note done "noted"
        > Spawn c1 mate depth=1 Message user "go" r2->t0
        "#,
    );
}

#[test]
fn a_queued_handoff_takes_over() {
    check(
        "boss tools=note handoffs=clerk\nclerk\ntool note",
        r#"
        < ask r1 hi ...
        < model | k1=note ...
        < tool k1 done noted ; call clerk {}
        ! CallQueued queued_1_1 clerk {}
        ! CallEnded queued_1_1 clerk done "Handoff complete"
        ! CallEnded k1 note done "noted"
        ! HandedOff clerk
        > SetAgent t0 clerk
        > CallModel clerk a 1
        "#,
    );
}

#[test]
fn a_queued_terminal_tool_ends_the_session() {
    check(
        "boss tools=note,finish session_stop=finish\ntool note",
        r#"
        < ask r1 hi ...
        < model | k1=note ...
        < tool k1 done noted ; call finish {} ...
        < tool queued_1_1 done finished
        ! CallEnded queued_1_1 finish done "finished"
        ! SessionEnded done "finished" rest=idle
        > EndRun r1 done "finished"
        "#,
    );
}

#[test]
fn the_parent_is_told_verbatim_and_can_tell_by_whom() {
    check(
        CHILD,
        r#"
        < born r1->p go ...
        < model | k1=note ...
        < tool k1 done noted ; notify half way there ; status reading
        ! CallEnded k1 note done "noted"
        > Deliver p Message user "half way there" silent subagent_id=@t0
        > Deliver p ChildReported t0 "reading"
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn without_a_parent_nobody_is_told() {
    check(
        TEAM,
        r#"
        < ask r1 hi ...
        < model | k1=note ...
        < tool k1 done noted ; notify half way there ; status reading ; queue p hello
        ! CallEnded k1 note done "noted"
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn a_message_can_be_queued_to_itself_to_the_parent_and_to_a_child_and_to_nobody_else() {
    check(
        "boss tools=note children=mate*&\ntool note\nthread boss child",
        r#"
        < born r1->p go ...
        < model | k1=subagent_create {"agent":"mate","message":"work","name":"Ann"} ...
        < model | k2=note ...
        < tool k2 done noted ; queue t0 remember ; queue p look &/attachments/a.txt ; queue c1 more ; queue stranger no
        ! CallEnded k2 note done "noted"
        ! Posted user "remember"
        > PutFile p /attachments/a.txt
        > Deliver p Message user "look" subagent_id=@t0 &/attachments/a.txt
        > Deliver c1 Message user "more"
        > CallModel boss a 2
        "#,
    );
}

#[test]
fn a_message_to_itself_joins_before_the_next_step_or_starts_the_next_session() {
    check(
        TEAM,
        r#"
        < ask r1 hi ...
        < model | k1=note ...
        < tool k1 done noted ; queue t0 remember ; end done enough
        ! CallEnded k1 note done "noted"
        ! SessionEnded done "enough" rest=idle
        > Deliver t0 Message user "remember"
        > EndRun r1 done "enough"
        < mail
        ! SessionStarted a
        ! Posted user "remember"
        > CallModel boss a 0
        "#,
    );
}

#[test]
fn a_tool_can_end_its_session_with_a_result() {
    check(
        CHILD,
        r#"
        < born r1->p go ...
        < model | k1=note | k2=look ...
        < tool k1 done noted ; value a 1 ; end done all found
        ! ValueSet a 1
        ! CallEnded k1 note done "noted"
        ! CallEnded k2 look cancelled "The session was stopped."
        ! SessionEnded done "all found" rest=idle
        > EndRun r1 done "all found"
        > Deliver p ChildEnded t0 r1 done "all found"
        > Abort
        = idle
        "#,
    );
}

#[test]
fn a_session_that_a_tool_ends_can_fail_be_quiet_and_leave_a_status() {
    check(
        CHILD,
        r#"
        < born r1->p go ...
        < model | k1=note ...
        < tool k1 done noted ; end failed not there
        ! CallEnded k1 note done "noted"
        ! SessionEnded failed "not there" rest=idle
        > EndRun r1 failed "not there"
        > Deliver p ChildEnded t0 r1 failed "not there"
        < ask r2->p again ...
        < model | k1=note ...
        < tool k1 done noted ; end_quietly done found
        ! CallEnded k1 note done "noted"
        ! SessionEnded done "found" rest=idle
        > EndRun r2 done "found"
        > Deliver p ChildEnded t0 r2 quiet done "found"
        < ask r3->p again ...
        < model | k1=note ...
        < tool k1 done noted ; end_as resting done found
        ! CallEnded k1 note done "noted"
        ! SessionEnded done "found" rest=idle
        > EndRun r3 done "found"
        > Deliver p ChildEnded t0 r3 done "found"
        > Deliver p ChildReported t0 "resting"
        "#,
    );
}

#[test]
fn what_a_tool_says_goes_before_the_binding_of_its_name() {
    check(
        "boss tools=note session_stop=note\ntool note",
        r#"
        < ask r1 hi ...
        < model | k1=note ...
        < tool k1 done noted ; end failed no
        ! CallEnded k1 note done "noted"
        ! SessionEnded failed "no" rest=failed
        > EndRun r1 failed "no"
        "#,
    );
}

#[test]
fn a_tool_can_terminate_its_thread_and_what_it_did_before_has_happened() {
    check(
        CHILD,
        r#"
        < born r1->p go ...
        < model | k1=note | k2=look ...
        < tool k1 done noted ; value a 1 ; terminate t0
        ! ValueSet a 1
        ! CallEnded k1 note done "noted"
        ! Terminated
        > EndRun r1 cancelled "The thread was terminated."
        > Deliver p ChildTerminated t0 r1
        > Abort
        = terminated
        "#,
    );
}

#[test]
fn a_tool_can_terminate_a_child_and_no_other_thread() {
    check(
        TEAM,
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"mate","message":"work","name":"Ann"} ...
        < model | k2=note ...
        < tool k2 done noted ; terminate c1 ; terminate stranger
        ! ChildTerminated c1
        ! CallEnded k2 note done "noted"
        > Deliver c1 Terminate
        > EndRun r2 cancelled "The thread was terminated."
        > DeliveredRun r2
        > CallModel boss a 2
        < terminated c1 r2 ...
        < model | k3=note ...
        < tool k3 done noted ; terminate c1 ; queue c1 more
        ! CallEnded k3 note done "noted"
        > CallModel boss a 3
        "#,
    );
}

#[test]
fn the_files_of_a_result_are_listed_below_it_but_not_in_a_sessions_result() {
    check(
        "boss tools=note,finish session_stop=finish\ntool note\ntool finish",
        r#"
        < ask r1 hi ...
        < model | k1=note ...
        < tool k1 done drawn &/attachments/a.png &/attachments/b.png ; put /attachments/a.png
        ! FilePut /attachments/a.png
        ! CallEnded k1 note done "drawn\n\n/attachments/a.png\n/attachments/b.png" &/attachments/a.png &/attachments/b.png
        > PutFile t0 /attachments/a.png
        > CallModel boss a 1
        < model | k2=finish ...
        < tool k2 done the end &/attachments/a.png
        ! CallEnded k2 finish done "the end" &/attachments/a.png
        ! SessionEnded done "the end" &/attachments/a.png rest=idle
        > EndRun r1 done "the end" &/attachments/a.png
        "#,
    );
}

#[test]
fn a_tool_that_is_cancelled_has_done_nothing() {
    check(
        TEAM,
        r#"
        < ask r1 hi ...
        < model | k1=note ...
        < cancel r1
        ! CallEnded k1 note unknown "The run was cancelled. The outcome of `note` is unknown: it was interrupted after it had begun, and was not repeated. Check what it did before you call it again."
        ! SessionEnded cancelled "The run was cancelled." rest=idle
        > EndRun r1 cancelled "The run was cancelled."
        > Abort
        < tool k1 done noted ; value a 1 ; emit x 1
        "#,
    );
}
