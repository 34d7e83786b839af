//! `read_file`: the text of one file, or some lines of it.

use super::arguments::decode;
use super::background::in_background;
use super::{Call, Output, Tool, reading};
use crate::workspace::{OpenFile, PathFault, Stop, TELLING_BYTES};
use async_trait::async_trait;
use entourage_model::ToolSpec;
use serde::Deserialize;
use serde_json::json;
use std::io::{BufRead, BufReader, Read as _};
use std::sync::Arc;

/// How far into a file a line is looked for.
const PASSED_BYTES_MAX: u64 = 256 << 20;
const CHUNK_BYTES: usize = 64 << 10;

#[derive(Debug)]
pub(super) struct ReadFile {
    spec: Arc<ToolSpec>,
}

#[derive(Debug, Deserialize)]
struct Arguments {
    path: String,
    #[serde(default = "first_line")]
    offset: u64,
    limit: Option<u64>,
}

impl Default for ReadFile {
    fn default() -> Self {
        let description = "Returns the text of a file, exactly as it is and without line numbers. `offset` and `limit` \
            choose lines. A text that is too long is cut, and its last line says at which offset to read on. \
            A folder or a binary file is an error.";
        let parameters = json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "description": "The file, relative to the workspace" },
                "offset": { "type": "integer", "minimum": 1, "description": "The first line, counted from 1" },
                "limit": { "type": "integer", "minimum": 1, "description": "The number of lines" },
            },
            "required": ["path"],
            "additionalProperties": false,
        });
        Self { spec: reading("read_file", description, parameters) }
    }
}

#[async_trait]
impl Tool for ReadFile {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    async fn call(&self, call: Call) -> Output {
        in_background(move |stop| read(call, stop)).await
    }
}

fn first_line() -> u64 {
    1
}

fn read(call: Call, stop: &Stop) -> Result<String, Output> {
    let arguments: Arguments = decode(call.arguments)?;
    let file = call.workspace.file(&arguments.path)?;
    let head = file.read(TELLING_BYTES)?;
    if head.contains(&0) {
        return Err(file.not_text().into());
    }
    let mut rest = BufReader::with_capacity(CHUNK_BYTES, &file);
    let mut lines = Lines { reader: &mut head.as_slice().chain(&mut rest), file: &file, stop };
    let passed = lines.pass(arguments.offset.saturating_sub(1))?;
    let bytes = lines.keep(arguments.limit, call.output_bytes_max)?;
    if bytes.is_empty() && arguments.offset > 1 {
        return Err(Output::error(format!("Line {} is past the end: there are {passed} lines.", arguments.offset)));
    }
    let cut = bytes.len() > call.output_bytes_max;
    let text = text(&file, bytes, cut)?;
    Ok(if cut { cut_at_line(text, file.size(), arguments.offset, call.output_bytes_max) } else { text })
}

/// A file as lines, of any length, read piece by piece.
struct Lines<'a> {
    reader: &'a mut dyn BufRead,
    file: &'a OpenFile,
    stop: &'a Stop,
}

impl Lines<'_> {
    /// Passes over as many lines as there are, up to `lines`, and says how many that were.
    fn pass(&mut self, lines: u64) -> Result<u64, PathFault> {
        let (mut passed, mut passed_bytes, mut within_line) = (0, 0, false);
        while passed < lines {
            let Some((bytes, ended)) = self.piece(|_| {})? else { break };
            passed_bytes += bytes;
            if passed_bytes > PASSED_BYTES_MAX {
                return Err(self.file.too_large(PASSED_BYTES_MAX));
            }
            passed += u64::from(ended);
            within_line = !ended;
        }
        Ok(passed + u64::from(within_line))
    }

    /// The next `limit` lines; it stops behind the piece that goes beyond `bytes_max`.
    fn keep(&mut self, limit: Option<u64>, bytes_max: usize) -> Result<Vec<u8>, PathFault> {
        let mut kept = Vec::new();
        let mut lines_left = limit.unwrap_or(u64::MAX);
        while lines_left > 0 && kept.len() <= bytes_max {
            let Some((_, ended)) = self.piece(|piece| kept.extend_from_slice(piece))? else { break };
            lines_left -= u64::from(ended);
        }
        Ok(kept)
    }

    /// The next piece of a line: its length, and whether the line ends with it. At the end of the file there is none.
    fn piece(&mut self, mut take: impl FnMut(&[u8])) -> Result<Option<(u64, bool)>, PathFault> {
        let buffer = self.reader.fill_buf().map_err(|error| self.file.unreadable(error))?;
        if buffer.is_empty() || self.stop.is_set() {
            return Ok(None);
        }
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let length = end.map_or(buffer.len(), |end| end + 1);
        take(&buffer[..length]);
        self.reader.consume(length);
        Ok(Some((u64::try_from(length).unwrap_or(u64::MAX), end.is_some())))
    }
}

/// `bytes` as text; where they were `cut`, the last character may be a part of one.
fn text(file: &OpenFile, mut bytes: Vec<u8>, cut: bool) -> Result<String, PathFault> {
    if bytes.contains(&0) {
        return Err(file.not_text());
    }
    if let Err(error) = std::str::from_utf8(&bytes)
        && cut
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    String::from_utf8(bytes).map_err(|_| file.not_text())
}

/// As many whole lines as fit, and a last line that says how to go on; of a single endless line, its beginning.
fn cut_at_line(mut text: String, size: u64, offset: u64, bytes_max: usize) -> String {
    // The numbers in the mark are no longer than these.
    let longest = mark(size, size, Some(u64::MAX));
    let room = text.floor_char_boundary(bytes_max.saturating_sub(longest.len() + 1));
    let whole_lines = text[..room].rfind('\n').map(|end| end + 1);
    text.truncate(whole_lines.unwrap_or(room));
    let next = whole_lines.map(|_| offset + u64::try_from(text.matches('\n').count()).unwrap_or(u64::MAX));
    let shown = u64::try_from(text.len()).unwrap_or(u64::MAX);
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text + &mark(shown, size, next)
}

fn mark(shown: u64, size: u64, next: Option<u64>) -> String {
    match next {
        Some(offset) => format!("[cut: {shown} of {size} bytes shown; read on with offset {offset}]"),
        None => format!("[cut: {shown} of {size} bytes shown]"),
    }
}
