//! Tools made of a few lines of JavaScript, and threads that call them.

use crate::stage::{Stage, by_turn, solo};
use entourage_model::{
    Agent, EffectClass, Limits, Message, Name, Program, Role, ScriptTool, Source, Team, ThreadId, ToolSpec, Variable,
};
use entourage_script::{Found, Located, NoMemory, Sources, evaluate};
use entourage_store::Store;
use entourage_testkit::fake_model::Brain;
use entourage_testkit::{Reply, any_store, cast};
use serde_json::{Value, json};
use std::sync::Arc;

/// The tool that a model calls in these tests.
pub(crate) const PROBE: &str = "probe";

/// The one file of a project.
struct Only(String);

impl Sources for Only {
    fn read(&self, _: &str) -> std::io::Result<Vec<u8>> {
        Ok(self.0.clone().into_bytes())
    }
}

/// The definition of a tool, as an author writes it.
fn program(name: &str, body: &str) -> Program {
    let text = format!(
        "import {{ defineTool, type ThreadState }} from '@standardagents/spec';
type Given = {{ count: number }};
export default defineTool({{
  description: 'Does it.',
  async execute(state: ThreadState, args: Given) {{
    {body}
  }},
}});
"
    );
    evaluate(&format!("agents/tools/{name}.ts"), &Only(text), &NoMemory).expect("it can be evaluated").program
}

/// A tool whose `execute(state, args)` has this body. It takes any arguments; `count` must be a number.
pub(crate) fn tool(name: &str, body: &str) -> (Name, Arc<ScriptTool>) {
    let parameters = json!({"type": "object", "properties": {"count": {"type": "number"}}});
    let spec = ToolSpec {
        name: name.into(),
        description: "Does it.".to_owned(),
        parameters: Arc::new(parameters),
        class: EffectClass::AtMostOnce,
    };
    let secret = Variable { name: "TOKEN".to_owned(), secret: true, required: false, scoped: false, description: None };
    let tool = ScriptTool {
        spec: Arc::new(spec),
        program: Arc::new(program(name, body)),
        variables: vec![secret],
        uses: Vec::new(),
        source: Source { format: "standard-agents".to_owned(), file: None },
    };
    (name.into(), Arc::new(tool))
}

pub(crate) fn team(agents: Vec<Agent>, tools: &[(&str, &str)]) -> Arc<Team> {
    let tools = tools.iter().map(|(name, body)| tool(name, body)).collect();
    Arc::new(Team { tools, ..Team::clone(&cast::team(agents)) })
}

/// A team whose probe is defined by this text, and shown to models by the schema that it gives.
pub(crate) fn defined(agents: Vec<Agent>, text: &str) -> Arc<Team> {
    let evaluated = evaluate("agents/tools/probe.ts", &Only(text.to_owned()), &NoMemory).expect("it can be evaluated");
    let Found::Object(members) = evaluated.value.found else { unreachable!("a definition is an object") };
    let args = members.into_iter().find(|(name, _)| name == "args").expect("it has a schema").1;
    let mut team = Team::clone(&team(agents, &[(PROBE, "")]));
    let tool = Arc::make_mut(team.tools.get_mut(PROBE).expect("it is there"));
    tool.program = Arc::new(evaluated.program);
    Arc::make_mut(&mut tool.spec).parameters = Arc::new(plain(args));
    Arc::new(team)
}

fn plain(located: Located) -> Value {
    match located.found {
        Found::Null | Found::Function | Found::Alien(_) => Value::Null,
        Found::Flag(flag) => flag.into(),
        Found::Number(number) => number.into(),
        Found::Text(text) => text.into(),
        Found::List(items) => items.into_iter().map(plain).collect(),
        Found::Object(members) => members.into_iter().map(|(name, value)| (name, plain(value))).collect(),
    }
}

/// An agent that may call the tools of that name.
pub(crate) fn user_of(name: &str, tools: &[&str]) -> Agent {
    solo(name, tools.iter().map(|name| cast::tool(name)).collect())
}

/// Calls the probe once with these arguments, and then says that it is over.
pub(crate) fn once(arguments: Value) -> impl Brain + 'static {
    by_turn(vec![("boss", vec![Reply::call(PROBE, arguments), Reply::text("over")])])
}

/// A stage on which `boss` can call the probe.
pub(crate) async fn stage_on(store: Arc<dyn Store>, body: &str, brain: impl Brain + 'static, limits: Limits) -> Stage {
    let mut stage = Stage::on(store, Vec::new(), brain, limits).await;
    stage.team = team(vec![user_of("boss", &[PROBE])], &[(PROBE, body)]);
    stage
}

pub(crate) async fn stage(body: &str) -> Stage {
    stage_on(any_store().await, body, once(json!({"count": 3})), Limits::default()).await
}

/// The result of the first call of the thread.
pub(crate) async fn result(stage: &Stage, thread: ThreadId) -> Message {
    let messages = stage.messages(thread).await;
    messages.into_iter().find(|message| message.role == Role::Tool).expect("a tool was called")
}

/// What a probe with this body comes to.
pub(crate) async fn probe(body: &str) -> Message {
    let stage = stage(body).await;
    let (thread, _) = stage.create("boss", "go").await;
    stage.settle(thread).await;
    result(&stage, thread).await
}
