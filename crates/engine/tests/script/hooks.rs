//! Hooks: what they hear of, in which order, and that what comes of it is part of the decision, once.

use crate::check;

#[test]
fn a_message_joins_as_the_hook_left_it_and_what_the_hook_did_is_durable_with_it() {
    check(
        "boss agent_hooks=loud,before,after
         hook loud before_create_message shout
         hook before before_create_message count
         hook after after_create_message count",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! ValueSet before 1
        ! Posted user "HI" r1
        ! ValueSet after 1
        > StartRun r1
        > CallModel boss a 0
        "#,
    );
}

#[test]
fn hooks_hear_of_a_thread_s_creation_before_anything_else_and_once() {
    check(
        "boss agent_hooks=made
         hook made after_thread_created count",
        r#"
        < crash
        ! ValueSet made 1
        ! CreationHeard
        < crash
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        > StartRun r1
        > CallModel boss a 0
        "#,
    );
}

#[test]
fn a_crash_runs_no_hook_again_whose_message_is_there() {
    check(
        "boss agent_hooks=made,after
         hook made after_thread_created count
         hook after after_create_message count",
        r#"
        < ask r1 hi
        ! ValueSet made 1
        ! CreationHeard
        ! SessionStarted a
        ! Posted user "hi" r1
        ! ValueSet after 1
        > StartRun r1
        > CallModel boss a 0
        < crash
        > CallModel boss a 0
        < model hello
        ! Answered a "hello"
        ! ValueSet after 2
        ! TurnEnded a response next=a
        ! SessionEnded done "hello" rest=idle
        > EndRun r1 done "hello"
        "#,
    );
}

#[test]
fn a_call_is_made_with_the_arguments_of_the_hook() {
    check(
        r#"boss children=writer agent_hooks=seen,safe
         hook seen tool_call_started count
         hook safe tool_call_done arguments {"message":"with care"}"#,
        r#"
        < ask r1 hi ...
        < model | k1=writer {"message":"at once"}
        ! ValueSet seen 1
        ! Answered a "" k1
        ! ChildStarted c1 writer r2 call=k1
        > Spawn c1 writer depth=1 Message user "with care" r2->t0
        "#,
    );
}

#[test]
fn a_blocked_call_is_not_made_and_the_model_is_told_why() {
    check(
        "boss tools=look,pay agent_hooks=no
         hook no tool_call_done block not on Sundays",
        r#"
        < ask r1 hi ...
        < model | k1=pay
        ! Answered a "" k1
        ! CallEnded k1 pay failed "`pay` was not called: not on Sundays"
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn a_result_is_kept_as_the_hooks_left_it() {
    check(
        "boss tools=look,pay agent_hooks=good,bad,kept,after
         hook good after_tool_call_success count
         hook bad after_tool_call_failure mend
         hook kept before_store_tool_result shout
         hook after after_create_message count",
        r#"
        < ask r1 hi ...
        < model | k1=look | k2=pay
        ! Answered a "" k1 k2
        ! ValueSet after 2
        > CallTool k1 look
        < tool k1 done seen
        ! ValueSet good 1
        ! CallEnded k1 look done "SEEN"
        ! ValueSet after 3
        ! CallStarted k2
        > CallTool k2 pay key=@t0/1/1
        < tool k2 failed no money
        ! CallEnded k2 pay done "MENDED"
        ! ValueSet after 4
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn a_call_that_a_hook_removes_is_not_shown_to_the_model_again() {
    check(
        "boss tools=look,find agent_hooks=gone
         hook gone after_tool_call_failure remove",
        r#"
        < ask r1 hi ...
        < model | k1=look | k2=find ...
        < tool k1 failed no ...
        < tool k2 done found
        ! CallEnded k2 find done "found"
        > CallModel boss a 1
        | system "You are boss/a."
        | user "hi"
        | assistant "" k2
        | tool k2 "found"
        "#,
    );
}

#[test]
fn a_failed_binding_that_a_hook_mends_ends_the_session() {
    check(
        "boss dual tools=finish session_stop=finish a.hooks=bad
         thread boss child
         hook bad after_tool_call_failure mend",
        r#"
        < ask r1->p hi ...
        < model | k1=finish
        ! Answered a "" k1
        > CallTool k1 finish
        < tool k1 failed no
        ! CallEnded k1 finish done "mended"
        ! SessionEnded done "mended" rest=done
        > EndRun r1 done "mended"
        > Deliver p ChildEnded t0 r1 done "mended"
        "#,
    );
}

#[test]
fn the_result_of_a_child_is_heard_of_like_that_of_a_tool() {
    check(
        "boss children=writer agent_hooks=born,good
         hook born after_subagent_created count
         hook good after_tool_call_success shout",
        r#"
        < ask r1 hi ...
        < model | k1=writer {"message":"go"}
        ! Answered a "" k1
        ! ChildStarted c1 writer r2 call=k1
        ! ValueSet born 1
        > Spawn c1 writer depth=1 Message user "go" r2->t0
        < ended r2 done draft
        ! ChildEnded c1 r2 done
        ! CallEnded k1 writer done "DRAFT"
        > DeliveredRun r2
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn a_child_with_hooks_finds_its_first_message_in_its_queue() {
    check(
        "boss children=writer
         writer dual agent_hooks=made
         hook made after_thread_created count",
        r#"
        < ask r1 hi ...
        < model | k1=writer {"message":"go"}
        ! Answered a "" k1
        ! ChildStarted c1 writer r2 call=k1
        > Spawn c1 writer depth=1 queued Message user "go" r2->t0
        "#,
    );
}

#[test]
fn hooks_that_a_child_brings_for_its_parent_run_around_the_parent_s_own() {
    check(
        "boss children=writer agent_hooks=own
         writer dual first_parent_hooks=early parent_hooks=late
         hook own after_create_message count
         hook early after_create_message count
         hook late after_create_message count",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        ! ValueSet early 1
        ! ValueSet own 1
        ! ValueSet late 1
        > StartRun r1
        > CallModel boss a 0
        "#,
    );
}

#[test]
fn a_prompt_that_names_hooks_has_no_others_and_each_side_has_its_own() {
    check(
        "boss dual turns=2 agent_hooks=agents a.hooks=firsts
         hook agents after_create_message count
         hook firsts after_create_message count",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        ! ValueSet firsts 1
        > StartRun r1
        > CallModel boss a 0
        < model one
        ! Answered a "one"
        ! ValueSet firsts 2
        ! TurnEnded a response next=b
        > CallModel boss b 0
        < model two
        ! Answered b "two"
        ! ValueSet agents 1
        ! TurnEnded b response next=a
        ! SessionEnded done "two" limit="maxSessionTurns: the limit of 2 turns is reached" rest=done
        > EndRun r1 done "two" limit="maxSessionTurns: the limit of 2 turns is reached"
        "#,
    );
}

#[test]
fn a_hook_that_fails_is_recorded_and_it_goes_on() {
    check(
        "boss agent_hooks=bad
         hook bad before_create_message fail it threw",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! HookFailed bad before_create_message it threw
        ! Posted user "hi" r1
        > StartRun r1
        > CallModel boss a 0
        "#,
    );
}

#[test]
fn a_hook_can_stop_the_session_and_what_it_stopped_does_not_begin() {
    check(
        "boss tools=pay agent_hooks=enough
         hook enough tool_call_done end enough",
        r#"
        < ask r1 hi ...
        < model | k1=pay
        ! Answered a "" k1
        ! CallEnded k1 pay cancelled "The session was stopped."
        ! SessionEnded done "enough" rest=idle
        > EndRun r1 done "enough"
        > Abort
        "#,
    );
}

#[test]
fn a_hook_can_stop_a_session_before_its_model_is_asked() {
    check(
        "boss agent_hooks=enough
         hook enough after_create_message end enough",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        ! SessionEnded done "enough" rest=idle
        > StartRun r1
        > EndRun r1 done "enough"
        > Abort
        "#,
    );
}

#[test]
fn a_hook_can_terminate_its_thread() {
    check(
        "boss agent_hooks=over
         hook over after_create_message terminate",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        ! Terminated
        > StartRun r1
        > EndRun r1 cancelled "The thread was terminated."
        > Abort
        "#,
    );
}

#[test]
fn what_a_hook_says_to_its_thread_waits_in_the_queue() {
    check(
        "boss tools=look agent_hooks=more
         hook more after_tool_call_success queue and then?",
        r#"
        < ask r1 hi ...
        < model | k1=look
        ! Answered a "" k1
        > CallTool k1 look
        < tool k1 done seen
        ! CallEnded k1 look done "seen"
        > Deliver t0 Message user "and then?"
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn nobody_hears_of_what_a_stop_answers() {
    check(
        "boss tools=pay agent_hooks=bad,loud
         hook bad after_tool_call_failure count
         hook loud before_create_message shout",
        r#"
        < ask r1 hi ...
        < model | k1=pay ...
        < stop
        ! CallEnded k1 pay unknown "Execution stopped. The outcome of `pay` is unknown: it was interrupted after it had begun, and was not repeated. Check what it did before you call it again."
        ! TurnEnded a asked next=a
        ! SessionEnded cancelled "Execution stopped." rest=idle
        > EndRun r1 cancelled "Execution stopped."
        > Abort
        "#,
    );
}

#[test]
fn what_hooks_did_to_a_request_is_durable_with_its_answer() {
    check(
        "boss tools=look
         hook unused filter_messages count",
        r#"
        < ask r1 hi ...
        < advised hello ; value seen 1
        ! ValueSet seen 1
        ! Answered a "hello"
        ! TurnEnded a response next=a
        ! SessionEnded done "hello" rest=idle
        > EndRun r1 done "hello"
        "#,
    );
}

#[test]
fn what_hooks_did_to_a_request_that_was_taken_back_has_not_happened() {
    check(
        "boss tools=look",
        r#"
        < ask r1 hi ...
        < stop ...
        < advised hello ; value seen 1
        "#,
    );
}
