//! An agent of Standard Agents, as far as one side can say it: what the other side and its sessions have is lost.

use crate::Format;
use crate::solo::{ModelWish, Said, Solo};
use crate::tree::{At, Spot};
use entourage_model::{
    Agent, ChildEntry, Communication, Kind, ModelRef, Part, Prompt, SideConfig, ToolChoice, ToolEntry,
};
use serde::Serialize;
use serde_json::{Map, Value, json};

const PROMPT_LIST: &str = "tools";
const SIDE_LIST: &str = "sideA.subagents";

/// Side A of an agent, with every field under the key that Standard Agents has for it.
pub(super) fn solo(agent: &Agent) -> Solo {
    let Agent { title, description, side_a, extra, .. } = agent;
    let prompt = &side_a.prompt;
    let mut rest = Rest::default();
    rest.agent(agent);
    rest.side(side_a);
    rest.prompt(prompt);
    prompt.children().for_each(|child| rest.child(listed_in(agent, child), child));
    rest.extra(extra);
    let tools = prompt.tools.iter().filter_map(|entry| match entry {
        ToolEntry::Tool(name) => Some(At { value: name.to_string(), spot: Spot::START }),
        ToolEntry::Child(_) | ToolEntry::Handoff(_) | ToolEntry::Prompt(_) => None,
    });
    let children: Vec<_> =
        prompt.children().map(|child| At { value: child.agent.clone(), spot: Spot::START }).collect();
    let by_prompt = prompt.children().any(|child| listed_in(agent, child) == PROMPT_LIST);
    let children_key = if by_prompt { PROMPT_LIST } else { SIDE_LIST };
    let fallbacks: Vec<_> = prompt.fallbacks.iter().map(wish).collect();
    Solo {
        description: Some(said("description", description.clone())).filter(|said| !said.value.is_empty()),
        title: title.clone().map(|title| said("title", title)),
        model: prompt.model.as_ref().map(|model| said("model", wish(model))),
        fallbacks: Some(said("fallbacks", fallbacks)).filter(|said| !said.value.is_empty()),
        effort: prompt
            .reasoning
            .as_ref()
            .and_then(|reasoning| Some(said("reasoning.effort", reasoning.effort.clone()?))),
        temperature: prompt.sampling.temperature.map(|value| said("temperature", value)),
        top_p: prompt.sampling.top_p.map(|value| said("top_p", value)),
        steps_max: side_a.steps_max.map(|steps| said("sideA.maxSteps", steps)),
        // A prompt without tools has none, where other formats would take that for all.
        tools: Some(said("tools", tools.collect())),
        children: Some(said(children_key, children)).filter(|said| !said.value.is_empty()),
        rest: rest.0,
        ..Solo::new(Format::StandardAgents, text(prompt))
    }
}

fn said<T>(key: &str, value: T) -> Said<T> {
    Said { key: key.to_owned(), spot: Spot::START, value }
}

fn wish(model: &ModelRef) -> ModelWish {
    ModelWish::Named { provider: model.provider().to_owned(), model: model.model().to_owned() }
}

/// The list that has a child: the prompt's, or the side's own, as in 0.2.0.
fn listed_in(agent: &Agent, child: &ChildEntry) -> &'static str {
    let by_side = agent.extra.get("sideA").and_then(|side| side.get("subagents")?.get(child.name().as_str()));
    if by_side.is_some() { SIDE_LIST } else { PROMPT_LIST }
}

/// Nobody else fills in a variable, so that its name stays visible where its value would be.
fn text(prompt: &Prompt) -> String {
    let part = |part: &Part| match part {
        Part::Text(text) => text.to_string(),
        Part::Env(name) | Part::Variable(name) => format!("${{{name}}}"),
    };
    prompt.instructions.0.iter().map(part).collect()
}

/// What no format with one side has a word for.
#[derive(Default)]
struct Rest(Vec<Said<Value>>);

impl Rest {
    fn add(&mut self, key: &str, value: Value) {
        if !self.0.iter().any(|said| said.key == key) {
            self.0.push(said(key, value));
        }
    }

    fn add_some<T: Into<Value>>(&mut self, key: &str, value: Option<T>) {
        if let Some(value) = value {
            self.add(key, value.into());
        }
    }

    fn add_full(&mut self, key: &str, value: &impl Serialize, is_empty: bool) {
        self.add_some(key, (!is_empty).then(|| json!(value)));
    }

    fn add_if(&mut self, key: &str, is_said: bool) {
        self.add_some(key, is_said.then_some(true));
    }

    fn agent(&mut self, agent: &Agent) {
        let Agent {
            name: _,
            kind,
            title: _,
            description,
            side_a: _,
            side_b,
            session_turns_max,
            // Whoever is declared elsewhere can be called.
            expose_as_tool: _,
            // Who is listed is a matter of the dialect that lists.
            unlisted: _,
            // Never declared.
            driven: _,
            tool_description,
            env,
            variables,
            hooks,
            // Kept whole with what has no place.
            parent_hooks: _,
            dialects,
            workspace,
            remote,
            source: _,
            extra: _,
        } = agent;
        match kind {
            Kind::DualAi => {
                self.add("type", "dual_ai".into());
                self.add("sideB", json!(side_b));
            }
            Kind::AiHuman => {}
        }
        self.add_some("maxSessionTurns", *session_turns_max);
        // What is said of it in one place is not lost.
        self.add_some("toolDescription", tool_description.clone().filter(|text| text != description));
        self.add_full("env", env, env.is_empty());
        self.add_full("variables", variables, variables.is_empty());
        self.add_full("hooks", hooks, hooks.is_empty());
        self.add_full("dialects", dialects, dialects.is_empty());
        self.add_full("workspace", workspace, workspace.is_none());
        self.add_full("remote", remote, remote.is_none());
    }

    fn side(&mut self, side: &SideConfig) {
        let SideConfig {
            prompt: _,
            label,
            stop_on_response,
            stop_tool,
            stop_tool_response_property,
            steps_max: _,
            session_stop,
            session_fail,
            session_status,
        } = side;
        self.add_some("sideA.label", label.clone());
        self.add_some("sideA.stopOnResponse", (!stop_on_response).then_some(false));
        self.add_full("sideA.stopTool", stop_tool, stop_tool.is_none());
        self.add_some("sideA.stopToolResponseProperty", stop_tool_response_property.clone());
        self.add_full("sideA.sessionStop", session_stop, session_stop.is_none());
        self.add_full("sideA.sessionFail", session_fail, session_fail.is_none());
        self.add_full("sideA.sessionStatus", session_status, session_status.is_none());
    }

    fn prompt(&mut self, prompt: &Prompt) {
        let Prompt {
            name: _,
            instructions,
            model: _,
            fallbacks: _,
            include_chat,
            include_past_tools,
            parallel_tool_calls,
            tool_choice,
            required_schema,
            reasoning,
            sampling: _,
            env,
            variables,
            hooks,
            tools,
            // What its tools say already.
            servers: _,
            denied_tools: _,
            read_only: _,
            tool_configs,
            provider_options,
        } = prompt;
        self.add_if("prompt", instructions.0.iter().any(|part| !matches!(part, Part::Text(_))));
        self.add_if("includeChat", *include_chat);
        self.add_if("includePastTools", *include_past_tools);
        self.add_some("parallelToolCalls", *parallel_tool_calls);
        let tool_choice = match tool_choice {
            ToolChoice::Auto => None,
            ToolChoice::None => Some("none"),
            ToolChoice::Required => Some("required"),
        };
        self.add_some("toolChoice", tool_choice);
        self.add_some("requiredSchema", required_schema.clone());
        self.add_some("reasoning.maxTokens", reasoning.as_ref().and_then(|reasoning| reasoning.tokens_max));
        self.add_full("env", env, env.is_empty());
        self.add_full("variables", variables, variables.is_empty());
        self.add_full("hooks", hooks, hooks.is_empty());
        self.add_full("tools.options", tool_configs, tool_configs.is_empty());
        self.add_full("providerOptions", provider_options, provider_options.is_empty());
        for entry in tools {
            match entry {
                ToolEntry::Tool(_) | ToolEntry::Child(_) => {}
                // Nobody else hands a conversation over, or asks a prompt in between.
                ToolEntry::Handoff(_) | ToolEntry::Prompt(_) => self.add("tools", json!(entry.name())),
            }
        }
    }

    /// How a child is started: other formats know only that it may be. What a list takes for said anyway is not named.
    fn child(&mut self, list: &str, child: &ChildEntry) {
        let ChildEntry {
            agent: _,
            alias,
            description,
            hidden,
            optional,
            immediate,
            scoped_env,
            blocking,
            message_property,
            attachments_property,
            name_property,
            resumable,
        } = child;
        let key = |key: &str| format!("{list}.{key}");
        self.add_full(&key("as"), alias, alias.is_none());
        self.add_some(&key("description"), description.clone());
        self.add_if(&key("hidden"), *hidden);
        self.add_some(&key("optional"), optional.clone());
        self.add_full(&key("immediate"), immediate, immediate.is_none());
        self.add_full(&key("scopedEnv"), scoped_env, scoped_env.is_empty());
        self.add_some(&key("blocking"), (*blocking != (list == PROMPT_LIST)).then_some(*blocking));
        self.add_some(&key("initUserMessageProperty"), message_property.clone());
        self.add_some(&key("initAttachmentsProperty"), attachments_property.clone());
        self.add_some(&key("initAgentNameProperty"), name_property.clone());
        match resumable {
            Some(resumable) if list == SIDE_LIST => {
                self.add_some(&key("maxInstances"), resumable.instances_max);
                let is_explicit = resumable.communication == Communication::Explicit;
                self.add_some(&key("parentCommunication"), is_explicit.then_some("explicit"));
            }
            _ => self.add_full(&key("resumable"), resumable, resumable.is_none()),
        }
    }

    /// What the declaration said beyond the canonical agent. That of a side lies under the side, and that of its prompt
    /// within it; the prompt's keys are its own file's.
    fn extra(&mut self, extra: &Map<String, Value>) {
        for (key, value) in extra {
            match (key.as_str(), value) {
                ("sideB", _) => self.add("sideB", value.clone()),
                ("sideA", Value::Object(side)) => {
                    for (key, value) in side {
                        match (key.as_str(), value) {
                            ("prompt", Value::Object(prompt)) => self.prompt_extra(prompt),
                            ("subagents", Value::Object(children)) => self.children_extra(children),
                            _ => self.add(&format!("sideA.{key}"), value.clone()),
                        }
                    }
                }
                _ => self.add(key, value.clone()),
            }
        }
    }

    /// What the entries of a side say beyond what is known.
    fn children_extra(&mut self, children: &Map<String, Value>) {
        for (key, value) in children.values().filter_map(Value::as_object).flatten() {
            self.add(&format!("{SIDE_LIST}.{key}"), value.clone());
        }
    }

    /// The parts that a prompt was made of are all in its text; what defines its model lies within.
    fn prompt_extra(&mut self, prompt: &Map<String, Value>) {
        for (key, value) in prompt {
            match (key.as_str(), value) {
                ("prompt", _) => {}
                ("model", Value::Object(model)) => {
                    for (key, value) in model.iter().filter(|(key, _)| *key != "name") {
                        self.add(&format!("model.{key}"), value.clone());
                    }
                }
                _ => self.add(key, value.clone()),
            }
        }
    }
}
