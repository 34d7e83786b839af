//! A prompt's draft → prompt: what it may call, its model and its hooks exist.

use super::ledger::{Id, Ledger};
use super::model::{self, Models, Resolved};
use super::server::settled;
use super::shelf::Shelf;
use super::{entry, hook};
use crate::draft::{Declared, PromptDraft};
use crate::standard_agents::stranger;
use crate::tools::{NAME_CHARS_MAX, can_be_called};
use entourage_model::{Instructions, Name, Prompt, Report, ToolEntry};
use serde_json::{Map, Value};

pub(super) struct Checker<'a> {
    pub(super) shelf: &'a Shelf<'a>,
    pub(super) models: &'a Models<'a>,
    pub(super) declared: &'a Declared<PromptDraft>,
    pub(super) draft: &'a PromptDraft,
}

impl Checker<'_> {
    /// The prompt may be broken; the ledger knows.
    pub(super) fn check(&self, instructions: Instructions, ledger: &mut Ledger) -> Prompt {
        let Self { shelf, declared, draft, .. } = self;
        let id = Id::Prompt(declared.name.value.clone());
        let model = self.model(&id, ledger);
        let entries = entry::check_all(shelf, declared, draft, ledger);
        if let Some(spot) = draft.only_tool.filter(|_| draft.tools.len() != 1) {
            let what =
                format!("`toolChoice` of {id} is `function`, which needs one tool, and lists {}", draft.tools.len());
            let report = Report::error("D037", what).hint("list the one tool that is to be called, or use `required`");
            ledger.refuse(&id, report.at(declared.place(spot)));
        }
        self.budget(model.as_ref(), ledger);
        let (model, fallbacks) = model.map(|model| (model.model, model.fallbacks)).unzip();
        Prompt {
            model,
            fallbacks: fallbacks.unwrap_or_default(),
            include_chat: draft.include_chat,
            include_past_tools: draft.include_past_tools,
            parallel_tool_calls: draft.parallel_tool_calls,
            tool_choice: draft.tool_choice,
            required_schema: draft.required_schema.clone(),
            reasoning: draft.reasoning.clone(),
            env: draft.env.clone(),
            variables: draft.variables.clone(),
            hooks: hook::named(shelf, &id, declared, &draft.hooks, ledger),
            servers: settled(entries.tools.iter().map(ToolEntry::name)),
            tools: entries.tools,
            tool_configs: entries.configs,
            provider_options: self.provider_options(),
            ..Prompt::new(declared.name.value.clone(), instructions)
        }
    }

    fn model(&self, id: &Id, ledger: &mut Ledger) -> Option<Resolved> {
        let said = self.draft.model.as_ref()?;
        let place = self.declared.place(said.spot);
        if self.shelf.models.contains_key(&said.value) {
            ledger.need(id, Id::Model(said.value.clone()));
        }
        match model::named(self.shelf, self.models, id, &said.value) {
            Ok(resolved) => {
                // A definition's provider is told of there.
                if !self.shelf.models.contains_key(&said.value)
                    && let Some(report) = stranger(&format!("{id} uses a model of"), resolved.model.provider())
                {
                    ledger.note(id, report.at(place));
                }
                Some(resolved)
            }
            Err(report) => {
                // What cannot be read is reported where it is declared.
                if !self.shelf.models.contains_key(&said.value) {
                    ledger.refuse(id, report.at(place));
                }
                None
            }
        }
    }

    /// Chat Completions knows how hard a model is to think, not how long.
    fn budget(&self, model: Option<&Resolved>, ledger: &mut Ledger) {
        let is_deaf = model.is_some_and(|model| model.model.provider() == "openai");
        if let Some(spot) = self.draft.budget.filter(|_| is_deaf) {
            let what = "`reasoning.maxTokens` has no effect on a model of `openai`";
            let report = Report::warning("D009", what).at(self.declared.place(spot));
            ledger.reports.push(report.hint("say by `reasoning.effort` how hard it is to think"));
        }
    }

    fn provider_options(&self) -> Map<String, Value> {
        let defined = self.draft.model.as_ref().and_then(|model| self.shelf.models.get(&model.value)?.draft.as_ref());
        defined.map(|model| model.provider_options.clone()).unwrap_or_default()
    }
}

/// Why `subject` cannot be offered as a tool called `name`, if it cannot.
pub(super) fn tool_name_fault(subject: &Id, name: &Name) -> Option<Report> {
    let text = name.as_str();
    let fits = can_be_called(text);
    let what = format!("{subject} cannot be offered as a tool under this name");
    let hint = format!("use at most {NAME_CHARS_MAX} letters of a to z, digits, `_` and `-`");
    (!fits).then(|| Report::error("D011", what).hint(hint))
}
