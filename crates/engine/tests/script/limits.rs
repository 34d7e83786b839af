//! Limits of steps and turns: reaching one is an ordinary outcome that names it.

use crate::check;

#[test]
fn max_steps_ends_the_turn_of_an_ai_human_as_done_and_names_the_limit() {
    check(
        "boss steps=2 tools=look",
        r#"
        < ask r1 go ...
        < model first | k1=look ...
        < tool k1 done seen ...
        < model second | k2=look ...
        < tool k2 done seen
        ! CallEnded k2 look done "seen"
        ! TurnEnded a limit="maxSteps: the limit of 2 steps is reached" next=a
        ! SessionEnded done "second" limit="maxSteps: the limit of 2 steps is reached" rest=idle
        > EndRun r1 done "second" limit="maxSteps: the limit of 2 steps is reached"
        = idle
        < ask r2 and now
        ! SessionStarted a
        ! Posted user "and now" r2
        > StartRun r2
        > CallModel boss a 0
        "#,
    );
}

#[test]
fn max_steps_fails_the_session_of_a_dual_ai() {
    check(
        "pair dual a.steps=1",
        r#"
        < ask r1 go ...
        < model from a ...
        < model from b
        ! Answered b "from b"
        ! TurnEnded b response next=a
        ! TurnEnded a limit="maxSteps: the limit of 1 steps is reached" next=a
        ! SessionEnded failed "`pair` stopped without a result: maxSteps: the limit of 1 steps is reached" limit="maxSteps: the limit of 1 steps is reached" rest=failed
        > EndRun r1 failed "`pair` stopped without a result: maxSteps: the limit of 1 steps is reached" limit="maxSteps: the limit of 1 steps is reached"
        = failed
        "#,
    );
}

#[test]
fn the_projects_limit_acts_like_max_steps_and_the_narrower_one_is_named() {
    check(
        "boss steps=5 on_text=go_on
         limits steps=1",
        r#"
        < ask r1 go ...
        < model one
        ! Answered a "one"
        ! TurnEnded a limit="steps: the limit of 1 steps is reached" next=a
        ! SessionEnded done "one" limit="steps: the limit of 1 steps is reached" rest=idle
        > EndRun r1 done "one" limit="steps: the limit of 1 steps is reached"
        "#,
    );
}

#[test]
fn a_limit_of_no_steps_ends_every_session_at_once() {
    check(
        "boss steps=0",
        r#"
        < ask r1 go
        ! SessionStarted a
        ! Posted user "go" r1
        ! TurnEnded a limit="maxSteps: the limit of 0 steps is reached" next=a
        ! SessionEnded done "" limit="maxSteps: the limit of 0 steps is reached" rest=idle
        > StartRun r1
        > EndRun r1 done "" limit="maxSteps: the limit of 0 steps is reached"
        = idle
        "#,
    );
}

#[test]
fn the_steps_of_a_side_count_over_its_turns_in_a_session() {
    check(
        "pair dual a.steps=2 turns=9",
        r#"
        < ask r1 go ...
        < model a1 ...
        < model b1 ...
        < model a2 ...
        < model b2
        ! Answered b "b2"
        ! TurnEnded b response next=a
        ! TurnEnded a limit="maxSteps: the limit of 2 steps is reached" next=a
        ! SessionEnded failed "`pair` stopped without a result: maxSteps: the limit of 2 steps is reached" limit="maxSteps: the limit of 2 steps is reached" rest=failed
        > EndRun r1 failed "`pair` stopped without a result: maxSteps: the limit of 2 steps is reached" limit="maxSteps: the limit of 2 steps is reached"
        "#,
    );
}

#[test]
fn an_answer_within_the_limit_still_ends_the_turn_by_itself() {
    check(
        "boss steps=1",
        r#"
        < ask r1 go ...
        < model just in time
        ! Answered a "just in time"
        ! TurnEnded a response next=a
        ! SessionEnded done "just in time" rest=idle
        > EndRun r1 done "just in time"
        "#,
    );
}

#[test]
fn a_message_that_waits_at_the_step_limit_is_for_the_next_session() {
    check(
        "boss steps=1 tools=look",
        r#"
        < ask r1 go ...
        < model | k1=look ...
        < ask r2 wait for me ...
        < tool k1 done seen
        ! CallEnded k1 look done "seen"
        ! TurnEnded a limit="maxSteps: the limit of 1 steps is reached" next=a
        ! SessionEnded done "" limit="maxSteps: the limit of 1 steps is reached" rest=idle
        ! SessionStarted a
        ! Posted user "wait for me" r2
        > EndRun r1 done "" limit="maxSteps: the limit of 1 steps is reached"
        > StartRun r2
        > CallModel boss a 0
        "#,
    );
}

#[test]
fn max_session_turns_without_bindings_is_done_with_the_last_text() {
    check(
        "pair dual turns=2",
        r#"
        < ask r1 go ...
        < model from a ...
        < model from b
        ! Answered b "from b"
        ! TurnEnded b response next=a
        ! SessionEnded done "from b" limit="maxSessionTurns: the limit of 2 turns is reached" rest=done
        > EndRun r1 done "from b" limit="maxSessionTurns: the limit of 2 turns is reached"
        = done
        "#,
    );
}

#[test]
fn max_session_turns_with_bindings_has_failed() {
    check(
        "pair dual turns=2 tools=finish b.session_stop=finish
         thread pair child",
        r#"
        < ask r1->p go ...
        < model from a ...
        < model from b
        ! Answered b "from b"
        ! TurnEnded b response next=a
        ! SessionEnded failed "`pair` stopped without a result: maxSessionTurns: the limit of 2 turns is reached; no session tool was called" limit="maxSessionTurns: the limit of 2 turns is reached" rest=failed
        > EndRun r1 failed "`pair` stopped without a result: maxSessionTurns: the limit of 2 turns is reached; no session tool was called" limit="maxSessionTurns: the limit of 2 turns is reached"
        > Deliver p ChildEnded t0 r1 failed "`pair` stopped without a result: maxSessionTurns: the limit of 2 turns is reached; no session tool was called" limit="maxSessionTurns: the limit of 2 turns is reached"
        "#,
    );
}

#[test]
fn the_projects_turn_limit_is_named_as_the_project_names_it() {
    check(
        "pair dual turns=5
         limits session_turns=1",
        r#"
        < ask r1 go ...
        < model from a
        ! Answered a "from a"
        ! TurnEnded a response next=b
        ! SessionEnded done "from a" limit="session_turns: the limit of 1 turns is reached" rest=done
        > EndRun r1 done "from a" limit="session_turns: the limit of 1 turns is reached"
        "#,
    );
}

#[test]
fn a_binding_in_the_last_turn_comes_before_the_limit() {
    check(
        "pair dual turns=1 steps=1 tools=finish session_stop=finish",
        r#"
        < ask r1 go ...
        < model | k1=finish ...
        < tool k1 done finished
        ! CallEnded k1 finish done "finished"
        ! SessionEnded done "finished" rest=done
        > EndRun r1 done "finished"
        = done
        "#,
    );
}

#[test]
fn a_child_with_bindings_that_reaches_max_steps_has_failed() {
    check(
        "solo steps=1 tools=look,finish session_stop=finish
         thread solo child",
        r#"
        < ask r1->p go ...
        < model almost | k1=look ...
        < tool k1 done seen
        ! CallEnded k1 look done "seen"
        ! TurnEnded a limit="maxSteps: the limit of 1 steps is reached" next=a
        ! SessionEnded failed "`solo` stopped without a result: maxSteps: the limit of 1 steps is reached; no session tool was called" limit="maxSteps: the limit of 1 steps is reached" rest=failed
        > EndRun r1 failed "`solo` stopped without a result: maxSteps: the limit of 1 steps is reached; no session tool was called" limit="maxSteps: the limit of 1 steps is reached"
        > Deliver p ChildEnded t0 r1 failed "`solo` stopped without a result: maxSteps: the limit of 1 steps is reached; no session tool was called" limit="maxSteps: the limit of 1 steps is reached"
        "#,
    );
}

#[test]
fn a_message_to_a_child_is_no_longer_than_any_other_in_every_dialect() {
    let told = "the message has 11 bytes, and the limit `message_bytes` allows 10; hand the long part over as a file";
    let coded = format!("{{'error':{{'code':'message_too_large','message':'{told}','max':10}}}}");
    check(
        "boss children=scout,helper*\nlimits message_bytes=10",
        &format!(
            r#"
        < ask r1 hi ...
        < model | k1=scout {{"message":"0123456789"}} | k2=scout {{"message":"0123456789a"}} | k3=subagent_create {{"agent":"helper","message":"0123456789a","name":"Ann"}} | k4=subagent_create {{"agent":"helper","message":"go","name":"Bob"}}
        ! Answered a "" k1 k2 k3 k4
        ! ChildStarted c1 scout r2 call=k1
        ! CallEnded k2 scout failed "{coded}"
        ! CallEnded k3 subagent_create failed "{coded}"
        ! ChildStarted c2 helper r3 call=k4 name="Bob"
        > Spawn c1 scout depth=1 Message user "0123456789" r2->t0
        > Spawn c2 helper depth=1 tag="name:Bob" resumable receives=a Message user "go" r3->t0
        < ended r2 done ok ...
        < ended r3 done ok ...
        < model | k5=subagent_message {{"referenceId":"@c2","message":"0123456789a"}}
        ! Answered a "" k5
        ! CallEnded k5 subagent_message failed "{coded}"
        > CallModel boss a 2
        "#
        ),
    );
    check(
        "lead dialects=agentscope,dex\nkid format=agentscope\nscribe format=dex\nlimits message_bytes=10",
        &format!(
            r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {{"agent_id":"kid","task":"0123456789a"}} | k2=subagent {{"action":"run","profile":"scribe","task":"0123456789a"}}
        ! Answered a "" k1 k2
        ! CallEnded k1 agent_spawn failed "Error: message_too_large: {told}"
        ! CallEnded k2 subagent failed "{coded}"
        > CallModel lead a 1
        "#
        ),
    );
}

#[test]
fn arguments_of_a_child_are_no_longer_than_a_message() {
    check(
        "boss children=scout:goal\nscout dual schema=goal\nlimits message_bytes=14",
        r#"
        < ask r1 hi ...
        < model | k1=scout {"goal":"dig"} | k2=scout {"goal":"dig deeper"}
        ! Answered a "" k1 k2
        ! ChildStarted c1 scout r2 call=k1
        ! CallEnded k2 scout failed "{'error':{'code':'message_too_large','message':'the message has 21 bytes, and the limit `message_bytes` allows 14; hand the long part over as a file','max':14}}"
        > Spawn c1 scout depth=1 Injected system "Arguments:\n{\n  'goal': 'dig'\n}" silent Message user "dig" r2->t0
        "#,
    );
}

#[test]
fn no_more_is_asked_of_a_child_than_its_queue_may_hold() {
    check(
        "boss children=helper*&\nlimits queue_messages=2",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"one","name":"Ann"} ...
        < model | k2=subagent_message {"referenceId":"@c1","message":"two"} | k3=subagent_message {"referenceId":"@c1","message":"three"}
        ! Answered a "" k2 k3
        ! ChildAsked c1 r3 background
        ! CallEnded k2 subagent_message done "The message was queued. Reference: @c1"
        ! CallEnded k3 subagent_message failed "{'error':{'code':'queue_full','message':'subagent `@c1` has 2 requests that have not ended, as many as the limit `queue_messages` allows; wait for some of them','max':2}}"
        > NewRun r3 c1 helper "two"
        > Deliver c1 Message user "two" r3->t0
        > CallModel boss a 2
        < ended r2 quiet done first ...
        < model | k4=subagent_message {"referenceId":"@c1","message":"three"}
        ! Answered a "" k4
        ! ChildAsked c1 r4 background
        ! CallEnded k4 subagent_message done "The message was queued. Reference: @c1"
        > NewRun r4 c1 helper "three"
        > Deliver c1 Message user "three" r4->t0
        > CallModel boss a 3
        "#,
    );
    check(
        "lead dialects=agentscope\nkid format=agentscope\nlimits queue_messages=1",
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"kid","task":"count","timeout_seconds":0} ...
        < model | k2=agent_send {"agent_key":"agent:kid:@c1","message":"more","timeout_seconds":0}
        ! Answered a "" k2
        ! CallEnded k2 agent_send failed "Error: queue_full: subagent `@c1` has 1 requests that have not ended, as many as the limit `queue_messages` allows; wait for some of them"
        > CallModel lead a 2
        "#,
    );
}
