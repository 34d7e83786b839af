//! `@standardagents/…` and `entourage`: what the functions give that definitions are written with.

use crate::{check, export};
use serde_json::json;

#[test]
fn a_definer_gives_back_what_it_was_handed() {
    for definer in [
        "defineAgent",
        "definePrompt",
        "defineModel",
        "defineTool",
        "defineHook",
        "defineEffect",
        "defineHandler",
        "defineThreadEndpoint",
        "defineController",
        "defineVariable",
    ] {
        for module in ["@standardagents/spec", "@standardagents/builder"] {
            let text = format!(
                "import {{ {definer} as define }} from '{module}';\nexport default define({{ name: 'x', wrong: [1] }});"
            );
            assert_eq!(export(&text), json!({"name": "x", "wrong": [1]}), "{definer} of {module}");
        }
    }
    for definer in ["defineAgent", "definePrompt", "defineModel", "defineTool", "defineHook"] {
        let text =
            format!("import {{ {definer} as define }} from 'entourage';\nexport default define({{ name: 'x' }});");
        assert_eq!(export(&text), json!({"name": "x"}), "{definer}");
    }
}

#[test]
fn wrong_values_pass_through_so_that_their_reader_can_place_them() {
    check(
        "import { defineAgent, defineTool, defineHook } from '@standardagents/spec';",
        &[
            ("defineAgent(null as any)", json!(null)),
            ("defineAgent('agent' as any)", json!("agent")),
            ("defineTool(5 as any)", json!(5)),
            ("defineHook([] as any)", json!([])),
        ],
    );
}

#[test]
fn the_older_shapes_of_tools_and_hooks_become_the_newer_ones() {
    check(
        "import { defineTool, defineHook, defineThreadEndpoint } from '@standardagents/builder';
import { z } from 'zod';
const run = async () => 'done';",
        &[
            (
                "defineTool({ description: 'd', args: z.object({ a: z.string() }), execute: run })",
                json!({"description": "d", "args": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}, "execute": "(function)"}),
            ),
            (
                "defineTool('d', z.object({ a: z.string() }), run)",
                json!({"description": "d", "args": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}, "execute": "(function)"}),
            ),
            ("defineTool('d', run)", json!({"description": "d", "args": null, "execute": "(function)"})),
            ("defineHook('filter_messages', run)", json!({"hook": "filter_messages", "execute": "(function)"})),
            (
                "defineHook({ hook: 'filter_messages', id: 'x', execute: run })",
                json!({"hook": "filter_messages", "id": "x", "execute": "(function)"}),
            ),
            ("defineThreadEndpoint(run)", json!({"execute": "(function)"})),
        ],
    );
}

#[test]
fn a_provider_reads_as_its_name() {
    for (package, value) in [
        ("openai", "openai"),
        ("anthropic", "anthropic"),
        ("google", "gemini"),
        ("gemini", "gemini"),
        ("ollama", "ollama"),
        ("groq", "groq"),
        ("openrouter", "openrouter"),
        ("cerebras", "cerebras"),
        ("xai", "xai"),
        ("cloudflare", "cloudflare"),
        ("mistral", "mistral"),
        ("deepseek", "deepseek"),
    ] {
        let text = format!(
            "import {{ {package} }} from '@standardagents/{package}';
import byDefault from '@standardagents/{package}';
import {{ defineModel }} from '@standardagents/spec';
export default defineModel({{ name: 'm', provider: {package}, model: 'x', same: byDefault === {package}, called: {package}(), with: {package}({{ apiKey: 'k' }}) }});"
        );
        let wanted = json!({
            "name": "m", "provider": value, "model": "x", "same": true, "called": value,
            "with": {"provider": value, "options": {"apiKey": "k"}},
        });
        assert_eq!(export(&text), wanted, "{package}");
    }
}
