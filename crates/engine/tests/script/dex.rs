//! The dex dialect: runs in the foreground and in the background, interrupting and resuming, tasks, reports.

use crate::check;

const TEAM: &str = "
lead dialects=dex tools=look
scout format=dex
goal format=dex
";

#[test]
fn a_run_in_the_foreground_is_read_from_the_store_when_it_has_ended() {
    check(
        TEAM,
        r#"
< message go ...
< model | k1=subagent {"action":"run","profile":"scout","task":"look around"}
= waiting
< ended r1 done {"decision":{"summary":"found"}}
< crash
< tool k1 done the document
"#,
    );
}

#[test]
fn a_run_in_the_background_is_answered_at_once_and_its_ending_is_news() {
    check(
        TEAM,
        r#"
< message go ...
< model | k1=subagent {"action":"run","profile":"scout","task":"look around","background":true}
< model meanwhile ...
< ended r1 done {"decision":{"summary":"found"}}
"#,
    );
}

#[test]
fn what_was_read_is_no_news() {
    check(
        TEAM,
        r#"
< message go ...
< model | k1=subagent {"action":"run","profile":"scout","task":"look","background":true} ...
< model | k2=subagent {"action":"result","runId":"@r1"}
< ended r1 done {"decision":{"summary":"found"}}
< tool k2 done document ; read r1
+ message late
< mail
"#,
    );
}

#[test]
fn a_parent_interrupts_waits_for_it_and_resumes() {
    check(
        TEAM,
        r#"
< message go ...
< model | k1=subagent {"action":"run","profile":"scout","task":"look","background":true} ...
< model | k2=subagent {"action":"interrupt","runId":"@r1"}
= waiting
< interrupted c1 r1
< interrupted c1 r1
< tool k2 done document
< model | k3=subagent {"action":"list"} | k4=subagent {"action":"interrupt","runId":"@r1"}
< tool k4 done document
< model | k5=subagent {"action":"resume","runId":"@r1","message":"go on"}
= waiting
< ended r1 failed no luck
< tool k5 done document
< model | k6=subagent {"action":"resume","runId":"@r1"}
"#,
    );
}

#[test]
fn an_interrupted_worker_stands_still_and_goes_on_with_the_same_run() {
    check(
        "
scout format=dex tools=look,pay
thread scout child dialect=dex
",
        r#"
< born r9->p look around
< model | k1=look | k2=pay ...
< interrupt r9
= idle
< crash
= idle
< tick 100000
+ message wait
< mail
= idle
< interrupt r9
< resume r9 and look again
= running
< model | k3=look ...
< tool k3 done seen
< model that is all
= done
"#,
    );
}

#[test]
fn an_interrupted_run_can_be_cancelled_and_terminated() {
    check(
        "
scout format=dex
thread scout child dialect=dex
",
        r#"
< born r9->p look around ...
< interrupt r9 ...
< resume r8
< cancel r9
= failed
< resume r9
"#,
    );
}

#[test]
fn tasks_are_assigned_started_and_joined() {
    check(
        TEAM,
        r#"
< message go ...
< model | k1=task_create {"title":"one","assignment":{"agent":"scout"}} | k2=task_create {"title":"two"}
< model | k3=task_start {"taskId":"item-1"} | k4=task_delegate {"taskId":"item-2","profile":"goal"} | k5=task_start {"taskId":"item-1"}
< model | k6=task_join {"taskIds":["item-1","item-2"]}
= waiting
< ended r1 done {"decision":{"summary":"found"}}
= waiting
< ended r2 failed broken
< tool k6 done envelopes ; read r1 ; read r2
< model | k7=task_list_items | k8=task_delegations
"#,
    );
}

#[test]
fn assignments_are_made_many_at_once() {
    check(
        TEAM,
        r#"
< message go ...
< model | k1=subagent_assign_task {"profile":"scout","tasks":["A","B"]}
< model | k2=subagent_assign_task {"profile":"scout","taskIds":["item-1"],"tasks":["C"],"start":true}
"#,
    );
}

#[test]
fn a_report_of_another_shape_is_asked_for_once_more() {
    check(
        "
scout format=dex
thread scout child dialect=dex
",
        r#"
< born r9->p look around ...
< model {"decision":"yes"}
< model {"decision":"still"}
"#,
    );
}

#[test]
fn the_runtime_says_what_was_done_and_the_worker_what_it_means() {
    check(
        "
goal format=dex tools=look,pay
thread goal child dialect=dex
",
        r#"
< born r9->p judge ...
< model | k1=look | k2=look | k3=pay | k4=subagent {"action":"list"} ...
< tool k1 done text ^read a.txt
< tool k2 failed nothing there ...
< tool k3 failed it broke ^ran 1 make test ^changed b.txt
< model {"run":{"runId":"forged"},"changes":{},"decision":{"summary":"fine"},"risks":["r"],"validation":{"status":"passed"},"more":1}
"#,
    );
}

#[test]
fn an_error_names_what_is_unknown() {
    check(
        TEAM,
        r#"
< message go ...
< model | a=subagent {"action":"dance"} | b=subagent {"action":"run","profile":"painter","task":"t"} | c=subagent {"action":"run","profile":"scout"} | d=subagent {"action":"resume","runId":"subrun_x"} | e=task_start {"taskId":"item-7"} | f=subagent_worker {} | g=task_create {"title":"t","assignment":{"agent":"lead"}} | h=subagent [] | i=subagent_assign_task {"profile":"scout"}
"#,
    );
}

#[test]
fn nobody_delegates_from_the_lowest_level() {
    check(
        "
lead dialects=dex tools=look
scout format=dex
limits depth=1
thread lead child depth=1
",
        r#"
< message go
% look
< model | k1=subagent {"action":"run","profile":"scout","task":"t"}
"#,
    );
}
