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
