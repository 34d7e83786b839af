//! Two sides facing each other: who acts, and what each sees of the other.

use crate::check;

#[test]
fn each_side_sees_itself_as_assistant_and_the_other_as_user() {
    check(
        "pair dual turns=4",
        r#"
        < ask r1 start
        ! SessionStarted a
        ! Posted user "start" r1
        > StartRun r1
        > CallModel pair a 0
        | system "You are pair/a."
        | user "start"
        < model from a1
        ! Answered a "from a1"
        ! TurnEnded a response next=b
        > CallModel pair b 0
        | system "You are pair/b."
        | user "start"
        | user "from a1"
        < model from b1
        ! Answered b "from b1"
        ! TurnEnded b response next=a
        > CallModel pair a 1
        | system "You are pair/a."
        | user "start"
        | assistant "from a1"
        | user "from b1"
        < model from a2
        ! Answered a "from a2"
        ! TurnEnded a response next=b
        > CallModel pair b 1
        | system "You are pair/b."
        | user "start"
        | user "from a1"
        | assistant "from b1"
        | user "from a2"
        "#,
    );
}

#[test]
fn a_side_never_sees_the_others_tool_traffic_even_when_both_use_the_same_ids() {
    check(
        "pair dual tools=look",
        r#"
        < ask r1 start ...
        < model | k1=look ...
        < tool k1 done seen by a ...
        < model from a ...
        < model | k1=look
        ! Answered b "" k1
        > CallTool k1 look
        < tool k1 done seen by b
        ! CallEnded k1 look done "seen by b"
        > CallModel pair b 1
        | system "You are pair/b."
        | user "start"
        | user "from a"
        | assistant "" k1
        | tool k1 "seen by b"
        < model from b
        ! Answered b "from b"
        ! TurnEnded b response next=a
        > CallModel pair a 2
        | system "You are pair/a."
        | user "start"
        | assistant "" k1
        | tool k1 "seen by a"
        | assistant "from a"
        | user "from b"
        "#,
    );
}

#[test]
fn a_result_is_never_taken_from_a_call_of_the_other_side_with_the_same_id() {
    check(
        "pair dual tools=look on_text=go_on",
        r#"
        < ask r1 start ...
        < model | k1=look ...
        < tool k1 done seen by a ...
        < model | k1=look ...
        < tool k1 done seen by b
        ! CallEnded k1 look done "seen by b"
        ! TurnEnded b every_step next=a
        > CallModel pair a 1
        | system "You are pair/a."
        | user "start"
        | assistant "" k1
        | tool k1 "seen by a"
        "#,
    );
}

#[test]
fn the_side_that_receives_messages_acts_first_and_both_see_them_as_user() {
    check(
        "pair dual
         thread pair child resumable receives=b",
        r#"
        < ask r1->p start
        ! SessionStarted b
        ! Posted user "start" r1->p
        > StartRun r1
        > CallModel pair b 0
        | system "You are pair/b."
        | user "start"
        < model from b
        ! Answered b "from b"
        ! TurnEnded b response next=a
        > CallModel pair a 0
        | system "You are pair/a."
        | user "start"
        | user "from b"
        "#,
    );
}

#[test]
fn a_side_without_any_stop_rule_hands_over_after_every_step() {
    check(
        "pair dual a.on_text=go_on tools=look",
        r#"
        < ask r1 start ...
        < model | k1=look
        ! Answered a "" k1
        > CallTool k1 look
        < tool k1 done seen
        ! CallEnded k1 look done "seen"
        ! TurnEnded a every_step next=b
        > CallModel pair b 0
        < model | k2=look ...
        < tool k2 done seen
        ! CallEnded k2 look done "seen"
        > CallModel pair b 1
        "#,
    );
}

#[test]
fn without_a_stop_rule_even_an_empty_answer_hands_over() {
    check(
        "pair dual a.on_text=go_on",
        r#"
        < ask r1 start ...
        < model
        ! Answered a ""
        ! TurnEnded a every_step next=b
        > CallModel pair b 0
        "#,
    );
}

#[test]
fn the_side_of_a_person_that_stops_at_nothing_steps_on() {
    check(
        "boss on_text=go_on steps=3",
        r#"
        < ask r1 start ...
        < model one
        ! Answered a "one"
        > CallModel boss a 1
        < model two
        ! Answered a "two"
        > CallModel boss a 2
        < model three
        ! Answered a "three"
        ! TurnEnded a limit="maxSteps: the limit of 3 steps is reached" next=a
        ! SessionEnded done "three" limit="maxSteps: the limit of 3 steps is reached" rest=idle
        > EndRun r1 done "three" limit="maxSteps: the limit of 3 steps is reached"
        "#,
    );
}

#[test]
fn a_stop_tool_ends_the_turn_and_its_property_is_the_turns_text() {
    check(
        "pair dual a.stop_tool=hand_over.answer a.on_text=go_on tools=look,hand_over",
        r#"
        < ask r1 start ...
        < model thinking aloud
        ! Answered a "thinking aloud"
        > CallModel pair a 1
        < model hm | k1=look | k2=hand_over {"answer":" what I found "}
        ! Answered a "what I found" k1 k2
        > CallTool k1 look
        > CallTool k2 hand_over
        < tool k2 done ok
        ! CallEnded k2 hand_over done "ok"
        < tool k1 done seen
        ! CallEnded k1 look done "seen"
        ! TurnEnded a stop_tool next=b
        > CallModel pair b 0
        | system "You are pair/b."
        | user "start"
        | user "thinking aloud"
        | user "what I found"
        "#,
    );
}

#[test]
fn a_stop_tool_ends_the_turn_even_when_it_failed_and_keeps_the_text_without_the_property() {
    check(
        "boss stop_tool=hand_over.answer tools=hand_over",
        r#"
        < ask r1 start ...
        < model my words | k1=hand_over {"other":1} ...
        < tool k1 failed no
        ! CallEnded k1 hand_over failed "no"
        ! TurnEnded a stop_tool next=a
        ! SessionEnded done "my words" rest=idle
        > EndRun r1 done "my words"
        "#,
    );
}

#[test]
fn a_text_ends_the_turn_of_a_side_that_also_has_a_stop_tool() {
    check(
        "pair dual stop_tool=hand_over",
        r#"
        < ask r1 start ...
        < model just words
        ! Answered a "just words"
        ! TurnEnded a response next=b
        > CallModel pair b 0
        "#,
    );
}

#[test]
fn what_nobody_has_said_but_as_an_assistant_is_side_a_s() {
    check(
        "pair dual turns=4 tools=note\ntool note",
        r#"
        < ask r1 start ...
        < model | k1=note ...
        < tool k1 done noted ; inject assistant it is noon
        ! Injected assistant "it is noon"
        ! CallEnded k1 note done "noted"
        > CallModel pair a 1
        | system "You are pair/a."
        | user "start"
        | assistant "" k1
        | tool k1 "noted"
        | assistant "it is noon"
        < model from a
        ! Answered a "from a"
        ! TurnEnded a response next=b
        > CallModel pair b 0
        | system "You are pair/b."
        | user "start"
        | user "it is noon"
        | user "from a"
        "#,
    );
}
