//! Scripted tools and the threads around theirs: the parent, the children, and nobody else.

use crate::smithy::{PROBE, result, team, user_of};
use crate::stage::{Stage, by_turn, is, solo};
use entourage_model::{Agent, ChildEntry, Role, Team, ThreadStatus, ToolEntry, ToolStatus, VariableValue};
use entourage_testkit::cast::{self, background, blocking, resumable};
use entourage_testkit::{Reply, Request};
use serde_json::json;
use std::sync::Arc;

/// `boss` starts `worker`, which calls the probe.
async fn below(entry: ToolEntry, body: &str) -> Stage {
    let brain = by_turn(vec![
        ("boss", vec![Reply::call("worker", json!({"message": "work"})), Reply::text("over")]),
        ("worker", vec![Reply::call(PROBE, json!({})), Reply::text("worked")]),
    ]);
    let mut stage = Stage::new(Vec::new(), brain).await;
    stage.team = team(vec![solo("boss", vec![entry]), user_of("worker", &[PROBE])], &[(PROBE, body)]);
    stage
}

/// `boss` keeps a helper, and then calls the probe.
async fn above(body: &str) -> Stage {
    let create = json!({"agent": "helper", "message": "help", "name": "Ann"});
    let brain = by_turn(vec![
        ("boss", vec![Reply::call("subagent_create", create), Reply::call(PROBE, json!({})), Reply::text("over")]),
        ("helper", vec![Reply::text("helped"), Reply::text("helped again")]),
    ]);
    let mut stage = Stage::new(Vec::new(), brain).await;
    let boss: Agent = solo("boss", vec![resumable("helper"), cast::tool(PROBE)]);
    stage.team = team(vec![boss, solo("helper", vec![])], &[(PROBE, body)]);
    stage
}

#[tokio::test]
async fn a_parent_is_told_verbatim_and_silently() {
    let stage = below(background("worker"), "await state.notifyParent('half way'); return 'ok';").await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let messages = stage.messages(thread).await;
    let told: Vec<_> = messages.iter().filter(|message| message.content == "half way").collect();
    assert_eq!(told.len(), 1);
    let child = stage.kids(thread).await[0].id;
    assert_eq!((told[0].role, told[0].silent), (Role::User, true));
    assert_eq!(told[0].metadata["subagent_id"], json!(child));
}

#[tokio::test]
async fn a_parent_is_told_no_secret() {
    let body = "const token = `it is ${state.env('TOKEN')}`;
        await state.setStatus(token); await state.notifyParent(token);
        const parent = await state.getParentThread(); await parent.queueMessage({ role: 'user', content: token });";
    let mut stage = below(background("worker"), body).await;
    stage.variables.insert("TOKEN".to_owned(), VariableValue::secret("hunter2"));
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let journal = stage.store.journal(thread, 0, 1000).await.unwrap();
    let told = serde_json::to_string(&journal.iter().map(|stored| &stored.event).collect::<Vec<_>>()).unwrap();
    assert_eq!((told.matches("it is [the secret TOKEN]").count(), told.contains("hunter2")), (3, false), "{told}");
}

#[tokio::test]
async fn what_an_agent_hands_on_lies_sealed_in_its_child() {
    let ToolEntry::Child(worker) = blocking("worker") else { unreachable!("it is a child") };
    let worker = ChildEntry { scoped_env: vec!["HANDED".to_owned()], ..worker };
    let body = "return `${state.env('HANDED').length} ${state.env('HANDED')}`;";
    let mut stage = below(ToolEntry::Child(worker), body).await;
    let mut team = Team::clone(&stage.team);
    let boss = Arc::make_mut(team.agents.get_mut("boss").unwrap());
    boss.env.insert("HANDED".to_owned(), "canary-58121".to_owned());
    stage.team = Arc::new(team);
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let child = stage.kids(thread).await[0].id;
    assert_eq!(stage.texts(child, Role::Tool).await, ["12 [the secret HANDED]"]);
    let journal = stage.store.journal(child, 0, 1000).await.unwrap();
    let journal = serde_json::to_string(&journal.iter().map(|stored| &stored.event).collect::<Vec<_>>()).unwrap();
    assert!(journal.contains("HANDED") && !journal.contains("canary"), "{journal}");
}

#[tokio::test]
async fn a_childs_result_is_what_its_tool_says() {
    let stage = below(blocking("worker"), "await state.stopSession({ result: 'found it' });").await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    assert_eq!(stage.texts(thread, Role::Tool).await, ["found it"]);
}

#[tokio::test]
async fn a_tool_writes_to_its_parent_with_a_file_of_its_own() {
    let body = "await state.writeFile('/x.txt', 'x'); const parent = await state.getParentThread();
        await parent.queueMessage({ role: 'user', content: 'see this', attachments: ['/x.txt'] });
        let refused; try { await parent.setStatus('x'); } catch (error) { refused = error.message; }
        return [parent.agentId, refused].join('|');";
    let stage = below(background("worker"), body).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let child = stage.kids(thread).await[0].id;
    let said = result(&stage, child).await.content;
    assert_eq!(said, "boss|`state.setStatus` is not offered for another thread");
    let messages = stage.messages(thread).await;
    let seen = messages.iter().find(|message| message.content == "see this").expect("it was queued");
    let files = stage.store.files(thread).await.unwrap();
    assert_eq!(files.len(), 1);
    assert_eq!(seen.attachments, [files[0].attachment()]);
    assert!(files[0].path.starts_with("/attachments/x-"), "{}", files[0].path);
}

#[tokio::test]
async fn a_tool_sees_its_children_and_can_write_to_them_and_look_at_them() {
    let body = "const [entry] = state.children; const child = await state.getChildThread(entry.reference);
        const said = (await child.getMessages()).map((m) => m.content);
        await child.queueMessage({ role: 'user', content: 'once more' });
        let refused; try { await child.setValue('a', 1); } catch (error) { refused = error.message; }
        return [entry.name, entry.threadName, entry.status, child.agentId, said.join('+'), refused].join('|');";
    let stage = above(body).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let texts = stage.texts(thread, Role::Tool).await;
    assert_eq!(texts[1], "helper|Ann|idle|helper|help+helped|`state.setValue` is not offered for another thread");
    let child = stage.kids(thread).await[0].id;
    assert_eq!(stage.texts(child, Role::User).await, ["help", "once more"]);
    assert_eq!(stage.texts(child, Role::Assistant).await, ["helped", "helped again"]);
}

#[tokio::test]
async fn a_child_whose_work_is_over_can_still_be_looked_at() {
    let body = "const gone = await state.getChildThread(args.reference);
        let refused; try { await gone.queueMessage({ role: 'user', content: 'x' }); } catch (error) { refused = 'refused'; }
        return [state.children.length, gone.agentId, gone.status, (await gone.getMessages()).at(-1).content, refused].join('|');";
    let brain = |request: &Request| {
        let told = request.texts("user").into_iter().find_map(|text| {
            let (_, rest) = text.split_once("(reference: ")?;
            Some(rest.split_once(')')?.0.to_owned())
        });
        match (request.tool_results().len(), told) {
            _ if is(request, "worker") => Reply::text("worked"),
            (0, _) => Reply::call("worker", json!({"message": "work"})),
            (1, Some(reference)) => Reply::call(PROBE, json!({ "reference": reference })),
            _ => Reply::text("over"),
        }
    };
    let mut stage = Stage::new(Vec::new(), brain).await;
    let boss: Agent = solo("boss", vec![background("worker"), cast::tool(PROBE)]);
    stage.team = team(vec![boss, solo("worker", vec![])], &[(PROBE, body)]);
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    assert_eq!(stage.texts(thread, Role::Tool).await.last().unwrap(), "0|worker|done|worked|refused");
}

#[tokio::test]
async fn a_relative_shows_what_it_is_and_what_it_has() {
    let body = "if ((await state.getParentThread()) === null) {
            await state.setValue('k', 'v'); await state.writeFile('/d/x.txt', 'hi');
            return 'set';
        }
        const parent = await state.getParentThread();
        let refused; try { await parent.terminate(); } catch (error) { refused = error.message; }
        const listed = parent.children.find((child) => child.reference === state.threadId);
        return [parent.threadId !== state.threadId, parent.agentId, parent.userId, typeof parent.createdAt, parent.terminated,
            parent.arguments, ['running', 'waiting'].includes(parent.status), listed.name, (await parent.getMessages())[0].content,
            await parent.getValue('k'), await parent.readFile('/d/x.txt'), (await parent.statFile('/d/x.txt')).size,
            (await parent.readdirFile('/d')).map((file) => file.name).join('+'), refused].join('|');";
    let create = json!({"agent": "worker", "message": "work", "name": "Ann"});
    let brain = by_turn(vec![
        ("boss", vec![Reply::call(PROBE, json!({})), Reply::call("subagent_create", create), Reply::text("over")]),
        ("worker", vec![Reply::call(PROBE, json!({})), Reply::text("worked")]),
    ]);
    let mut stage = Stage::new(Vec::new(), brain).await;
    let boss = solo("boss", vec![resumable("worker"), cast::tool(PROBE)]);
    stage.team = team(vec![boss, user_of("worker", &[PROBE])], &[(PROBE, body)]);
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let child = stage.kids(thread).await[0].id;
    assert_eq!(
        result(&stage, child).await.content,
        "true|boss||number|||true|worker|go|v|hi|2|x.txt|a thread cannot terminate its parent"
    );
}

#[tokio::test]
async fn a_child_shows_its_own_children_and_its_status() {
    let body = "const child = await state.getChildThread(state.children[0].reference);
        return [child.status, child.children.length, typeof child.createdAt, await child.getValue('none'),
            (await child.readdirFile()).length, await child.readFile('/none')].join('|');";
    let stage = above(body).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    assert_eq!(stage.texts(thread, Role::Tool).await[1], "idle|0|number||0|");
}

#[tokio::test]
async fn a_tool_can_terminate_a_child() {
    let body = "const { reference } = state.children[0];
        const child = await state.getChildThread(reference);
        await child.terminate();
        let refused; try { await child.queueMessage({ role: 'user', content: 'more' }); } catch (error) { refused = error.message; }
        return [refused.includes('is terminated'), (await state.getChildThread(reference)).terminated > 0,
            state.children[0].status].join('|');";
    let stage = above(body).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    assert_eq!(stage.kids(thread).await[0].status, ThreadStatus::Terminated);
    assert_eq!(stage.texts(thread, Role::Tool).await[1], "true|true|terminated");
    let state = stage.runtime.state(thread).await.unwrap().unwrap();
    assert_eq!(state.registry().next().unwrap().status, "terminated");
}

#[tokio::test]
async fn a_relative_has_relatives_and_variables() {
    let body = "const child = await state.getChildThread(state.children[0].reference);
        const me = await child.getParentThread();
        return [me.threadId === state.threadId, await child.getChildThread(state.threadId), child.env('CITY'),
            await child.getParentThread().then((parent) => parent.getValue('none'))].join('|');";
    let mut stage = above(body).await;
    stage.variables.insert("CITY".to_owned(), entourage_model::VariableValue::text("Oslo"));
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    assert_eq!(stage.texts(thread, Role::Tool).await[1], "true||Oslo|");
}

#[tokio::test]
async fn a_status_is_what_the_parent_reads_of_its_child() {
    let create = json!({"agent": "worker", "message": "work", "name": "Ann"});
    let brain = by_turn(vec![
        ("boss", vec![Reply::call("subagent_create", create), Reply::text("over")]),
        ("worker", vec![Reply::call(PROBE, json!({}))]),
    ]);
    let mut stage = Stage::new(Vec::new(), brain).await;
    let body = "await state.setStatus('reading'); await state.stopSession({ result: 'read', status: 'resting' });";
    stage.team = team(vec![solo("boss", vec![resumable("worker")]), user_of("worker", &[PROBE])], &[(PROBE, body)]);
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let state = stage.runtime.state(thread).await.unwrap().unwrap();
    assert_eq!(state.registry().next().unwrap().status, "resting");
}

#[tokio::test]
async fn a_child_begins_with_its_parents_variables() {
    let mut stage = below(blocking("worker"), "await state.stopSession({ result: state.env('CITY') });").await;
    stage.variables.insert("CITY".to_owned(), entourage_model::VariableValue::text("Oslo"));
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    assert_eq!(stage.texts(thread, Role::Tool).await, ["Oslo"]);
}

#[tokio::test]
async fn a_stranger_cannot_be_reached() {
    let body = "return String(await state.getChildThread(state.threadId));";
    let stage = above(body).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    let messages = stage.messages(thread).await;
    let said = messages.iter().rfind(|message| message.role == Role::Tool).expect("the probe was called");
    assert_eq!((said.content.as_str(), said.tool_status), ("null", Some(ToolStatus::Success)));
}
