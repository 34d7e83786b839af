//! Children that wait for variables, and what gives these to them.

use crate::check;

const TEAM: &str = "boss children=helper*&\nhelper dual needs=TOKEN";

#[test]
fn a_child_whose_variables_are_missing_is_asked_for_them_and_does_not_start() {
    check(
        TEAM,
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"go","name":"Ann"}
        ! Answered a "" k1
        ! VariablesRequested q1 helper missing=TOKEN
        ! CallEnded k1 subagent_create failed "{'error':{'code':'subagent_env_required','message':'subagent `helper` needs variables that only a person can give: TOKEN. It starts by itself once they are sent to /threads/@t0/variables/@q1; do not call it again.','agent':'helper','request_id':'@q1','endpoint':'/threads/@t0/variables/@q1','required':['TOKEN'],'missing':['TOKEN']}}"
        > CallModel boss a 1
        | system "You are boss/a."
        | user "hi"
        | assistant "" k1
        | tool k1 "{'error':{'code':'subagent_env_required','message':'subagent `helper` needs variables that only a person can give: TOKEN. It starts by itself once they are sent to /threads/@t0/variables/@q1; do not call it again.','agent':'helper','request_id':'@q1','endpoint':'/threads/@t0/variables/@q1','required':['TOKEN'],'missing':['TOKEN']}}"
        "#,
    );
}

#[test]
fn given_variables_start_the_child_as_it_was_asked_for() {
    check(
        TEAM,
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"go","name":"Ann"} ...
        < model waiting ...
        < variables q1 c9 TOKEN=t1
        ! RequestClosed q1 c9
        ! ChildStarted c9 helper r2 background name="Ann"
        > Spawn c9 helper depth=1 tag="name:Ann" resumable receives=a VariablesSet secret TOKEN=1t Message user "go" r2->t0
        = idle
        < ended r2 done helped
        ! ChildEnded c9 r2 done
        > Deliver t0 Message user "Subagent (reference: @c9) has returned the following result:\n\nhelped" delivers=r2 silent subagent_id=@c9
        "#,
    );
}

#[test]
fn a_child_that_waited_keeps_the_dialect_that_it_was_asked_for_in() {
    check(
        "lead tools=look dialects=agentscope\nkid format=agentscope needs=TOKEN",
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"kid","task":"dig"} ...
        < variables q1 c9 TOKEN=t1
        ! RequestClosed q1 c9
        ! ChildStarted c9 kid r2 background
        > Spawn c9 kid depth=1 resumable receives=a VariablesSet secret TOKEN=1t Message user "dig" r2->t0
        < ended r2 done three
        ! ChildEnded c9 r2 done
        > Deliver t0 Message user "A background task has ended.\n\ntask_id: @r2\nagent_id: kid\nstatus: Completed\ncreated_at: 1970-01-01T00:00:01Z\n\nResult:\nthree" delivers=r2 silent subagent_id=@c9
        "#,
    );
}

#[test]
fn a_child_that_waited_answers_by_a_message_although_it_is_blocking() {
    check(
        "boss children=scout\nscout dual needs=TOKEN",
        r#"
        < ask r1 hi ...
        < model | k1=scout {"message":"dig"} ...
        < variables q1 c9 TOKEN=t1
        ! RequestClosed q1 c9
        ! ChildStarted c9 scout r2 background
        > Spawn c9 scout depth=1 VariablesSet secret TOKEN=1t Message user "dig" r2->t0
        = running
        < ended r2 failed no luck
        ! ChildEnded c9 r2 failed
        > Deliver t0 Message user "Subagent (reference: @c9) has reported a failure:\n\nno luck" delivers=r2 silent subagent_id=@c9
        < model hello
        ! Answered a "hello"
        ! TurnEnded a response next=a
        ! SessionEnded done "hello" rest=idle
        ! SessionStarted a
        ! Posted user "Subagent (reference: @c9) has reported a failure:\n\nno luck" delivers=r2 silent subagent_id=@c9
        > EndRun r1 done "hello"
        > DeliveredRun r2
        > CallModel boss a 0
        "#,
    );
}

#[test]
fn what_is_still_missing_changes_nothing() {
    check(
        "boss children=scout\nscout dual needs=TOKEN,PIN",
        r#"
        < ask r1 hi ...
        < model | k1=scout {"message":"dig"}
        ! Answered a "" k1
        ! VariablesRequested q1 scout missing=PIN,TOKEN
        ! CallEnded k1 scout failed "{'error':{'code':'subagent_env_required','message':'subagent `scout` needs variables that only a person can give: PIN, TOKEN. It starts by itself once they are sent to /threads/@t0/variables/@q1; do not call it again.','agent':'scout','request_id':'@q1','endpoint':'/threads/@t0/variables/@q1','required':['PIN','TOKEN'],'missing':['PIN','TOKEN']}}"
        > CallModel boss a 1
        < variables q1 c9 TOKEN=t1
        < variables q1 c9 TOKEN=t1 PIN=1
        ! RequestClosed q1 c9
        ! ChildStarted c9 scout r2 background
        > Spawn c9 scout depth=1 VariablesSet secret PIN=1 secret TOKEN=1t Message user "dig" r2->t0
        "#,
    );
}

#[test]
fn an_unknown_request_changes_nothing() {
    check(
        TEAM,
        r#"
        < ask r1 hi ...
        < variables q7 c9 TOKEN=t1
        "#,
    );
}

#[test]
fn of_two_who_give_variables_one_starts_the_child() {
    check(
        TEAM,
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"go","name":"Ann"} ...
        + variables q1 c8 TOKEN=t1
        + variables q1 c9 TOKEN=t2
        < mail
        ! RequestClosed q1 c8
        ! ChildStarted c8 helper r2 background name="Ann"
        > Spawn c8 helper depth=1 tag="name:Ann" resumable receives=a VariablesSet secret TOKEN=1t Message user "go" r2->t0
        < variables q1 c7 TOKEN=t3
        "#,
    );
}

#[test]
fn a_request_is_over_after_its_time() {
    check(
        "boss children=helper*&\nhelper dual needs=TOKEN\nlimits variables_seconds=60",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"go","name":"Ann"} ...
        < model waiting ...
        < tick 61
        < variables q1 c9 TOKEN=t1
        "#,
    );
}

#[test]
fn a_request_that_is_over_is_closed_when_another_is_made() {
    check(
        "boss children=helper*&\nhelper dual needs=TOKEN\nlimits variables_seconds=60",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"go","name":"Ann"} ...
        < tick 61 ...
        < model | k2=subagent_create {"agent":"helper","message":"go","name":"Bob"}
        ! Answered a "" k2
        ! RequestClosed q1
        ! VariablesRequested q2 helper missing=TOKEN
        ! CallEnded k2 subagent_create failed "{'error':{'code':'subagent_env_required','message':'subagent `helper` needs variables that only a person can give: TOKEN. It starts by itself once they are sent to /threads/@t0/variables/@q2; do not call it again.','agent':'helper','request_id':'@q2','endpoint':'/threads/@t0/variables/@q2','required':['TOKEN'],'missing':['TOKEN']}}"
        > CallModel boss a 2
        "#,
    );
}

#[test]
fn a_termination_closes_every_request() {
    check(
        TEAM,
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"go","name":"Ann"} ...
        < terminate ...
        < variables q1 c9 TOKEN=t1
        = terminated
        "#,
    );
}

#[test]
fn variables_that_are_queued_behind_a_termination_start_nobody() {
    check(
        TEAM,
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"go","name":"Ann"} ...
        + terminate
        + variables q1 c9 TOKEN=t1
        < mail
        ! Terminated
        > EndRun r1 cancelled "The thread was terminated."
        > Abort
        = terminated
        "#,
    );
}

#[test]
fn a_request_survives_a_crash() {
    check(
        TEAM,
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"go","name":"Ann"} ...
        < crash
        > CallModel boss a 1
        < variables q1 c9 TOKEN=t1
        ! RequestClosed q1 c9
        ! ChildStarted c9 helper r2 background name="Ann"
        > Spawn c9 helper depth=1 tag="name:Ann" resumable receives=a VariablesSet secret TOKEN=1t Message user "go" r2->t0
        "#,
    );
}

#[test]
fn a_crash_after_the_child_has_started_starts_it_once() {
    check(
        TEAM,
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"go","name":"Ann"} ...
        < variables q1 c9 TOKEN=t1 ...
        < crash
        > CallModel boss a 1
        < variables q1 c8 TOKEN=t1
        "#,
    );
}

#[test]
fn a_request_outlives_the_session_the_stop_and_the_cancelling_of_another() {
    check(
        TEAM,
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"go","name":"Ann"} ...
        < stop ...
        < ask r2 more ...
        < cancel r2 ...
        < variables q1 c9 TOKEN=t1
        ! RequestClosed q1 c9
        ! ChildStarted c9 helper r3 background name="Ann"
        > Spawn c9 helper depth=1 tag="name:Ann" resumable receives=a VariablesSet secret TOKEN=1t Message user "go" r3->t0
        = idle
        "#,
    );
}

#[test]
fn whoever_cancels_the_run_takes_back_what_it_has_requested() {
    check(
        TEAM,
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"go","name":"Ann"} ...
        < stop ...
        < ask r2 more ...
        < model | k2=subagent_create {"agent":"helper","message":"go","name":"Bob"} ...
        < cancel r2
        ! RequestClosed q2
        ! SessionEnded cancelled "The run was cancelled." rest=idle
        > EndRun r2 cancelled "The run was cancelled."
        > Abort
        < variables q2 c9 TOKEN=t1
        < variables q1 c8 TOKEN=t1
        ! RequestClosed q1 c8
        ! ChildStarted c8 helper r3 background name="Ann"
        > Spawn c8 helper depth=1 tag="name:Ann" resumable receives=a VariablesSet secret TOKEN=1t Message user "go" r3->t0
        "#,
    );
}

#[test]
fn a_request_that_was_taken_back_starts_nobody() {
    check(
        TEAM,
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"go","name":"Ann"} ...
        < close q7
        < close q1
        ! RequestClosed q1
        < close q1
        < variables q1 c9 TOKEN=t1
        = running
        "#,
    );
}

#[test]
fn a_full_house_leaves_the_request_open() {
    check(
        "boss children=scout&,helper*&\nhelper dual needs=TOKEN\nlimits children_live=1",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"go","name":"Ann"} ...
        < model | k2=scout {"message":"dig"} ...
        < variables q1 c9 TOKEN=t1
        < ended r2 done dug ...
        < variables q1 c9 TOKEN=t1
        ! RequestClosed q1 c9
        ! ChildStarted c9 helper r3 background name="Ann"
        > Spawn c9 helper depth=1 tag="name:Ann" resumable receives=a VariablesSet secret TOKEN=1t Message user "go" r3->t0
        "#,
    );
}

#[test]
fn the_cap_is_told_before_the_variables() {
    check(
        "boss children=helper*1&\nhelper dual needs=TOKEN",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"go","name":"Ann"} ...
        < variables q1 c9 TOKEN=t1 ...
        < model | k2=subagent_create {"agent":"helper","message":"go","name":"Bob"}
        ! Answered a "" k2
        ! CallEnded k2 subagent_create failed "{'error':{'code':'subagent_limit_reached','message':'the limit `maxInstances` of 1 subagents is reached; write to one of them with `subagent_message` instead','cap':'maxInstances','max':1,'references':['@c9']}}"
        > CallModel boss a 2
        "#,
    );
}

#[test]
fn the_parents_own_variables_do_not_satisfy_a_scoped_name_unless_they_are_handed_on() {
    check(
        "boss tools=note children=scout\nscout dual needs=TOKEN\ntool note",
        r#"
        < ask r1 hi ...
        < model | k1=note ...
        < tool k1 done noted ; secret TOKEN t0 ...
        < model | k2=scout {"message":"dig"}
        ! Answered a "" k2
        ! VariablesRequested q1 scout missing=TOKEN
        ! CallEnded k2 scout failed "{'error':{'code':'subagent_env_required','message':'subagent `scout` needs variables that only a person can give: TOKEN. It starts by itself once they are sent to /threads/@t0/variables/@q1; do not call it again.','agent':'scout','request_id':'@q1','endpoint':'/threads/@t0/variables/@q1','required':['TOKEN'],'missing':['TOKEN']}}"
        > CallModel boss a 2
        "#,
    );
}

#[test]
fn a_variable_that_is_handed_on_satisfies_a_scoped_name() {
    check(
        "boss tools=note children=scout gives=TOKEN\nscout dual needs=TOKEN\ntool note",
        r#"
        < ask r1 hi ...
        < model | k1=note ...
        < tool k1 done noted ; secret TOKEN t0 ...
        < model | k2=scout {"message":"dig"}
        ! Answered a "" k2
        ! ChildStarted c1 scout r2 call=k2
        > Spawn c1 scout depth=1 VariablesSet secret TOKEN=t0 Message user "dig" r2->t0
        "#,
    );
}

#[test]
fn what_the_agent_or_the_prompt_brings_is_handed_on_too() {
    for brings in ["env=TOKEN:t0", "prompt_env=TOKEN:t0"] {
        check(
            &format!("boss children=scout gives=TOKEN {brings}\nscout dual needs=TOKEN"),
            r#"
            < ask r1 hi ...
            < model | k1=scout {"message":"dig"}
            ! Answered a "" k1
            ! ChildStarted c1 scout r2 call=k1
            > Spawn c1 scout depth=1 VariablesSet secret TOKEN=t0 Message user "dig" r2->t0
            "#,
        );
    }
}

#[test]
fn a_child_that_waited_is_handed_what_the_prompt_that_lists_it_brings() {
    check(
        "boss children=scout gives=PIN prompt_env=PIN:7\nscout dual needs=TOKEN,PIN",
        r#"
        < ask r1 hi ...
        < model | k1=scout {"message":"dig"} ...
        < model waiting ...
        < variables q1 c9 TOKEN=t1
        ! RequestClosed q1 c9
        ! ChildStarted c9 scout r2 background
        > Spawn c9 scout depth=1 VariablesSet secret PIN=7 secret TOKEN=1t Message user "dig" r2->t0
        = idle
        "#,
    );
}

#[test]
fn the_childs_agent_its_prompt_the_user_and_everybody_satisfy_a_scoped_name() {
    check(
        "boss children=a1&,a2&,a3&,a4&\na1 dual needs=A env=A:1\na2 dual needs=B prompt_env=B:1\na3 dual needs=C\na4 dual needs=D\neverybody C=1\nuser alice D=1\nthread boss of=alice",
        r#"
        < ask r1 hi ...
        < model | k1=a1 {"message":"go"} | k2=a2 {"message":"go"} | k3=a3 {"message":"go"} | k4=a4 {"message":"go"}
        ! Answered a "" k1 k2 k3 k4
        ! ChildStarted c1 a1 r2 background
        ! CallEnded k1 a1 done "The subagent was initiated successfully. Reference: @c1"
        ! ChildStarted c2 a2 r3 background
        ! CallEnded k2 a2 done "The subagent was initiated successfully. Reference: @c2"
        ! ChildStarted c3 a3 r4 background
        ! CallEnded k3 a3 done "The subagent was initiated successfully. Reference: @c3"
        ! ChildStarted c4 a4 r5 background
        ! CallEnded k4 a4 done "The subagent was initiated successfully. Reference: @c4"
        > Spawn c1 a1 depth=1 Message user "go" r2->t0
        > Spawn c2 a2 depth=1 Message user "go" r3->t0
        > Spawn c3 a3 depth=1 Message user "go" r4->t0
        > Spawn c4 a4 depth=1 Message user "go" r5->t0
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn what_the_child_can_start_or_call_is_asked_for_too() {
    check(
        "boss children=lead\nlead dual tools=note children=scout handoffs=clerk\nscout dual needs=TOKEN\nclerk needs=PIN\ntool note scoped=KEY",
        r#"
        < ask r1 hi ...
        < model | k1=lead {"message":"go"}
        ! Answered a "" k1
        ! VariablesRequested q1 lead missing=PIN,TOKEN
        ! CallEnded k1 lead failed "{'error':{'code':'subagent_env_required','message':'subagent `lead` needs variables that only a person can give: PIN, TOKEN. It starts by itself once they are sent to /threads/@t0/variables/@q1; do not call it again.','agent':'lead','request_id':'@q1','endpoint':'/threads/@t0/variables/@q1','required':['PIN','TOKEN'],'missing':['PIN','TOKEN']}}"
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn what_an_agent_below_the_child_brings_itself_is_not_asked_for() {
    check(
        "boss children=lead&\nlead dual children=scout handoffs=clerk\nscout dual needs=TOKEN env=TOKEN:1\nclerk needs=PIN prompt_env=PIN:1",
        r#"
        < ask r1 hi ...
        < model | k1=lead {"message":"go"}
        ! Answered a "" k1
        ! ChildStarted c1 lead r2 background
        ! CallEnded k1 lead done "The subagent was initiated successfully. Reference: @c1"
        > Spawn c1 lead depth=1 Message user "go" r2->t0
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn what_the_child_brings_for_itself_does_not_do_for_those_below_it() {
    check(
        "boss children=lead\nlead dual needs=TOKEN env=TOKEN:1 children=scout\nscout dual needs=TOKEN",
        r#"
        < ask r1 hi ...
        < model | k1=lead {"message":"go"} ...
        < variables q1 c9 TOKEN=t1
        ! RequestClosed q1 c9
        ! ChildStarted c9 lead r2 background
        > Spawn c9 lead depth=1 VariablesSet secret TOKEN=1t Message user "go" r2->t0
        "#,
    );
}

#[test]
fn files_and_arguments_of_the_call_are_kept_until_the_child_starts() {
    check(
        "boss children=helper*&\nhelper dual needs=TOKEN schema=topic\nfiles /a.txt",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"go","name":"Ann","attachments":["/a.txt"],"arguments":{"topic":"bees"}} ...
        < model waiting ...
        < variables q1 c9 TOKEN=t1
        ! RequestClosed q1 c9
        ! ChildStarted c9 helper r2 background name="Ann"
        > Spawn c9 helper depth=1 tag="name:Ann" resumable receives=a VariablesSet secret TOKEN=1t Injected system "Arguments:\n{\n  'topic': 'bees'\n}" silent Message user "go" r2->t0 &/attachments/a-#.txt
        > PutFile c9 /attachments/a-#.txt
        "#,
    );
}

#[test]
fn a_status_that_comes_from_a_child_that_waited_is_listed() {
    check(
        TEAM,
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"go","name":"Ann"} ...
        < variables q1 c9 TOKEN=t1 ...
        < reported c9 half way
        ! ChildReported c9 "half way"
        < model | k2=subagent_message {"referenceId":"@c9","message":"more"}
        ! Answered a "" k2
        ! ChildAsked c9 r3 background
        ! CallEnded k2 subagent_message done "The message was queued. Reference: @c9"
        > NewRun r3 c9 helper "more"
        > Deliver c9 Message user "more" r3->t0
        > CallModel boss a 2
        | system "You are boss/a."
        | system "Subagents of this conversation:\n- @c9: Ann (helper), running: Good at helper."
        | user "hi"
        | assistant "" k1
        | tool k1 "{'error':{'code':'subagent_env_required','message':'subagent `helper` needs variables that only a person can give: TOKEN. It starts by itself once they are sent to /threads/@t0/variables/@q1; do not call it again.','agent':'helper','request_id':'@q1','endpoint':'/threads/@t0/variables/@q1','required':['TOKEN'],'missing':['TOKEN']}}"
        | assistant "" k2
        | tool k2 "The message was queued. Reference: @c9"
        "#,
    );
}

#[test]
fn beyond_a_hundred_open_requests_a_call_is_refused_and_none_is_lost() {
    let call = |n| format!("| k{n}=subagent_create {{\"agent\":\"helper\",\"message\":\"go\",\"name\":\"n{n}\"}}");
    let calls: Vec<String> = (1..=100).map(call).collect();
    let (calls, another) = (calls.join(" "), call(101));
    check(
        TEAM,
        &format!(
            r#"
        < ask r1 hi ...
        < model {calls} ...
        < model {another}
        ! Answered a "" k101
        ! CallEnded k101 subagent_create failed "{{'error':{{'code':'subagent_limit_reached','message':'the limit `variables_requests` of 100 subagents is reached; a person has to give those that wait their variables first','cap':'variables_requests','max':100,'references':[]}}}}"
        > CallModel boss a 2
        < variables q1 c9 TOKEN=t1
        ! RequestClosed q1 c9
        ! ChildStarted c9 helper r2 background name="n1"
        > Spawn c9 helper depth=1 tag="name:n1" resumable receives=a VariablesSet secret TOKEN=1t Message user "go" r2->t0
        "#
        ),
    );
}
