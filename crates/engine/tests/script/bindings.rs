//! Session bindings: tools whose success ends a session or tells its status.

use crate::check;

const PAIR: &str = "
    pair dual tools=look,finish,give_up,approve,report \
        a.session_stop=finish a.session_fail=give_up.reason a.session_status=report.status \
        b.session_stop=approve.summary
    thread pair child";

#[test]
fn the_string_form_gives_back_the_tools_result() {
    check(
        PAIR,
        r#"
        < ask r1->p go ...
        < model | k1=finish {"summary":"not this"}
        ! Answered a "" k1
        > CallTool k1 finish
        < tool k1 done the result
        ! CallEnded k1 finish done "the result"
        ! SessionEnded done "the result" rest=done
        > EndRun r1 done "the result"
        > Deliver p ChildEnded t0 r1 done "the result"
        = done
        "#,
    );
}

#[test]
fn the_object_form_gives_back_the_mapped_property() {
    check(
        PAIR,
        r#"
        < ask r1->p go ...
        < model over to you ...
        < model | k1=approve {"summary":"  all good "} ...
        < tool k1 done not this
        ! CallEnded k1 approve done "not this"
        ! SessionEnded done "all good" rest=done
        > EndRun r1 done "all good"
        > Deliver p ChildEnded t0 r1 done "all good"
        "#,
    );
}

#[test]
fn a_property_that_is_no_text_is_given_back_as_json_and_a_missing_one_as_the_result() {
    check(
        PAIR,
        r#"
        < ask r1->p go ...
        < model | k1=give_up {"reason":{"code":7}} ...
        < tool k1 done told
        ! CallEnded k1 give_up done "told"
        ! SessionEnded failed "{'code':7}" rest=failed
        > EndRun r1 failed "{'code':7}"
        > Deliver p ChildEnded t0 r1 failed "{'code':7}"
        < ask r2->p again ...
        < model | k1=give_up ...
        < tool k1 done told
        ! CallEnded k1 give_up done "told"
        ! SessionEnded failed "told" rest=failed
        > EndRun r2 failed "told"
        > Deliver p ChildEnded t0 r2 failed "told"
        "#,
    );
}

#[test]
fn when_both_are_called_failing_wins() {
    check(
        PAIR,
        r#"
        < ask r1->p go ...
        < model | k1=finish | k2=give_up {"reason":"too hard"} ...
        < tool k1 done finished
        ! CallEnded k1 finish done "finished"
        < tool k2 done gave up
        ! CallEnded k2 give_up done "gave up"
        ! SessionEnded failed "too hard" rest=failed
        > EndRun r1 failed "too hard"
        > Deliver p ChildEnded t0 r1 failed "too hard"
        "#,
    );
}

#[test]
fn a_binding_whose_tool_failed_neither_ends_the_session_nor_hands_over() {
    check(
        "pair dual tools=finish session_stop=finish on_text=go_on
         thread pair child",
        r#"
        < ask r1->p go ...
        < model | k1=finish ...
        < tool k1 failed picky
        ! CallEnded k1 finish failed "picky"
        > CallModel pair a 1
        < model | k1=finish ...
        < tool k1 done fine
        ! CallEnded k1 finish done "fine"
        ! SessionEnded done "fine" rest=done
        > EndRun r1 done "fine"
        > Deliver p ChildEnded t0 r1 done "fine"
        "#,
    );
}

#[test]
fn failing_does_not_win_when_its_tool_failed() {
    check(
        PAIR,
        r#"
        < ask r1->p go ...
        < model | k1=finish | k2=give_up {"reason":"too hard"} ...
        < tool k1 done finished ...
        < tool k2 failed may not
        ! CallEnded k2 give_up failed "may not"
        ! SessionEnded done "finished" rest=done
        > EndRun r1 done "finished"
        > Deliver p ChildEnded t0 r1 done "finished"
        "#,
    );
}

#[test]
fn a_binding_of_the_other_side_is_an_ordinary_tool() {
    check(
        PAIR,
        r#"
        < ask r1->p go ...
        < model | k1=approve {"summary":"mine"} ...
        < tool k1 done approved
        ! CallEnded k1 approve done "approved"
        > CallModel pair a 1
        "#,
    );
}

#[test]
fn a_binding_comes_before_a_stop_tool() {
    check(
        "boss tools=finish,hand_over session_stop=finish stop_tool=hand_over",
        r#"
        < ask r1 go ...
        < model | k1=hand_over | k2=finish ...
        < tool k1 done over ...
        < tool k2 done finished
        ! CallEnded k2 finish done "finished"
        ! SessionEnded done "finished" rest=idle
        > EndRun r1 done "finished"
        "#,
    );
}

#[test]
fn a_status_binding_tells_the_parent_and_goes_on() {
    check(
        PAIR,
        r#"
        < ask r1->p go ...
        < model | k1=report {"status":"half way"} | k2=report | k3=report {"status":"no"} ...
        < tool k1 done told
        ! CallEnded k1 report done "told"
        > Deliver p ChildReported t0 "half way"
        < tool k2 done nearly there
        ! CallEnded k2 report done "nearly there"
        > Deliver p ChildReported t0 "nearly there"
        < tool k3 failed no
        ! CallEnded k3 report failed "no"
        > CallModel pair a 1
        "#,
    );
}

#[test]
fn a_root_has_nobody_to_tell_its_status() {
    check(
        "boss tools=report session_status=report",
        r#"
        < ask r1 go ...
        < model | k1=report ...
        < tool k1 done half way
        ! CallEnded k1 report done "half way"
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn a_child_with_bindings_that_called_none_has_failed_and_says_why() {
    check(
        "solo tools=finish session_stop=finish
         thread solo child",
        r#"
        < ask r1->p go ...
        < model here you are
        ! Answered a "here you are"
        ! TurnEnded a response next=a
        ! SessionEnded failed "`solo` stopped without a result: it answered with a text; no session tool was called" rest=failed
        > EndRun r1 failed "`solo` stopped without a result: it answered with a text; no session tool was called"
        > Deliver p ChildEnded t0 r1 failed "`solo` stopped without a result: it answered with a text; no session tool was called"
        = failed
        "#,
    );
}

#[test]
fn a_child_without_bindings_gives_back_its_last_text() {
    check(
        "solo
         thread solo child",
        r#"
        < ask r1->p go ...
        < model here you are
        ! Answered a "here you are"
        ! TurnEnded a response next=a
        ! SessionEnded done "here you are" rest=done
        > EndRun r1 done "here you are"
        > Deliver p ChildEnded t0 r1 done "here you are"
        = done
        "#,
    );
}

#[test]
fn a_root_with_bindings_may_answer_its_person_with_a_text() {
    check(
        "boss tools=finish session_stop=finish",
        r#"
        < ask r1 go ...
        < model here you are
        ! Answered a "here you are"
        ! TurnEnded a response next=a
        ! SessionEnded done "here you are" rest=idle
        > EndRun r1 done "here you are"
        = idle
        "#,
    );
}
