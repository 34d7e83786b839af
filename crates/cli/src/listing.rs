//! A part of a listing as a command shows it, and whether there is more of it.

use crate::invocation::Invocation;
use crate::table;
use serde_json::{Value, json};

#[derive(Debug)]
pub(crate) struct Listing<R> {
    pub(crate) rows: Vec<R>,
    has_more: bool,
}

impl<R> Listing<R> {
    /// How many to ask for: a row more than is shown tells that there are more.
    pub(crate) fn page(limit: u16) -> usize {
        usize::from(limit) + 1
    }

    /// At most `limit` of the rows that such a page gave.
    pub(crate) fn of(mut rows: Vec<R>, limit: u16) -> Self {
        let has_more = rows.len() > usize::from(limit);
        rows.truncate(limit.into());
        Self { rows, has_more }
    }

    /// As the route gives it: the rows under `name`, and where there are more, the last one's `id` as `next`.
    pub(crate) fn print_json(&self, invocation: &Invocation, (name, id): (&str, &str), show: fn(&R) -> Value) {
        let rows: Vec<Value> = self.rows.iter().map(show).collect();
        let next = rows.last().filter(|_| self.has_more).map(|last| last[id].clone());
        let mut document = json!({ name: rows });
        if let Some(next) = next {
            document["next"] = next;
        }
        invocation.screen.json(&document);
    }

    pub(crate) fn print_table<const N: usize>(&self, invocation: &Invocation, heads: [&str; N], cells: &[[String; N]]) {
        invocation.screen.data(&table::lines(heads, cells, invocation.screen.data_paint()));
        if self.has_more {
            invocation.screen.note("there are more; `--limit N` shows them");
        }
    }
}
