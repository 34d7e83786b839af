//! Files that go along with what agents say to each other.

use crate::dialect::standard::{CREATE, MESSAGE};
use crate::offer::World;
use crate::state::ThreadState;
use crate::step::Input;
use entourage_model::{Act, Attachment, FileRow, SideConfig, ToolEntry, file_path};
use serde_json::Value;
use std::collections::BTreeMap;

/// Whether deciding about this input may need to know the thread's files: the caller then puts them into the world.
pub fn looks_at_files(world: &World<'_>, state: &ThreadState, input: &Input) -> bool {
    let Some(side) = state.session.as_ref().and_then(|session| world.side(state, session.acting)) else { return false };
    match input {
        Input::Answered(Ok(answer)) | Input::Advised { answer: Ok(answer), .. } => {
            answer.calls.iter().any(|call| hands_over(side, call.name.as_str()))
        }
        Input::ToolEnded { call, acts, .. } => {
            let session = state.session.as_ref();
            let call = session.and_then(|session| Some(&session.calls[session.open_call(call)?].call));
            let queues = |act: &Act| matches!(act, Act::QueueTool { name, .. } if hands_over(side, name.as_str()));
            call.is_some_and(|call| attaching(side, call.name.as_str()).is_some()) || acts.iter().any(queues)
        }
        Input::Answered(Err(_))
        | Input::Advised { answer: Err(_), .. }
        | Input::Resumed
        | Input::Mail
        | Input::Tick
        | Input::Broke { .. } => false,
    }
}

/// Whether a call of this name can hand files to somebody.
fn hands_over(side: &SideConfig, name: &str) -> bool {
    matches!(name, CREATE | MESSAGE)
        || side.prompt.tools.iter().any(|entry| match entry {
            ToolEntry::Child(child) => child.attachments_property.is_some() && child.name().as_str() == name,
            ToolEntry::Handoff(handoff) => handoff.attachments_property.is_some() && handoff.agent.as_str() == name,
            ToolEntry::Tool(_) | ToolEntry::Prompt(_) => false,
        })
}

/// The argument that names the files of a session's payload, where the tool is bound to the session.
pub(crate) fn attaching<'a>(side: &'a SideConfig, tool: &str) -> Option<&'a str> {
    let bindings = [&side.session_fail, &side.session_stop, &side.session_status];
    let bound = bindings.into_iter().flatten().find(|binding| binding.tool.as_str() == tool)?;
    bound.attachments_property.as_deref()
}

/// The files that an argument names, by one path or several; otherwise what is wrong with it.
pub(crate) fn find(files: &BTreeMap<String, FileRow>, named: Option<&Value>) -> Result<Vec<Attachment>, String> {
    let paths = match named {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::String(path)) => vec![path.as_str()],
        Some(Value::Array(paths)) => {
            let texts = paths.iter().map(Value::as_str).collect::<Option<Vec<_>>>();
            texts.ok_or("attachments must be paths, each of them a text")?
        }
        Some(_) => return Err("attachments must be a path or a list of paths".to_owned()),
    };
    paths.into_iter().map(|path| find_one(files, path)).collect()
}

fn find_one(files: &BTreeMap<String, FileRow>, path: &str) -> Result<Attachment, String> {
    let kept = file_path(path).map_err(|fault| fault.to_string())?;
    let row = files.get(&kept);
    row.map(FileRow::attachment).ok_or_else(|| format!("there is no file `{path}` in this thread"))
}
