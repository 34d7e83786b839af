//! The one sign that cannot be read by itself: `/` may begin a comment or a regular expression, or divide.

use super::level::Level;
use super::{Last, Scanner, Step};
use crate::limits::DOUBTS_MAX;

impl Scanner<'_> {
    /// A comment, a division or a regular expression.
    pub(super) fn slash(&mut self) -> Step {
        match (self.bytes.get(self.at + 1), self.last) {
            (Some(b'/'), _) => self.skip_line(),
            (Some(b'*'), _) => self.skip_comment(),
            (_, Last::Operand | Last::Closed { head: false, brace: false }) if !self.newline => self.divide()?,
            (_, Last::Operator | Last::Reserved) => self.regular_expression(),
            _ => self.read_both_ways()?,
        }
        Ok(())
    }

    fn divide(&mut self) -> Step {
        self.go_on(false);
        self.newline = false;
        self.operator(b'/')
    }

    /// Reads the line as if here were a division, and as if here were a regular expression. If both end up at the same
    /// place, the deeper one counts. If they do not, nobody can tell what the rest is.
    fn read_both_ways(&mut self) -> Step {
        let at = self.at;
        self.doubts += 1;
        if self.doubtful || self.doubts > DOUBTS_MAX {
            return Err(at);
        }
        let doubtful = Self { doubtful: true, broken: false, ..self.clone() };
        let (mut division, mut expression) = (doubtful.clone(), doubtful);
        division.divide()?;
        division.read_line()?;
        expression.regular_expression();
        expression.broken = !self.bytes.get(at + 1..expression.at).is_some_and(|read| read.ends_with(b"/"));
        expression.read_line()?;
        // A reading with a text that does not end is not what the parser takes it for, unless it stops there.
        let mut read = match (division.broken, expression.broken) {
            (true, false) => expression,
            (_, true) => division,
            (false, false) => division.joined(&expression).ok_or(at)?,
        };
        read.doubtful = false;
        read.broken = self.broken;
        *self = read;
        Ok(())
    }

    /// Two readings of the same line, of which the deeper one counts; nothing if they end up at different places.
    fn joined(mut self, other: &Self) -> Option<Self> {
        let alike =
            |(one, other): (&Level, &Level)| one.opener == other.opener && one.ended.is_some() == other.ended.is_some();
        let same = self.levels.len() == other.levels.len() && self.levels.iter().zip(&other.levels).all(alike);
        if self.at != other.at || !same {
            return None;
        }
        self.below = 0;
        for (level, other) in self.levels.iter_mut().zip(&other.levels) {
            level.join(other);
            self.below += level.depth();
        }
        self.below -= self.level().depth();
        self.work = self.work.max(other.work);
        if self.last != other.last {
            self.last = Last::Either;
        }
        Some(self)
    }

    /// Up to the end of the line on which nothing is open: a template may go on for many.
    fn read_line(&mut self) -> Step {
        while !self.broken
            && let Some(next) = self.text.get(self.at..).and_then(|rest| rest.chars().next())
            && !matches!(next, '\n' | '\r' | '\u{2028}' | '\u{2029}')
        {
            self.advance()?;
        }
        Ok(())
    }

    fn regular_expression(&mut self) {
        self.go_on(false);
        self.newline = false;
        self.at += 1;
        let mut class = false;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\\' => self.at += 1,
                b'[' => class = true,
                b']' => class = false,
                b'/' if !class => break,
                b'\n' | b'\r' => break,
                _ => {}
            }
            self.at += 1;
        }
        self.step(Last::Operand);
    }

    pub(super) fn skip_line(&mut self) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        self.at += rest.find(['\n', '\r', '\u{2028}', '\u{2029}']).unwrap_or(rest.len());
    }

    fn skip_comment(&mut self) {
        let start = self.at;
        let end = self.bytes[start + 2..].windows(2).position(|pair| pair == b"*/");
        self.at = end.map_or(self.bytes.len(), |end| start + 2 + end + 2);
        self.newline |= self.text[start..self.at].contains(['\n', '\r', '\u{2028}', '\u{2029}']);
    }
}
