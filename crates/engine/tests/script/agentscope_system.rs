//! What the `agentscope` dialect adds to prompts, what it hands down, and where it ends.

use crate::player::Player;
use crate::team::Setup;
use crate::{check, player};

const LEAD: &str = "
    lead tools=look dialects=agentscope
    kid format=agentscope tools=look";

/// The system texts of the last model call of a script, joined.
fn system(team: &str, script: &str) -> String {
    Player::new(Setup::read(team)).last_system(script)
}

#[test]
fn the_rules_and_one_line_for_each_agent_are_told_at_every_step_and_never_pile_up() {
    let team = "
        lead tools=look dialects=agentscope
        kid format=agentscope
        general-purpose format=agentscope
        agentscope/reviewer format=agentscope
        reviewer format=claude-code
        coding format=dex
        secret format=agentscope unlisted
        pair dual exposed
        other dual";
    for script in ["< ask r1 hi ...", "< ask r1 hi ...\n< model | k1=look ...\n< tool k1 done x ..."] {
        let text = system(team, script);
        let ids: Vec<_> = text.lines().filter(|line| line.starts_with("- `") && line.contains("Good at")).collect();
        let expected = [
            "- `general-purpose`: Good at general-purpose.",
            "- `kid`: Good at kid.",
            "- `pair`: Good at pair.",
            "- `reviewer`: Good at agentscope/reviewer.",
        ];
        assert_eq!(ids, expected);
        assert_eq!(text.matches("## Subagents").count(), 1);
        assert!(!text.contains("Async tasks"));
    }
}

#[test]
fn the_ten_newest_tasks_are_told_and_the_number_of_the_others() {
    let team = format!("{LEAD}\nlimits children_live=20");
    let spawns: String =
        (0..12).map(|_| r#" | a=agent_spawn {"agent_id":"kid","task":"x","timeout_seconds":0}"#).collect::<String>();
    let text = system(&team, &format!("< ask r1 hi ...\n< model {spawns} ..."));
    let tasks: Vec<_> = text.lines().filter(|line| line.starts_with("- task_id: @r")).collect();
    let shown: Vec<_> = tasks.iter().filter_map(|line| line.split_whitespace().nth(2)).collect();
    assert_eq!(shown, ["@r4", "@r5", "@r6", "@r7", "@r8", "@r9", "@r10", "@r11", "@r12", "@r13"]);
    assert!(tasks[0].ends_with("agent: kid  status: running  started: 00:00Z"), "{}", tasks[0]);
    assert!(text.contains("\n(2 older tasks are not shown; `task_list` shows all of them)"), "{text}");
}

#[test]
fn a_subagent_is_told_that_it_is_one_behind_its_own_words() {
    let team = "kid format=agentscope\nthread kid child resumable dialect=agentscope";
    let text = system(team, "+ born r1->p work ...\n< crash ...");
    assert!(text.starts_with("You are kid/a.\n\n## Subagent Context\n"), "{text}");
    assert!(text.contains("You cannot start subagents"), "{text}");
    let team = "kid format=agentscope dialects=agentscope\nmate format=agentscope\nthread kid child resumable dialect=agentscope";
    let text = system(team, "+ born r1->p work ...\n< crash ...");
    assert!(!text.contains("You cannot start subagents"), "{text}");
    assert!(text.contains("- `kid`: Good at kid.\n- `mate`: Good at mate."), "{text}");
}

#[test]
fn a_folder_gives_the_prompt_when_the_child_is_started() {
    let setup = Setup::read(
        "
        lead dialects=agentscope
        kid format=agentscope folder=defs/kid
        gone format=agentscope folder=defs/gone
        definition defs/kid You are defined.",
    );
    let started = player::Player::new(setup).spawned(
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"kid","task":"x"} | k2=agent_spawn {"agent_id":"gone","task":"x"} ..."#,
    );
    let prompts: Vec<_> = started.iter().map(|started| started.instructions.as_deref()).collect();
    assert_eq!(prompts, [Some("You are defined."), None]);
}

#[test]
fn a_folder_gives_the_prompt_whatever_its_caller_speaks() {
    let setup = Setup::read(
        "
        lead children=kid,mate*
        kid format=agentscope folder=defs/kid
        mate format=agentscope folder=defs/mate
        definition defs/kid You are the kid.
        definition defs/mate You are the mate.",
    );
    let started = player::Player::new(setup).spawned(
        r#"
        < ask r1 hi ...
        < model | k1=kid {"message":"x"} | k2=subagent_create {"agent":"mate","message":"x","name":"n"} ..."#,
    );
    let prompts: Vec<_> = started.iter().map(|started| started.instructions.as_deref()).collect();
    assert_eq!(prompts, [Some("You are the kid."), Some("You are the mate.")]);
}

#[test]
fn a_child_that_wishes_for_no_folder_works_where_its_caller_does() {
    let team = "
        mate format=claude-code
        kid format=agentscope folder=defs/kid
        worker format=dex";
    let folders = |digger: &str, calls: &str| {
        let setup = Setup::read(&format!("{digger}{team}\nthread digger child resumable dialect=agentscope"));
        let script = format!("+ born r1->p work\n< crash ...\n< model {calls} ...");
        let started = player::Player::new(setup).spawned(&script);
        started.into_iter().map(|started| started.folder).collect::<Vec<_>>()
    };
    let spawns = r#"| k1=agent_spawn {"agent_id":"mate","task":"x"} | k2=agent_spawn {"agent_id":"kid","task":"x"}"#;
    let digs = "digger format=agentscope dialects=agentscope folder=defs/digger";
    assert_eq!(folders(digs, spawns), [Some("defs/digger".to_owned()), None]);
    assert_eq!(folders("digger format=agentscope dialects=agentscope", spawns), [None, None]);
    let delegates = r#"| k1=subagent {"action":"run","profile":"worker","task":"x"}"#;
    let delegating = "digger format=agentscope dialects=dex";
    assert_eq!(folders(&format!("{delegating} folder=defs/digger"), delegates), [Some("defs/digger".to_owned())]);
    assert_eq!(folders(delegating, delegates), [None]);
}

#[test]
fn general_purpose_is_told_what_the_project_says_only_in_the_project() {
    let told = |digger: &str| {
        let team = format!("digger format=agentscope dialects=agentscope {digger}\ngeneral-purpose format=agentscope");
        let script = r#"
            < ask r1 hi ...
            < model | k1=agent_spawn {"agent_id":"general-purpose","task":"x"} ..."#;
        let started = player::Player::new(Setup::read(&team)).spawned(script);
        started.into_iter().map(|started| (started.instructions, started.folder)).collect::<Vec<_>>()
    };
    assert_eq!(told("folder=defs/digger"), [(Some("".into()), Some("defs/digger".to_owned()))]);
    assert_eq!(told(""), [(None, None)]);
}

#[test]
fn tools_and_model_are_handed_down() {
    let team = "
        lead tools=look,pay dialects=agentscope
        all format=agentscope tools=look,pay,ship
        some format=agentscope tools=look
        own format=agentscope tools=look model=a:b
        digger format=agentscope tools=look model=x:y dialects=agentscope";
    let spawns = r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"all","task":"x"} | k2=agent_spawn {"agent_id":"some","task":"x"} | k3=agent_spawn {"agent_id":"own","task":"x"} ..."#;
    let handed = |team: &str| {
        let started = player::Player::new(Setup::read(team)).spawned(spawns);
        let tools = |names: &Vec<entourage_model::Name>| {
            names.iter().map(|name| name.to_string()).collect::<Vec<_>>().join(",")
        };
        let models =
            |models: &[entourage_model::ModelRef]| models.iter().map(|model| model.to_string()).collect::<String>();
        started
            .iter()
            .map(|s| (s.tools.as_ref().map(tools).unwrap_or("all".into()), models(&s.models)))
            .collect::<Vec<_>>()
    };
    let of = |tools: &str, model: &str| (tools.to_owned(), model.to_owned());
    assert_eq!(handed(team), [of("look,pay", ""), of("all", ""), of("all", "")]);
    let below = format!("{team}\nthread digger child dialect=agentscope");
    assert_eq!(handed(&below), [of("look", "x:y"), of("all", "x:y"), of("all", "")]);
}

#[test]
fn general_purpose_has_the_limits_and_ways_of_whoever_calls_it() {
    let team = "
        digger format=agentscope tools=look steps=1 temperature=0.5 dialects=agentscope
        general-purpose format=agentscope tools=look
        kid format=agentscope tools=look";
    let started = player::Player::new(Setup::read(team)).spawned(
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"general-purpose","task":"x"} | k2=agent_spawn {"agent_id":"kid","task":"x"} ..."#,
    );
    let mirrors: Vec<_> = started.iter().map(|started| started.mirrors.as_ref().map(|name| name.as_str())).collect();
    assert_eq!(mirrors, [Some("digger"), None]);
    check(
        &format!("{team}\nthread general-purpose child resumable dialect=agentscope mirrors=digger"),
        r#"
        + born r1->p work
        < crash
        > CallModel general-purpose a 0 temperature=0.5
        < model | k1=look ...
        < tool k1 done x
        ! CallEnded k1 look done "x"
        > CallModel general-purpose a 1 temperature=0.5
        %
        "#,
    );
}

#[test]
fn general_purpose_has_the_hooks_of_whoever_calls_it() {
    let team = "
        digger format=agentscope tools=look dialects=agentscope hooks=made,no
        general-purpose format=agentscope tools=look
        hook made after_thread_created count
        hook no tool_call_done block not on Sundays";
    let started = player::Player::new(Setup::read(team)).spawned(
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"general-purpose","task":"x"} ..."#,
    );
    assert!(started.is_empty(), "no call of the digger itself is made");
    let blind = team.replace("hooks=made,no", "hooks=made");
    let started = player::Player::new(Setup::read(&blind)).spawned(
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {"agent_id":"general-purpose","task":"x"} ..."#,
    );
    assert_eq!(started.iter().map(|started| started.hooked).collect::<Vec<_>>(), [true]);
    check(
        &format!("{team}\nthread general-purpose child resumable dialect=agentscope mirrors=digger"),
        r#"
        + born r1->p work
        < crash ...
        < model | k1=look
        ! Answered a "" k1
        ! CallEnded k1 look failed "`look` was not called: not on Sundays"
        > CallModel general-purpose a 1
        "#,
    );
}

#[test]
fn a_profile_has_no_more_tools_than_whoever_starts_it() {
    let tools = |caller: &str, profile: &str| {
        let setup = Setup::read(&format!("{caller} tools=look,pay dialects=dex\nworker format=dex tools={profile}"));
        let started = player::Player::new(setup).spawned(
            r#"
            < ask r1 hi ...
            < model | k1=subagent {"action":"run","profile":"worker","task":"x"} ..."#,
        );
        let [started] = started.as_slice() else { panic!("{} were started", started.len()) };
        started.tools.as_ref().map(|tools| tools.iter().map(|name| name.to_string()).collect::<Vec<_>>())
    };
    assert_eq!(tools("lead format=claude-code", "look"), None);
    assert_eq!(tools("lead format=claude-code", "look,ship"), Some(vec!["look".to_owned(), "pay".to_owned()]));
    assert_eq!(tools("lead format=standard-agents", "look,ship"), None);
}

#[test]
fn a_run_that_has_used_up_its_steps_says_its_closing_words_and_fails() {
    check(
        "
        kid format=agentscope tools=look steps=2
        thread kid child resumable dialect=agentscope",
        r#"
        + born r1->p work
        < crash ...
        < model | k1=look ...
        < tool k1 done x ...
        < model | k2=look ...
        < tool k2 done y
        ! CallEnded k2 look done "y"
        > CallModel kid a 2
        %
        < model so far so good | k3=look
        ! Answered a "so far so good"
        ! TurnEnded a limit="step_limit_reached: the limit of 2 steps is reached" next=a
        ! SessionEnded failed "so far so good" limit="step_limit_reached: the limit of 2 steps is reached" rest=idle
        > EndRun r1 failed "so far so good" limit="step_limit_reached: the limit of 2 steps is reached"
        > Deliver p ChildEnded t0 r1 failed "so far so good" limit="step_limit_reached: the limit of 2 steps is reached"
        "#,
    );
}

#[test]
fn closing_words_that_are_none_leave_the_limit_alone() {
    check(
        "
        kid format=agentscope tools=look steps=1
        thread kid child resumable dialect=agentscope",
        r#"
        + born r1->p work
        < crash ...
        < model | k1=look ...
        < tool k1 done x ...
        < model
        ! Answered a ""
        ! TurnEnded a limit="step_limit_reached: the limit of 1 steps is reached" next=a
        ! SessionEnded failed "step_limit_reached: the limit of 1 steps is reached" limit="step_limit_reached: the limit of 1 steps is reached" rest=idle
        > EndRun r1 failed "step_limit_reached: the limit of 1 steps is reached" limit="step_limit_reached: the limit of 1 steps is reached"
        > Deliver p ChildEnded t0 r1 failed "step_limit_reached: the limit of 1 steps is reached" limit="step_limit_reached: the limit of 1 steps is reached"
        "#,
    );
}

#[test]
fn a_run_that_is_done_at_its_last_step_is_done() {
    check(
        "
        kid format=agentscope tools=look steps=1
        thread kid child resumable dialect=agentscope",
        r#"
        + born r1->p work
        < crash ...
        < model all done
        ! Answered a "all done"
        ! TurnEnded a response next=a
        ! SessionEnded done "all done" rest=idle
        > EndRun r1 done "all done"
        > Deliver p ChildEnded t0 r1 done "all done"
        "#,
    );
}

#[test]
fn a_long_result_is_cut_and_says_how_to_read_on() {
    let long = "0123456789".repeat(3_000);
    let script = format!(
        r#"
        < ask r1 hi ...
        < model | k1=agent_spawn {{"agent_id":"kid","task":"x"}} ...
        < ended r2 done {long}
        ! ChildEnded c1 r2 done
        ! CallEnded k1 agent_spawn done "agent_key: agent:kid:@c1\nagent_id: kid\nsession_id: sub-@c1\nstatus: ok\nreply:\n{}\n[cut: 20000 of 30000 bytes are not shown; read on with task_output {{'task_id': '@r2', 'offset': 10000}}]"
        > DeliveredRun r2
        > CallModel lead a 1
        "#,
        &long[..10_000]
    );
    check(LEAD, &script);
}
