//! What comes between a prompt and its immediate children: crashes, stops, limits, variables.

use crate::check;

#[test]
fn a_crash_before_the_activation_is_durable_starts_them_afterwards() {
    check(
        "boss children=scout immediate=scout",
        r#"
        + ask r1 hi
        < crash
        ! SessionStarted a
        ! Posted user "hi" r1
        ! Activated a | immediate_4_1=scout {}
        ! ChildStarted c1 scout r2 call=immediate_4_1
        > StartRun r1
        > Spawn c1 scout depth=1 asked r2
        = waiting
        "#,
    );
}

#[test]
fn a_crash_while_an_immediate_child_is_waited_for_starts_nobody_again() {
    check(
        "boss children=scout immediate=scout",
        r#"
        < ask r1 hi ...
        < crash
        = waiting
        < ended r2 done clear
        ! ChildEnded c1 r2 done
        ! CallEnded immediate_4_1 scout done "clear"
        > DeliveredRun r2
        > CallModel boss a 0
        "#,
    );
}

#[test]
fn a_crash_after_the_activation_asks_the_model_and_starts_nobody_again() {
    check(
        "boss children=scout& immediate=scout",
        r#"
        < ask r1 hi ...
        < crash
        > CallModel boss a 0
        = running
        < model hello ...
        < crash
        = idle
        "#,
    );
}

#[test]
fn a_crash_of_a_silent_thread_that_rests_starts_nobody_again() {
    check(
        "boss children=scout& immediate=scout",
        r#"
        < crash ...
        < crash
        = idle
        "#,
    );
}

#[test]
fn a_stop_cancels_the_immediate_child_and_it_does_not_start_again() {
    check(
        "boss children=scout immediate=scout",
        r#"
        < ask r1 hi ...
        < stop
        ! ChildCancelled c1
        ! CallEnded immediate_4_1 scout cancelled "Execution stopped."
        ! TurnEnded a asked next=a
        ! SessionEnded cancelled "Execution stopped." rest=idle
        > Deliver c1 Cancel r2
        > EndRun r1 cancelled "Execution stopped."
        > Abort
        = idle
        < ended r2 cancelled The run was cancelled. ...
        < ask r3 hi
        ! SessionStarted a
        ! Posted user "hi" r3
        > StartRun r3
        > CallModel boss a 0
        | system "You are boss/a."
        | user "hi"
        | assistant "" immediate_4_1
        | tool immediate_4_1 "Execution stopped."
        | user "hi"
        "#,
    );
}

#[test]
fn a_stop_of_a_silent_thread_that_waits_leaves_it_idle() {
    check(
        "boss children=scout immediate=scout",
        r#"
        < crash ...
        < stop
        ! ChildCancelled c1
        ! CallEnded immediate_3_1 scout cancelled "Execution stopped."
        ! TurnEnded a asked next=a
        ! SessionEnded cancelled "Execution stopped." rest=idle
        > Deliver c1 Cancel r1
        > Abort
        = idle
        "#,
    );
}

#[test]
fn cancelling_the_run_cancels_the_immediate_child() {
    check(
        "boss children=scout immediate=scout",
        r#"
        < ask r1 hi ...
        < cancel r1
        ! ChildCancelled c1
        ! CallEnded immediate_4_1 scout cancelled "The run was cancelled."
        ! SessionEnded cancelled "The run was cancelled." rest=idle
        > Deliver c1 Cancel r2
        > EndRun r1 cancelled "The run was cancelled."
        > Abort
        = idle
        < ended r2 cancelled The run was cancelled.
        ! ChildEnded c1 r2 cancelled
        > DeliveredRun r2
        "#,
    );
}

#[test]
fn terminating_ends_the_immediate_child_with_its_parent() {
    check(
        "boss children=scout immediate=scout",
        r#"
        < ask r1 hi ...
        < terminate
        ! Terminated
        > Deliver c1 Terminate
        > EndRun r1 cancelled "The thread was terminated."
        > Abort
        = terminated
        < ended r2 done too late
        "#,
    );
}

#[test]
fn terminating_a_thread_before_it_is_taken_up_starts_nobody() {
    check(
        "boss children=scout immediate=scout",
        r#"
        + terminate
        < crash
        ! Terminated
        > Abort
        = terminated
        "#,
    );
}

#[test]
fn an_immediate_child_that_is_terminated_is_an_error_that_the_first_step_sees() {
    check(
        "boss children=scout immediate=scout",
        r#"
        < ask r1 hi ...
        < terminated c1 r2
        ! ChildTerminated c1
        ! CallEnded immediate_4_1 scout cancelled "{'error':{'code':'subagent_terminated','message':'subagent `@c1` was terminated'}}"
        > DeliveredRun r2
        > CallModel boss a 0
        | system "You are boss/a."
        | user "hi"
        | assistant "" immediate_4_1
        | tool immediate_4_1 "{'error':{'code':'subagent_terminated','message':'subagent `@c1` was terminated'}}"
        "#,
    );
}

#[test]
fn an_immediate_child_below_the_depth_limit_is_refused_and_the_side_goes_on() {
    check(
        "boss children=scout immediate=scout\nlimits depth=0",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        ! Activated a | immediate_4_1=scout {}
        ! CallEnded immediate_4_1 scout failed "{'error':{'code':'depth_limit_reached','message':'subagents may lie at most 0 levels deep; do this work yourself','max':0}}"
        > StartRun r1
        > CallModel boss a 0
        | system "You are boss/a."
        | user "hi"
        | assistant "" immediate_4_1
        | tool immediate_4_1 "{'error':{'code':'depth_limit_reached','message':'subagents may lie at most 0 levels deep; do this work yourself','max':0}}"
        "#,
    );
}

#[test]
fn immediate_children_beyond_a_limit_are_refused_and_the_others_start() {
    check(
        "boss children=scout,writer&,mate immediate=scout,writer,mate\nlimits children_live=2",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        ! Activated a | immediate_4_1=scout {} | immediate_4_2=writer {} | immediate_4_3=mate {}
        ! ChildStarted c1 scout r2 call=immediate_4_1
        ! ChildStarted c2 writer r3 background
        ! CallEnded immediate_4_2 writer done "The subagent was initiated successfully. Reference: @c2"
        ! CallEnded immediate_4_3 mate failed "{'error':{'code':'subagent_limit_reached','message':'the limit `children_live` of 2 subagents is reached; wait for one of them to end','cap':'children_live','max':2,'references':['@c1','@c2']}}"
        > StartRun r1
        > Spawn c1 scout depth=1 asked r2
        > Spawn c2 writer depth=1 asked r3
        = waiting
        "#,
    );
}

#[test]
fn immediate_children_beyond_the_room_of_the_tree_are_refused() {
    check(
        "boss children=scout&,writer& immediate=scout,writer\nlimits left=1",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        ! Activated a | immediate_4_1=scout {} | immediate_4_2=writer {}
        ! ChildStarted c1 scout r2 background
        ! CallEnded immediate_4_1 scout done "The subagent was initiated successfully. Reference: @c1"
        ! CallEnded immediate_4_2 writer failed "{'error':{'code':'subagent_limit_reached','message':'the limit `children_total` of 200 subagents is reached; no more can be started in this tree','cap':'children_total','max':200,'references':['@c1']}}"
        > StartRun r1
        > Spawn c1 scout depth=1 asked r2
        > CallModel boss a 0
        "#,
    );
}

#[test]
fn a_side_without_steps_starts_nobody() {
    check(
        "boss steps=0 children=scout immediate=scout",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        ! TurnEnded a limit="maxSteps: the limit of 0 steps is reached" next=a
        ! SessionEnded done "" limit="maxSteps: the limit of 0 steps is reached" rest=idle
        > StartRun r1
        > EndRun r1 done "" limit="maxSteps: the limit of 0 steps is reached"
        "#,
    );
}

#[test]
fn activation_is_no_step() {
    check(
        "boss steps=1 children=scout immediate=scout",
        r#"
        < ask r1 hi ...
        < ended r2 done clear
        ! ChildEnded c1 r2 done
        ! CallEnded immediate_4_1 scout done "clear"
        > DeliveredRun r2
        > CallModel boss a 0
        < model hello
        ! Answered a "hello"
        ! TurnEnded a response next=a
        ! SessionEnded done "hello" rest=idle
        > EndRun r1 done "hello"
        "#,
    );
}

#[test]
fn the_deadline_ends_a_session_that_waits_for_an_immediate_child() {
    check(
        "boss children=scout immediate=scout\nlimits run_seconds=60",
        r#"
        < ask r1 hi ...
        < tick 60
        ! ChildCancelled c1
        ! CallEnded immediate_4_1 scout cancelled "The time for this run is over."
        ! SessionEnded failed "run_seconds: the limit of 60 seconds is reached" limit="run_seconds: the limit of 60 seconds is reached" rest=failed
        > Deliver c1 Cancel r2
        > EndRun r1 failed "run_seconds: the limit of 60 seconds is reached" limit="run_seconds: the limit of 60 seconds is reached"
        > Abort
        "#,
    );
}

#[test]
fn an_immediate_child_that_is_switched_off_does_not_start() {
    check(
        "boss children=scout,writer& immediate=scout,writer optional=scout:DEEP,writer:WIDE env=WIDE:Yes",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        ! Activated a | immediate_4_1=writer {}
        ! ChildStarted c1 writer r2 background
        ! CallEnded immediate_4_1 writer done "The subagent was initiated successfully. Reference: @c1"
        > StartRun r1
        > Spawn c1 writer depth=1 asked r2
        > CallModel boss a 0
        "#,
    );
}

#[test]
fn an_immediate_child_that_waits_for_variables_delays_nobody() {
    check(
        "boss children=scout immediate=scout\nscout dual needs=TOKEN",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        ! Activated a | immediate_4_1=scout {}
        ! VariablesRequested q1 scout missing=TOKEN
        ! CallEnded immediate_4_1 scout failed "{'error':{'code':'subagent_env_required','message':'subagent `scout` needs variables that only a person can give: TOKEN. It starts by itself once they are sent to /threads/@t0/variables/@q1; do not call it again.','agent':'scout','request_id':'@q1','endpoint':'/threads/@t0/variables/@q1','required':['TOKEN'],'missing':['TOKEN']}}"
        > StartRun r1
        > CallModel boss a 0
        | system "You are boss/a."
        | user "hi"
        | assistant "" immediate_4_1
        | tool immediate_4_1 "{'error':{'code':'subagent_env_required','message':'subagent `scout` needs variables that only a person can give: TOKEN. It starts by itself once they are sent to /threads/@t0/variables/@q1; do not call it again.','agent':'scout','request_id':'@q1','endpoint':'/threads/@t0/variables/@q1','required':['TOKEN'],'missing':['TOKEN']}}"
        < variables q1 c9 TOKEN=t1
        ! RequestClosed q1 c9
        ! ChildStarted c9 scout r2 background
        > Spawn c9 scout depth=1 VariablesSet secret TOKEN=1t asked r2
        "#,
    );
}

#[test]
fn what_is_handed_on_is_not_in_the_call_that_the_model_sees() {
    check(
        "boss says=WHO tools=note children=scout& immediate=scout:WHO names=scout:who gives=TOKEN env=WHO:Ann\nscout dual needs=TOKEN\ntool note scoped=TOKEN\neverybody TOKEN=t0",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        ! Activated a | immediate_4_1=scout {"who":"Ann"}
        ! ChildStarted c1 scout r2 background name="Ann"
        ! CallEnded immediate_4_1 scout done "The subagent was initiated successfully. Reference: @c1"
        > StartRun r1
        > Spawn c1 scout depth=1 tag="name:Ann" asked r2
        > CallModel boss a 0
        | system "You are boss/a. Ann"
        | system "Subagents of this conversation:\n- @c1: Ann (scout), running: Good at scout."
        | user "hi"
        | assistant "" immediate_4_1
        | tool immediate_4_1 "The subagent was initiated successfully. Reference: @c1"
        "#,
    );
}

#[test]
fn an_immediate_child_that_breaks_with_the_program_is_not_started_again() {
    check(
        "boss children=scout immediate=scout",
        r#"
        < ask r1 hi ...
        < broke bad luck
        ! ChildCancelled c1
        ! CallEnded immediate_4_1 scout cancelled "internal error: bad luck"
        ! SessionEnded failed "internal error: bad luck" rest=failed
        > Deliver c1 Cancel r2
        > EndRun r1 failed "internal error: bad luck"
        > Abort
        < ask r3 hi
        ! SessionStarted a
        ! Posted user "hi" r3
        > StartRun r3
        > CallModel boss a 0
        "#,
    );
}

#[test]
fn a_thread_that_could_not_start_them_does_not_try_by_itself_again() {
    check(
        "boss steps=0 children=scout& immediate=scout",
        r#"
        < crash
        = idle
        < ask r1 hi ...
        < crash
        = idle
        "#,
    );
}

#[test]
fn an_agent_that_took_over_at_a_limit_starts_them_with_the_next_message() {
    check(
        "boss handoffs=clerk\nclerk children=scout& immediate=scout\nlimits steps=1",
        r#"
        < ask r1 hi ...
        < model | k1=clerk ...
        < crash
        = idle
        < ask r2 again
        ! SessionStarted a
        ! Posted user "again" r2
        ! Activated a | immediate_11_1=scout {}
        ! ChildStarted c1 scout r3 background
        ! CallEnded immediate_11_1 scout done "The subagent was initiated successfully. Reference: @c1"
        > StartRun r2
        > Spawn c1 scout depth=1 asked r3
        > CallModel clerk a 0
        "#,
    );
}
