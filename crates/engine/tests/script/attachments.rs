//! Files that go along with what agents say to each other.

use crate::check;

#[test]
fn the_files_of_a_call_are_copied_to_the_child_before_it_starts() {
    check(
        "boss children=scout:task& files=scout:papers\nfiles /a.txt /b/c.txt",
        r#"
        < ask r1 hi ...
        < model | k1=scout {"task":"dig","papers":["/a.txt","b/c.txt"]}
        ! Answered a "" k1
        ! ChildStarted c1 scout r2 background
        ! CallEnded k1 scout done "The subagent was initiated successfully. Reference: @c1"
        > Spawn c1 scout depth=1 Message user "dig" r2->t0 &/attachments/a-#.txt &/attachments/c-#.txt
        > PutFile c1 /attachments/a-#.txt
        > PutFile c1 /attachments/c-#.txt
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn one_path_need_not_be_a_list() {
    check(
        "boss children=scout:task& files=scout:papers\nfiles /a.txt",
        r#"
        < ask r1 hi ...
        < model | k1=scout {"task":"dig","papers":"/a.txt"} | k2=scout {"task":"dig","papers":null} | k3=scout {"task":"dig"}
        ! Answered a "" k1 k2 k3
        ! ChildStarted c1 scout r2 background
        ! CallEnded k1 scout done "The subagent was initiated successfully. Reference: @c1"
        ! ChildStarted c2 scout r3 background
        ! CallEnded k2 scout done "The subagent was initiated successfully. Reference: @c2"
        ! ChildStarted c3 scout r4 background
        ! CallEnded k3 scout done "The subagent was initiated successfully. Reference: @c3"
        > Spawn c1 scout depth=1 Message user "dig" r2->t0 &/attachments/a-#.txt
        > PutFile c1 /attachments/a-#.txt
        > Spawn c2 scout depth=1 Message user "dig" r3->t0
        > Spawn c3 scout depth=1 Message user "dig" r4->t0
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn files_alone_are_a_message() {
    check(
        "boss children=scout& files=scout:papers\nfiles /a.txt",
        r#"
        < ask r1 hi ...
        < model | k1=scout {"papers":"/a.txt"} | k2=scout {}
        ! Answered a "" k1 k2
        ! ChildStarted c1 scout r2 background
        ! CallEnded k1 scout done "The subagent was initiated successfully. Reference: @c1"
        ! ChildStarted c2 scout r3 background
        ! CallEnded k2 scout done "The subagent was initiated successfully. Reference: @c2"
        > Spawn c1 scout depth=1 Message user "" r2->t0 &/attachments/a-#.txt
        > PutFile c1 /attachments/a-#.txt
        > Spawn c2 scout depth=1 asked r3
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn a_file_that_is_not_there_starts_nobody() {
    check(
        "boss children=scout:task,helper* files=scout:papers\nfiles /a.txt",
        r#"
        < ask r1 hi ...
        < model | k1=scout {"task":"dig","papers":["/a.txt","/c.txt"]} | k2=subagent_create {"agent":"helper","message":"go","name":"Ann","attachments":["/c.txt"]}
        ! Answered a "" k1 k2
        ! CallEnded k1 scout failed "{'error':{'code':'subagent_arguments_invalid','message':'there is no file `/c.txt` in this thread'}}"
        ! CallEnded k2 subagent_create failed "{'error':{'code':'subagent_arguments_invalid','message':'there is no file `/c.txt` in this thread'}}"
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn a_path_that_leads_outside_starts_nobody() {
    check(
        "boss children=scout:task files=scout:papers\nfiles /a.txt",
        r#"
        < ask r1 hi ...
        < model | k1=scout {"task":"dig","papers":["../a.txt"]} | k2=scout {"task":"dig","papers":[""]} | k3=scout {"task":"dig","papers":7} | k4=scout {"task":"dig","papers":[7]}
        ! Answered a "" k1 k2 k3 k4
        ! CallEnded k1 scout failed "{'error':{'code':'subagent_arguments_invalid','message':'`../a.txt` is not a path of a file: a part of it is empty, `.` or `..`'}}"
        ! CallEnded k2 scout failed "{'error':{'code':'subagent_arguments_invalid','message':'`` is not a path of a file: a part of it is empty, `.` or `..`'}}"
        ! CallEnded k3 scout failed "{'error':{'code':'subagent_arguments_invalid','message':'attachments must be a path or a list of paths'}}"
        ! CallEnded k4 scout failed "{'error':{'code':'subagent_arguments_invalid','message':'attachments must be paths, each of them a text'}}"
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn the_files_of_a_message_are_copied_to_the_child() {
    check(
        "boss children=helper*&\nfiles /a.txt /b.txt",
        r#"
        < ask r1 hi ...
        < model | k1=subagent_create {"agent":"helper","message":"go","name":"Ann","attachments":["/a.txt"]}
        ! Answered a "" k1
        ! ChildStarted c1 helper r2 background name="Ann"
        ! CallEnded k1 subagent_create done "The subagent was initiated successfully. Reference: @c1"
        > Spawn c1 helper depth=1 tag="name:Ann" resumable receives=a Message user "go" r2->t0 &/attachments/a-#.txt
        > PutFile c1 /attachments/a-#.txt
        > CallModel boss a 1
        < ended r2 done here ...
        < model | k2=subagent_message {"referenceId":"@c1","message":"more","attachments":["/b.txt"]} ...
        < model | k3=subagent_message {"referenceId":"@c1","message":"more","attachments":["/c.txt"]}
        ! Answered a "" k3
        ! CallEnded k3 subagent_message failed "{'error':{'code':'subagent_arguments_invalid','message':'there is no file `/c.txt` in this thread'}}"
        > CallModel boss a 3
        "#,
    );
}

#[test]
fn the_same_file_twice_has_two_copies() {
    check(
        "boss children=scout& files=scout:papers\nfiles /a.txt",
        r#"
        < ask r1 hi ...
        < model | k1=scout {"papers":["/a.txt","/a.txt"]}
        ! Answered a "" k1
        ! ChildStarted c1 scout r2 background
        ! CallEnded k1 scout done "The subagent was initiated successfully. Reference: @c1"
        > Spawn c1 scout depth=1 Message user "" r2->t0 &/attachments/a-#.txt &/attachments/a-#.txt
        > PutFile c1 /attachments/a-#.txt
        > PutFile c1 /attachments/a-#.txt
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn a_result_with_files_is_copied_to_the_parent() {
    check(
        "solo tools=finish session_stop=finish.summary.papers\nthread solo child\nfiles /out/a.txt",
        r#"
        < born r1->p go ...
        < model | k1=finish {"summary":"here","papers":["/out/a.txt"]} ...
        < tool k1 done ok
        ! CallEnded k1 finish done "ok" &/out/a.txt
        ! SessionEnded done "here" &/out/a.txt rest=done
        > EndRun r1 done "here" &/out/a.txt
        > PutFile p /attachments/a-#.txt
        > Deliver p ChildEnded t0 r1 done "here" &/attachments/a-#.txt
        "#,
    );
}

#[test]
fn a_failure_with_files_is_copied_to_the_parent() {
    check(
        "solo tools=give_up session_fail=give_up.why.papers\nthread solo child\nfiles /out/a.txt",
        r#"
        < born r1->p go ...
        < model | k1=give_up {"why":"broken","papers":"/out/a.txt"} ...
        < tool k1 done ok
        ! CallEnded k1 give_up done "ok" &/out/a.txt
        ! SessionEnded failed "broken" &/out/a.txt rest=failed
        > EndRun r1 failed "broken" &/out/a.txt
        > PutFile p /attachments/a-#.txt
        > Deliver p ChildEnded t0 r1 failed "broken" &/attachments/a-#.txt
        "#,
    );
}

#[test]
fn a_session_tool_with_a_file_that_is_not_there_is_an_error_and_the_session_goes_on() {
    check(
        "solo dual tools=finish session_stop=finish.summary.papers\nthread solo child\nfiles /out/a.txt",
        r#"
        < born r1->p go ...
        < model | k1=finish {"summary":"here","papers":["/out/b.txt"]} ...
        < tool k1 done ok
        ! CallEnded k1 finish failed "`papers` of `finish`: there is no file `/out/b.txt` in this thread"
        > CallModel solo a 1
        | system "You are solo/a."
        | user "go"
        | assistant "" k1
        | tool k1 "`papers` of `finish`: there is no file `/out/b.txt` in this thread"
        < model | k2=finish {"summary":"here","papers":["/../out/a.txt"]} ...
        < tool k2 done ok ...
        < model | k3=finish {"summary":"here","papers":["/out/a.txt"]} ...
        < tool k3 done ok
        ! CallEnded k3 finish done "ok" &/out/a.txt
        ! SessionEnded done "here" &/out/a.txt rest=done
        > EndRun r1 done "here" &/out/a.txt
        > PutFile p /attachments/a-#.txt
        > Deliver p ChildEnded t0 r1 done "here" &/attachments/a-#.txt
        "#,
    );
}

#[test]
fn a_file_that_the_session_tool_itself_wrote_is_there() {
    check(
        "solo tools=finish session_stop=finish.summary.papers\nthread solo child",
        r#"
        < born r1->p go ...
        < model | k1=finish {"summary":"here","papers":["/new.txt"]} ...
        < tool k1 done ok ; put /new.txt
        ! FilePut /new.txt
        ! CallEnded k1 finish done "ok" &/new.txt
        ! SessionEnded done "here" &/new.txt rest=done
        > PutFile t0 /new.txt
        > EndRun r1 done "here" &/new.txt
        > PutFile p /attachments/new-#.txt
        > Deliver p ChildEnded t0 r1 done "here" &/attachments/new-#.txt
        "#,
    );
}

#[test]
fn a_file_that_the_session_tool_itself_removed_is_not_there() {
    check(
        "solo tools=finish session_stop=finish.summary.papers\nthread solo child\nfiles /a.txt",
        r#"
        < born r1->p go ...
        < model | k1=finish {"summary":"here","papers":["/a.txt"]} ...
        < tool k1 done ok ; remove /a.txt
        ! FileRemoved /a.txt
        ! CallEnded k1 finish failed "`papers` of `finish`: there is no file `/a.txt` in this thread"
        > RemoveFile t0 /a.txt
        > CallModel solo a 1
        "#,
    );
}

#[test]
fn a_file_that_the_tool_returns_and_the_call_names_goes_along_once() {
    check(
        "solo tools=finish session_stop=finish.summary.papers\nthread solo child\nfiles /a.txt",
        r#"
        < born r1->p go ...
        < model | k1=finish {"summary":"here","papers":["/a.txt"]} ...
        < tool k1 done ok &/a.txt
        ! CallEnded k1 finish done "ok" &/a.txt
        ! SessionEnded done "here" &/a.txt rest=done
        > EndRun r1 done "here" &/a.txt
        > PutFile p /attachments/a-#.txt
        > Deliver p ChildEnded t0 r1 done "here" &/attachments/a-#.txt
        "#,
    );
}

#[test]
fn a_failed_session_tool_takes_no_files_along() {
    check(
        "solo tools=finish session_stop=finish.summary.papers\nthread solo child\nfiles /a.txt",
        r#"
        < born r1->p go ...
        < model | k1=finish {"summary":"here","papers":["/b.txt"]} ...
        < tool k1 failed not yet
        ! CallEnded k1 finish failed "not yet"
        > CallModel solo a 1
        "#,
    );
}

#[test]
fn a_blocking_calls_result_lists_the_files_below_the_text_and_above_the_reference() {
    check(
        "boss children=scout,helper*",
        r#"
        < ask r1 hi ...
        < model | k1=scout {"message":"dig"} | k2=subagent_create {"agent":"helper","message":"go","name":"Ann"} ...
        < ended r2 done dug &/attachments/a.txt &/attachments/b.txt
        ! ChildEnded c1 r2 done
        ! CallEnded k1 scout done "dug\n\n/attachments/a.txt\n/attachments/b.txt" &/attachments/a.txt &/attachments/b.txt
        > DeliveredRun r2
        < ended r3 done helped &/attachments/c.txt
        ! ChildEnded c2 r3 done
        ! CallEnded k2 subagent_create done "helped\n\n/attachments/c.txt\n\nReference: @c2" &/attachments/c.txt
        > DeliveredRun r3
        > CallModel boss a 1
        "#,
    );
}

#[test]
fn a_queued_result_lists_the_files_below_the_text() {
    check(
        "boss children=scout&",
        r#"
        < ask r1 hi ...
        < model | k1=scout {"message":"dig"} ...
        < model hello ...
        < ended r2 done dug &/attachments/a.txt &/attachments/b.txt
        ! ChildEnded c1 r2 done
        > Deliver t0 Message user "Subagent (reference: @c1) has returned the following result:\n\ndug\n\n/attachments/a.txt\n/attachments/b.txt" delivers=r2 silent subagent_id=@c1 &/attachments/a.txt &/attachments/b.txt
        < mail
        ! SessionStarted a
        ! Posted user "Subagent (reference: @c1) has returned the following result:\n\ndug\n\n/attachments/a.txt\n/attachments/b.txt" delivers=r2 silent subagent_id=@c1 &/attachments/a.txt &/attachments/b.txt
        > DeliveredRun r2
        > CallModel boss a 0
        | system "You are boss/a."
        | user "hi"
        | assistant "" k1
        | tool k1 "The subagent was initiated successfully. Reference: @c1"
        | assistant "hello"
        | user "Subagent (reference: @c1) has returned the following result:\n\ndug\n\n/attachments/a.txt\n/attachments/b.txt"
        "#,
    );
}

#[test]
fn a_queued_failure_lists_the_files_below_the_text() {
    check(
        "boss children=scout&",
        r#"
        < ask r1 hi ...
        < model | k1=scout {"message":"dig"} ...
        < ended r2 failed stuck &/attachments/a.txt
        ! ChildEnded c1 r2 failed
        > Deliver t0 Message user "Subagent (reference: @c1) has reported a failure:\n\nstuck\n\n/attachments/a.txt" delivers=r2 silent subagent_id=@c1 &/attachments/a.txt
        "#,
    );
}

#[test]
fn whoever_asked_first_and_whoever_asked_later_both_get_copies() {
    check(
        "solo tools=look,finish session_stop=finish.summary.papers\nthread solo child resumable\nfiles /a.txt",
        r#"
        < born r1->p go ...
        < ask r2->p more ...
        < model | k1=look ...
        < tool k1 done seen ...
        < model | k2=finish {"summary":"here","papers":["/a.txt"]} ...
        < tool k2 done ok
        ! CallEnded k2 finish done "ok" &/a.txt
        ! SessionEnded done "here" &/a.txt rest=idle
        > EndRun r1 done "here" &/a.txt
        > PutFile p /attachments/a-#.txt
        > Deliver p ChildEnded t0 r1 quiet done "here" &/attachments/a-#.txt
        > EndRun r2 done "here" &/a.txt
        > PutFile p /attachments/a-#.txt
        > Deliver p ChildEnded t0 r2 done "here" &/attachments/a-#.txt
        "#,
    );
}

#[test]
fn a_crash_before_the_session_tool_has_ended_takes_the_files_along() {
    check(
        "solo tools=finish session_stop=finish.summary.papers\nthread solo child\nfiles /a.txt",
        r#"
        < born r1->p go ...
        < model | k1=finish {"summary":"here","papers":["/a.txt"]} ...
        < crash ...
        < tool k1 done ok
        ! CallEnded k1 finish done "ok" &/a.txt
        ! SessionEnded done "here" &/a.txt rest=done
        > EndRun r1 done "here" &/a.txt
        > PutFile p /attachments/a-#.txt
        > Deliver p ChildEnded t0 r1 done "here" &/attachments/a-#.txt
        "#,
    );
}
