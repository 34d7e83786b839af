//! The tool calls of one answer, made fit to be told apart.

use entourage_model::ToolCall;
use std::collections::HashSet;

/// A call as a provider said it. The id may be missing or not its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SaidCall {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
}

/// Gives every call an id of its own within the answer, and those without arguments an empty object. Arguments that
/// are no JSON stay as they are: whoever checks them tells the model.
pub(super) fn distinct(said: Vec<SaidCall>) -> Vec<ToolCall> {
    let mut taken = HashSet::with_capacity(said.len());
    let mut calls = Vec::with_capacity(said.len());
    for SaidCall { id, name, arguments } in said {
        let id = if id.is_empty() { fresh_id() } else { id };
        let mut candidate = id.clone();
        let mut count = 1;
        while !taken.insert(candidate.clone()) {
            count += 1;
            candidate = format!("{id}_{count}");
        }
        let arguments = if arguments.trim().is_empty() { "{}".to_owned() } else { arguments };
        calls.push(ToolCall { id: candidate.into(), name: name.into(), arguments });
    }
    calls
}

/// Unlike any other of the thread, whose earlier calls are not known here.
fn fresh_id() -> String {
    format!("call_{:016x}", fastrand::u64(..))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_kept_where_they_can_be_and_made_where_they_must_be() {
        let call = |id: &str| SaidCall { id: id.to_owned(), name: "fetch".to_owned(), arguments: " ".to_owned() };
        let calls = distinct(["a", "a", "a_2", "", ""].map(call).to_vec());
        let ids = calls.iter().map(|call| call.id.as_str()).collect::<Vec<_>>();
        assert_eq!(ids[..3], ["a", "a_2", "a_2_2"]);
        assert_eq!(HashSet::<&str>::from_iter(ids).len(), 5);
        assert!(calls.iter().all(|call| call.arguments == "{}"));
    }
}
