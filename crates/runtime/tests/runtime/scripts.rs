//! Tools that a team brings along as code: what they are given, what they read and what they leave behind.

use crate::dex;
use crate::smithy::{PROBE, probe, result, stage, team, user_of};
use crate::stage::{Stage, by_turn};
use entourage_model::{
    Agent, ChildEntry, Dialect, Limits, Role, Team, ThreadStatus, ToolConfig, ToolEntry, ToolStatus, Variable,
    VariableValue,
};
use entourage_testkit::{Reply, cast};
use serde_json::{Value, json};
use std::sync::Arc;

/// Each body gives this text; what throws gives a text that is not among them.
async fn check(cases: &[(&str, &str)]) {
    for (body, expected) in cases {
        let message = probe(body).await;
        assert_eq!((message.content.as_str(), message.tool_status), (*expected, Some(ToolStatus::Success)), "{body}");
    }
}

#[tokio::test]
async fn a_result_is_a_text_or_json_or_says_itself_how_it_went() {
    check(&[
        ("return 'plain';", "plain"),
        ("return { a: 1 };", "{\n  \"a\": 1\n}"),
        ("return undefined;", "Done."),
        ("return { status: 'success', result: 'well' };", "well"),
        ("return `${args.count + 1}`;", "4"),
    ])
    .await;
    let failed = probe("return { status: 'error', error: 'no city' };").await;
    assert_eq!((failed.content.as_str(), failed.tool_status), ("no city", Some(ToolStatus::Error)));
}

#[tokio::test]
async fn a_tool_knows_its_thread() {
    check(&[
        ("return [state.agentId, state.userId, state.terminated, state.arguments].join();", "boss,,,"),
        ("return [typeof state.threadId, typeof state.createdAt, state.children.length].join();", "string,number,0"),
        ("return state.getAgentNames().join();", "boss"),
        ("return (await state.loadAgent('boss')).name + (await state.loadAgent('nobody'));", "bossnull"),
        ("return (await state.loadPrompt('boss')).name;", "boss"),
        ("return (await state.loadModel('openai:fake')).provider;", "openai"),
        ("return String(await state.getParentThread()) + await state.getChildThread('nobody');", "nullnull"),
        ("await state.notifyParent('nobody is there'); await state.setStatus('busy'); return 'fine';", "fine"),
    ])
    .await;
}

#[tokio::test]
async fn variables_are_read_in_their_order_and_at_once_when_they_are_set() {
    check(&[
        ("return state.env('REGION');", "north"),
        ("await state.setEnv('REGION', 'east'); return state.env('REGION');", "east"),
        (
            "try { state.env('NOPE'); } catch (error) { return error.message.includes('NOPE') ? 'threw' : 'no'; }",
            "threw",
        ),
    ])
    .await;
    let mut stage = stage("return state.env('REGION') + state.env('X');").await;
    stage.variables.insert("X".to_owned(), VariableValue::text("1"));
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    assert_eq!(result(&stage, thread).await.content, "north1");
}

#[tokio::test]
async fn what_a_tool_sets_is_there_for_the_next_call_and_secrets_stay_secrets() {
    let body = "const n = ((await state.getValue('n')) ?? 0) + 1; await state.setValue('n', n);
        await state.setEnv('TOKEN', 'hunter2'); await state.setEnv('PIN', '7', { type: 'secret' });
        await state.setEnv('X', 'x'); await state.setValue('gone', 1); await state.setValue('gone', null);
        return `${n}`;";
    let mut stage = stage(body).await;
    let turns = vec![Reply::call(PROBE, json!({})), Reply::call(PROBE, json!({})), Reply::text("over")];
    stage = replay(stage, turns).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    assert_eq!(stage.texts(thread, Role::Tool).await, ["1", "2"]);
    let state = stage.runtime.state(thread).await.unwrap().unwrap();
    assert_eq!(state.values.clone().into_iter().collect::<Vec<_>>(), [("n".to_owned(), json!(2))]);
    let held: Vec<_> = state.variables.iter().map(|(name, held)| (name.as_str(), held.is_secret())).collect();
    assert_eq!(held, [("PIN", true), ("TOKEN", true), ("X", false)]);
    assert!(!format!("{:?}", state.variables).contains("hunter2"));
}

/// The same tools with other answers of the model.
async fn replay(stage: Stage, turns: Vec<Reply>) -> Stage {
    let team = stage.team.clone();
    let mut stage = Stage::new(Vec::new(), by_turn(vec![("boss", turns)])).await;
    stage.team = team;
    stage
}

#[tokio::test]
async fn messages_are_read_as_everybody_is_shown_them() {
    let body = "const all = await state.getMessages({ includeSilent: true });
        await state.injectMessage({ role: 'system', content: 'hush', silent: true });
        const people = await state.getMessages();
        const page = await state.getMessages({ limit: 1, offset: 1, order: 'desc', includeSilent: true });
        return { all: all.map((m) => [m.seq, m.role, m.content]), people: people.length, total: page.total,
            page: page.map((m) => m.role), more: page.hasMore, calls: all[1].tool_calls.map((c) => c.name) };";
    let message = probe(body).await;
    let read: Value = serde_json::from_str(&message.content).unwrap();
    let expected = json!({
        "all": [[3, "user", "go"], [4, "assistant", ""]],
        "people": 2, "total": 3, "page": ["assistant"], "more": true, "calls": [PROBE],
    });
    assert_eq!(read, expected);
}

#[tokio::test]
async fn messages_are_put_in_put_right_and_taken_out() {
    let body = "const slip = await state.injectMessage({ role: 'user', content: 'a slip' });
        const note = await state.injectMessage({ role: 'system', content: 'draft', metadata: { by: 'probe' } });
        await state.updateMessage(note.id, { content: 'final' });
        const first = (await state.getMessages())[0];
        await state.updateMessage(first.id, { content: 'go on' });
        return [await state.deleteMessage(slip.id), await state.deleteMessage(slip.id),
            (await state.getMessage(note.id)).content, (await state.getMessage(note.id)).seq,
            await state.getMessage(slip.id)].join();";
    let stage = stage(body).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    assert_eq!(result(&stage, thread).await.content, "true,false,final,,");
    let state = stage.runtime.state(thread).await.unwrap().unwrap();
    let said: Vec<_> = state.transcript.iter().map(|m| (m.role, m.content.as_str())).collect();
    assert_eq!(
        said,
        [
            (Role::User, "go on"),
            (Role::Assistant, ""),
            (Role::System, "final"),
            (Role::Tool, "true,false,final,,"),
            (Role::Assistant, "over")
        ]
    );
    let asked = stage.asked("boss");
    assert_eq!(asked[1].texts("user"), ["go on"], "the model reads the new words");
}

#[tokio::test]
async fn files_are_written_read_moved_and_found() {
    check(&[
        ("await state.writeFile('/a.txt', 'hi'); return await state.readFile('/a.txt');", "hi"),
        ("return String(await state.readFile('/nope'));", "null"),
        (
            "await state.writeFile('/b.bin', new Uint8Array([0, 255])); const b = await state.readFile('/b.bin');
             return [b instanceof Uint8Array, b[1], await state.readFile('/b.bin', 'base64')].join();",
            "true,255,AP8=",
        ),
        (
            "const f = await state.writeFile('/d/x.md', 'x'); const s = await state.statFile('/d');
             return [f.path, f.name, f.mimeType, f.size, f.isDirectory, s.isDirectory, await state.statFile('/q')].join();",
            "/d/x.md,x.md,text/markdown,1,false,true,",
        ),
        (
            "for (const p of ['/a', '/d/x', '/d/e/y']) await state.writeFile(p, p);
             const name = (f) => f.name; const at = async (p) => (await state.readdirFile(p)).map(name).join('+');
             return [await at('/'), await at('/d'), await at('/nope')].join();",
            "a+d,e+x,",
        ),
        (
            "await state.writeFile('/d/x', '1'); await state.writeFile('/d/y', '2'); await state.moveFile('/d', '/e');
             await state.renameFile('/e/x', '/z'); await state.unlinkFile('/e/y'); await state.mkdirFile('/m');
             await state.rmdirFile('/m'); return [await state.readFile('/z'), (await state.getFileStats()).files].join();",
            "1,1",
        ),
        (
            "await state.writeFile('/d/x.md', 'one\\ntwo'); await state.writeFile('/y.txt', 'Two');
             const f = (await state.findFiles('*.md')).map((f) => f.path);
             const g = (await state.grepFiles('t.o', { ignoreCase: true })).map((g) => g.path + g.line + g.content);
             return [...f, ...g].join();",
            "/d/x.md,/d/x.md2two,/y.txt1Two",
        ),
    ])
    .await;
}

#[tokio::test]
async fn what_is_said_about_a_file_stays_with_it() {
    let body = "const said = (file) => JSON.stringify(file.metadata ?? null);
        const kept = await state.writeFile('/d/x', '1', 'text/x', { by: 'probe' }); await state.writeFile('/d/y', '2');
        const listed = (await state.readdirFile('/d')).map(said).join('+');
        await state.moveFile('/d', '/e');
        const moved = [await state.statFile('/e/x'), ...(await state.findFiles('y'))].map(said).join('+');
        await state.writeFile('/e/x', '3'); await state.writeFile('/e/y', '', null, { n: 1 }); await state.unlinkFile('/e/y');
        await state.writeFile('/e/y', 'again');
        let refused; try { await state.getValue('\\0file:/e/x'); } catch (error) { refused = error.message; }
        return [said(kept), listed, moved, said(await state.statFile('/e/x')), said(await state.statFile('/e/y')), refused].join('|');";
    check(&[(
        body,
        r#"{"by":"probe"}|{"by":"probe"}+null|{"by":"probe"}+null|null|null|the key of a value begins with a NUL"#,
    )])
    .await;
    let stage = stage("await state.writeFile('/x', '1', null, { by: 'probe' }); return 'kept';").await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    assert_eq!(stage.runtime.state(thread).await.unwrap().unwrap().values.len(), 1, "it is durable with the file");
    let stage =
        crate::smithy::stage("await state.writeFile('/x', '1', null, { by: 'probe' }); await state.unlinkFile('/x');")
            .await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    assert_eq!(stage.runtime.state(thread).await.unwrap().unwrap().values.len(), 0, "and goes with it");
}

#[tokio::test]
async fn what_a_tool_may_not_do_with_files_is_thrown_at_it() {
    for (body, why) in [
        ("await state.writeFile('/../a', '');", "not a path of a file"),
        ("await state.writeFile('/a//b', '');", "not a path of a file"),
        ("await state.writeFile('/a', ''); await state.writeFile('/a/b', '');", "is a file, not a folder"),
        ("await state.writeFile('/a/b', ''); await state.writeFile('/a', '');", "is a folder"),
        ("await state.unlinkFile('/a');", "there is no file `/a`"),
        ("await state.moveFile('/a', '/b');", "there is no file `/a`"),
        ("await state.writeFile('/a/b', ''); await state.rmdirFile('/a');", "is not empty"),
        ("await state.grepFiles('(');", "is not a pattern"),
    ] {
        let message = probe(body).await;
        assert_eq!(message.tool_status, Some(ToolStatus::Error), "{body}");
        assert!(message.content.contains(why), "{body}: {}", message.content);
    }
}

#[tokio::test]
async fn files_are_there_after_the_call_and_attachments_are_named_below_the_result() {
    let body = "await state.writeFile('/report.md', '# R'); await state.writeFile('/draft.md', ''); await state.unlinkFile('/draft.md');
        return { status: 'success', result: 'here', attachments: ['/report.md', { name: 'a b.png', mimeType: 'image/png', data: 'aGk=' }] };";
    let stage = stage(body).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let files = stage.store.files(thread).await.unwrap();
    let paths: Vec<_> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths.len(), 2, "{paths:?}");
    assert!(paths[0].starts_with("/attachments/a_b-") && paths[0].ends_with(".png"), "{paths:?}");
    assert_eq!((paths[1], files[0].mime_type.as_str()), ("/report.md", "image/png"));
    assert_eq!(stage.store.blob(files[0].digest).await.unwrap().as_deref(), Some(&b"hi"[..]));
    let message = result(&stage, thread).await;
    assert_eq!(message.content, format!("here\n\n/report.md\n{}", paths[0]));
    let attached: Vec<_> = message.attachments.iter().map(|file| (file.path.as_str(), file.size)).collect();
    assert_eq!(attached, [("/report.md", 3), (paths[0], 2)]);
}

#[tokio::test]
async fn a_tool_calls_other_tools_inside_it() {
    let inner = "await state.setValue('inner', args.count); if (args.count > 1) throw new Error('too much');
        return `inner ${args.count}`;";
    let body = "await state.setValue('outer', 1);
        const good = await state.invokeTool('inner', { count: 1 });
        const bad = await state.invokeTool('inner', { count: 2 });
        const file = await state.invokeTool('read_file', { path: 'note.txt' });
        let refused; try { await state.invokeTool('grep_files', { pattern: 'x' }); } catch (error) { refused = error.message; }
        return [good.status, good.result, bad.status, bad.error.split('\\n')[0], file.result, refused,
            await state.getValue('inner')].join('|');";
    let mut stage = stage(body).await;
    stage.team = team(vec![user_of("boss", &[PROBE])], &[(PROBE, body), ("inner", inner)]);
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    assert_eq!(
        result(&stage, thread).await.content,
        "success|inner 1|error|`inner` failed: too much|the note|there is no tool `grep_files` that could be called here|1"
    );
    assert_eq!(stage.texts(thread, Role::Tool).await.len(), 1, "a call inside a call is no message");
    let values = stage.runtime.state(thread).await.unwrap().unwrap().values.clone();
    assert_eq!(json!(values), json!({"inner": 1, "outer": 1}));
}

#[tokio::test]
async fn what_a_tool_does_through_others_is_part_of_what_its_run_did() {
    let inner = "await state.invokeTool('write_file', { path: `${state.env('TOKEN')}.txt`, content: 'x' }); throw new Error('late');";
    let body = "await state.invokeTool('read_file', { path: 'note.txt' }); await state.invokeTool('inner', {});
        await state.invokeTool('write_file', { path: 'made.txt', content: 'x' });
        if (args.count > 1) throw new Error('too much'); return 'fine';";
    for count in [1, 2] {
        let tools = [PROBE, "inner", "read_file", "write_file"];
        let boss = Agent { dialects: vec![Dialect::Dex], ..user_of("boss", &tools) };
        let mut worker = user_of("worker", &tools);
        "dex".clone_into(&mut worker.source.format);
        let call = json!({"action": "run", "profile": "worker", "task": "go"});
        let brain = by_turn(vec![
            ("boss", vec![Reply::call("subagent", call), Reply::text("over")]),
            ("worker", vec![Reply::call(PROBE, json!({"count": count})), Reply::text("done")]),
        ]);
        let mut stage = Stage::new(Vec::new(), brain).await;
        stage.variables.insert("TOKEN".to_owned(), VariableValue::secret("sesame-open"));
        stage.team = team(vec![boss, worker], &[(PROBE, body), ("inner", inner)]);
        let (thread, _) = stage.create("boss", "go").await;
        stage.settle(thread).await;
        let [run] = dex::runs(&stage, thread).await.try_into().unwrap();
        let result: Value = serde_json::from_str(&run.result.unwrap()).unwrap();
        assert_eq!(result["changes"]["filesRead"], json!(["note.txt"]), "count {count}");
        assert_eq!(result["changes"]["filesChanged"], json!(["[the secret TOKEN].txt", "made.txt"]), "count {count}");
        assert!(stage.path().join("sesame-open.txt").is_file());
    }
}

#[tokio::test]
async fn a_tool_that_says_what_it_uses_is_held_to_it() {
    let body = "const told = []; const attempt = async (run) => { try { await run(); told.push('ok'); } catch (error) { told.push(error.message); } };
        await attempt(() => state.invokeTool('inner', {})); await attempt(() => state.invokeTool('read_file', { path: 'note.txt' }));
        await attempt(() => state.queueTool('other', {})); await attempt(() => state.queueTool('inner', {}));
        return told.join('|');";
    let mut stage = stage(body).await;
    let tools = [(PROBE, body), ("inner", "return 'in';"), ("other", "return 'out';")];
    let mut team = entourage_model::Team::clone(&team(vec![user_of("boss", &[PROBE])], &tools));
    let probe = std::sync::Arc::make_mut(team.tools.get_mut(PROBE).expect("it is there"));
    probe.uses = vec!["inner".into()];
    stage.team = std::sync::Arc::new(team);
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    assert_eq!(
        result(&stage, thread).await.content,
        "ok|`probe` does not list `read_file` among what it `uses`|`probe` does not list `other` among what it `uses`|ok"
    );
    assert_eq!(stage.texts(thread, Role::Tool).await.len(), 2, "what may be queued is called");
}

#[tokio::test]
async fn a_tool_is_given_what_the_prompt_says_about_it() {
    let body = "return JSON.stringify([state.options, state.env('TONE'), state.env('REGION')]);";
    let mut stage = stage(body).await;
    let mut boss = user_of("boss", &[PROBE]);
    let config: ToolConfig =
        serde_json::from_value(json!({"env": {"TONE": "dry"}, "options": {"max": [1]}})).expect("a config");
    boss.side_a.prompt.tool_configs.insert(PROBE.into(), config);
    stage.team = team(vec![boss], &[(PROBE, body)]);
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    assert_eq!(result(&stage, thread).await.content, r#"[{"max":[1]},"dry","north"]"#);
    check(&[("return JSON.stringify(state.options) + state.status;", "{}running")]).await;
}

#[tokio::test]
async fn a_tool_that_cannot_be_queued_or_told_of_is_caught_like_any_error() {
    check(&[
        (
            "try { state.queueTool('nope', {}); } catch (error) { return error.message; }",
            "there is no tool `nope` that could be called here",
        ),
        ("return await state.emit('').catch((error) => error.message);", "the name of an event is empty"),
    ])
    .await;
    let failed = probe("state.emit(''); return 'never mind';").await;
    assert_eq!(failed.tool_status, Some(ToolStatus::Error));
    assert!(failed.content.starts_with("`probe` failed: the name of an event is empty"), "{}", failed.content);
}

#[tokio::test]
async fn tools_that_call_each_other_have_a_limit() {
    let body = "const back = await state.invokeTool('probe', {}); return back.error ?? back.result;";
    assert!(probe(body).await.content.contains("at most 4 deep"));
}

#[tokio::test]
async fn a_queued_tool_runs_behind_the_others_and_its_result_is_a_message() {
    let body = "if (args.count) { state.queueTool('read_file', { path: 'note.txt' }); state.queueTool('probe', {}); return 'first'; }
        return 'second';";
    let stage = stage(body).await;
    let (thread, run) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    assert_eq!(stage.texts(thread, Role::Tool).await, ["first", "the note", "second"]);
    assert_eq!(stage.asked("boss").len(), 2, "the model is asked when all of them have ended");
    assert_eq!(stage.store.run(&run).await.unwrap().unwrap().result.as_deref(), Some("over"));
}

#[tokio::test]
async fn what_is_emitted_is_durable() {
    let stage = stage("state.emit('progress', { done: 1 }); return 'ok';").await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let journal = stage.store.journal(thread, 0, 1000).await.unwrap();
    let emitted = journal.iter().find_map(|stored| match &stored.event {
        entourage_model::Event::Emitted { name, data } => Some((name.clone(), data.clone())),
        _ => None,
    });
    assert_eq!(emitted, Some(("progress".to_owned(), json!({"done": 1}))));
}

#[tokio::test]
async fn a_tool_that_ends_the_session_gives_its_result() {
    for (body, status, expected) in [
        ("await state.stopSession({ result: 'enough' });", ThreadStatus::Idle, Some("enough")),
        ("await state.stopSession();", ThreadStatus::Idle, Some("Session stopped.")),
        ("await state.stopSession({ result: { a: 1 } });", ThreadStatus::Idle, Some("{\n  \"a\": 1\n}")),
        ("await state.stopSession({ result: 'no', status: 'error' });", ThreadStatus::Failed, None),
    ] {
        let stage = stage(body).await;
        let (thread, run) = stage.create("boss", "go").await;
        assert_eq!(stage.settle(thread).await.status, status, "{body}");
        assert_eq!(stage.store.run(&run).await.unwrap().unwrap().result.as_deref(), expected, "{body}");
        assert_eq!(stage.asked("boss").len(), 1, "nobody is asked again");
    }
}

#[tokio::test]
async fn a_secret_that_a_tool_gives_back_reaches_nobody() {
    for body in ["return `it is ${state.env('TOKEN')}`;", "throw new Error(`not ${state.env('TOKEN')}`);"] {
        let mut stage = stage(body).await;
        stage.variables.insert("TOKEN".to_owned(), entourage_model::VariableValue::secret("hunter2"));
        let (thread, _) = stage.create("boss", "go").await;
        stage.settle(thread).await;
        let told = result(&stage, thread).await.content;
        assert!(told.contains("[the secret TOKEN]") && !told.contains("hunter2"), "{told}");
    }
    for body in [
        "return JSON.stringify({ token: state.env('TOKEN') });",
        "return { token: state.env('TOKEN') };",
        "await state.setEnv('OWN', state.env('TOKEN'), { type: 'secret' }); return { own: state.env('OWN') };",
    ] {
        let mut stage = stage(body).await;
        stage.variables.insert("TOKEN".to_owned(), entourage_model::VariableValue::secret("-BEGIN-\n\"hunter2\""));
        let (thread, _) = stage.create("boss", "go").await;
        stage.settle(thread).await;
        let told = result(&stage, thread).await.content;
        assert!(told.contains("[the secret ") && !told.contains("hunter2"), "{told}");
    }
    let mut stage = stage("await state.setEnv('MADE', 'hunter2', { type: 'secret' }); return state.env('MADE');").await;
    stage.variables.clear();
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    assert_eq!(result(&stage, thread).await.content, "[the secret MADE]");
}

#[tokio::test]
async fn what_is_scoped_given_or_handed_on_is_as_secret() {
    let mut stage = stage("return ['SCOPED', 'GIVEN', 'HANDED'].map((name) => state.env(name)).join();").await;
    let ToolEntry::Child(scout) = cast::blocking("scout") else { unreachable!("it is a child") };
    let scout = ChildEntry { scoped_env: vec!["HANDED".to_owned()], ..scout };
    let mut boss = user_of("boss", &[PROBE]);
    boss.side_a.prompt.tools.push(ToolEntry::Child(scout));
    let text = |name: &str, scoped| Variable {
        name: name.to_owned(),
        secret: false,
        required: false,
        scoped,
        description: None,
    };
    boss.variables = vec![text("SCOPED", true), text("GIVEN", false)];
    let mut team = Team::clone(&stage.team);
    team.agents.insert("boss".into(), Arc::new(boss));
    stage.team = Arc::new(team);
    for name in ["SCOPED", "HANDED"] {
        stage.variables.insert(name.to_owned(), stage.team.variable(name, format!("canary-{name}")));
    }
    stage.variables.insert("GIVEN".to_owned(), VariableValue::secret("canary-GIVEN"));
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let told = result(&stage, thread).await.content;
    assert_eq!(told, "[the secret SCOPED],[the secret GIVEN],[the secret HANDED]");
    let journal = stage.store.journal(thread, 0, 1000).await.unwrap();
    let journal = serde_json::to_string(&journal.iter().map(|stored| &stored.event).collect::<Vec<_>>()).unwrap();
    assert!(!journal.contains("canary-"), "{journal}");
}

#[tokio::test]
async fn what_a_tool_says_in_other_ways_holds_no_secret_either() {
    let body = "const token = `it is ${state.env('TOKEN')}`;
        const said = await state.injectMessage({ role: 'user', content: token, metadata: { token } });
        await state.updateMessage(said.id, { content: token + '!' });
        await state.queueMessage({ role: 'user', content: token });
        await state.emit('told', { token: [token] });
        if (args.count) state.queueTool('probe', { token });
        else await state.stopSession({ result: token });
        await state.setValue('own', token); await state.writeFile('/own.txt', token);
        return [(await state.getValue('own')), await state.readFile('/own.txt')].every((own) => own === token);";
    let mut stage = stage(body).await;
    stage.variables.insert("TOKEN".to_owned(), VariableValue::secret("hunter2"));
    let (thread, run) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let said: Vec<_> = stage.messages(thread).await.iter().map(|message| message.shown(None).to_string()).collect();
    let mut journal = stage.store.journal(thread, 0, 1000).await.unwrap();
    journal.retain(|stored| !matches!(stored.event, entourage_model::Event::ValueSet { .. }));
    let journal = serde_json::to_string(&journal.iter().map(|stored| &stored.event).collect::<Vec<_>>()).unwrap();
    let run = stage.store.run(&run).await.unwrap().unwrap();
    for told in [&said.join("\n"), &journal, &run.result.unwrap()] {
        assert!(told.contains("[the secret TOKEN]") && !told.contains("hunter2"), "{told}");
    }
    assert_eq!(stage.texts(thread, Role::Tool).await, ["true", "true"], "what it keeps for itself is as it was");
}

#[tokio::test]
async fn a_tool_can_terminate_its_thread() {
    let body = "await state.terminate();
        let refused; try { await state.queueMessage({ role: 'user', content: 'x' }); } catch (error) { refused = error.message; }
        return `${typeof state.terminated}|${refused.includes('is terminated')}`;";
    let stage = stage(body).await;
    let (thread, _) = stage.create("boss", "go").await;
    assert_eq!(stage.settle(thread).await.status, ThreadStatus::Terminated);
    assert_eq!(result(&stage, thread).await.content, "number|true");
}

#[tokio::test]
async fn a_message_to_itself_is_worked_on_next() {
    let body = "await state.queueMessage({ role: 'user', content: 'and this' }); return 'queued';";
    let stage = stage(body).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    assert_eq!(stage.texts(thread, Role::User).await, ["go", "and this"]);
}

#[tokio::test]
async fn a_child_that_a_tool_queues_is_started_and_one_for_which_the_tree_has_no_room_is_refused() {
    let body = "await state.writeFile('/plan.md', 'dig');
        state.queueTool('subagent_create', { agent: 'worker', message: 'dig', name: 'W', attachments: ['/plan.md'] });
        await state.setValue('runs', ((await state.getValue('runs')) ?? 0) + 1); return 'queued';";
    let brain = by_turn(vec![
        ("boss", vec![Reply::call(PROBE, json!({})), Reply::call(PROBE, json!({})), Reply::text("over")]),
        ("worker_a", vec![Reply::call("read_file", json!({"path": "note.txt"}))]),
    ]);
    let limits = Limits { children_total: 1, ..Limits::default() };
    let mut stage = Stage::with_limits(Vec::new(), brain, limits).await;
    let mut boss = user_of("boss", &[PROBE]);
    let ToolEntry::Child(worker) = cast::resumable("worker") else { unreachable!("it is a child") };
    boss.side_a.prompt.tools.push(ToolEntry::Child(ChildEntry { hidden: true, ..worker }));
    stage.team = team(vec![boss, cast::pair("worker")], &[(PROBE, body)]);
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let told = stage.texts(thread, Role::Tool).await;
    let told = |start: &str| told.iter().filter(|text| text.starts_with(start)).count();
    let refused = "{\"error\":{\"code\":\"subagent_limit_reached\"";
    assert_eq!([told("queued"), told("note.txt\n\nReference: "), told(refused)], [2, 1, 1]);
    let values = stage.runtime.state(thread).await.unwrap().unwrap().values.clone();
    assert_eq!(json!(values), json!({"runs": 2}), "what the tool did counts once for each call");
    let kids = stage.kids(thread).await;
    assert_eq!(kids.len(), 1);
    let files = stage.store.files(kids[0].id).await.unwrap();
    assert_eq!(files.len(), 1, "a file that the tool has just written goes along");
    let is_shown = |tool: &&str| tool.contains("subagent");
    assert!(!stage.asked("boss").iter().any(|asked| asked.tools().iter().any(is_shown)), "its model is shown no child");
}
