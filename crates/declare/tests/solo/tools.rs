//! Lists of tools, in whatever words.

use super::{agent, check, tools_of};

#[test]
fn a_name_that_nobody_knows_filters_nothing_and_is_told() {
    let loaded = check(
        "
-- subagents/kid.md
---
description: d
tools: [read_file, grep_file, web_fetch]
---
-- .dex/agents/mine.md
---
description: d
disabledTools: [bsh, bash, websearch]
---
",
        &[
            "warning[D095] .dex/agents/mine.md:3:17 agent `mine` may not use tool `bsh`, which nobody provides | did you mean \
             `shell`?",
            "warning[D095] subagents/kid.md:3:20 agent `kid` may use tool `grep_file`, which nobody provides | did you mean \
             `grep_files`?",
            "warning[D095] subagents/kid.md:3:31 agent `kid` may use tool `web_fetch`, which has no counterpart here | here it \
             does without",
        ],
    );
    assert_eq!(tools_of(&agent(&loaded, "kid")), ["read_file"]);
    assert!(!tools_of(&agent(&loaded, "mine")).contains(&"shell"));
}

#[test]
fn the_projects_own_tools_can_be_allowed_and_denied() {
    let loaded = check(
        "
-- agents/tools/lookup.ts
import { defineTool } from '@standardagents/builder';
import { z } from 'zod';
export default defineTool({ description: 'Looks something up.', args: z.object({}), execute: async () => 'x' });
-- subagents/all.md
---
description: d
---
-- subagents/one.md
---
description: d
tools: lookup
---
-- .dex/agents/none.md
---
description: d
disabledTools: [lookup]
---
-- .claude/agents/looking.md
---
name: looking
description: d
permissionMode: plan
---
",
        &[],
    );
    assert_eq!(tools_of(&agent(&loaded, "one")), ["lookup"]);
    assert!(tools_of(&agent(&loaded, "all")).contains(&"lookup"));
    assert!(!tools_of(&agent(&loaded, "none")).contains(&"lookup"));
    assert_eq!(tools_of(&agent(&loaded, "looking")), ["find_files", "grep_files", "list_files", "read_file"]);
}
