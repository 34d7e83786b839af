//! Deciding about tasks that are given to profiles, and what becomes of them.

use super::Desk;
use super::child::Birth;
use crate::dialect::dex::{Form, Piece};
use entourage_model::{Event, Outcome, Progress, RunId, RunStatus, TaskItem, ThreadId, ToolCall, Wait};
use serde_json::{Value, json};
use std::collections::BTreeMap;

impl Desk<'_> {
    /// Saves the tasks and starts those that are to be started. One that cannot be started is saved all the same, and
    /// the answer says why.
    pub(super) fn assign(&mut self, call: &ToolCall, pieces: Vec<Piece>, form: Form) {
        let mut assignments = Vec::new();
        for Piece { item, order } in pieces {
            let started = order.map_or(Ok(None), |order| match self.may_spawn(&order) {
                Ok(()) => {
                    let thread = self.ids.thread();
                    let (wait, given) = (Wait::Background, BTreeMap::new());
                    self.bear(Birth { thread, wait, given, group: self.group(), order });
                    let run = self.state.children.get(&thread).and_then(|child| child.link.run.clone());
                    Ok(run.map(|run| (run, thread)))
                }
                Err(refusal) => Err(refusal.spoken(order.dialect).text()),
            });
            match (started, form) {
                (Ok(run), Form::Task | Form::Assignments) => assignments.push(self.save_assigned(item, run, None)),
                (Err(why), Form::Assignments) => assignments.push(self.save_assigned(item, None, Some(why))),
                (Err(why), Form::Task) => return self.end_call(call, Outcome::Failed, why),
            }
        }
        let answer = match form {
            Form::Task => assignments.pop().unwrap_or_default(),
            Form::Assignments => json!({ "assignments": assignments }),
        };
        self.end_call(call, Outcome::Done, answer.to_string());
    }

    /// Saves the task with its run, and returns what the model is told about it.
    fn save_assigned(&mut self, mut item: TaskItem, run: Option<(RunId, ThreadId)>, why: Option<String>) -> Value {
        let Some(assignment) = &mut item.assignment else { return Value::Null };
        if run.is_some() {
            (assignment.status, item.progress) = (RunStatus::Running, Progress::InProgress);
        }
        let worker = run.as_ref().map(|(_, thread)| *thread);
        assignment.run = run.map(|(run, _)| run);
        let mut told = json!({
            "taskId": item.id,
            "runId": assignment.run,
            "id": assignment.id,
            "profile": assignment.agent,
            "task": item.title,
            "status": crate::dialect::dex::word(assignment.status),
        });
        if let Some(worker) = worker {
            told["gatewayRunId"] = json!(worker);
        }
        if let Some(why) = why {
            told["error"] = why.into();
        }
        self.emit(Event::TaskSaved(Box::new(item)));
        told
    }

    /// Notes in the task list how the run stands, if it works on a task.
    pub(super) fn note_progress(&mut self, run: &RunId, status: RunStatus, response: Option<String>) {
        let of_run = |item: &&TaskItem| item.assignment.as_ref().is_some_and(|a| a.run.as_ref() == Some(run));
        let Some(mut item) = self.state.tasks.iter().find(of_run).cloned() else { return };
        if let Some(assignment) = &mut item.assignment {
            assignment.status = status;
            assignment.response = response.or(assignment.response.take());
        }
        self.emit(Event::TaskSaved(Box::new(item)));
    }
}
