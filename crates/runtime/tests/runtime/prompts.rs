//! Prompts that another prompt calls as tools.

use crate::smithy::{PROBE, team, user_of};
use crate::stage::{Stage, by_turn};
use entourage_model::{Message, PromptEntry, Role, Team, ToolConfig, ToolEntry, ToolStatus};
use entourage_testkit::{Reply, cast};
use serde_json::{Value, json};
use std::sync::Arc;

/// `boss` may call the prompt `planner`, and both may call a probe with this body.
struct Case {
    body: &'static str,
    entry: PromptEntry,
    /// What the planner wants to be called with.
    schema: Option<Value>,
    /// What the boss calls the planner with, and what the planner says to it.
    asked: Value,
    said: Reply,
}

impl Case {
    fn new(body: &'static str) -> Self {
        let entry = PromptEntry::new("planner".into(), "Plans.");
        Self { body, entry, schema: None, asked: json!({"message": "plan"}), said: Reply::call(PROBE, json!({})) }
    }

    fn team(&self) -> Arc<Team> {
        let config = |tone: &str| -> ToolConfig {
            serde_json::from_value(json!({"env": {"TONE": tone}, "options": {"tone": tone}})).expect("a config")
        };
        let mut boss = user_of("boss", &[PROBE]);
        boss.side_a.prompt.tools.push(ToolEntry::Prompt(self.entry.clone()));
        boss.side_a.prompt.tool_configs.insert(PROBE.into(), config("loud"));
        boss.side_a.prompt.env.insert("PLACE".to_owned(), "office".to_owned());
        let mut planner = cast::side("planner", vec![cast::tool(PROBE)]).prompt;
        planner.tool_configs.insert(PROBE.into(), config("dry"));
        planner.env.insert("PLACE".to_owned(), "desk".to_owned());
        planner.required_schema = self.schema.clone();
        let mut team = Team::clone(&team(vec![boss], &[(PROBE, self.body)]));
        team.prompts.insert("planner".into(), Arc::new(planner));
        Arc::new(team)
    }

    /// The results that the boss was given: of the probe, which it calls first, and of the planner.
    async fn play(self) -> Vec<Message> {
        let calls =
            vec![Reply::call(PROBE, json!({})), Reply::call("planner", self.asked.clone()), Reply::text("over")];
        let brain = by_turn(vec![("boss", calls), ("planner", vec![self.said.clone()])]);
        let mut stage = Stage::new(Vec::new(), brain).await;
        stage.team = self.team();
        let (thread, _) = stage.create("boss", "go").await;
        stage.settle(thread).await;
        stage.messages(thread).await.into_iter().filter(|message| message.role == Role::Tool).collect()
    }
}

#[tokio::test]
async fn a_tool_is_given_what_the_prompt_says_that_calls_it() {
    let results = Case::new("return [state.env('TONE'), state.env('PLACE'), state.options.tone].join();").play().await;
    let texts: Vec<_> = results.iter().map(|message| message.content.as_str()).collect();
    assert_eq!(texts, ["loud,office,loud", "`probe` returned:\ndry,desk,dry"]);
    let inner = "if (args.count) return (await state.invokeTool('probe', {})).result; return state.env('PLACE');";
    let results = Case { said: Reply::call(PROBE, json!({"count": 1})), ..Case::new(inner) }.play().await;
    assert_eq!(results[1].content, "`probe` returned:\ndesk", "a call inside a call is made for the same prompt");
}

#[tokio::test]
async fn a_prompt_whose_call_failed_has_failed() {
    let failing = || Case::new("return { status: 'error', error: 'no city' };");
    let hushed = PromptEntry { include_errors: false, ..PromptEntry::new("planner".into(), "Plans.") };
    let cases = [
        (failing(), "`probe` failed:\nno city"),
        (Case { entry: hushed, ..failing() }, "`planner` failed: a tool that it called has failed"),
        (Case { said: Reply::call("nothing", json!({})), ..failing() }, "`nothing` failed: there is no such tool here"),
    ];
    for (case, expected) in cases {
        let results = case.play().await;
        assert_eq!((results[1].content.as_str(), results[1].tool_status), (expected, Some(ToolStatus::Error)));
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_call_of_a_prompt_is_said_in_words() {
    let schema = json!({"type": "object", "properties": {"goal": {"type": "string"}}, "required": ["goal"]});
    let cases = [
        (Some(schema), json!({}), "`planner` failed: the arguments are wrong: \"goal\" is a required property"),
        (None, json!({"message": 1}), "`planner` failed: `message` must be a text"),
    ];
    for (schema, asked, expected) in cases {
        let results = Case { schema, asked, ..Case::new("return 'ok';") }.play().await;
        assert_eq!((results[1].content.as_str(), results[1].tool_status), (expected, Some(ToolStatus::Error)));
    }
}

#[tokio::test]
async fn code_can_queue_a_prompt_and_not_wait_for_one() {
    let body = "if (args.count) return 'inner'; let told; try { await state.invokeTool('planner', {}); } catch (error) { told = error.message; }
        state.queueTool('planner', { message: 'plan' }); return told;";
    let case = Case { said: Reply::call(PROBE, json!({"count": 1})), ..Case::new(body) };
    let results = case.play().await;
    let texts: Vec<_> = results.iter().take(2).map(|message| message.content.as_str()).collect();
    assert_eq!(texts, ["`planner` is no tool: it can be queued, and not be waited for", "`probe` returned:\ninner"]);
}
