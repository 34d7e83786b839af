//! Agents that another server runs: asked in the place of a model, once for each session.

use crate::check;
use entourage_engine::{Decision, Effect};
use entourage_model::{Ids, Remote, RemoteTask, Timestamp, ToolCall};
use std::collections::BTreeMap;

const FAR: &str = "far url=http://there.example";

const LEAD: &str = "
    lead tools=look dialects=agentscope
    far format=agentscope url=http://there.example";

#[test]
fn an_agent_that_another_server_runs_is_asked_like_a_model_and_told_to_end() {
    check(
        FAR,
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        > StartRun r1
        > CallModel far a 0 @t0-0 "hi"
        < cancel r1
        ! SessionEnded cancelled "The run was cancelled." rest=idle
        > EndRun r1 cancelled "The run was cancelled."
        > Abort
        > CancelRemote far @t0-0 "hi"
        "#,
    );
}

#[test]
fn a_task_is_taken_back_there_also_where_its_thread_ends_in_the_same_decision() {
    check(
        FAR,
        r#"
        < ask r1 hi ...
        + cancel r1
        < terminate
        ! SessionEnded cancelled "The run was cancelled." rest=idle
        ! Terminated
        > EndRun r1 cancelled "The run was cancelled."
        > CancelRemote far @t0-0 "hi"
        > Abort
        = terminated
        "#,
    );
}

#[test]
fn an_abort_behind_it_takes_back_what_was_to_begin_and_not_what_is_to_end_elsewhere() {
    let task = RemoteTask {
        agent: "far".into(),
        remote: Remote { url: "http://there.example".to_owned(), headers: BTreeMap::new() },
        id: "1".to_owned(),
        session: Ids::new(Timestamp(0), 1).thread(),
        parent: None,
        user_id: None,
        denied: Vec::new(),
        input: "hi".to_owned(),
        resumed: false,
    };
    let cancel = || Effect::CancelRemote(Box::new(task.clone()));
    let call = ToolCall { id: "k1".into(), name: "look".into(), arguments: "{}".to_owned() };
    let begin = Effect::CallTool { call, key: "1/0".to_owned() };
    let mut decision = Decision { effects: vec![cancel(), begin], ..Decision::default() };
    decision.append(Decision { effects: vec![Effect::Abort], ..Decision::default() });
    assert_eq!(decision.effects, [cancel(), Effect::Abort]);
}

#[test]
fn an_answer_without_words_is_an_answer() {
    check(
        FAR,
        r#"
        < ask r1 hi ...
        < far
        ! Answered a ""
        ! TurnEnded a response next=a
        ! SessionEnded done "" rest=idle
        > EndRun r1 done ""
        = idle
        "#,
    );
}

#[test]
fn what_came_of_a_task_is_no_answer_to_the_next_one() {
    check(
        FAR,
        r#"
        < ask r1 one ...
        < far cancelled it was cancelled there
        ! SessionEnded cancelled "it was cancelled there" rest=idle
        > EndRun r1 cancelled "it was cancelled there"
        = idle
        < ask r2 two
        ! SessionStarted a
        ! Posted user "two" r2
        > StartRun r2
        > CallModel far a 0 @t0-1 "two"
        < model_failed it is broken ...
        < ask r3 three
        ! SessionStarted a
        ! Posted user "three" r3
        > StartRun r3
        > CallModel far a 0 @t0-2 "three"
        "#,
    );
}

#[test]
fn a_task_that_was_under_way_is_looked_for_and_what_has_come_meanwhile_is_the_next_one() {
    check(
        FAR,
        r#"
        < ask r1 one ...
        + ask r2 two
        < crash
        > CallModel far a 0 @t0-0 "one" resumed
        < far the answer
        ! Answered a "the answer"
        ! TurnEnded a response next=a
        ! SessionEnded done "the answer" rest=idle
        ! SessionStarted a
        ! Posted user "two" r2
        > EndRun r1 done "the answer"
        > StartRun r2
        > CallModel far a 0 @t0-1 "two"
        "#,
    );
}

#[test]
fn a_session_that_begins_after_a_crash_was_not_under_way() {
    check(
        FAR,
        r#"
        + ask r1 one
        < crash
        ! SessionStarted a
        ! Posted user "one" r1
        > StartRun r1
        > CallModel far a 0 @t0-0 "one"
        "#,
    );
}

#[test]
fn what_is_to_be_known_of_an_answer_reaches_whoever_asked() {
    check(
        FAR,
        r#"
        < ask r1->t9 hi ...
        < far the answer noted something was denied
        ! Answered a "the answer"
        ! TurnEnded a response next=a
        ! SessionEnded done "the answer" rest=idle
        > EndRun r1 done "the answer"
        > Deliver t9 ChildEnded t0 r1 done "the answer" note "something was denied"
        "#,
    );
    check(
        LEAD,
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"far","task":"count"} ...
        < ended r2 done one, two noted something was denied
        ! ChildEnded c1 r2 done
        ! CallEnded k1 agent_spawn done "agent_key: agent:far:@c1\nagent_id: far\nsession_id: sub-@c1\nstatus: ok\nnote: something was denied\nreply:\none, two"
        > DeliveredRun r2
        > CallModel lead a 1
        "#,
    );
}

#[test]
fn a_task_that_was_cancelled_there_is_told_by_its_id() {
    check(
        LEAD,
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"far","task":"count"} ...
        < ended r2 cancelled it was cancelled there
        ! ChildEnded c1 r2 cancelled
        ! CallEnded k1 agent_spawn cancelled "agent_key: agent:far:@c1\nagent_id: far\nsession_id: sub-@c1\nstatus: cancelled\ntask_id: @r2"
        > DeliveredRun r2
        > CallModel lead a 1
        "#,
    );
}
