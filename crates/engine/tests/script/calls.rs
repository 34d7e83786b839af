//! Calls that somebody outside makes in the place of a model.

use crate::check;

const CLIENT: &str = "
    client tools=look children=worker dialects=agentscope driven
    kid format=agentscope tools=look
    worker";

#[test]
fn a_call_starts_a_child_and_its_ending_is_the_result_without_any_model_for_the_caller() {
    check(
        CLIENT,
        r#"
        < call k1 agent_spawn {"agent_id":"kid","task":"count"} ...
        < ended r1 done four
        ! ChildEnded c1 r1 done
        ! CallEnded k1 agent_spawn done "agent_key: agent:kid:@c1\nagent_id: kid\nsession_id: sub-@c1\nstatus: ok\nreply:\nfour"
        ! SessionEnded done "" rest=idle
        = idle
        "#,
    );
}

#[test]
fn calls_that_overlap_are_answered_each_on_its_own() {
    check(
        CLIENT,
        r#"
        < call k1 agent_spawn {"agent_id":"kid","task":"count","timeout_seconds":2} ...
        < call k2 worker {"message":"paint"} ...
        < call k3 agent_list {} ...
        < tick 2
        ! ChildReleased c1 r1
        ! CallEnded k1 agent_spawn done "agent_key: agent:kid:@c1\nagent_id: kid\nsession_id: sub-@c1\nstatus: timeout_promoted\ntask_id: @r1\n\nThe subagent is still at work: its task goes on in the background and nothing is lost. Do not start it again: ask for its result with task_output."
        = waiting
        < ended r2 done painted
        ! ChildEnded c2 r2 done
        ! CallEnded k2 worker done "painted"
        ! SessionEnded done "" rest=idle
        = idle
        "#,
    );
}

#[test]
fn a_background_ending_waits_until_it_is_asked_for() {
    check(
        CLIENT,
        r#"
        < call k1 agent_spawn {"agent_id":"kid","task":"count","timeout_seconds":0} ...
        < ended r1 done four
        ! ChildEnded c1 r1 done
        = idle
        < call k2 task_output {"task_id":"@r1"} ...
        < tool k2 done four ; read r1
        ! RunRead r1
        ! CallEnded k2 task_output done "four"
        ! SessionEnded done "" rest=idle
        > DeliveredRun r1
        = idle
        "#,
    );
}

#[test]
fn whoever_writes_to_such_a_thread_is_answered_with_nothing() {
    check(
        CLIENT,
        r#"
        < ask r1 hello
        ! SessionStarted a
        ! Posted user "hello" r1
        ! SessionEnded done "" rest=idle
        > StartRun r1
        > EndRun r1 done ""
        = idle
        "#,
    );
}

#[test]
fn a_thread_with_a_model_of_its_own_is_called_by_nobody() {
    check(
        "
    boss tools=look dialects=agentscope
    kid format=agentscope",
        r#"
        < call k1 agent_spawn {"agent_id":"kid","task":"count"}
        = idle
        "#,
    );
}
