//! Stopping the current turn: what it waits for is cancelled, what runs in the background goes on.

use crate::check;

#[test]
fn a_turn_is_stopped_while_its_model_thinks() {
    check(
        "boss",
        r#"
        < ask r1 hi ...
        < stop
        ! TurnEnded a asked next=a
        ! SessionEnded cancelled "Execution stopped." rest=idle
        > EndRun r1 cancelled "Execution stopped."
        > Abort
        = idle
        < model too late
        "#,
    );
}

#[test]
fn a_turn_is_stopped_while_its_tools_run() {
    check(
        "boss tools=look,pay",
        r#"
        < ask r1 hi ...
        < model | k1=look | k2=pay ...
        < stop
        ! CallEnded k1 look cancelled "Execution stopped."
        ! CallEnded k2 pay cancelled "Execution stopped."
        ! TurnEnded a asked next=a
        ! SessionEnded cancelled "Execution stopped." rest=idle
        > EndRun r1 cancelled "Execution stopped."
        > Abort
        = idle
        < tool k1 done too late
        "#,
    );
}

#[test]
fn a_stopped_turn_cancels_the_children_it_waits_for_and_leaves_the_others() {
    check(
        "boss children=writer,scout&",
        r#"
        < ask r1 hi ...
        < model | k1=writer {"message":"write"} | k2=scout {"message":"look"} ...
        < stop
        ! ChildCancelled c1
        ! CallEnded k1 writer cancelled "Execution stopped."
        ! TurnEnded a asked next=a
        ! SessionEnded cancelled "Execution stopped." rest=idle
        > Deliver c1 Cancel r2
        > EndRun r1 cancelled "Execution stopped."
        > Abort
        = idle
        < ended r2 cancelled The run was cancelled.
        ! ChildEnded c1 r2 cancelled
        > DeliveredRun r2
        < ended r3 done a river
        ! ChildEnded c2 r3 done
        > Deliver t0 Message user "Subagent (reference: @c2) has returned the following result:\n\na river" delivers=r3 silent subagent_id=@c2
        < mail
        ! SessionStarted a
        ! Posted user "Subagent (reference: @c2) has returned the following result:\n\na river" delivers=r3 silent subagent_id=@c2
        > DeliveredRun r3
        > CallModel boss a 0
        "#,
    );
}

#[test]
fn stopping_a_thread_at_rest_changes_nothing() {
    check(
        "boss",
        r#"
        < stop
        = idle
        < ask r1 hi ...
        < model hello ...
        < stop
        = idle
        "#,
    );
}

#[test]
fn what_waits_behind_a_stopped_turn_starts_the_next_session() {
    check(
        "boss",
        r#"
        < ask r1 hi ...
        < ask r2 next ...
        < stop
        ! TurnEnded a asked next=a
        ! SessionEnded cancelled "Execution stopped." rest=idle
        ! SessionStarted a
        ! Posted user "next" r2
        > EndRun r1 cancelled "Execution stopped."
        > StartRun r2
        > Abort
        > CallModel boss a 0
        "#,
    );
}

#[test]
fn stopping_twice_is_stopping_once() {
    check(
        "boss",
        r#"
        < ask r1 hi ...
        + stop
        < stop
        ! TurnEnded a asked next=a
        ! SessionEnded cancelled "Execution stopped." rest=idle
        > EndRun r1 cancelled "Execution stopped."
        > Abort
        = idle
        "#,
    );
}

#[test]
fn a_stopped_dual_root_is_idle() {
    check(
        "pair dual",
        r#"
        < ask r1 hi ...
        < model from a ...
        < stop
        ! TurnEnded b asked next=a
        ! SessionEnded cancelled "Execution stopped." rest=idle
        > EndRun r1 cancelled "Execution stopped."
        > Abort
        = idle
        "#,
    );
}

#[test]
fn a_stopped_child_answers_its_parents_call() {
    check(
        "solo
         thread solo child resumable",
        r#"
        < ask r1->p hi ...
        < stop
        ! TurnEnded a asked next=a
        ! SessionEnded cancelled "Execution stopped." rest=idle
        > EndRun r1 cancelled "Execution stopped."
        > Deliver p ChildEnded t0 r1 cancelled "Execution stopped."
        > Abort
        = idle
        "#,
    );
}

#[test]
fn a_resumable_child_whose_call_was_stopped_can_be_written_to_once_it_has_ended() {
    check(
        "boss children=helper*",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"help","name":"Ann"} ...
        < stop ...
        < ask r3 again ...
        < model | k2=subagent_message {"referenceId":"@c1","message":"more"}
        ! Answered a "" k2
        ! CallEnded k2 subagent_message failed "{'error':{'code':'subagent_busy','message':'subagent `@c1` is still working for another call'}}"
        > CallModel boss a 1
        < ended r2 cancelled The run was cancelled.
        ! ChildEnded c1 r2 cancelled
        > DeliveredRun r2
        < model | k3=subagent_message {"referenceId":"@c1","message":"more"}
        ! Answered a "" k3
        ! ChildAsked c1 r4 call=k3
        > NewRun r4 c1 helper "more"
        > Deliver c1 Message user "more" r4->t0
        "#,
    );
}
