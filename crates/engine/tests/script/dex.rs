//! The dex dialect: runs in the foreground and in the background, interrupting and resuming, tasks, reports.

use crate::check;
use crate::player::Player;
use crate::team::Setup;

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
! Answered a "" k1
! ChildStarted c1 scout r1 call=k1
> Spawn c1 scout depth=1 Message user "look around" r1->t0
= waiting
< ended r1 done {"decision":{"summary":"found"}}
! ChildEnded c1 r1 done
> DeliveredRun r1
> Look k1 Run r1
< crash
> Look k1 Run r1
< tool k1 done the document
! CallEnded k1 subagent done "the document"
> CallModel lead a 1
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
! Answered a "" k1
! ChildStarted c1 scout r1 background
! CallEnded k1 subagent done "{'runId':'@r1','profile':'scout','status':'running','result':null,'events':[],'gatewayRunId':'@c1'}"
> Spawn c1 scout depth=1 Message user "look around" r1->t0
> CallModel lead a 1
< model meanwhile ...
< ended r1 done {"decision":{"summary":"found"}}
! ChildEnded c1 r1 done
> Deliver t0 Message user "Subagent run @r1 (profile scout) is completed:\n\nfound" delivers=r1 silent subagent_id=@c1
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
! Answered a "" k2
> Look k2 Run r1
< ended r1 done {"decision":{"summary":"found"}}
! ChildEnded c1 r1 done
> Deliver t0 Message user "Subagent run @r1 (profile scout) is completed:\n\nfound" delivers=r1 silent subagent_id=@c1
< tool k2 done document ; read r1
! RunRead r1
! CallEnded k2 subagent done "document"
> DeliveredRun r1
> CallModel lead a 2
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
! Answered a "" k2
! CallJoined k2
> Deliver c1 Interrupt r1
= waiting
< interrupted c1 r1
! ChildInterrupted c1 r1
> Look k2 Run r1
< interrupted c1 r1
< tool k2 done document
! CallEnded k2 subagent done "document"
> CallModel lead a 2
< model | k3=subagent {"action":"list"} | k4=subagent {"action":"interrupt","runId":"@r1"}
! Answered a "" k3 k4
! CallEnded k3 subagent done "{'runs':[{'runId':'@r1','profile':'scout','status':'interrupted'}]}"
> Look k4 Run r1
< tool k4 done document
! CallEnded k4 subagent done "document"
> CallModel lead a 3
< model | k5=subagent {"action":"resume","runId":"@r1","message":"go on"}
! Answered a "" k5
! ChildResumed c1 r1 call=k5
> Deliver c1 Resume r1 "go on"
= waiting
< ended r1 failed no luck
! ChildEnded c1 r1 failed
> DeliveredRun r1
> Look k5 Run r1
< tool k5 done document
! CallEnded k5 subagent done "document"
> CallModel lead a 4
< model | k6=subagent {"action":"resume","runId":"@r1"}
! Answered a "" k6
! CallEnded k6 subagent failed "Run `@r1` is failed; only an interrupted run can be resumed."
> CallModel lead a 5
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
> CallModel scout a 0
< model | k1=look | k2=pay ...
< interrupt r9
! CallEnded k1 look cancelled "The run was interrupted."
! CallEnded k2 pay cancelled "The run was interrupted."
! SessionInterrupted
> InterruptRun r9
> Deliver p ChildInterrupted t0 r9
> Abort
= idle
< crash
= idle
< tick 100000
+ message wait
< mail
= idle
< interrupt r9
< resume r9 and look again
! SessionResumed
! Posted user "and look again"
! Posted user "wait"
> StartRun r9
> CallModel scout a 1
= running
< model | k3=look ...
< tool k3 done seen
! CallEnded k3 look done "seen"
> CallModel scout a 2
< model that is all
! Answered a "that is all"
! TurnEnded a response next=a
! SessionEnded done "{'schemaVersion':2,'run':{'runId':'r9','profile':'scout','displayName':'scout','status':'completed'},'decision':{'outcome':'reported','summary':'that is all','confidence':'unknown'},'findings':[],'evidence':[],'changes':{'filesRead':[],'filesChanged':[],'commandsRun':[],'toolsUsed':['look']},'decisions':[],'risks':[],'nextSteps':[]}" rest=done
> EndRun r9 done "{'schemaVersion':2,'run':{'runId':'r9','profile':'scout','displayName':'scout','status':'completed'},'decision':{'outcome':'reported','summary':'that is all','confidence':'unknown'},'findings':[],'evidence':[],'changes':{'filesRead':[],'filesChanged':[],'commandsRun':[],'toolsUsed':['look']},'decisions':[],'risks':[],'nextSteps':[]}"
> Deliver p ChildEnded t0 r9 done "{'schemaVersion':2,'run':{'runId':'r9','profile':'scout','displayName':'scout','status':'completed'},'decision':{'outcome':'reported','summary':'that is all','confidence':'unknown'},'findings':[],'evidence':[],'changes':{'filesRead':[],'filesChanged':[],'commandsRun':[],'toolsUsed':['look']},'decisions':[],'risks':[],'nextSteps':[]}"
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
! SessionEnded cancelled "The run was cancelled." rest=failed
> EndRun r9 cancelled "The run was cancelled."
> Deliver p ChildEnded t0 r9 cancelled "The run was cancelled."
> Abort
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
! Answered a "" k1 k2
! TaskSaved item-1 "one" pending scout unstarted pending
! CallEnded k1 task_create done "{'taskId':'item-1','title':'one','description':null,'status':'pending','assignment':{'id':'@t0-item-1','agent':'scout','status':'pending','runId':null,'response':null}}"
! TaskSaved item-2 "two" pending
! CallEnded k2 task_create done "{'taskId':'item-2','title':'two','description':null,'status':'pending','assignment':null}"
> CallModel lead a 1
< model | k3=task_start {"taskId":"item-1"} | k4=task_delegate {"taskId":"item-2","profile":"goal"} | k5=task_start {"taskId":"item-1"}
! Answered a "" k3 k4 k5
! ChildStarted c1 scout r1 background
! TaskSaved item-1 "one" in_progress scout r1 running
! CallEnded k3 task_start done "{'taskId':'item-1','runId':'@r1','id':'@t0-item-1','profile':'scout','task':'one','status':'running','gatewayRunId':'@c1'}"
! ChildStarted c2 goal r2 background
! TaskSaved item-2 "two" in_progress goal r2 running
! CallEnded k4 task_delegate done "{'taskId':'item-2','runId':'@r2','id':'@t0-item-2','profile':'goal','task':'two','status':'running','gatewayRunId':'@c2'}"
! CallEnded k5 task_start failed "Task `item-1` was started before: run `@r1` is running."
> Spawn c1 scout depth=1 Message user "one" r1->t0
> Spawn c2 goal depth=1 Message user "two" r2->t0
> CallModel lead a 2
< model | k6=task_join {"taskIds":["item-1","item-2"]}
! Answered a "" k6
! CallJoined k6
= waiting
< ended r1 done {"decision":{"summary":"found"}}
! ChildEnded c1 r1 done
! TaskSaved item-1 "one" in_progress scout r1 done "found"
> Deliver t0 Message user "Subagent run @r1 (profile scout) is completed:\n\nfound" delivers=r1 silent subagent_id=@c1
= waiting
< ended r2 failed broken
! ChildEnded c2 r2 failed
! TaskSaved item-2 "two" in_progress goal r2 failed "broken"
> Deliver t0 Message user "Subagent run @r2 (profile goal) is failed:\n\nbroken" delivers=r2 silent subagent_id=@c2
> Look k6 Joined 2
< tool k6 done envelopes ; read r1 ; read r2
! RunRead r1
! RunRead r2
! CallEnded k6 task_join done "envelopes"
> DeliveredRun r1
> DeliveredRun r2
> CallModel lead a 3
< model | k7=task_list_items | k8=task_delegations
! Answered a "" k7 k8
! CallEnded k7 task_list_items done "{'tasks':[{'taskId':'item-1','title':'one','description':null,'status':'in_progress','assignment':{'id':'@t0-item-1','agent':'scout','status':'completed','runId':'@r1','response':'found'}},{'taskId':'item-2','title':'two','description':null,'status':'in_progress','assignment':{'id':'@t0-item-2','agent':'goal','status':'failed','runId':'@r2','response':'broken'}}]}"
! CallEnded k8 task_delegations done "{'delegations':[{'taskId':'item-1','assignmentId':'@t0-item-1','profile':'scout','runId':'@r1','status':'completed'},{'taskId':'item-2','assignmentId':'@t0-item-2','profile':'goal','runId':'@r2','status':'failed'}]}"
> CallModel lead a 4
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
! Answered a "" k1
! TaskSaved item-1 "A" pending scout unstarted pending
! TaskSaved item-2 "B" pending scout unstarted pending
! CallEnded k1 subagent_assign_task done "{'assignments':[{'taskId':'item-1','runId':null,'id':'@t0-item-1','profile':'scout','task':'A','status':'pending'},{'taskId':'item-2','runId':null,'id':'@t0-item-2','profile':'scout','task':'B','status':'pending'}]}"
> CallModel lead a 1
< model | k2=subagent_assign_task {"profile":"scout","taskIds":["item-1"],"tasks":["C"],"start":true}
! Answered a "" k2
! ChildStarted c1 scout r1 background
! TaskSaved item-1 "A" in_progress scout r1 running
! ChildStarted c2 scout r2 background
! TaskSaved item-3 "C" in_progress scout r2 running
! CallEnded k2 subagent_assign_task done "{'assignments':[{'taskId':'item-1','runId':'@r1','id':'@t0-item-1','profile':'scout','task':'A','status':'running','gatewayRunId':'@c1'},{'taskId':'item-3','runId':'@r2','id':'@t0-item-3','profile':'scout','task':'C','status':'running','gatewayRunId':'@c2'}]}"
> Spawn c1 scout depth=1 Message user "A" r1->t0
> Spawn c2 scout depth=1 Message user "C" r2->t0
> CallModel lead a 2
"#,
    );
}

#[test]
fn a_task_that_could_not_be_started_is_not_in_progress() {
    check(
        &format!("{TEAM}\nlimits children_live=1"),
        r#"
< message go ...
< model | k1=subagent_assign_task {"profile":"scout","start":true,"tasks":["A","B"]}
! Answered a "" k1
! ChildStarted c1 scout r1 background
! TaskSaved item-1 "A" in_progress scout r1 running
! TaskSaved item-2 "B" pending scout unstarted pending
! CallEnded k1 subagent_assign_task done "{'assignments':[{'taskId':'item-1','runId':'@r1','id':'@t0-item-1','profile':'scout','task':'A','status':'running','gatewayRunId':'@c1'},{'taskId':'item-2','runId':null,'id':'@t0-item-2','profile':'scout','task':'B','status':'pending','error':'{\\'error\\':{\\'code\\':\\'subagent_limit_reached\\',\\'message\\':\\'the limit `children_live` of 1 subagents is reached; wait for one of them to end\\',\\'cap\\':\\'children_live\\',\\'max\\':1,\\'references\\':[\\'@c1\\']}}'}]}"
> Spawn c1 scout depth=1 Message user "A" r1->t0
> CallModel lead a 1
"#,
    );
}

#[test]
fn a_long_task_list_is_cut_and_its_entries_can_be_read() {
    let (long, shown) = ("x".repeat(800), "x".repeat(512));
    let entry = |title: &str| {
        format!("{{'taskId':'item-1','title':'{title}','description':null,'status':'pending','assignment':null}}")
    };
    let script = format!(
        r#"
< message go ...
< model | k1=task_create {{"title":"{long}"}} | k2=task_create {{"title":"short"}} ...
< model | k3=task_list_items | k4=task_list_items {{"taskIds":["item-1"]}} | k5=task_list_items {{"taskIds":["item-3"]}}
! Answered a "" k3 k4 k5
! CallEnded k3 task_list_items done "{{'tasks':[{},{{'taskId':'item-2','title':'short','description':null,'status':'pending','assignment':null}}],'cut':'Not everything is shown. `task_list_items` with `taskIds` shows single entries, and `subagent` with the action `result` and a `runId` all that a run came to.'}}"
! CallEnded k4 task_list_items done "{{'tasks':[{}]}}"
! CallEnded k5 task_list_items failed "There is no task `item-3`."
> CallModel lead a 2
"#,
        entry(&format!("{shown}\\\\n[cut: 512 of 800 bytes shown]")),
        entry(&long),
    );
    check(&format!("{TEAM}\nlimits tool_output_bytes=950"), &script);
}

#[test]
fn a_worker_is_told_the_shape_of_its_report_behind_its_own_words_and_the_judge_that_of_its_verdict() {
    let told = |worker: &str| {
        let team = format!("{worker} format=dex\nthread {worker} child dialect=dex");
        Player::new(Setup::read(&team)).last_system("+ born r9->p look around ...\n< crash ...")
    };
    for (worker, judges) in [("scout", false), ("goal", true)] {
        let text = told(worker);
        assert!(text.starts_with(&format!("You are {worker}/a.\n\n## Report\n")), "{text}");
        assert_eq!(text.contains(r#""validation": {"status": "passed""#), judges, "{text}");
    }
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
! Answered a "{'decision':'yes'}"
! Injected user "Your last message is a JSON object, but not a report: `decision` must be an object. Answer once more with one JSON object that has `decision` (an object with the texts `outcome`, `summary` and `confidence`) and, where you have them, the lists `findings`, `evidence`, `decisions`, `risks` and `nextSteps`; or answer in plain text." silent report_fault=`decision` must be an object
> CallModel scout a 1
< model {"decision":"still"}
! Answered a "{'decision':'still'}"
! TurnEnded a response next=a
! SessionEnded done "{'schemaVersion':2,'run':{'runId':'r9','profile':'scout','displayName':'scout','status':'completed'},'decision':{'outcome':'reported','summary':'{\\'decision\\':\\'still\\'}','confidence':'unknown'},'findings':[],'evidence':[],'changes':{'filesRead':[],'filesChanged':[],'commandsRun':[],'toolsUsed':[]},'decisions':[],'risks':[],'nextSteps':[]}" rest=done
> EndRun r9 done "{'schemaVersion':2,'run':{'runId':'r9','profile':'scout','displayName':'scout','status':'completed'},'decision':{'outcome':'reported','summary':'{\\'decision\\':\\'still\\'}','confidence':'unknown'},'findings':[],'evidence':[],'changes':{'filesRead':[],'filesChanged':[],'commandsRun':[],'toolsUsed':[]},'decisions':[],'risks':[],'nextSteps':[]}"
> Deliver p ChildEnded t0 r9 done "{'schemaVersion':2,'run':{'runId':'r9','profile':'scout','displayName':'scout','status':'completed'},'decision':{'outcome':'reported','summary':'{\\'decision\\':\\'still\\'}','confidence':'unknown'},'findings':[],'evidence':[],'changes':{'filesRead':[],'filesChanged':[],'commandsRun':[],'toolsUsed':[]},'decisions':[],'risks':[],'nextSteps':[]}"
"#,
    );
}

#[test]
fn a_report_that_was_asked_for_is_waited_for_through_a_crash_and_an_interruption() {
    check(
        "
scout format=dex
thread scout child dialect=dex
",
        r#"
< born r9->p look around ...
< model {"decision":"yes"} ...
< crash
> CallModel scout a 1
< interrupt r9 ...
< resume r9 mind the shape
! SessionResumed
! Posted user "mind the shape"
> StartRun r9
> CallModel scout a 1
< model in plain words ...
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
! CallEnded k1 look done "text"
< tool k2 failed nothing there ...
< tool k3 failed it broke ^ran 1 make test ^changed b.txt
! CallEnded k3 pay failed "it broke"
> CallModel goal a 1
< model {"run":{"runId":"forged"},"changes":{},"decision":{"summary":"fine"},"risks":["r"],"validation":{"status":"passed"},"more":1}
! Answered a "{'run':{'runId':'forged'},'changes':{},'decision':{'summary':'fine'},'risks':['r'],'validation':{'status':'passed'},'more':1}"
! TurnEnded a response next=a
! SessionEnded done "{'schemaVersion':2,'run':{'runId':'r9','profile':'goal','displayName':'goal','status':'completed'},'decision':{'summary':'fine'},'findings':[],'evidence':[],'changes':{'filesRead':['a.txt'],'filesChanged':['b.txt'],'commandsRun':[{'command':'make test','exitCode':1}],'toolsUsed':['look','pay']},'decisions':[],'risks':['r'],'nextSteps':[],'validation':{'status':'passed'}}" rest=done
> EndRun r9 done "{'schemaVersion':2,'run':{'runId':'r9','profile':'goal','displayName':'goal','status':'completed'},'decision':{'summary':'fine'},'findings':[],'evidence':[],'changes':{'filesRead':['a.txt'],'filesChanged':['b.txt'],'commandsRun':[{'command':'make test','exitCode':1}],'toolsUsed':['look','pay']},'decisions':[],'risks':['r'],'nextSteps':[],'validation':{'status':'passed'}}"
> Deliver p ChildEnded t0 r9 done "{'schemaVersion':2,'run':{'runId':'r9','profile':'goal','displayName':'goal','status':'completed'},'decision':{'summary':'fine'},'findings':[],'evidence':[],'changes':{'filesRead':['a.txt'],'filesChanged':['b.txt'],'commandsRun':[{'command':'make test','exitCode':1}],'toolsUsed':['look','pay']},'decisions':[],'risks':['r'],'nextSteps':[],'validation':{'status':'passed'}}"
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
! Answered a "" a b c d e f g h i
! CallEnded a subagent failed "There is no action `dance` of `subagent`; use one of: run, list, status, result, interrupt, resume."
! CallEnded b subagent failed "There is no profile `painter`. Profiles: goal, scout."
! CallEnded c subagent failed "`task` must be a text that is not blank."
! CallEnded d subagent failed "There is no run `subrun_x`."
! CallEnded e task_start failed "There is no task `item-7`."
! CallEnded f subagent_worker failed "There is no tool `subagent_worker` here. Available: look, subagent, subagent_assign_task, task_create, task_update, task_list_items, task_start, task_delegate, task_join, task_delegations."
! CallEnded g task_create failed "There is no profile `lead`. Profiles: goal, scout."
! CallEnded h subagent failed "The arguments must be a JSON object."
! CallEnded i subagent_assign_task failed "Give `tasks`, texts of new tasks, or `taskIds`, entries of the task list."
> CallModel lead a 1
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
! SessionStarted a
! Posted user "go"
> CallModel lead a 0
% look
< model | k1=subagent {"action":"run","profile":"scout","task":"t"}
! Answered a "" k1
! CallEnded k1 subagent failed "There is no tool `subagent` here. Available: look."
> CallModel lead a 1
"#,
    );
}
