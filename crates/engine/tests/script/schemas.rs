//! What a child wants to be called with.

use crate::check;

const TEAM: &str = "boss children=scout&\nscout dual schema=topic";

#[test]
fn arguments_that_are_not_what_the_child_wants_start_nobody() {
    check(
        TEAM,
        r#"
        < ask r1 hi ...
        < model | k1=scout {"topic":7} | k2=scout {"message":"dig"} | k3=scout [] | k4=scout {
        ! Answered a "" k1 k2 k3 k4
        ! CallEnded k1 scout failed "{'error':{'code':'subagent_arguments_invalid','message':'the arguments are wrong: `topic`: 7 is not of type \\'string\\''}}"
        ! CallEnded k2 scout failed "{'error':{'code':'subagent_arguments_invalid','message':'the arguments are wrong: \\'topic\\' is a required property'}}"
        ! CallEnded k3 scout failed "{'error':{'code':'subagent_arguments_invalid','message':'the arguments must be a JSON object'}}"
        ! CallEnded k4 scout failed "{'error':{'code':'subagent_arguments_invalid','message':'the arguments are not valid JSON: EOF while parsing an object at line 1 column 1'}}"
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn a_child_that_wants_more_than_a_message_is_told_all_of_it() {
    check(
        TEAM,
        r#"
        < ask r1 hi ...
        < model | k1=scout {"topic":"bees"}
        ! Answered a "" k1
        ! ChildStarted c1 scout r2 background
        ! CallEnded k1 scout done "The subagent was initiated successfully. Reference: @c1"
        > Spawn c1 scout depth=1 Injected system "Arguments:\n{\n  'topic': 'bees'\n}" silent Message user "{\n  'topic': 'bees'\n}" r2->t0
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn an_argument_that_is_the_message_is_the_message() {
    check(
        "boss children=scout&\nscout dual schema=message,topic",
        r#"
        < ask r1 hi ...
        < model | k1=scout {"message":"dig","topic":"bees"}
        ! Answered a "" k1
        ! ChildStarted c1 scout r2 background
        ! CallEnded k1 scout done "The subagent was initiated successfully. Reference: @c1"
        > Spawn c1 scout depth=1 Injected system "Arguments:\n{\n  'message': 'dig',\n  'topic': 'bees'\n}" silent Message user "dig" r2->t0
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn the_property_that_is_the_message_is_taken_out_of_what_the_child_wants() {
    check(
        "boss children=scout:topic& files=scout:papers names=scout:who\nscout dual schema=topic,who\nfiles /a.txt",
        r#"
        < ask r1 hi ...
        < model | k1=scout {"topic":"bees","who":"Ann","papers":["/a.txt"]}
        ! Answered a "" k1
        ! ChildStarted c1 scout r2 background name="Ann"
        ! CallEnded k1 scout done "The subagent was initiated successfully. Reference: @c1"
        > Spawn c1 scout depth=1 tag="name:Ann" Injected system "Arguments:\n{\n  'topic': 'bees',\n  'who': 'Ann',\n  'papers': [\n    '/a.txt'\n  ]\n}" silent Message user "bees" r2->t0 &/attachments/a-#.txt
        > PutFile c1 /attachments/a-#.txt
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn a_call_that_fits_what_the_child_wants_is_not_refused_for_a_message_that_it_does_not_name() {
    check(
        "boss children=scout:task&\nscout dual schema=topic",
        r#"
        < ask r1 hi ...
        < model | k1=scout {"topic":"bees"} | k2=scout {"topic":"bees","task":{"deep":true}} | k3=scout {"topic":"bees","task":"dig"}
        ! Answered a "" k1 k2 k3
        ! ChildStarted c1 scout r2 background
        ! CallEnded k1 scout done "The subagent was initiated successfully. Reference: @c1"
        ! ChildStarted c2 scout r3 background
        ! CallEnded k2 scout done "The subagent was initiated successfully. Reference: @c2"
        ! ChildStarted c3 scout r4 background
        ! CallEnded k3 scout done "The subagent was initiated successfully. Reference: @c3"
        > Spawn c1 scout depth=1 Injected system "Arguments:\n{\n  'topic': 'bees'\n}" silent Message user "{\n  'topic': 'bees'\n}" r2->t0
        > Spawn c2 scout depth=1 Injected system "Arguments:\n{\n  'topic': 'bees',\n  'task': {\n    'deep': true\n  }\n}" silent Message user "{\n  'deep': true\n}" r3->t0
        > Spawn c3 scout depth=1 Injected system "Arguments:\n{\n  'topic': 'bees',\n  'task': 'dig'\n}" silent Message user "dig" r4->t0
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn the_arguments_of_subagent_create_are_checked() {
    check(
        "boss children=helper*&\nhelper dual schema=topic",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"go","name":"Ann"} | k2=subagent_create {"agent":"helper","message":"go","name":"Ann","arguments":{"topic":1}} | k3=subagent_create {"agent":"helper","message":"go","name":"Ann","arguments":{"topic":"bees"}}
        ! Answered a "" k1 k2 k3
        ! CallEnded k1 subagent_create failed "{'error':{'code':'subagent_arguments_invalid','message':'the arguments are wrong: \\'topic\\' is a required property'}}"
        ! CallEnded k2 subagent_create failed "{'error':{'code':'subagent_arguments_invalid','message':'the arguments are wrong: `topic`: 1 is not of type \\'string\\''}}"
        ! ChildStarted c1 helper r2 background name="Ann"
        ! CallEnded k3 subagent_create done "The subagent was initiated successfully. Reference: @c1"
        > Spawn c1 helper depth=1 tag="name:Ann" resumable receives=a Injected system "Arguments:\n{\n  'topic': 'bees'\n}" silent Message user "go" r2->t0
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn the_side_that_receives_messages_says_what_is_wanted() {
    check(
        "boss children=helper*@b&\nhelper dual b.schema=topic",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"go","name":"Ann","arguments":{}} | k2=subagent_create {"agent":"helper","message":"go","name":"Ann","arguments":{"topic":"bees"}}
        ! Answered a "" k1 k2
        ! CallEnded k1 subagent_create failed "{'error':{'code':'subagent_arguments_invalid','message':'the arguments are wrong: \\'topic\\' is a required property'}}"
        ! ChildStarted c1 helper r2 background name="Ann"
        ! CallEnded k2 subagent_create done "The subagent was initiated successfully. Reference: @c1"
        > Spawn c1 helper depth=1 tag="name:Ann" resumable receives=b acting=b Injected system "Arguments:\n{\n  'topic': 'bees'\n}" silent Message user "go" r2->t0
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn a_child_that_wants_nothing_special_is_called_with_a_message() {
    check(
        "boss children=scout&",
        r#"
        < ask r1 hi ...
        < model | k1=scout {} | k2=scout {"message":"  "} | k3=scout {"message":"dig","more":1}
        ! Answered a "" k1 k2 k3
        ! CallEnded k1 scout failed "{'error':{'code':'subagent_arguments_invalid','message':'`message` must be a text that is not blank'}}"
        ! CallEnded k2 scout failed "{'error':{'code':'subagent_arguments_invalid','message':'`message` must be a text that is not blank'}}"
        ! ChildStarted c1 scout r2 background
        ! CallEnded k3 scout done "The subagent was initiated successfully. Reference: @c1"
        > Spawn c1 scout depth=1 Message user "dig" r2->t0
        > CallModel boss a 1
        "#,
    );
}
