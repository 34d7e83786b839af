//! The examples of the two pages of the specification, as they are written there, completed with what they name.

use super::{files, lines, load, names, text};
use entourage_declare::Loaded;
use entourage_model::{Binding, ChildEntry, Communication, EffectClass, Kind, Name, Resumable, Side};
use serde_json::json;
use std::collections::BTreeSet;

/// Nothing but the project brings a tool.
fn project(text: &str) -> Loaded {
    load(&files(text), &BTreeSet::<Name>::new())
}

/// The example of the page about agents.
const ASSET: &str = "
-- agents/agents/asset_subagent.ts
import { defineAgent } from '@standardagents/builder';

export default defineAgent({
name: 'asset_subagent',
type: 'dual_ai',
maxSessionTurns: 40,
exposeAsTool: true,
toolDescription: 'Generate and QA top-down game assets.',
sideA: {
label: 'Worker',
prompt: 'asset_worker',
stopOnResponse: true,
sessionFail: {
name: 'fail_asset',
messageProperty: 'reason',
attachmentsProperty: 'attachments',
},
},
sideB: {
label: 'Reviewer',
prompt: 'asset_reviewer',
stopOnResponse: false,
sessionStop: {
name: 'approve_asset',
messageProperty: 'summary',
attachmentsProperty: 'attachments',
},
sessionStatus: {
name: 'update_asset_status',
messageProperty: 'status',
},
},
});
-- agents/prompts/asset_worker.ts
import { definePrompt } from '@standardagents/builder';
export default definePrompt({
  name: 'asset_worker',
  toolDescription: 'Makes assets.',
  prompt: 'Make the asset.',
  model: 'openai:gpt-5',
  tools: ['fail_asset'],
});
-- agents/prompts/asset_reviewer.json
{ \"name\": \"asset_reviewer\", \"toolDescription\": \"Reviews assets.\", \"prompt\": \"Review the asset.\",
  \"model\": \"openai:gpt-5\", \"tools\": [\"approve_asset\", \"update_asset_status\"] }
-- agents/tools/fail_asset.ts
import { defineTool } from '@standardagents/builder';
import { z } from 'zod';
export default defineTool({
  description: 'Gives up.',
  args: z.object({ reason: z.string(), attachments: z.array(z.string()).optional() }),
  execute: async (state, args) => ({ status: 'success', result: args.reason }),
});
-- agents/tools/approve_asset.ts
import { defineTool } from '@standardagents/builder';
import { z } from 'zod';
export default defineTool({
  description: 'Approves.',
  args: z.object({ summary: z.string(), attachments: z.array(z.string()).optional() }),
  execute: async (state, args) => ({ status: 'success', result: args.summary }),
});
-- agents/tools/update_asset_status.ts
import { defineTool } from '@standardagents/builder';
import { z } from 'zod';
export default defineTool({
  description: 'Says how far it is.',
  args: z.object({ status: z.string() }),
  execute: async (state, args) => ({ status: 'success', result: args.status }),
});
";

#[test]
fn the_example_of_the_page_about_agents_loads_clean() {
    let loaded = project(ASSET);
    assert_eq!(lines(&loaded), [""; 0]);
    assert_eq!(names(&loaded), ["asset_subagent"]);
    let agent = &loaded.team.agents["asset_subagent"];
    assert_eq!((agent.kind, agent.session_turns_max, agent.expose_as_tool), (Kind::DualAi, Some(40), true));
    assert_eq!(agent.pitch(), "Generate and QA top-down game assets.");
    assert_eq!(agent.source.format, "standard-agents");
    assert_eq!(agent.source.file.as_deref(), Some("agents/agents/asset_subagent.ts"));
    let side_b = agent.side_b.as_ref().unwrap();
    assert_eq!((agent.side_a.stop_on_response, side_b.stop_on_response), (true, false));
    assert_eq!((agent.side_a.label.as_deref(), side_b.label.as_deref()), (Some("Worker"), Some("Reviewer")));
    assert_eq!(text(&agent.side_a.prompt.instructions), "Make the asset.");
    assert_eq!(text(&side_b.prompt.instructions), "Review the asset.");
    let binding = |tool: &str, message: &str, attachments: Option<&str>| Binding {
        tool: Name::from(tool),
        message_property: Some(message.to_owned()),
        attachments_property: attachments.map(str::to_owned),
    };
    assert_eq!(agent.side_a.session_fail, Some(binding("fail_asset", "reason", Some("attachments"))));
    assert_eq!(side_b.session_stop, Some(binding("approve_asset", "summary", Some("attachments"))));
    assert_eq!(side_b.session_status, Some(binding("update_asset_status", "status", None)));
}

#[test]
fn the_tools_of_the_example_are_in_the_team_with_their_code() {
    let tools = project(ASSET).team.tools;
    let known: Vec<_> = tools.keys().map(Name::as_str).collect();
    assert_eq!(known, ["approve_asset", "fail_asset", "update_asset_status"]);
    let tool = &tools["update_asset_status"];
    assert_eq!((tool.spec.name.as_str(), &*tool.spec.description), ("update_asset_status", "Says how far it is."));
    assert_eq!(tool.spec.class, EffectClass::AtMostOnce);
    assert_eq!(tool.spec.parameters["type"], "object");
    assert_eq!(tool.spec.parameters["required"], json!(["status"]));
    assert_eq!(tool.program.entry, "agents/tools/update_asset_status.ts");
    assert!(tool.program.modules[&tool.program.entry].contains("execute"));
    assert_eq!(tool.source.file.as_deref(), Some("agents/tools/update_asset_status.ts"));
}

/// The interfaces of the page about subagents, as types of what they describe.
const CONFIG: &str = "
-- agents/prompts/studio.ts
import { definePrompt } from '@standardagents/builder';
import type { StandardAgentSpec, QueueMessageInput } from '@standardagents/spec';

interface SubagentToolConfig {
  name: StandardAgentSpec.Callables;
  blocking?: boolean; // default: true
  initUserMessageProperty?: string;
  initAttachmentsProperty?: string;
  initAgentNameProperty?: string;
  immediate?: boolean;
  optional?: string;
  resumable?: false | {
    receives_messages: 'side_a' | 'side_b';
    maxInstances?: number;
  };
}

type SessionToolBinding =
| string
| {
name: string;
messageProperty?: string;
attachmentsProperty?: string;
};

interface SubagentRegistryEntry {
  reference: string;
  name: string;
  title?: string;
  description: string;
  resumable?: boolean;
  blocking?: boolean;
  threadName?: string;
  spawnGroupId?: string;
  createdAt?: number;
  status: string;
  parentCommunication?: 'implicit' | 'explicit';
}

interface ThreadState {
  readonly children: SubagentRegistryEntry[];
  readonly terminated: number | null;

  getChildThread(referenceId: string): Promise<ThreadState | null>;
  getParentThread(): Promise<ThreadState | null>;

  queueMessage(input: QueueMessageInput): Promise<void>;
  terminate(): Promise<void>;
}

const asset: SubagentToolConfig = {
  name: 'asset_subagent',
  blocking: false,
  initUserMessageProperty: 'request',
  initAttachmentsProperty: 'files',
  initAgentNameProperty: 'label',
  immediate: false,
  resumable: {
    receives_messages: 'side_b',
    maxInstances: 2,
  },
};
const binding: SessionToolBinding = 'approve_asset';

export default definePrompt({
  name: 'studio',
  toolDescription: 'Leads the studio.',
  prompt: 'Lead.',
  model: 'openai:gpt-5',
  tools: [asset, binding],
});
-- agents/agents/studio.json
{ \"name\": \"studio\", \"sideA\": { \"prompt\": \"studio\" } }
";

#[test]
fn the_configuration_of_the_page_about_subagents_loads_clean() {
    let loaded = project(&(ASSET.to_owned() + CONFIG.trim_start()));
    assert_eq!(lines(&loaded), [""; 0]);
    let text = |text: &str| Some(text.to_owned());
    let expected = ChildEntry {
        blocking: false,
        message_property: text("request"),
        attachments_property: text("files"),
        name_property: text("label"),
        resumable: Some(Resumable {
            receives: Side::B,
            instances_max: Some(2),
            communication: Communication::Implicit,
        }),
        ..ChildEntry::blocking(Name::from("asset_subagent"))
    };
    let studio = &loaded.team.agents["studio"];
    assert_eq!(studio.side_a.prompt.children().collect::<Vec<_>>(), [&expected]);
}
