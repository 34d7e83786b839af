//! Hooks that the project brings.

use super::{check, lines, project};
use entourage_model::{HookStage, Name, ParentHook};

const HOOK: &str = "
-- agents/hooks/trim.ts
import { defineHook } from '@standardagents/builder';
export default defineHook({
  hook: 'filter_messages',
  id: 'trim_history',
  execute: async (state, messages) => messages.slice(-5),
});
";

#[test]
fn agents_and_prompts_name_hooks_by_their_id() {
    let loaded = project(
        &(HOOK.to_owned()
            + r#"-- agents/agents/a.json
{"name": "a", "hooks": ["trim_history"], "sideA": {"prompt": "p"}}
-- agents/prompts/p.json
{"name": "p", "prompt": "", "hooks": ["trim_history"]}
"#),
    );
    assert_eq!(lines(&loaded), [""; 0]);
    let agent = &loaded.team.agents["a"];
    assert_eq!(agent.hooks, [Name::from("trim_history")]);
    assert_eq!(agent.side_a.prompt.hooks, [Name::from("trim_history")]);
    let hook = &loaded.team.hooks["trim_history"];
    assert_eq!(hook.event, "filter_messages");
    assert_eq!(hook.program.entry, "agents/hooks/trim.ts");
    assert_eq!(hook.source.file.as_deref(), Some("agents/hooks/trim.ts"));
}

#[test]
fn an_agent_brings_hooks_for_its_parent() {
    let loaded = project(
        &(HOOK.to_owned()
            + r#"-- agents/agents/a.json
{"name": "a", "sideA": {"prompt": "p"}, "sideB": {"prompt": "p"},
 "parentHooks": [{"hook": "trim_history", "reason": "r", "stage": "before_parent"}, {"hook": "trim_history", "reason": "r"}]}
-- agents/prompts/p.json
{"name": "p", "prompt": ""}
"#),
    );
    assert_eq!(lines(&loaded), [""; 0]);
    let hook = |stage| ParentHook { hook: "trim_history".into(), stage };
    let expected = [hook(HookStage::BeforeParent), hook(HookStage::AfterParent)];
    assert_eq!(loaded.team.agents["a"].parent_hooks, expected);
}

#[test]
fn a_hook_that_is_not_declared_is_an_error() {
    check(
        &(HOOK.to_owned()
            + r#"-- agents/agents/a.json
{"name": "a", "hooks": ["trim"], "sideA": {"prompt": "p"}}
-- agents/prompts/p.json
{"name": "p", "prompt": "", "hooks": [1, "nothing"]}
"#),
        &[
            "error[D033]: agent `a` names hook `trim`, which is not declared at agents/agents/a.json:1:25; add a hook with this `id` to `agents/hooks`; the nearest name is `trim_history`",
            "error[D006]: `hooks[0]` must be a string that is not blank, not `1` at agents/prompts/p.json:1:39; write a string that is not blank",
            "error[D033]: prompt `p` names hook `nothing`, which is not declared at agents/prompts/p.json:1:42; add a hook with this `id` to `agents/hooks`; the nearest name is `trim_history`",
        ],
    );
}

#[test]
fn a_hook_is_code_that_waits_for_something_that_happens() {
    check(
        "
-- agents/hooks/a.ts
export default { hook: 'filter_message', id: 'a', execute() {} };
-- agents/hooks/b.ts
export default { hook: 1, id: 'Not-Snake', execute: 2 };
-- agents/hooks/c.ts
export default { hook: 'filter_messages', execute() {} };
-- agents/hooks/d.json
{\"hook\": \"filter_messages\", \"id\": \"d\"}
-- agents/hooks/e.ts
export default { hook: 'filter_messages', id: 'a', execute() {} };
-- agents/hooks/f.ts
export default { hook: 'user_value_changed', id: 'f', execute() {} };
",
        &[
            "warning[D034]: `hook` is `filter_message`, which never happens at agents/hooks/a.ts:1:18; did you mean `filter_messages`?",
            "error[D006]: `hook` must be a string that is not blank, not `1` at agents/hooks/b.ts:1:18; write a string that is not blank",
            "error[D006]: `id` must be small letters of a to z, digits and `_`, not the string `Not-Snake` at agents/hooks/b.ts:1:27; write small letters of a to z, digits and `_`",
            "error[D006]: `execute` must be a function, not `2` at agents/hooks/b.ts:1:44; write a function",
            "error[D005]: `id` is missing at agents/hooks/c.ts:1:16; add `id`",
            "error[D005]: `execute` is missing, which only TypeScript can say at agents/hooks/d.json:1:1; write the definition in a file that ends in `.ts`",
            "error[D010]: hook `a` is declared twice: in `agents/hooks/a.ts` and in `agents/hooks/e.ts` at agents/hooks/e.ts:1:43; give one of them another name; until then `agents/hooks/e.ts` counts",
            "warning[D009]: the hook `user_value_changed` is not supported yet and has no effect at agents/hooks/f.ts:1:18; leave it for other runtimes if the agent can do without it here, or remove it",
        ],
    );
}
