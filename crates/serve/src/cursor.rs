//! Parts of listings: how many rows, and behind which one.

use crate::fault::Fault;
use entourage_runtime::Page;

const LIMIT: usize = 100;
const LIMIT_MAX: usize = 1000;

/// What was asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<T> {
    after: Option<T>,
    limit: usize,
}

impl<T> Cursor<T> {
    pub(crate) fn parse(
        limit: Option<&str>,
        after: Option<&str>,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Self, Fault> {
        let parse = |text| parse(text).ok_or_else(|| Fault::bad_request("that is no cursor"));
        let after = after.map(parse).transpose()?;
        Ok(Self { after, limit: parse_limit(limit)? })
    }

    /// What the last page's last row is, if this is not the first page.
    pub(crate) fn after(&self) -> Option<&T> {
        self.after.as_ref()
    }

    /// A row more than is shown tells that there are more.
    pub(crate) fn page(&self) -> Page<T>
    where
        T: Clone,
    {
        Page { after: self.after.clone(), limit: self.limit + 1 }
    }

    /// Leaves the rows that are shown, and returns the last one's id where there are more.
    pub(crate) fn cut<R>(&self, rows: &mut Vec<R>, id: impl Fn(&R) -> String) -> Option<String> {
        let has_more = rows.len() > self.limit;
        rows.truncate(self.limit);
        rows.last().filter(|_| has_more).map(id)
    }
}

pub(crate) fn parse_limit(limit: Option<&str>) -> Result<usize, Fault> {
    let Some(text) = limit else { return Ok(LIMIT) };
    let limit = text.parse().ok().filter(|limit| (1..=LIMIT_MAX).contains(limit));
    limit.ok_or_else(|| Fault::bad_request(format!("`limit` must be a number from 1 to {LIMIT_MAX}")))
}
