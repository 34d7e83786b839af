//! What the acting side's model is shown.

use crate::check;

#[test]
fn a_side_is_shown_earlier_sessions_with_their_tool_traffic_by_both_flags() {
    check(
        "boss tools=look",
        r#"
        < ask r1 first ...
        < model looking | k1=look ...
        < tool k1 done seen ...
        < model done ...
        < ask r2 second
        ! SessionStarted a
        ! Posted user "second" r2
        > StartRun r2
        > CallModel boss a 0
        | system "You are boss/a."
        | user "first"
        | assistant "looking" k1
        | tool k1 "seen"
        | assistant "done"
        | user "second"
        "#,
    );
}

#[test]
fn without_include_chat_a_side_is_shown_the_current_session_only() {
    check(
        "boss tools=look chat=no",
        r#"
        < ask r1 first ...
        < model done ...
        < ask r2 second ...
        < model looking | k1=look ...
        < tool k1 done seen
        ! CallEnded k1 look done "seen"
        > CallModel boss a 1
        | system "You are boss/a."
        | user "second"
        | assistant "looking" k1
        | tool k1 "seen"
        "#,
    );
}

#[test]
fn without_include_past_tools_a_side_is_shown_the_tool_traffic_of_its_current_turn_only() {
    check(
        "boss tools=look past_tools=no",
        r#"
        < ask r1 first ...
        < model looking | k1=look ...
        < tool k1 done seen ...
        < model | k1=look ...
        < tool k1 done seen ...
        < model done ...
        < ask r2 second ...
        < model again | k1=look ...
        < tool k1 done seen anew
        ! CallEnded k1 look done "seen anew"
        > CallModel boss a 1
        | system "You are boss/a."
        | user "first"
        | assistant "looking"
        | assistant "done"
        | user "second"
        | assistant "again" k1
        | tool k1 "seen anew"
        "#,
    );
}

#[test]
fn the_turns_of_a_dual_agent_count_for_past_tools() {
    check(
        "pair dual tools=look a.past_tools=no",
        r#"
        < ask r1 go ...
        < model looking | k1=look ...
        < tool k1 done seen by a ...
        < model from a ...
        < model from b
        ! Answered b "from b"
        ! TurnEnded b response next=a
        > CallModel pair a 2
        | system "You are pair/a."
        | user "go"
        | assistant "looking"
        | assistant "from a"
        | user "from b"
        < model | k1=look ...
        < tool k1 done seen anew
        ! CallEnded k1 look done "seen anew"
        > CallModel pair a 3
        | system "You are pair/a."
        | user "go"
        | assistant "looking"
        | assistant "from a"
        | user "from b"
        | assistant "" k1
        | tool k1 "seen anew"
        "#,
    );
}

#[test]
fn an_answer_without_words_and_calls_is_not_shown() {
    check(
        "boss",
        r#"
        < ask r1 hi ...
        < model
        ! Answered a ""
        > CallModel boss a 1
        | system "You are boss/a."
        | user "hi"
        "#,
    );
}

#[test]
fn interrupted_calls_are_shown_with_what_became_of_them() {
    check(
        "boss tools=look children=writer",
        r#"
        < ask r1 hi ...
        < model | k1=look | k2=writer {"message":"write"} ...
        < stop ...
        < ask r3 and?
        ! SessionStarted a
        ! Posted user "and?" r3
        > StartRun r3
        > CallModel boss a 0
        | system "You are boss/a."
        | user "hi"
        | assistant "" k1 k2
        | tool k1 "Execution stopped."
        | tool k2 "Execution stopped."
        | user "and?"
        "#,
    );
}

#[test]
fn each_side_asks_for_words_to_be_chosen_as_its_own_prompt_says() {
    check(
        "pair dual a.temperature=0.25 a.top_p=0.5",
        r#"
        < ask r1 go
        ! SessionStarted a
        ! Posted user "go" r1
        > StartRun r1
        > CallModel pair a 0 temperature=0.25 top_p=0.5
        < model from a
        ! Answered a "from a"
        ! TurnEnded a response next=b
        > CallModel pair b 0
        "#,
    );
}
