//! Tasks of the `agentscope` dialect: read, waited for and cancelled, each result once.

use crate::check;

const LEAD: &str = "
    lead tools=look dialects=agentscope
    kid format=agentscope tools=look";

#[test]
fn a_running_task_is_waited_for_and_its_ending_answers_the_call() {
    check(
        LEAD,
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"kid","task":"count","timeout_seconds":0} ...
        < model | k2=task_output {"task_id":"@r2"}
        ! Answered a "" k2
        ! ChildAwaited c1 r2 timed=k2
        = waiting
        < ended r2 done four
        ! ChildEnded c1 r2 done
        ! CallEnded k2 task_output done "task_id: @r2\nagent_id: kid\nstatus: Completed\ncreated_at: 1970-01-01T00:00:01Z\n\nResult:\nfour"
        > DeliveredRun r2
        > CallModel lead a 2
        "#,
    );
}

#[test]
fn a_task_that_is_not_done_in_time_is_still_running_and_comes_by_itself_later() {
    check(
        LEAD,
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"kid","task":"count","timeout_seconds":0} ...
        < model | k2=task_output {"task_id":"@r2","timeout":1500} ...
        < tick 1
        < tick 1
        ! ChildReleased c1 r2
        ! CallEnded k2 task_output done "task_id: @r2\nstatus: running\nnote: it has not ended yet; look again later with block=false"
        > CallModel lead a 2
        < model | k3=task_output {"task_id":"@r2","block":false}
        ! Answered a "" k3
        ! CallEnded k3 task_output done "task_id: @r2\nagent_id: kid\nstatus: Running\ncreated_at: 1970-01-01T00:00:01Z\n\nThe task is still running. Its result will be brought to you."
        > CallModel lead a 3
        < ended r2 done late
        ! ChildEnded c1 r2 done
        > Deliver t0 Message user "A background task has ended.\n\ntask_id: @r2\nagent_id: kid\nstatus: Completed\ncreated_at: 1970-01-01T00:00:01Z\n\nResult:\nlate" delivers=r2 silent subagent_id=@c1
        "#,
    );
}

#[test]
fn a_result_that_a_call_has_read_does_not_come_as_a_message_too() {
    check(
        LEAD,
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"kid","task":"count","timeout_seconds":0} ...
        < ended r2 done five ...
        < model | k2=task_output {"task_id":"@r2"}
        ! Answered a "" k2
        > Look k2 Output r2 0
        < tool k2 done five ; read r2
        ! RunRead r2
        ! CallEnded k2 task_output done "five"
        > DeliveredRun r2
        > CallModel lead a 2
        < model that is all
        ! Answered a "that is all"
        ! TurnEnded a response next=a
        ! SessionEnded done "that is all" rest=idle
        > EndRun r1 done "that is all"
        = idle
        < mail
        = idle
        "#,
    );
}

#[test]
fn a_message_that_arrives_behind_the_read_is_dropped() {
    check(
        LEAD,
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"kid","task":"count","timeout_seconds":0} ...
        < model | k2=look ...
        < ended r2 done five ...
        < tool k2 done x
        ! CallEnded k2 look done "x"
        ! Posted user "A background task has ended.\n\ntask_id: @r2\nagent_id: kid\nstatus: Completed\ncreated_at: 1970-01-01T00:00:01Z\n\nResult:\nfive" delivers=r2 silent subagent_id=@c1
        > DeliveredRun r2
        > CallModel lead a 2
        < model | k3=task_output {"task_id":"@r2"} ...
        < tool k3 done five again ; read r2
        ! CallEnded k3 task_output done "five again"
        > CallModel lead a 3
        "#,
    );
}

#[test]
fn a_look_that_a_crash_has_cut_off_is_repeated() {
    check(
        LEAD,
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"kid","task":"count","timeout_seconds":0} ...
        < ended r2 done five ...
        < model | k2=task_output {"task_id":"@r2","offset":9} ...
        < crash
        > Look k2 Output r2 9
        "#,
    );
}

#[test]
fn a_wait_goes_on_after_a_crash() {
    check(
        LEAD,
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"kid","task":"count","timeout_seconds":5} ...
        < crash
        = waiting
        < tick 6 ...
        < model | k2=task_list
        ! Answered a "" k2
        ! CallEnded k2 task_list done "1 tracked task(s):\n- task_id: @r2  agent: kid  status: running  created: 1970-01-01T00:00:01Z"
        > CallModel lead a 2
        "#,
    );
}

#[test]
fn a_cancelled_task_is_told_to_end_and_is_no_news() {
    check(
        LEAD,
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"kid","task":"count","timeout_seconds":0} ...
        < model | k2=task_cancel {"task_id":"@r2"}
        ! Answered a "" k2
        ! RunDismissed c1 r2
        ! CallEnded k2 task_cancel done "task_id: @r2\nstatus: cancelled\n\nThe task was told to stop, and its result will not be reported."
        > CancelRun r2
        > Deliver c1 Cancel r2
        > CallModel lead a 2
        < model | k3=task_cancel {"task_id":"@r2"} | k4=task_output {"task_id":"@r2","block":false} | k5=task_output {"task_id":"@r2"}
        ! Answered a "" k3 k4 k5
        ! CallEnded k3 task_cancel done "task_id: @r2\nstatus: cancelled\nnote: it has ended already and cannot be cancelled"
        ! CallEnded k4 task_output done "task_id: @r2\nagent_id: kid\nstatus: Cancelled\ncreated_at: 1970-01-01T00:00:01Z\n\nThe task was cancelled; it has no result."
        ! ChildAwaited c1 r2 timed=k5
        < ended r2 cancelled The run was cancelled.
        ! ChildEnded c1 r2 cancelled
        ! CallEnded k5 task_output cancelled "task_id: @r2\nagent_id: kid\nstatus: Cancelled\ncreated_at: 1970-01-01T00:00:01Z\n\nThe task was cancelled; it has no result."
        > DeliveredRun r2
        > CallModel lead a 3
        "#,
    );
}

#[test]
fn cancelling_one_run_of_a_subagent_leaves_its_others_alone() {
    check(
        LEAD,
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"kid","task":"count","label":"a","timeout_seconds":0} ...
        < model | k2=agent_send {"label":"a","message":"more","timeout_seconds":0} ...
        < model | k3=task_cancel {"task_id":"@r2"} ...
        < ended r2 cancelled The run was cancelled.
        ! ChildEnded c1 r2 cancelled
        > DeliveredRun r2
        < ended r3 done more
        ! ChildEnded c1 r3 done
        > Deliver t0 Message user "A background task has ended.\n\ntask_id: @r3\nagent_id: kid\nstatus: Completed\ncreated_at: 1970-01-01T00:00:01Z\n\nResult:\nmore" delivers=r3 silent subagent_id=@c1
        "#,
    );
}

#[test]
fn a_stop_cancels_what_is_waited_for_and_only_lets_go_of_tasks() {
    check(
        LEAD,
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"kid","task":"a","timeout_seconds":0} ...
        < model | k2=agent_spawn {"agent_id":"kid","task":"b"} | k3=task_output {"task_id":"@r2"} ...
        < stop
        ! RunDismissed c2 r3
        ! CallEnded k2 agent_spawn cancelled "Execution stopped."
        ! ChildReleased c1 r2
        ! CallEnded k3 task_output cancelled "Execution stopped."
        ! TurnEnded a asked next=a
        ! SessionEnded cancelled "Execution stopped." rest=idle
        > CancelRun r3
        > Deliver c2 Cancel r3
        > EndRun r1 cancelled "Execution stopped."
        > Abort
        "#,
    );
}

#[test]
fn a_stop_leaves_a_task_of_the_same_subagent_alone() {
    check(
        LEAD,
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"kid","task":"a","label":"x","timeout_seconds":0} ...
        < model | k2=agent_send {"label":"x","message":"b"} ...
        < stop
        ! RunDismissed c1 r3
        ! CallEnded k2 agent_send cancelled "Execution stopped."
        ! TurnEnded a asked next=a
        ! SessionEnded cancelled "Execution stopped." rest=idle
        > CancelRun r3
        > Deliver c1 Cancel r3
        > EndRun r1 cancelled "Execution stopped."
        > Abort
        < ended r3 cancelled The run was cancelled before it began.
        ! ChildEnded c1 r3 cancelled
        > DeliveredRun r3
        < ended r2 done found
        ! ChildEnded c1 r2 done
        > Deliver t0 Message user "A background task has ended.\n\ntask_id: @r2\nagent_id: kid\nstatus: Completed\ncreated_at: 1970-01-01T00:00:01Z\n\nResult:\nfound" delivers=r2 silent subagent_id=@c1
        "#,
    );
}

#[test]
fn a_task_that_waits_for_its_turn_is_pending() {
    check(
        LEAD,
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"kid","task":"a","label":"x","timeout_seconds":0} ...
        < model | k2=agent_send {"label":"x","message":"b","timeout_seconds":0} ...
        < model | k3=task_list {"status_filter":"pending"} | k4=task_output {"task_id":"@r3","block":false} | k5=task_output {"task_id":"@r3","timeout":1000}
        ! Answered a "" k3 k4 k5
        ! CallEnded k3 task_list done "1 tracked task(s):\n- task_id: @r3  agent: kid  status: pending  created: 1970-01-01T00:00:01Z"
        ! CallEnded k4 task_output done "task_id: @r3\nagent_id: kid\nstatus: Pending\ncreated_at: 1970-01-01T00:00:01Z\n\nThe task waits for its turn. Its result will be brought to you."
        ! ChildAwaited c1 r3 timed=k5
        < tick 2
        ! ChildReleased c1 r3
        ! CallEnded k5 task_output done "task_id: @r3\nstatus: pending\nnote: it has not ended yet; look again later with block=false"
        > CallModel lead a 3
        < ended r2 done first ...
        < model | k6=task_list {"status_filter":"running"} ...
        < model | k7=task_cancel {"task_id":"@r3"}
        ! Answered a "" k7
        ! RunDismissed c1 r3
        ! CallEnded k7 task_cancel done "task_id: @r3\nstatus: cancelled\n\nThe task was told to stop, and its result will not be reported."
        > CancelRun r3
        > Deliver c1 Cancel r3
        > CallModel lead a 5
        "#,
    );
    // Also one that has not begun can be cancelled, and the next in the line is at work then.
    check(
        LEAD,
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"kid","task":"a","label":"x","timeout_seconds":0} ...
        < model | k2=agent_send {"label":"x","message":"b","timeout_seconds":0} ...
        < model | k3=task_cancel {"task_id":"@r3"} ...
        < model | k4=agent_send {"label":"x","message":"c","timeout_seconds":0} ...
        < ended r3 cancelled The run was cancelled before it began. ...
        < ended r2 done first ...
        < model | k5=task_list {"status_filter":"running"}
        ! Answered a "" k5
        ! CallEnded k5 task_list done "1 tracked task(s):\n- task_id: @r4  agent: kid  status: running  created: 1970-01-01T00:00:01Z"
        ! Posted user "A background task has ended.\n\ntask_id: @r2\nagent_id: kid\nstatus: Completed\ncreated_at: 1970-01-01T00:00:01Z\n\nResult:\nfirst" delivers=r2 silent subagent_id=@c1
        > DeliveredRun r2
        > CallModel lead a 5
        "#,
    );
}

#[test]
fn a_long_error_is_no_long_line() {
    let long = "no ".repeat(5_000);
    let script = format!(
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {{"agent_id":"kid","task":"x","timeout_seconds":0}} ...
        < model | k2=task_output {{"task_id":"@r2"}} ...
        < ended r2 failed {long}
        ! ChildEnded c1 r2 failed
        ! CallEnded k2 task_output failed "task_id: @r2\nagent_id: kid\nstatus: Failed: {}…\ncreated_at: 1970-01-01T00:00:01Z\n\nError:\n{}\n[cut: 4999 of 14999 bytes are not shown; read on with task_output {{'task_id': '@r2', 'offset': 10000}}]"
        > DeliveredRun r2
        > CallModel lead a 2
        "#,
        &long[..300],
        &long[..10_000],
    );
    check(LEAD, &script);
}

#[test]
fn a_terminated_subagent_is_cancelled_and_cannot_be_written_to() {
    check(
        LEAD,
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"kid","task":"a","label":"x"} ...
        < terminated c1
        ! ChildTerminated c1
        ! CallEnded k1 agent_spawn cancelled "Error: subagent_terminated: subagent `@c1` was terminated"
        > EndRun r2 cancelled "The thread was terminated."
        > DeliveredRun r2
        > CallModel lead a 1
        < model | k2=agent_send {"label":"x","message":"y"} | k3=agent_list
        ! Answered a "" k2 k3
        ! CallEnded k2 agent_send failed "Error: the subagent `agent:kid:@c1` was terminated"
        ! CallEnded k3 agent_list done "No subagents are active."
        > CallModel lead a 2
        "#,
    );
}

#[test]
fn a_look_at_a_task_whose_subagent_is_terminated_tells_how_it_stands() {
    check(
        LEAD,
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"kid","task":"count","timeout_seconds":0} ...
        < model | k2=task_output {"task_id":"@r2"} ...
        < terminated c1 r2
        ! ChildTerminated c1
        ! CallEnded k2 task_output cancelled "task_id: @r2\nagent_id: kid\nstatus: Cancelled\ncreated_at: 1970-01-01T00:00:01Z\n\nThe task was cancelled; it has no result."
        > DeliveredRun r2
        > CallModel lead a 2
        "#,
    );
}

#[test]
fn every_order_to_a_child_is_worked_on_by_itself_and_has_its_own_result() {
    check(
        "
        kid format=agentscope tools=look
        thread kid child resumable dialect=agentscope",
        r#"
        + born r1->p one
        < crash ...
        < ask r2->p two
        < ask r3->p three
        < model first
        ! Answered a "first"
        ! TurnEnded a response next=a
        ! SessionEnded done "first" rest=idle
        ! SessionStarted a
        ! Posted user "two" r2->p
        > EndRun r1 done "first"
        > Deliver p ChildEnded t0 r1 done "first"
        > StartRun r2
        > CallModel kid a 0
        < model second ...
        < model third
        ! Answered a "third"
        ! TurnEnded a response next=a
        ! SessionEnded done "third" rest=idle
        > EndRun r3 done "third"
        > Deliver p ChildEnded t0 r3 done "third"
        "#,
    );
}

#[test]
fn several_calls_may_wait_for_one_task() {
    check(
        "
        lead tools=look dialects=agentscope
        kid format=agentscope tools=look",
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"kid","task":"count","timeout_seconds":0} ...
        < model | k2=task_output {"task_id":"@r2","timeout":1000} | k3=task_output {"task_id":"@r2"} | k4=task_output {"task_id":"@r2"}
        ! Answered a "" k2 k3 k4
        ! ChildAwaited c1 r2 timed=k2
        ! ChildAwaited c1 r2 timed=k3
        ! ChildAwaited c1 r2 timed=k4
        < tick 2
        ! ChildReleased c1 r2
        ! CallEnded k2 task_output done "task_id: @r2\nstatus: running\nnote: it has not ended yet; look again later with block=false"
        < ended r2 done five
        ! ChildEnded c1 r2 done
        ! CallEnded k3 task_output done "task_id: @r2\nagent_id: kid\nstatus: Completed\ncreated_at: 1970-01-01T00:00:01Z\n\nResult:\nfive"
        ! CallEnded k4 task_output done "task_id: @r2\nagent_id: kid\nstatus: Completed\ncreated_at: 1970-01-01T00:00:01Z\n\nResult:\nfive"
        > DeliveredRun r2
        > CallModel lead a 2
        "#,
    );
}
