//! The `agentscope` dialect: six tools, and what is told at every step.

use crate::check;

/// A root that may start one agent.
const LEAD: &str = "
    lead tools=look dialects=agentscope
    kid format=agentscope tools=look";

#[test]
fn a_spawn_waits_for_the_reply() {
    check(
        LEAD,
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"kid","task":"count"}
        ! Answered a "" k1
        ! ChildStarted c1 kid r2 timed=k1
        > Spawn c1 kid depth=1 resumable receives=a Message user "count" r2->t0
        = waiting
        < ended r2 done one, two
        ! ChildEnded c1 r2 done
        ! CallEnded k1 agent_spawn done "agent_key: agent:kid:@c1\nagent_id: kid\nsession_id: sub-@c1\nstatus: ok\nreply:\none, two"
        > DeliveredRun r2
        > CallModel lead a 1
        "#,
    );
}

#[test]
fn what_a_subagent_is_told_is_told_as_it_was_written() {
    check(
        LEAD,
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":" kid ","task":"    if x:\n        y\n","label":" a ","timeout_seconds":0} ...
        < model | k2=agent_send {"label":"a","message":"\tz\n","timeout_seconds":0}
        ! Answered a "" k2
        ! ChildAsked c1 r3 background
        ! CallEnded k2 agent_send done "agent_key: agent:kid:@c1\nstatus: accepted\ntask_id: @r3\n\nThe task runs in the background, and its result will be brought to you. Do not poll right away: go on with other work or answer the user. Later, task_output with block=false shows how it stands, task_cancel stops it, and task_list shows all tasks."
        > NewRun r3 c1 kid "\tz\n"
        > Deliver c1 Message user "\tz\n" r3->t0
        > CallModel lead a 2
        "#,
    );
}

#[test]
fn a_spawn_in_the_background_is_answered_at_once_and_its_ending_is_one_silent_message() {
    check(
        LEAD,
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"kid","task":"count","timeout_seconds":0}
        ! Answered a "" k1
        ! ChildStarted c1 kid r2 background
        ! CallEnded k1 agent_spawn done "agent_key: agent:kid:@c1\nagent_id: kid\nsession_id: sub-@c1\nstatus: accepted\ntask_id: @r2\n\nThe task runs in the background, and its result will be brought to you. Do not poll right away: go on with other work or answer the user. Later, task_output with block=false shows how it stands, task_cancel stops it, and task_list shows all tasks."
        > Spawn c1 kid depth=1 resumable receives=a Message user "count" r2->t0
        > CallModel lead a 1
        < model done
        ! Answered a "done"
        ! TurnEnded a response next=a
        ! SessionEnded done "done" rest=idle
        > EndRun r1 done "done"
        = idle
        < ended r2 done three
        ! ChildEnded c1 r2 done
        > Deliver t0 Message user "A background task has ended.\n\ntask_id: @r2\nagent_id: kid\nstatus: Completed\ncreated_at: 1970-01-01T00:00:01Z\n\nResult:\nthree" delivers=r2 silent subagent_id=@c1
        < mail
        ! SessionStarted a
        ! Posted user "A background task has ended.\n\ntask_id: @r2\nagent_id: kid\nstatus: Completed\ncreated_at: 1970-01-01T00:00:01Z\n\nResult:\nthree" delivers=r2 silent subagent_id=@c1
        > DeliveredRun r2
        > CallModel lead a 0
        "#,
    );
}

#[test]
fn a_spawn_that_takes_too_long_goes_on_as_a_task() {
    check(
        LEAD,
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"kid","task":"count","timeout_seconds":5} ...
        < tick 4
        < tick 2
        ! ChildReleased c1 r2
        ! CallEnded k1 agent_spawn done "agent_key: agent:kid:@c1\nagent_id: kid\nsession_id: sub-@c1\nstatus: timeout_promoted\ntask_id: @r2\n\nThe subagent is still at work: its task goes on in the background, nothing is lost, and the result will be brought to you. Do not start it again."
        > CallModel lead a 1
        < ended r2 done late
        ! ChildEnded c1 r2 done
        > Deliver t0 Message user "A background task has ended.\n\ntask_id: @r2\nagent_id: kid\nstatus: Completed\ncreated_at: 1970-01-01T00:00:01Z\n\nResult:\nlate" delivers=r2 silent subagent_id=@c1
        "#,
    );
}

#[test]
fn the_time_to_wait_is_thirty_seconds_unless_given_and_six_hundred_at_most() {
    let waits = |given: &str, seconds: u32| {
        let script = format!(
            r#"
            < ask r1 hi ...
            < model | k1=agent_spawn {{"agent_id":"kid","task":"count"{given}}} ...
            < tick {}
            = waiting
            < tick 2 ...
            < model | k2=task_list
            ! Answered a "" k2
            ! CallEnded k2 task_list done "1 tracked task(s):\n- task_id: @r2  agent: kid  status: running  created: 1970-01-01T00:00:01Z"
            > CallModel lead a 2
            "#,
            seconds - 1
        );
        check(LEAD, &script);
    };
    waits("", 30);
    waits(r#","timeout_seconds":null"#, 30);
    waits(r#","timeout_seconds":2"#, 2);
    waits(r#","timeout_seconds":"7""#, 7);
    waits(r#","timeout_seconds":9000"#, 600);
}

#[test]
fn a_failed_run_is_an_error_and_a_failed_task() {
    check(
        LEAD,
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"kid","task":"count"} | k2=agent_spawn {"agent_id":"kid","task":"sing","timeout_seconds":-1} ...
        < ended r3 failed no voice
        ! ChildEnded c2 r3 failed
        > Deliver t0 Message user "A background task has ended.\n\ntask_id: @r3\nagent_id: kid\nstatus: Failed: no voice\ncreated_at: 1970-01-01T00:00:01Z\n\nError:\nno voice" delivers=r3 silent subagent_id=@c2
        < ended r2 failed cannot count
        ! ChildEnded c1 r2 failed
        ! CallEnded k1 agent_spawn failed "agent_key: agent:kid:@c1\nagent_id: kid\nsession_id: sub-@c1\nstatus: error\nerror: cannot count"
        ! Posted user "A background task has ended.\n\ntask_id: @r3\nagent_id: kid\nstatus: Failed: no voice\ncreated_at: 1970-01-01T00:00:01Z\n\nError:\nno voice" delivers=r3 silent subagent_id=@c2
        > DeliveredRun r2
        > DeliveredRun r3
        > CallModel lead a 1
        < model | k1=task_list {"status_filter":"FAILED"}
        ! Answered a "" k1
        ! CallEnded k1 task_list done "1 tracked task(s):\n- task_id: @r3  agent: kid  status: failed  created: 1970-01-01T00:00:01Z"
        > CallModel lead a 2
        "#,
    );
}

#[test]
fn an_agent_without_a_task_rests_until_it_is_written_to() {
    check(
        LEAD,
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"kid","label":" Scout "}
        ! Answered a "" k1
        ! ChildStarted c1 kid unasked background name="Scout"
        ! CallEnded k1 agent_spawn done "agent_key: agent:kid:@c1\nagent_id: kid\nsession_id: sub-@c1\nstatus: accepted"
        > Spawn c1 kid depth=1 tag="name:Scout" resumable receives=a
        > CallModel lead a 1
        < model | k2=agent_send {"label":"SCOUT","message":"go"}
        ! Answered a "" k2
        ! ChildAsked c1 r2 timed=k2
        > NewRun r2 c1 kid "go"
        > Deliver c1 Message user "go" r2->t0
        < ended r2 done gone
        ! ChildEnded c1 r2 done
        ! CallEnded k2 agent_send done "agent_key: agent:kid:@c1\nstatus: ok\nreply:\ngone"
        > DeliveredRun r2
        > CallModel lead a 2
        < model | k3=agent_send {"agent_key":"agent:kid:@c1","message":"again","timeout_seconds":0} ...
        < model | k4=agent_list
        ! Answered a "" k4
        ! CallEnded k4 agent_list done "1 active subagent(s):\n- agent_key: agent:kid:@c1\n  agent_id: kid\n  label: Scout\n  spawn_depth: 1\n  status: running"
        > CallModel lead a 4
        "#,
    );
}

#[test]
fn what_cannot_be_done_is_an_error_that_says_why() {
    check(
        LEAD,
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"kid","label":"one"} ...
        < model | k1=agent_spawn {"agent_id":"cat","task":"purr"} | k2=agent_spawn {"agent_id":"kid","label":"ONE"} | k3=agent_send {"label":"two","message":"x"} | k4=agent_send {"agent_key":"kid","message":"x"} | k5=agent_send {"label":"one","agent_key":"kid","message":"x"} | k6=agent_send {"message":"x"} | k7=agent_send {"label":"one","message":" "} | k8=task_cancel {"task_id":"task_1"} | k9=task_output {"task_id":""} | l1=agent_spawn nonsense | l2=agent_spawn {"agent_id":"kid","task":"x","timeout_seconds":"soon"} | l3=agent_spawn {"agent_id":"kid","task":["x"]} | l4=agent_spawn {"agent_id":"kid","task":"x","label":7} | l5=task_list {"status_filter":null}
        ! Answered a "" k1 k2 k3 k4 k5 k6 k7 k8 k9 l1 l2 l3 l4 l5
        ! CallEnded k1 agent_spawn failed "Error: unknown agent_id `cat`; available: kid"
        ! CallEnded k2 agent_spawn failed "Error: the label `ONE` is already in use; choose another one, or use agent_send"
        ! CallEnded k3 agent_send failed "Error: unknown label `two`; agent_list shows the active subagents"
        ! CallEnded k4 agent_send failed "Error: unknown agent_key `kid`; agent_list shows the active ones"
        ! CallEnded k5 agent_send failed "Error: give either agent_key or label, not both"
        ! CallEnded k6 agent_send failed "Error: agent_key or label is needed"
        ! CallEnded k7 agent_send failed "Error: message is needed and must be a text that is not blank"
        ! CallEnded k8 task_cancel failed "Error: unknown task_id `task_1`; task_list shows all of them"
        ! CallEnded k9 task_output failed "Error: task_id is needed and must be a text that is not blank"
        ! CallEnded l1 agent_spawn failed "Error: the arguments are not valid JSON: expected ident at line 1 column 2"
        ! CallEnded l2 agent_spawn failed "Error: timeout_seconds must be a whole number"
        ! CallEnded l3 agent_spawn failed "Error: task must be a text"
        ! CallEnded l4 agent_spawn failed "Error: label must be a text"
        ! CallEnded l5 task_list done "No tasks are tracked in this session."
        > CallModel lead a 2
        "#,
    );
}

#[test]
fn nothing_is_tracked_before_anything_was_started() {
    check(
        LEAD,
        r#"
        < ask r1 hi ...
        < model | k1=agent_list | k2=task_list | k3=task_list {"status_filter":"running"}
        ! Answered a "" k1 k2 k3
        ! CallEnded k1 agent_list done "No subagents are active."
        ! CallEnded k2 task_list done "No tasks are tracked in this session."
        ! CallEnded k3 task_list done "No tasks with status running are tracked in this session."
        > CallModel lead a 1
        "#,
    );
}

#[test]
fn a_full_house_is_an_error_that_names_the_limit() {
    check(
        &format!("{LEAD}\nlimits children_live=1"),
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"kid","task":"a","timeout_seconds":0} | k2=agent_spawn {"agent_id":"kid","task":"b","timeout_seconds":0} ...
        < model | k3=agent_spawn {"agent_id":"kid","task":"c"}
        ! Answered a "" k3
        ! CallEnded k3 agent_spawn failed "Error: subagent_limit_reached: the limit `children_live` of 1 subagents is reached; wait for one of them to end"
        > CallModel lead a 2
        "#,
    );
}

#[test]
fn a_thread_at_the_depth_limit_has_no_tools_for_it_and_is_told_the_limit_if_it_calls_one_all_the_same() {
    for (limit, depth, may) in
        [(0, 0, false), (1, 0, true), (1, 1, false), (2, 1, true), (2, 2, false), (3, 2, true), (3, 3, false)]
    {
        let tools = if may { " agent_spawn agent_send agent_list task_output task_cancel task_list" } else { "" };
        let after = if may {
            format!(
                r#"
                < model | k1=agent_spawn {{"agent_id":"kid","task":"x"}}
                ! Answered a "" k1
                ! ChildStarted c1 kid r2 timed=k1
                > Spawn c1 kid depth={} resumable receives=a Message user "x" r2->t0
                "#,
                depth + 1
            )
        } else {
            format!(
                r#"
                < model | k1=agent_spawn {{"agent_id":"kid","task":"x"}}
                ! Answered a "" k1
                ! CallEnded k1 agent_spawn failed "Error: the spawn depth is exceeded (max={limit}); do this work yourself"
                > CallModel lead a 1
                "#
            )
        };
        let script = format!(
            r#"
            < ask r1 hi
            ! SessionStarted a
            ! Posted user "hi" r1
            > StartRun r1
            > CallModel lead a 0
            % look{tools}
            {after}
            "#
        );
        check(&format!("{LEAD}\nlimits depth={limit}\nthread lead depth={depth}"), &script);
    }
}
