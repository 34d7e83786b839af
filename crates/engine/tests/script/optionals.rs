//! Branches that a variable switches on.

use crate::check;

#[test]
fn a_branch_whose_variable_is_not_set_is_not_offered() {
    check(
        "boss children=scout,helper*,writer optional=scout:DEEP,helper:WIDE",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        > StartRun r1
        > CallModel boss a 0
        % writer
        "#,
    );
}

#[test]
fn the_three_words_switch_a_branch_on_in_any_case() {
    check(
        "boss children=a1,a2,a3,a4,a5,a6 optional=a1:A,a2:B,a3:C,a4:D,a5:E,a6:F env=A:true,B:1,C:yes,D:TRUE,E:Yes,F:yEs",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        > StartRun r1
        > CallModel boss a 0
        % a1 a2 a3 a4 a5 a6
        "#,
    );
}

#[test]
fn any_other_word_leaves_a_branch_off() {
    check(
        "boss children=a1,a2,a3,a4,a5,a6,b optional=a1:A,a2:B,a3:C,a4:D,a5:E,a6:F env=A:false,B:0,C:on,D:2,E:y,F:truely",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        > StartRun r1
        > CallModel boss a 0
        % b
        "#,
    );
}

#[test]
fn a_call_of_a_branch_that_is_off_is_refused() {
    check(
        "boss children=scout,helper* optional=scout:DEEP,helper:WIDE",
        r#"
        < ask r1 hi ...
        < model | k1=scout {"message":"dig"} | k2=subagent_create {"agent":"helper","message":"go","name":"Ann"}
        ! Answered a "" k1 k2
        ! CallEnded k1 scout failed "{'error':{'code':'subagent_disabled','message':'subagent `scout` is switched off'}}"
        ! CallEnded k2 subagent_create failed "{'error':{'code':'subagent_disabled','message':'subagent `helper` is switched off'}}"
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn subagent_create_offers_only_what_is_on() {
    check(
        "boss children=helper*,mate* optional=helper:WIDE env=WIDE:no",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"mate","message":"go","name":"Ann"} | k2=subagent_create {"agent":"helper","message":"go","name":"Bob"}
        ! Answered a "" k1 k2
        ! ChildStarted c1 mate r2 call=k1 name="Ann"
        ! CallEnded k2 subagent_create failed "{'error':{'code':'subagent_disabled','message':'subagent `helper` is switched off'}}"
        > Spawn c1 mate depth=1 tag="name:Ann" resumable receives=a Message user "go" r2->t0
        "#,
    );
}

#[test]
fn whoever_names_nobody_is_told_of_those_that_are_on() {
    let refused = |advice: &str| {
        format!(
            r#"
        < ask r1 hi ...
        < model | k1=subagent_create {{"agent":"nobody","message":"go","name":"Ann"}}
        ! Answered a "" k1
        ! CallEnded k1 subagent_create failed "{{'error':{{'code':'subagent_arguments_invalid','message':'there is no subagent `nobody`; {advice}'}}}}"
        > CallModel boss a 1
        "#
        )
    };
    check("boss children=helper*,mate* optional=helper:WIDE", &refused("use one of: mate"));
    check("boss children=helper* optional=helper:WIDE", &refused("none can be started now"));
}

#[test]
fn a_variable_that_a_tool_sets_switches_a_branch_on_for_the_next_step() {
    check(
        "boss tools=note children=scout optional=scout:DEEP\ntool note",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        > StartRun r1
        > CallModel boss a 0
        % note
        < model | k1=note ...
        < tool k1 done noted ; env DEEP true
        ! VariablesSet DEEP=true
        ! CallEnded k1 note done "noted"
        > CallModel boss a 1
        % note scout
        "#,
    );
}

#[test]
fn a_handoff_that_is_off_is_neither_offered_nor_granted() {
    check(
        "boss handoffs=clerk optional=clerk:DESK\nclerk",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        > StartRun r1
        > CallModel boss a 0
        %
        < model | k1=clerk
        ! Answered a "" k1
        ! CallEnded k1 clerk failed "{'error':{'code':'subagent_disabled','message':'subagent `clerk` is switched off'}}"
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn a_child_of_a_branch_that_is_switched_off_later_cannot_be_written_to_until_it_is_on_again() {
    check(
        "boss tools=note children=helper* optional=helper:WIDE env=WIDE:1\ntool note",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"go","name":"Ann"} ...
        < ended r2 done here ...
        < model | k2=note ...
        < tool k2 done noted ; env WIDE 0
        ! VariablesSet WIDE=0
        ! CallEnded k2 note done "noted"
        > CallModel boss a 2
        % note
        < model | k3=subagent_message {"referenceId":"@c1","message":"more"}
        ! Answered a "" k3
        ! CallEnded k3 subagent_message failed "{'error':{'code':'subagent_disabled','message':'subagent `helper` is switched off'}}"
        > CallModel boss a 3
        < model | k4=note ...
        < tool k4 done noted ; env WIDE 1
        ! VariablesSet WIDE=1
        ! CallEnded k4 note done "noted"
        > CallModel boss a 4
        % note subagent_create subagent_message
        < model | k5=subagent_message {"referenceId":"@c1","message":"more"}
        ! Answered a "" k5
        ! ChildAsked c1 r3 call=k5
        > NewRun r3 c1 helper "more"
        > Deliver c1 Message user "more" r3->t0
        "#,
    );
}

#[test]
fn a_child_of_another_branch_can_be_written_to_while_one_is_off() {
    check(
        "boss children=wide=helper*,deep=helper* optional=deep:DEEP",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"wide","message":"go","name":"Ann"} ...
        < ended r2 done here
        ! ChildEnded c1 r2 done
        ! CallEnded k1 subagent_create done "here\n\nReference: @c1"
        > DeliveredRun r2
        > CallModel boss a 1
        % subagent_create subagent_message
        "#,
    );
}

#[test]
fn a_secret_can_switch_a_branch_on() {
    check(
        "boss tools=note children=scout optional=scout:DEEP\ntool note",
        r#"
        < ask r1 hi ...
        < model | k1=note ...
        < tool k1 done noted ; secret DEEP true
        ! VariablesSet secret DEEP=true
        ! CallEnded k1 note done "noted"
        > CallModel boss a 1
        % note scout
        "#,
    );
}

#[test]
fn users_and_everybodys_variables_switch_branches_on() {
    check(
        "boss children=scout,writer optional=scout:DEEP,writer:WIDE\neverybody DEEP=1\nuser alice WIDE=yes\nthread boss of=alice",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        > StartRun r1
        > CallModel boss a 0
        % scout writer
        "#,
    );
}
