//! Models under names of the project's own.

use super::{check, lines, names, project};
use entourage_declare::Loaded;
use serde_json::json;

/// Models, and a prompt whose `model` is `name`.
fn with_models(models: &str, name: &str) -> Loaded {
    project(&format!(
        r#"
{models}
-- agents/agents/a.json
{{"name": "a", "sideA": {{"prompt": "p"}}}}
-- agents/prompts/p.json
{{"name": "p", "prompt": "", "model": "{name}"}}
"#
    ))
}

fn asked(models: &str, name: &str) -> Vec<String> {
    let loaded = with_models(models, name);
    assert_eq!(lines(&loaded), [""; 0]);
    let prompt = &loaded.team.agents["a"].side_a.prompt;
    prompt.model.iter().chain(&prompt.fallbacks).map(ToString::to_string).collect()
}

const MODELS: &str = r#"-- agents/models/fast.ts
import { defineModel } from '@standardagents/builder';
import { openai } from '@standardagents/openai';
export default defineModel({
  name: 'fast',
  provider: openai,
  model: 'gpt-5-mini',
  fallbacks: ['spare', 'ollama:llama'],
  inputPrice: 0.25,
  outputPrice: 2,
  cachedPrice: 0,
  capabilities: {
    supportsImages: true, supportsToolCalls: true, supportsStreaming: true, supportsJsonMode: false,
    maxContextTokens: 400000, maxOutputTokens: 128000, reasoningLevels: { 0: 'low', 100: 'high' },
  },
  providerOptions: { service_tier: 'flex' },
});
-- agents/models/spare.json
{"name": "spare", "provider": "anthropic", "model": "claude:1", "fallbacks": ["last", "ollama:llama"]}
-- agents/models/last.json
{"name": "last", "provider": "gemini", "model": "pro"}"#;

#[test]
fn a_prompt_s_model_is_a_defined_name_or_provider_and_model() {
    assert_eq!(
        asked(MODELS, "fast"),
        ["openai:gpt-5-mini", "anthropic:claude:1", "ollama:llama", "gemini:pro"],
        "its own fallbacks first, then theirs, none twice"
    );
    assert_eq!(asked(MODELS, "last"), ["gemini:pro"]);
    assert_eq!(asked(MODELS, "openai:gpt-5"), ["openai:gpt-5"]);
}

#[test]
fn what_a_model_s_provider_is_told_goes_with_the_prompt_and_the_rest_is_kept() {
    let agent = with_models(MODELS, "fast").team.agents["a"].clone();
    assert_eq!(json!(agent.side_a.prompt.provider_options), json!({"service_tier": "flex"}));
    assert_eq!(
        agent.extra["sideA"]["prompt"]["model"],
        json!({
            "name": "fast", "inputPrice": 0.25, "outputPrice": 2, "cachedPrice": 0,
            "capabilities": {
                "supportsImages": true, "supportsToolCalls": true, "supportsStreaming": true,
                "supportsJsonMode": false, "maxContextTokens": 400_000, "maxOutputTokens": 128_000,
                "reasoningLevels": {"0": "low", "100": "high"},
            },
        })
    );
}

#[test]
fn what_a_model_says_and_nobody_heeds_is_told_and_kept() {
    let model = r#"-- agents/models/m.json
{"name": "m", "provider": "openai", "model": "gpt-5", "includedProviders": ["azure"], "providerTools": ["web_search"],
 "capabilities": {"supportsToolCalls": false, "supportsStreaming": false, "supportsImages": false}}"#;
    let loaded = with_models(model, "m");
    let told = |key: &str, place: &str| {
        format!(
            "warning[D009]: `{key}` is not supported yet and has no effect at agents/models/m.json:{place}; leave it for \
             other runtimes if the agent can do without it here, or remove it"
        )
    };
    assert_eq!(
        lines(&loaded),
        [
            told("includedProviders", "1:55"),
            told("providerTools", "1:87"),
            told("capabilities.supportsToolCalls: false", "2:19"),
            told("capabilities.supportsStreaming: false", "2:47"),
        ]
    );
    let kept = &loaded.team.agents["a"].extra["sideA"]["prompt"]["model"];
    assert_eq!((&kept["includedProviders"], &kept["providerTools"]), (&json!(["azure"]), &json!(["web_search"])));
}

#[test]
fn a_model_that_nobody_declares_is_an_error_with_the_nearest_name() {
    let told = |models: &str, name: &str| lines(&with_models(models, name));
    assert_eq!(
        told(MODELS, "fats"),
        [
            "error[D031]: prompt `p` uses model `fats`, which is neither declared nor written `provider:model` at agents/prompts/p.json:1:29; did you mean `fast`?"
        ]
    );
    assert_eq!(
        told("", "gpt-5"),
        [
            "error[D031]: prompt `p` uses model `gpt-5`, which is neither declared nor written `provider:model` at agents/prompts/p.json:1:29; write `provider:model`, or add it to `agents/models`"
        ]
    );
}

#[test]
fn fallbacks_must_exist_and_not_lead_back() {
    check(
        r#"
-- agents/models/a.json
{"name": "a", "provider": "openai", "model": "m", "fallbacks": ["b"]}
-- agents/models/b.json
{"name": "b", "provider": "openai", "model": "m", "fallbacks": ["c", "nobody"]}
-- agents/models/c.json
{"name": "c", "provider": "openai", "model": "m", "fallbacks": ["x:y", "a"]}
-- agents/models/d.json
{"name": "d", "provider": "openai", "model": "m", "fallbacks": ["d"]}
"#,
        &[
            "error[D031]: model `b` uses model `nobody`, which is neither declared nor written `provider:model` at agents/models/b.json:1:70; write `provider:model`, or add it to `agents/models`; the nearest name is `b`",
            "error[D032]: model `c` falls back to itself, by way of `a` → `b` → `c` at agents/models/c.json:1:72; remove one of these fallbacks",
            "error[D032]: model `d` falls back to itself, by way of `d` at agents/models/d.json:1:65; remove one of these fallbacks",
        ],
    );
}

#[test]
fn a_long_row_of_fallbacks_ends() {
    let link = |index: usize| {
        let next = index + 1;
        format!(
            "-- agents/models/{index:05}.json\n{{\"name\": \"{index:05}\", \"provider\": \"openai\", \"model\": \"m{index}\", \"fallbacks\": [\"{next:05}\"]}}\n"
        )
    };
    let row = |count: usize| {
        let links: String = (0..count).map(link).collect();
        lines(&project(&format!(
            "{links}-- agents/models/{count:05}.json\n{{\"name\": \"{count:05}\", \"provider\": \"openai\", \"model\": \"m\"}}\n"
        )))
    };
    assert_eq!(row(32), [""; 0]);
    let told = row(2000);
    assert_eq!(told.len(), 2000 - 32);
    assert_eq!(
        told[0],
        "error[D032]: model `00000` falls back to more than 32 others, directly or by way of them at agents/models/00000.json:1:2; let models fall back to fewer others"
    );
}

#[test]
fn whoever_needs_a_broken_model_is_left_out() {
    check(
        r#"
-- agents/models/m.json
{"name": "m", "provider": "a:b", "inputPrice": -1, "capabilities": {"supportsImages": 1}, "fallbacks": [2]}
-- agents/models/n.ts
export default { name: 'n', provider: () => null, model: 'x' };
-- agents/agents/a.json
{"name": "a", "sideA": {"prompt": "p"}}
-- agents/prompts/p.json
{"name": "p", "prompt": "", "model": "m"}
"#,
        &[
            "error[D005]: `model` is missing at agents/models/m.json:1:1; add `model`",
            "error[D006]: `provider` must be a provider's name, or one of `@standardagents/…`, not the string `a:b` at agents/models/m.json:1:15; write a provider's name, or one of `@standardagents/…`",
            "error[D006]: `inputPrice` must be a number that is not negative, not `-1` at agents/models/m.json:1:34; write a number that is not negative",
            "error[D006]: `capabilities.supportsImages` must be `true` or `false`, not `1` at agents/models/m.json:1:69; write `true` or `false`",
            "error[D006]: `fallbacks[0]` must be a string that is not blank, not `2` at agents/models/m.json:1:105; write a string that is not blank",
            "error[D006]: `provider` must be a provider's name, or one of `@standardagents/…`, not a function at agents/models/n.ts:1:29; write a provider's name, or one of `@standardagents/…`",
        ],
    );
}

#[test]
fn a_definition_with_a_provider_that_nobody_knows_is_broken_at_its_key_used_or_not() {
    let used = r#"
-- agents/agents/a.json
{"name": "a", "sideA": {"prompt": "p"}}
-- agents/prompts/p.json
{"name": "p", "prompt": "", "model": "big"}
"#;
    let definition = |provider: &str| {
        format!("-- agents/models/big.json\n{{\"name\": \"big\",\n \"provider\": \"{provider}\", \"model\": \"m\"}}\n")
    };
    let wrong = "error[D131]: `provider` is `opnai`, which is no provider here at agents/models/big.json:2:2; did you mean `openai`?";
    check(&format!("\n{}", definition("opnai")), &[wrong]);
    check(&format!("{used}{}", definition("opnai")), &[wrong]);
    // Other runtimes have providers of their own.
    check(
        &format!("{used}{}", definition("openrouter")),
        &[
            "warning[D096]: `provider` is `openrouter`, which is no provider here at agents/models/big.json:2:2; providers are `openai`, `anthropic`, `gemini`, `ollama`, `script`; the nearest name is `openai`",
        ],
    );
}

#[test]
fn a_prompts_model_of_a_provider_that_nobody_knows_is_an_error() {
    let with = |model: &str| {
        format!(
            "-- agents/agents/a.json\n{{\"name\": \"a\", \"sideA\": {{\"prompt\": \"p\"}}}}\n\
             -- agents/prompts/p.json\n{{\"name\": \"p\", \"prompt\": \"\", \"model\": \"{model}\"}}\n"
        )
    };
    let slip = "error[D131]: prompt `p` uses a model of `opnai`, which is no provider here at agents/prompts/p.json:1:29; did you mean `openai`?";
    check(&with("opnai:gpt-5"), &[slip]);
    assert_eq!(names(&project(&with("opnai:gpt-5"))), [""; 0]);
    // Other runtimes have providers of their own.
    let elsewhere = "warning[D096]: prompt `p` uses a model of `openrouter`, which is no provider here at agents/prompts/p.json:1:29; providers are `openai`, `anthropic`, `gemini`, `ollama`, `script`; the nearest name is `openai`";
    check(&with("openrouter:big"), &[elsewhere]);
    assert_eq!(names(&project(&with("openrouter:big"))), ["a"]);
}
