//! The task list: entries that can be given to profiles.

use super::call::{Call, Given, Wanted, refused};
use super::{Bounds, Deed, Form, Piece, fit, word};
use crate::dialect::{Look, Patience, Refusal, Wish};
use crate::state::ThreadState;
use entourage_model::{Assignment, Name, Progress, RunId, RunStatus, TaskItem};
use serde_json::{Value, json};

/// Entries that a thread may have: its state lies in memory.
const TASKS_MAX: usize = 1000;
const TEXT_BYTES_MAX: usize = 64 << 10;

const ITEMS_CUT: &str = "Not everything is shown. `task_list_items` with `taskIds` shows single entries, and `subagent` \
    with the action `result` and a `runId` all that a run came to.";

pub(super) fn create(call: &Call<'_>, given: &Given) -> Wanted {
    let agent = given.agent()?;
    let mut item = new_item(call.state, 1, given.text("title")?)?;
    item.description = given.text_or_none("description")?.map(bounded).transpose()?;
    if let Some(agent) = agent {
        call.profile(agent.as_str())?;
        item.assignment = Some(Assignment::open(assignment_id(call.state, &item), agent));
    }
    let answer = shown(&item).to_string();
    Ok(Wish::Dex(Deed::Save { item: Box::new(item), answer }))
}

pub(super) fn update(call: &Call<'_>, given: &Given) -> Wanted {
    let mut item = find(call.state, &given.text("taskId")?)?.clone();
    if let Some(title) = given.text_or_none("title")? {
        item.title = bounded(title)?;
    }
    if let Some(description) = given.text_or_none("description")? {
        item.description = Some(bounded(description)?);
    }
    if let Some(status) = given.text_or_none("status")? {
        let found = Progress::ALL.into_iter().find(|progress| progress.word() == status);
        let words = Progress::ALL.map(Progress::word).join(", ");
        item.progress = found.ok_or_else(|| refused(format!("There is no status `{status}`; use one of: {words}.")))?;
    }
    if let Some(agent) = given.agent()? {
        reassign(call, &mut item, agent)?;
    }
    let answer = shown(&item).to_string();
    Ok(Wish::Dex(Deed::Save { item: Box::new(item), answer }))
}

/// The whole list, or these entries of it. What is too long together is cut, and can be read entry by entry.
pub(super) fn items(call: &Call<'_>, given: &Given) -> Wanted {
    let ids = given.texts("taskIds")?;
    let wanted = ids.iter().map(|id| find(call.state, id)).collect::<Result<Vec<_>, _>>()?;
    let tasks = if ids.is_empty() { call.state.tasks.iter().collect() } else { wanted };
    let list = json!({"tasks": tasks.into_iter().map(shown).collect::<Vec<_>>()});
    let (text, bytes_max) = (list.to_string(), call.world.limits.tool_output_bytes);
    if text.len() <= bytes_max {
        return Ok(Wish::Answer(text));
    }
    let bounds = Bounds { text: TEXT_BYTES_MAX, entries: TASKS_MAX };
    let room = bytes_max.saturating_sub(json!({"cut": ITEMS_CUT}).to_string().len());
    let mut list = fit(&list, room, bounds);
    list["cut"] = ITEMS_CUT.into();
    Ok(Wish::Answer(list.to_string()))
}

pub(super) fn start(call: &Call<'_>, given: &Given) -> Wanted {
    let mut item = find(call.state, &given.text("taskId")?)?.clone();
    if item.assignment.is_none() {
        item.progress = Progress::InProgress;
        let answer = shown(&item).to_string();
        return Ok(Wish::Dex(Deed::Save { item: Box::new(item), answer }));
    }
    let pieces = vec![begin(call, item)?];
    Ok(Wish::Dex(Deed::Assign { pieces, form: Form::Task }))
}

pub(super) fn delegate(call: &Call<'_>, given: &Given) -> Wanted {
    let mut item = find(call.state, &given.text("taskId")?)?.clone();
    reassign(call, &mut item, Name::from(given.text("profile")?))?;
    let pieces = vec![begin(call, item)?];
    Ok(Wish::Dex(Deed::Assign { pieces, form: Form::Task }))
}

pub(super) fn assign(call: &Call<'_>, given: &Given) -> Wanted {
    let profile = given.text("profile")?;
    call.profile(&profile)?;
    let (texts, ids, starts) = (given.texts("tasks")?, given.texts("taskIds")?, given.flag("start")?);
    if texts.is_empty() && ids.is_empty() {
        return Err(refused("Give `tasks`, texts of new tasks, or `taskIds`, entries of the task list."));
    }
    let mut items = Vec::new();
    for id in &ids {
        let item = find(call.state, id)?;
        if !items.contains(item) {
            items.push(item.clone());
        }
    }
    for (place, text) in texts.into_iter().enumerate() {
        items.push(new_item(call.state, place + 1, text)?);
    }
    let mut pieces = Vec::new();
    for mut item in items {
        reassign(call, &mut item, Name::from(profile.as_str()))?;
        pieces.push(if starts { begin(call, item)? } else { Piece { item, order: None } });
    }
    Ok(Wish::Dex(Deed::Assign { pieces, form: Form::Assignments }))
}

pub(super) fn join(call: &Call<'_>, given: &Given) -> Wanted {
    let ids = given.texts("taskIds")?;
    let mut tasks: Vec<(String, RunId)> = Vec::new();
    if ids.is_empty() {
        tasks.extend(call.state.tasks.iter().filter_map(|item| Some((item.id.clone(), run_of(item)?.clone()))));
    }
    for id in ids {
        let run = run_of(find(call.state, &id)?).cloned();
        let run =
            run.ok_or_else(|| refused(format!("Task `{id}` was not started, so that nothing of it can be joined.")))?;
        tasks.push((id, run));
    }
    let at_work = |run: &RunId| call.state.delegated.get(run).is_some_and(|known| known.status == RunStatus::Running);
    let runs: Vec<RunId> = tasks.iter().map(|(_, run)| run.clone()).filter(at_work).collect();
    Ok(if runs.is_empty() { Wish::Look(Look::Joined { tasks }) } else { Wish::Dex(Deed::Join { runs }) })
}

pub(super) fn delegations(state: &ThreadState) -> Wish<'static> {
    let link = |item: &TaskItem| {
        let assignment = item.assignment.as_ref().filter(|assignment| assignment.run.is_some())?;
        Some(json!({
            "taskId": item.id,
            "assignmentId": assignment.id,
            "profile": assignment.agent,
            "runId": assignment.run,
            "status": word(assignment.status),
        }))
    };
    let links: Vec<Value> = state.tasks.iter().filter_map(link).collect();
    Wish::Answer(json!({"delegations": links}).to_string())
}

/// An entry as models and people are shown it.
pub(crate) fn shown(item: &TaskItem) -> Value {
    let assignment = item.assignment.as_ref().map(|assignment| {
        json!({
            "id": assignment.id,
            "agent": assignment.agent,
            "status": word(assignment.status),
            "runId": assignment.run,
            "response": assignment.response,
        })
    });
    json!({
        "taskId": item.id,
        "title": item.title,
        "description": item.description,
        "status": item.progress.word(),
        "assignment": assignment,
    })
}

/// The entry with an order for its run.
fn begin(call: &Call<'_>, mut item: TaskItem) -> Result<Piece, Refusal> {
    let Some(assignment) = item.assignment.as_mut() else {
        return Err(refused(format!("Task `{}` is assigned to nobody.", item.id)));
    };
    if let Some(run) = &assignment.run {
        if assignment.status != RunStatus::Failed && assignment.status != RunStatus::Cancelled {
            let text = format!("Task `{}` was started before: run `{run}` is {}.", item.id, word(assignment.status));
            return Err(refused(text));
        }
        *assignment = Assignment::open(assignment.id.clone(), assignment.agent.clone());
    }
    let agent = call.profile(assignment.agent.as_str())?;
    let more = item.description.as_ref().map(|more| format!("\n\n{more}")).unwrap_or_default();
    let order = call.order(agent, format!("{}{more}", item.title), Patience::None);
    Ok(Piece { item, order: Some(order) })
}

/// Gives the entry to another profile, unless somebody works on it.
fn reassign(call: &Call<'_>, item: &mut TaskItem, agent: Name) -> Result<(), Refusal> {
    call.profile(agent.as_str())?;
    if let Some(assignment) = &item.assignment
        && let Some(run) = assignment.run.as_ref().filter(|_| !assignment.status.is_terminal())
    {
        let text = format!("Task `{}` cannot be reassigned: run `{run}` is {}.", item.id, word(assignment.status));
        return Err(refused(text));
    }
    item.assignment = Some(Assignment::open(assignment_id(call.state, item), agent));
    Ok(())
}

fn run_of(item: &TaskItem) -> Option<&RunId> {
    item.assignment.as_ref()?.run.as_ref()
}

fn find<'s>(state: &'s ThreadState, id: &str) -> Result<&'s TaskItem, Refusal> {
    state.tasks.iter().find(|item| item.id == id).ok_or_else(|| refused(format!("There is no task `{id}`.")))
}

/// The `nth` new entry of a call. None is ever taken away, so that numbers are not used twice.
fn new_item(state: &ThreadState, nth: usize, title: String) -> Result<TaskItem, Refusal> {
    let number = state.tasks.len() + nth;
    if number > TASKS_MAX {
        return Err(refused(format!("The task list is full: it holds at most {TASKS_MAX} entries.")));
    }
    let title = bounded(title)?;
    Ok(TaskItem {
        id: format!("item-{number}"),
        title,
        description: None,
        progress: Progress::Pending,
        assignment: None,
    })
}

/// Whoever reads the assignments of all threads can tell them apart.
fn assignment_id(state: &ThreadState, item: &TaskItem) -> String {
    format!("{}-{}", state.id(), item.id)
}

fn bounded(text: String) -> Result<String, Refusal> {
    if text.len() <= TEXT_BYTES_MAX {
        return Ok(text);
    }
    Err(refused(format!("The text has {} bytes; at most {TEXT_BYTES_MAX} are allowed.", text.len())))
}
