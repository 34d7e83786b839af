//! The state of a running tool: what it reads from the facts, what it asks for, and with which words.

use crate::Only;
use async_trait::async_trait;
use entourage_script::{Door, Fault, Limits, NoMemory, call, evaluate};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

type Answer = fn(&str, &Value) -> Result<Value, String>;

/// A door that notes what it is asked.
struct Notes {
    facts: Value,
    answer: Answer,
    asked: Mutex<Vec<Value>>,
}

#[async_trait]
impl Door for Notes {
    fn facts(&self) -> Value {
        self.facts.clone()
    }

    async fn ask(&self, method: &str, arguments: Value) -> Result<Value, String> {
        self.asked.lock().expect("nobody panics here").push(json!([method, arguments]));
        (self.answer)(method, &arguments)
    }
}

fn facts() -> Value {
    json!({
        "threadId": "t-1", "agentId": "writer", "userId": null, "createdAt": 5, "terminated": null,
        "children": [{"reference": "c-1", "name": "helper", "status": "idle"}],
        "arguments": {"topic": "x"}, "context": {"k": 1}, "env": {"REGION": "north"},
        "agentNames": ["writer"], "promptNames": ["p"], "modelNames": [],
    })
}

/// Runs a tool whose whole definition is given; gives its result and what it asked for.
async fn run_tool(definition: &str, arguments: Value, answer: Answer) -> (Result<Value, Fault>, Vec<Value>) {
    let program = evaluate("definition.ts", &Only(definition), &NoMemory).expect(definition).program;
    let notes = Arc::new(Notes { facts: facts(), answer, asked: Mutex::default() });
    let door: Arc<dyn Door> = Arc::clone(&notes) as _;
    let result = call(&program, "execute", arguments, door, Limits::DEFINITION).await;
    let asked = notes.asked.lock().expect("nobody panics here").clone();
    (result, asked)
}

/// Runs the body of a tool.
async fn run(body: &str, answer: Answer) -> (Result<Value, Fault>, Vec<Value>) {
    run_tool(
        &format!("export default {{ execute: async (state: any, args: any) => {{ {body} }} }};"),
        json!({}),
        answer,
    )
    .await
}

fn nothing(_: &str, _: &Value) -> Result<Value, String> {
    Ok(Value::Null)
}

/// Each expression is awaited; it should ask exactly this and then give that.
async fn check(cases: &[(&str, Value, Value)], answer: Answer) {
    for (expression, asked, given) in cases {
        let (result, notes) = run(&format!("return (await {expression}) ?? null;"), answer).await;
        assert_eq!(result.as_ref(), Ok(given), "{expression}");
        assert_eq!(&Value::Array(notes), asked, "{expression}");
    }
}

#[tokio::test]
async fn what_is_constant_is_read_from_the_facts() {
    let nothing_asked = json!([]);
    let cases = [
        ("state.threadId", json!("t-1")),
        ("state.agentId", json!("writer")),
        ("state.userId", json!(null)),
        ("state.createdAt", json!(5)),
        ("state.terminated", json!(null)),
        ("state.arguments", json!({"topic": "x"})),
        ("state.context", json!({"k": 1})),
        ("state.execution", json!(null)),
        ("state.children.map((child: any) => child.reference)", json!(["c-1"])),
        ("state.env('REGION')", json!("north")),
        ("state.env('REGION').length", json!(5)),
        ("state.getAgentNames()", json!(["writer"])),
        ("state.getPromptNames()", json!(["p"])),
        ("state.getModelNames()", json!([])),
    ]
    .map(|(expression, given)| (expression, nothing_asked.clone(), given));
    check(&cases, nothing).await;
}

#[tokio::test]
async fn a_missing_variable_is_thrown_at_once() {
    let body = "try { state.env('NONE'); } catch (error: any) { return error.message; }";
    assert_eq!(run(body, nothing).await.0, Ok(json!("The variable `NONE` is not set for this thread")));
    // What every object has is not a variable.
    let body = "try { state.env('constructor'); } catch { return 'thrown'; }";
    assert_eq!(run(body, nothing).await.0, Ok(json!("thrown")));
}

#[tokio::test]
async fn a_variable_that_was_set_is_read_back() {
    let body = "await state.setEnv('NEW', 'v', { type: 'text' }); return state.env('NEW');";
    let (result, asked) = run(body, nothing).await;
    assert_eq!(result, Ok(json!("v")));
    assert_eq!(asked, [json!(["setEnv", {"name": "NEW", "value": "v", "type": "text"}])]);
}

#[tokio::test]
async fn methods_ask_in_the_words_of_the_protocol() {
    let null = json!(null);
    let cases: Vec<(&str, Value, Value)> = [
        ("state.getMessage('m')", json!(["getMessage", {"id": "m"}])),
        (
            "state.injectMessage({ role: 'system', content: 'x' })",
            json!(["injectMessage", {"message": {"role": "system", "content": "x"}}]),
        ),
        (
            "state.updateMessage('m', { content: 'y' })",
            json!(["updateMessage", {"id": "m", "updates": {"content": "y"}}]),
        ),
        ("state.deleteMessage('m')", json!(["deleteMessage", {"id": "m"}])),
        (
            "state.queueMessage({ role: 'user', content: 'x' })",
            json!(["queueMessage", {"message": {"role": "user", "content": "x"}}]),
        ),
        ("state.notifyParent('x')", json!(["notifyParent", {"content": "x"}])),
        ("state.setStatus('x')", json!(["setStatus", {"status": "x"}])),
        ("state.stopSession()", json!(["stopSession", {"result": null, "status": null, "notifyParent": null}])),
        (
            "state.stopSession({ result: 'r' })",
            json!(["stopSession", {"result": "r", "status": null, "notifyParent": null}]),
        ),
        ("state.getChildThread('c-9')", json!(["getChildThread", {"reference": "c-9"}])),
        ("state.getParentThread()", json!(["getParentThread", {}])),
        ("state.getValue('k')", json!(["getValue", {"key": "k"}])),
        ("state.setValue('k', { a: 1 })", json!(["setValue", {"key": "k", "value": {"a": 1}}])),
        ("state.statFile('/a')", json!(["statFile", {"path": "/a"}])),
        ("state.unlinkFile('/a')", json!(["unlinkFile", {"path": "/a"}])),
        ("state.mkdirFile('/a')", json!(["mkdirFile", {"path": "/a"}])),
        ("state.rmdirFile('/a')", json!(["rmdirFile", {"path": "/a"}])),
        ("state.moveFile('/a', '/b')", json!(["moveFile", {"from": "/a", "to": "/b"}])),
        ("state.renameFile('/a', '/b')", json!(["moveFile", {"from": "/a", "to": "/b"}])),
        ("state.findFiles('*.md', { limit: 5 })", json!(["findFiles", {"pattern": "*.md", "limit": 5}])),
        ("state.grepFiles(/a+/, { path: '/x' })", json!(["grepFiles", {"pattern": "a+", "path": "/x"}])),
        ("state.grepFiles(/a+/i)", json!(["grepFiles", {"pattern": "a+", "ignoreCase": true}])),
        ("state.getFileStats()", json!(["getFileStats", {}])),
        ("state.invokeTool('t', { a: 1 })", json!(["invokeTool", {"name": "t", "arguments": {"a": 1}}])),
        ("state.queueTool('t')", json!(["queueTool", {"name": "t", "arguments": {}}])),
        ("state.emit('e', { a: 1 })", json!(["emit", {"event": "e", "data": {"a": 1}}])),
        ("state.loadAgent('a')", json!(["loadAgent", {"name": "a"}])),
        ("state.loadPrompt('a')", json!(["loadPrompt", {"name": "a"}])),
        ("state.loadModel('a')", json!(["loadModel", {"name": "a"}])),
        ("state.terminate()", json!(["terminate", {}])),
    ]
    .into_iter()
    .map(|(expression, asked)| (expression, json!([asked]), null.clone()))
    .collect();
    check(&cases, nothing).await;
}

#[tokio::test]
async fn files_are_written_as_text_or_as_base64() {
    let write = |content: Value| {
        let mut arguments = json!({"path": "/f", "mimeType": null, "metadata": null});
        arguments.as_object_mut().expect("an object").extend(content.as_object().expect("an object").clone());
        json!([["writeFile", arguments]])
    };
    let cases = [
        ("state.writeFile('/f', 'héllo')", write(json!({"text": "héllo"})), json!(null)),
        (
            "state.writeFile('/f', 'x', 'text/plain', { a: 1 })",
            write(json!({"text": "x", "mimeType": "text/plain", "metadata": {"a": 1}})),
            json!(null),
        ),
        ("state.writeFile('/f', new Uint8Array([1, 2, 255]))", write(json!({"base64": "AQL/"})), json!(null)),
        ("state.writeFile('/f', new Uint8Array([1, 2, 255]).buffer)", write(json!({"base64": "AQL/"})), json!(null)),
        (
            "state.writeFile('/f', new Uint8Array([0, 1, 2, 255]).subarray(1))",
            write(json!({"base64": "AQL/"})),
            json!(null),
        ),
        ("state.writeFile('/f', { base64: 'AQL/' })", write(json!({"base64": "AQL/"})), json!(null)),
        ("state.writeFile('/f', { data: 'AQL/', encoding: 'base64' })", write(json!({"base64": "AQL/"})), json!(null)),
    ];
    check(&cases, nothing).await;
    let body = "try { await state.writeFile('/f', 5); } catch (error: any) { return error.message; }";
    let (result, asked) = run(body, nothing).await;
    assert!(result.expect("it was caught").as_str().is_some_and(|why| why.contains("takes a string")));
    assert!(asked.is_empty());
}

#[tokio::test]
async fn files_are_read_as_what_they_are_or_as_asked() {
    fn answer(_: &str, arguments: &Value) -> Result<Value, String> {
        Ok(match (arguments["path"].as_str(), arguments["as"].as_str()) {
            (Some("/none"), _) => Value::Null,
            (Some("/text"), Some("auto" | "text")) => json!({"text": "héllo"}),
            (_, Some("text")) => json!({"text": "as text"}),
            _ => json!({"base64": "AQL/"}),
        })
    }
    for (expression, as_, given) in [
        ("state.readFile('/none')", "auto", json!(null)),
        ("state.readFile('/text')", "auto", json!("héllo")),
        ("new TextDecoder().decode(await state.readFile('/text'))", "auto", json!("héllo")),
        (
            "state.readFile('/image').then((bytes: any) => [bytes instanceof Uint8Array, ...bytes])",
            "auto",
            json!([true, 1, 2, 255]),
        ),
        ("state.readFile('/image', 'utf8')", "text", json!("as text")),
        ("state.readFile('/image', { encoding: 'utf-8' })", "text", json!("as text")),
        ("state.readFile('/text', 'bytes').then((bytes: any) => [...bytes])", "bytes", json!([1, 2, 255])),
        ("state.readFile('/text', 'base64')", "bytes", json!("AQL/")),
    ] {
        let (result, asked) = run(&format!("return await {expression};"), answer).await;
        assert_eq!(result, Ok(given), "{expression}");
        assert_eq!(
            (asked.len(), &asked[0][0], &asked[0][1]["as"]),
            (1, &json!("readFile"), &json!(as_)),
            "{expression}"
        );
    }
}

#[tokio::test]
async fn lists_have_the_members_of_the_specification_too() {
    fn answer(method: &str, _: &Value) -> Result<Value, String> {
        Ok(match method {
            "getMessages" => json!({"messages": [{"id": "m"}], "total": 7, "hasMore": true}),
            _ => json!([{"path": "/a"}]),
        })
    }
    let messages = json!([["getMessages", {}]]);
    let folder = json!([["readdirFile", {"path": "/"}]]);
    check(
        &[
            ("state.getMessages()", messages.clone(), json!([{"id": "m"}])),
            (
                "state.getMessages().then((page: any) => [page.messages[0].id, page.total, page.hasMore])",
                messages,
                json!(["m", 7, true]),
            ),
            ("state.getMessages({ limit: 1 })", json!([["getMessages", {"limit": 1}]]), json!([{"id": "m"}])),
            ("state.readdirFile()", folder.clone(), json!([{"path": "/a"}])),
            ("state.readdirFile('/').then(({ entries }: any) => entries.length)", folder, json!(1)),
        ],
        answer,
    )
    .await;
}

#[tokio::test]
async fn another_thread_is_asked_by_its_id() {
    fn answer(method: &str, arguments: &Value) -> Result<Value, String> {
        Ok(match method {
            "getChildThread" if arguments["reference"] == "c-1" => {
                json!({"threadId": "c-1", "agentId": "helper", "env": {"X": "y"}})
            }
            "getParentThread" => json!({"threadId": "t-1", "agentId": "writer"}),
            _ => Value::Null,
        })
    }
    let body = "const child = await state.getChildThread('c-1');
await child.queueMessage({ role: 'user', content: 'x' });
const parent = await child.getParentThread();
await parent.setStatus('s');
return [child.threadId, child.env('X'), child.children, parent.agentId, await state.getChildThread('stranger')];";
    let (result, asked) = run(body, answer).await;
    assert_eq!(result, Ok(json!(["c-1", "y", [], "writer", null])));
    assert_eq!(
        asked,
        [
            json!(["getChildThread", {"reference": "c-1"}]),
            json!(["queueMessage", {"message": {"role": "user", "content": "x"}, "thread": "c-1"}]),
            json!(["getParentThread", {"thread": "c-1"}]),
            json!(["setStatus", {"status": "s", "thread": "t-1"}]),
            json!(["getChildThread", {"reference": "stranger"}]),
        ]
    );
}

#[tokio::test]
async fn a_refusal_is_thrown_where_it_was_awaited_and_fails_the_tool_where_it_was_not() {
    fn refuse(_: &str, _: &Value) -> Result<Value, String> {
        Err("no such tool `t`".to_owned())
    }
    let body = "try { await state.invokeTool('t'); } catch (error: any) { return error.message; }";
    assert_eq!(run(body, refuse).await.0, Ok(json!("no such tool `t`")));
    for body in ["state.queueTool('t'); return 'done';", "state.emit('e'); return 'done';"] {
        let fault = run(body, refuse).await.0.expect_err("it was refused");
        assert_eq!(fault.what, "no such tool `t`", "{body}");
    }
}

#[tokio::test]
async fn a_tool_that_cannot_be_queued_is_thrown_on_the_spot() {
    fn refuse(method: &str, _: &Value) -> Result<Value, String> {
        if method == "queueTool" { Err("no such tool `t`".to_owned()) } else { Ok(json!(method)) }
    }
    for body in [
        "try { state.queueTool('t'); } catch (error: any) { return error.message; }",
        "try { await state.queueTool('t'); } catch (error: any) { return error.message; }",
        // What was asked for before is not lost while it waits.
        "const before = state.getValue('k');
         try { state.queueTool('t'); } catch (error: any) { return (await before) === 'getValue' && error.message; }",
    ] {
        assert_eq!(run(body, refuse).await.0, Ok(json!("no such tool `t`")), "{body}");
    }
    let body = "return await state.emit('e').catch(() => 'no') ?? state.queueTool('t') ?? 'queued';";
    assert_eq!(run(body, nothing).await.0, Ok(json!("queued")));
}

#[tokio::test]
async fn what_was_queued_happens_before_the_tool_counts_as_done() {
    let (result, asked) = run("state.queueTool('t', { a: 1 }); state.emit('e'); return 'done';", nothing).await;
    assert_eq!(result, Ok(json!("done")));
    assert_eq!(
        asked,
        [json!(["queueTool", {"name": "t", "arguments": {"a": 1}}]), json!(["emit", {"event": "e", "data": null}])]
    );
}

#[tokio::test]
async fn terminate_gives_the_moment() {
    fn answer(_: &str, _: &Value) -> Result<Value, String> {
        Ok(json!(99))
    }
    assert_eq!(run("await state.terminate(); return state.terminated;", answer).await.0, Ok(json!(99)));
}

#[tokio::test]
async fn what_is_not_offered_says_so() {
    let body = "try { state.runCode('1'); } catch (error: any) { return error.message; }";
    assert_eq!(run(body, nothing).await.0, Ok(json!("`state.runCode` is not offered here")));
}

const TYPED: &str = "import { defineTool } from '@standardagents/spec';
import { z } from 'zod';
export default defineTool({
  description: 'd',
  args: z.object({
    name: z.string().trim(),
    count: z.number().default(3),
    when: z.date().optional(),
    big: z.bigint().optional(),
    tags: z.set(z.string()).optional(),
    pairs: z.map(z.string(), z.number()).optional(),
    kind: z.literal(5n).optional(),
  }),
  execute: async (state, args) => ({
    ...args,
    when: args.when && args.when.getTime(),
    big: args.big && typeof args.big,
    tags: args.tags && [...args.tags],
    pairs: args.pairs && args.pairs.get('a'),
    kind: typeof args.kind,
  }),
});";

#[tokio::test]
async fn arguments_reach_the_tool_as_its_schema_makes_them() {
    let (result, _) = run_tool(TYPED, json!({"name": " a ", "unknown": 1}), nothing).await;
    assert_eq!(result, Ok(json!({"name": "a", "count": 3, "kind": "undefined"})));
}

#[tokio::test]
async fn what_json_cannot_hold_is_read_from_the_form_that_the_schema_asked_for() {
    let sent = json!({
        "name": "a", "when": "1970-01-01T00:00:01Z", "big": 5, "tags": ["x", "x"], "pairs": [["a", 1]], "kind": 5,
    });
    let (result, _) = run_tool(TYPED, sent, nothing).await;
    let wanted =
        json!({"name": "a", "count": 3, "when": 1000, "big": "bigint", "tags": ["x"], "pairs": 1, "kind": "bigint"});
    assert_eq!(result, Ok(wanted));
}

#[tokio::test]
async fn arguments_that_do_not_fit_fail_the_tool_and_name_each_fault() {
    let (result, asked) = run_tool(TYPED, json!({"name": 5, "count": "x"}), nothing).await;
    let fault = result.expect_err("they do not fit");
    assert!(fault.what.contains("[name] Invalid input: expected string, received number"), "{fault}");
    assert!(fault.what.contains("[count] Invalid input: expected number, received string"), "{fault}");
    assert!(asked.is_empty());
}

#[tokio::test]
async fn the_functions_of_the_builder_act_on_the_state() {
    let definition =
        "import { queueTool, injectMessage, getMessages, invokeTool, emitThreadEvent } from '@standardagents/builder';
export default { execute: async (state) => {
  queueTool(state, 't', { a: 1 });
  await injectMessage(state, { role: 'user', content: 'x' });
  await invokeTool(state, 'u', {});
  await emitThreadEvent(state, 'e', 1);
} };";
    let (result, asked) = run_tool(definition, json!({}), nothing).await;
    assert_eq!(result, Ok(Value::Null));
    let methods: Vec<_> = asked.iter().map(|each| each[0].as_str().expect("a name")).collect();
    assert_eq!(methods, ["queueTool", "injectMessage", "invokeTool", "emit"]);
}
