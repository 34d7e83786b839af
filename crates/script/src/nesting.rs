//! How deep a source is nested, found out before it is parsed.
//!
//! The parser, and everything that walks the tree it makes, calls itself for each level. A file of opening brackets
//! would end the process by its stack, and nothing could catch that. So a source is first read by this scanner, which
//! never calls itself: it finds an upper bound of the depth, and a source beyond `NESTING_MAX` is refused.
//!
//! The bound adds up the brackets that are open and, on each of their levels, the operators since the last comma or
//! semicolon: `!!!!a`, `a => b => c`, `a.b.c.d` and `if (a) if (b)` nest without any bracket. Every mistake it can make
//! must make the bound larger, never smaller. Where it cannot tell a division from a regular expression, in which
//! anything might hide, it reads the line both ways. Real sources stay far below the limit.
//!
//! The scanner also bounds the work. Where a text may be a type or an expression, the parser tries one and then the
//! other, and inside each attempt it does so again: some forty nested type arguments would take it years and all the
//! memory there is. So each byte counts as often as it may be parsed, up to `WORK_MAX`.

mod level;
mod slash;
#[cfg(test)]
mod tests;
mod word;

use crate::limits::{ANGLES_MAX, NESTING_MAX, WORK_MAX};
use level::Level;
use word::Word;

/// The offset at which a source becomes too deep to parse, if it does.
pub(crate) fn too_deep(text: &str) -> Option<usize> {
    Scanner::new(text, NESTING_MAX).scan().err()
}

#[derive(Clone)]
struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    /// Whether a line has ended since the last token.
    newline: bool,
    last: Last,
    /// The sum over all levels but the last.
    below: usize,
    levels: Vec<Level>,
    max: usize,
    work: u64,
    /// Lines that were read both ways.
    doubts: usize,
    /// Whether this is one of two readings of a line.
    doubtful: bool,
    /// Whether a text ended in the middle of a line, at which the parser stops.
    broken: bool,
}

/// The token before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// The end of an expression or a type, unless it is a bracket.
    Operand,
    /// A word behind which an expression, a type or a statement begins, if it is not just a name.
    Keyword,
    /// The same, but it is never a name.
    Reserved,
    /// The name of a member follows.
    Dot,
    /// `if`, `for`, `while` or `with`.
    Head,
    Closed {
        head: bool,
        brace: bool,
    },
    /// It may end an expression or stand inside of one, as `>` does.
    Either,
    Operator,
}

/// Ends with the offset at which it is too deep.
type Step = Result<(), usize>;

impl<'a> Scanner<'a> {
    fn new(text: &'a str, max: usize) -> Self {
        let levels = vec![Level { attempts: 1, ..Level::default() }];
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            newline: false,
            last: Last::Operator,
            below: 0,
            levels,
            max,
            work: 0,
            doubts: 0,
            doubtful: false,
            broken: false,
        }
    }

    fn scan(&mut self) -> Step {
        if self.bytes.starts_with(b"#!") {
            self.skip_line();
        }
        while self.at < self.bytes.len() {
            self.advance()?;
        }
        Ok(())
    }

    /// Reads one token, or what lies between two.
    fn advance(&mut self) -> Step {
        let (begun, attempts) = (self.at, self.level().attempts_here());
        match self.bytes[self.at] {
            b'\n' | b'\r' => {
                self.newline = true;
                self.at += 1;
            }
            b' ' | b'\t' | 0x0b | 0x0c => self.at += 1,
            b'/' => self.slash()?,
            byte @ 0x80.. => match self.blank() {
                Some(blank) => {
                    self.newline |= matches!(blank, '\u{2028}' | '\u{2029}');
                    self.at += blank.len_utf8();
                }
                None => self.token(byte)?,
            },
            byte => self.token(byte)?,
        }
        let bytes = u64::try_from(self.at - begun).unwrap_or(u64::MAX);
        self.work = self.work.saturating_add(bytes.saturating_mul(attempts));
        if self.work > WORK_MAX { Err(begun) } else { Ok(()) }
    }

    /// The character here, if it is a blank.
    fn blank(&self) -> Option<char> {
        let next = self.text.get(self.at..)?.chars().next()?;
        (next.is_whitespace() || next == '\u{feff}').then_some(next)
    }

    fn token(&mut self, byte: u8) -> Step {
        let word = is_word(byte);
        if !word {
            self.go_on(false);
        }
        match byte {
            _ if word => self.word()?,
            b'"' | b'\'' => self.string(byte),
            b'`' => {
                self.deepen()?;
                self.at += 1;
                self.template()?;
            }
            b'(' | b'[' | b'{' => self.open(byte)?,
            b')' | b']' | b'}' => self.close(byte)?,
            b',' => {
                let level = self.level();
                if level.angles == 0 {
                    level.longest = level.longest.max(level.run);
                    level.run = 0;
                    level.end_choice();
                }
                self.step(Last::Operator);
            }
            b';' => {
                self.level().end_statement();
                self.step(Last::Operator);
            }
            _ => self.operator(byte)?,
        }
        self.newline = false;
        Ok(())
    }

    fn level(&mut self) -> &mut Level {
        self.levels.last_mut().expect("the outermost level is never closed")
    }

    fn step(&mut self, last: Last) {
        self.last = last;
        self.at += 1;
    }

    /// A token behind a semicolon either goes on with the statement before it or begins another.
    fn go_on(&mut self, resumes: bool) {
        let level = self.level();
        if let Some(ended) = level.ended.take() {
            level.resumed = if resumes { level.resumed + ended + 1 } else { 0 };
        }
    }

    /// One more operator on this level.
    fn deepen(&mut self) -> Step {
        let (at, below, max) = (self.at, self.below, self.max);
        let level = self.level();
        level.run += 1;
        if below + level.depth() > max || level.angles > ANGLES_MAX { Err(at) } else { Ok(()) }
    }

    fn open(&mut self, opener: u8) -> Step {
        // What follows the bracket's end may nest still deeper, as in `f()()()`, so the bracket stays counted.
        self.deepen()?;
        self.below += self.level().depth();
        let called = matches!(self.last, Last::Operand | Last::Closed { .. });
        let pattern = opener == b'(' && !called && self.pattern_follows();
        // It may hold a type, or begin the type of a function.
        let attempts = self.level().attempts_here().saturating_mul(if pattern { 4 } else { 1 });
        self.levels.push(Level { opener, head: self.last == Last::Head, attempts, ..Level::default() });
        self.step(Last::Operator);
        Ok(())
    }

    /// Whether the bracket here may begin with `{` or `[`. A comment in between is taken for one.
    fn pattern_follows(&self) -> bool {
        let next = self.bytes[self.at + 1..].iter().find(|byte| !byte.is_ascii_whitespace());
        matches!(next, Some(b'{' | b'[' | b'/' | 0x80..))
    }

    fn close(&mut self, closer: u8) -> Step {
        let closes = match self.level().opener {
            b'(' => closer == b')',
            b'[' => closer == b']',
            b'{' | b'`' => closer == b'}',
            _ => false,
        };
        if !closes {
            // The parser will stop here; whatever it does instead is counted.
            return self.operator(closer);
        }
        let closed = self.levels.pop().expect("it has an opener");
        self.below -= self.level().depth();
        self.step(Last::Closed { head: closed.head, brace: closer == b'}' });
        if closed.opener == b'`' { self.template() } else { Ok(()) }
    }

    /// The text of a template, up to its end or to an expression in it.
    fn template(&mut self) -> Step {
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\\' => self.at += 1,
                b'`' => break,
                b'$' if self.bytes.get(self.at + 1) == Some(&b'{') => {
                    self.at += 1;
                    return self.open(b'`');
                }
                _ => {}
            }
            self.at += 1;
        }
        self.step(Last::Operand);
        Ok(())
    }

    fn string(&mut self, quote: u8) {
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\\' if self.bytes[self.at..].starts_with(b"\\\r\n") => self.at += 2,
                b'\\' => self.at += 1,
                b'\n' | b'\r' => {
                    self.broken = true;
                    break;
                }
                byte if byte == quote => break,
                _ => {}
            }
            self.at += 1;
        }
        self.step(Last::Operand);
    }

    fn word(&mut self) -> Step {
        let start = self.at;
        while self.bytes.get(self.at).copied().is_some_and(is_word) && self.blank().is_none() {
            self.at += self.text[self.at..].chars().next().map_or(1, char::len_utf8);
        }
        let word = if self.last == Last::Dot { Word::Name } else { Word::of(&self.text[start..self.at]) };
        let infer = &self.text[start..self.at] == "infer";
        self.go_on(word.resumes());
        let ended = matches!(self.last, Last::Operand | Last::Closed { head: false, .. });
        if self.newline && ended && !word.goes_on() {
            // A semicolon that was not written.
            self.level().end_statement();
            self.go_on(false);
        } else if !matches!(self.last, Last::Operator | Last::Dot) {
            self.deepen()?;
        }
        self.level().infers += usize::from(infer);
        self.last = match word {
            Word::Head | Word::While => Last::Head,
            // `for await (…)`
            Word::Prefix if self.last == Last::Head => Last::Head,
            Word::Name => Last::Operand,
            Word::Prefix | Word::Infix => Last::Keyword,
            Word::ReservedPrefix | Word::ReservedInfix | Word::Else => Last::Reserved,
        };
        Ok(())
    }

    fn operator(&mut self, byte: u8) -> Step {
        let before = self.at.checked_sub(1).map(|before| self.bytes[before]);
        let level = self.level();
        let closes_angle = byte == b'>' && before != Some(b'=');
        match byte {
            b'<' => level.angles += 1,
            b'>' if closes_angle => level.angles = level.angles.saturating_sub(1),
            b'>' if level.questions > 0 => level.arrows += 1,
            b'?' => level.questions += 1,
            _ => {}
        }
        self.deepen()?;
        let doubled = matches!(byte, b'+' | b'-') && self.bytes.get(self.at + 1) == Some(&byte);
        self.at += usize::from(doubled);
        self.step(match byte {
            b'.' if self.bytes[..self.at].ends_with(b"..") => Last::Operator,
            b'.' | b'#' => Last::Dot,
            b'!' => self.behind_postfix(),
            _ if doubled => self.behind_postfix(),
            _ if closes_angle => Last::Either,
            _ => Last::Operator,
        });
        Ok(())
    }

    /// What `!`, `++` and `--` are: the end of what they follow, or the beginning of something.
    fn behind_postfix(&self) -> Last {
        match self.last {
            Last::Operand | Last::Closed { head: false, brace: false } if !self.newline => Last::Operand,
            Last::Operator | Last::Reserved => Last::Operator,
            _ => Last::Either,
        }
    }
}

/// Letters, digits, and whatever else is not a sign of the language.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'\\' | 0x80..)
}
