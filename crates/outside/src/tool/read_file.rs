//! `read_file`: the text of one file, or some lines of it.

use super::arguments::decode;
use super::background::in_background;
use super::file_tool::FileTool;
use super::{Attendant, Call, Output, Tool};
use crate::workspace::{Origin, PathFault, Stop, TELLING_BYTES};
use async_trait::async_trait;
use entourage_model::{Fact, ToolSpec};
use serde::Deserialize;
use serde_json::json;
use std::io::{BufRead, BufReader, Read as _};
use std::sync::Arc;

/// How far into a file a line is looked for.
const PASSED_BYTES_MAX: u64 = 256 << 20;
const CHUNK_BYTES: usize = 64 << 10;
/// A larger file is worth a thread.
const AT_ONCE_BYTES_MAX: usize = 64 << 10;

#[derive(Debug, Deserialize)]
struct Arguments {
    path: String,
    #[serde(default = "first_line")]
    offset: u64,
    limit: Option<u64>,
    /// How many bytes of the first line are passed over.
    #[serde(default)]
    byte: u64,
}

/// The tool. Beside files of the workspace it reads those of the thread, whose paths are absolute.
#[derive(Debug)]
pub(super) struct ReadFile(FileTool);

pub(super) fn read_file() -> ReadFile {
    let description = "Returns the text of a file, exactly as it is and without line numbers. `offset` and `limit` \
        choose lines. A text that is too long is cut, and its last line says at which offset to read on, and at which \
        byte of a line that is itself too long. \
        A folder or a binary file is an error. Files of this conversation, such as attachments and the whole of an \
        output that was cut, have paths that begin with `/`.";
    let parameters = json!({
        "type": "object",
        "properties": {
            "path": { "type": "string", "description": "The file, relative to the workspace" },
            "offset": { "type": "integer", "minimum": 1, "description": "The first line, counted from 1" },
            "limit": { "type": "integer", "minimum": 1, "description": "The number of lines" },
            "byte": { "type": "integer", "minimum": 0, "description": "Begin behind so many bytes of the first line" },
        },
        "required": ["path"],
        "additionalProperties": false,
    });
    let tool = FileTool::reading("read_file", description, parameters, read);
    ReadFile(tool.first_at_once(read_at_once).telling(did))
}

#[async_trait]
impl Tool for ReadFile {
    fn spec(&self) -> &Arc<ToolSpec> {
        self.0.spec()
    }

    async fn call(&self, call: Call) -> Output {
        match of_thread(&call) {
            Some((attendant, path)) => match attendant.file(&path).await {
                Some(bytes) => in_background(move |stop| read_bytes(call, path, &bytes, stop)).await,
                // Neither the thread nor the workspace has it: the workspace says so.
                None => self.0.call(call).await,
            },
            None => self.0.call(call).await,
        }
    }
}

/// The path of a file of the thread, if that is what is wanted, and who can give it.
fn of_thread(call: &Call) -> Option<(Arc<dyn Attendant>, String)> {
    let attendant = call.attendant.clone()?;
    let Arguments { path, .. } = Arguments::deserialize(&call.arguments).ok()?;
    (path.starts_with('/') && !call.workspace.may_hold(&path)).then_some((attendant, path))
}

fn did(call: &Call) -> Option<Fact> {
    let Arguments { path, .. } = Arguments::deserialize(&call.arguments).ok()?;
    Some(Fact::ReadFile { path: call.workspace.project_path(&path) })
}

fn first_line() -> u64 {
    1
}

/// A small text that is wanted as a whole, as most are.
fn read_at_once(call: &Call) -> Option<String> {
    let arguments = Arguments::deserialize(&call.arguments).ok()?;
    if arguments.offset > 1 || arguments.byte > 0 || arguments.limit.is_some() {
        return None;
    }
    let bytes = call.workspace.bytes_at_once(&arguments.path, call.output_bytes_max.min(AT_ONCE_BYTES_MAX))?;
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

fn read(call: Call, stop: &Stop) -> Result<String, Output> {
    let arguments: Arguments = decode(call.arguments)?;
    let file = call.workspace.file(&arguments.path)?;
    let head = file.read(TELLING_BYTES)?;
    if head.contains(&0) {
        return Err(file.origin().not_text().into());
    }
    // Less than was asked for is all that there is.
    let is_all = u64::try_from(head.len()).is_ok_and(|read| read < TELLING_BYTES);
    let mut rest = BufReader::with_capacity(if is_all { 0 } else { CHUNK_BYTES }, &file);
    let mut lines = Lines { reader: &mut head.as_slice().chain(&mut rest), origin: file.origin(), stop };
    lines.chosen(&arguments, call.output_bytes_max)
}

fn read_bytes(call: Call, path: String, mut bytes: &[u8], stop: &Stop) -> Result<String, Output> {
    let arguments: Arguments = decode(call.arguments)?;
    let origin = Origin { path, size: u64::try_from(bytes.len()).unwrap_or(u64::MAX) };
    Lines { reader: &mut bytes, origin: &origin, stop }.chosen(&arguments, call.output_bytes_max)
}

/// A file as lines, of any length, read piece by piece.
struct Lines<'a> {
    reader: &'a mut dyn BufRead,
    origin: &'a Origin,
    stop: &'a Stop,
}

impl Lines<'_> {
    /// The lines that are asked for, cut where they are too many.
    fn chosen(&mut self, arguments: &Arguments, bytes_max: usize) -> Result<String, Output> {
        let offset = arguments.offset;
        let passed = self.pass(offset.saturating_sub(1))?;
        let mut byte = self.enter(arguments.byte)?;
        let mut bytes = self.keep(arguments.limit, bytes_max)?;
        if bytes.is_empty() && byte == 0 && offset > 1 {
            return Err(Output::error(format!("Line {offset} is past the end: there are {passed} lines.")));
        }
        if byte < arguments.byte {
            return Err(Output::error(format!("Line {offset} has {byte} bytes; byte {} is past it.", arguments.byte)));
        }
        if byte > 0 {
            // It may lie within a character, which whoever read before was not shown either.
            let rest = bytes.iter().take_while(|&&byte| byte & 0xc0 == 0x80).count();
            bytes.drain(..rest);
            byte += u64::try_from(rest).unwrap_or(u64::MAX);
        }
        let cut = bytes.len() > bytes_max;
        let text = text(self.origin, bytes, cut)?;
        Ok(if cut { cut_at_line(text, self.origin.size, (offset, byte), bytes_max) } else { text })
    }

    /// Passes over so many bytes of the line, or all of them but its end, and says how many that were.
    fn enter(&mut self, bytes: u64) -> Result<u64, PathFault> {
        let mut passed = 0;
        while passed < bytes && !self.stop.is_set() {
            let buffer = self.reader.fill_buf().map_err(|error| self.origin.unreadable(error))?;
            let left = usize::try_from(bytes - passed).unwrap_or(usize::MAX);
            let length = buffer.iter().take(left).position(|&byte| byte == b'\n').unwrap_or(left.min(buffer.len()));
            if length == 0 {
                break;
            }
            self.reader.consume(length);
            passed += u64::try_from(length).unwrap_or(u64::MAX);
            if passed > PASSED_BYTES_MAX {
                return Err(self.origin.too_large(PASSED_BYTES_MAX));
            }
        }
        Ok(passed)
    }

    /// Passes over as many lines as there are, up to `lines`, and says how many that were.
    fn pass(&mut self, lines: u64) -> Result<u64, PathFault> {
        let (mut passed, mut passed_bytes, mut within_line) = (0, 0, false);
        while passed < lines {
            let Some((bytes, ended)) = self.piece(|_| {})? else { break };
            passed_bytes += bytes;
            if passed_bytes > PASSED_BYTES_MAX {
                return Err(self.origin.too_large(PASSED_BYTES_MAX));
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
        let buffer = self.reader.fill_buf().map_err(|error| self.origin.unreadable(error))?;
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
fn text(origin: &Origin, mut bytes: Vec<u8>, cut: bool) -> Result<String, PathFault> {
    if bytes.contains(&0) {
        return Err(origin.not_text());
    }
    if let Err(error) = std::str::from_utf8(&bytes)
        && cut
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    String::from_utf8(bytes).map_err(|_| origin.not_text())
}

/// As many whole lines as fit, and a last line that says how to go on; of a single endless line, what of it fits. The text
/// begins in the line `offset`, behind so many bytes of it.
fn cut_at_line(mut text: String, size: u64, (offset, byte): (u64, u64), bytes_max: usize) -> String {
    // The numbers in the mark are no longer than these.
    let room = |longest: String| text.floor_char_boundary(bytes_max.saturating_sub(longest.len() + 1));
    let whole_lines = text[..room(mark(size, size, (u64::MAX, 0)))].rfind('\n').map(|end| end + 1);
    let end = whole_lines.unwrap_or_else(|| room(mark(size, size, (offset, size))));
    text.truncate(end);
    let shown = u64::try_from(text.len()).unwrap_or(u64::MAX);
    let lines = u64::try_from(text.matches('\n').count()).unwrap_or(u64::MAX);
    let next = if whole_lines.is_some() { (offset + lines, 0) } else { (offset, byte + shown) };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text + &mark(shown, size, next)
}

fn mark(shown: u64, size: u64, (offset, byte): (u64, u64)) -> String {
    let place = if byte == 0 { String::new() } else { format!(" and byte {byte}") };
    format!("[cut: {shown} of {size} bytes shown; read on with offset {offset}{place}]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Workspace;
    use cap_std::fs::Dir;
    use entourage_model::{Ids, Timestamp};
    use serde_json::Value;

    fn call(workspace: &Arc<Workspace>, arguments: Value) -> Call {
        Call {
            thread: Ids::new(Timestamp(0), 1).thread(),
            call: "k1".into(),
            key: String::new(),
            arguments,
            workspace: Arc::clone(workspace),
            output_bytes_max: 100,
            time_max: std::time::Duration::from_secs(1),
            attendant: None,
        }
    }

    #[test]
    fn what_is_read_at_once_is_what_is_read_otherwise() {
        let folder = tempfile::tempdir().unwrap();
        let dir = Dir::open_ambient_dir(folder.path(), cap_std::ambient_authority()).unwrap();
        dir.create_dir("below").unwrap();
        dir.symlink("text", "below/link").unwrap();
        dir.symlink("../text", "below/up").unwrap();
        dir.symlink_contents("/etc/passwd", "out").unwrap();
        let text = "ä line\nand another";
        for (name, bytes) in [
            ("text", text.as_bytes()),
            ("empty", b""),
            ("full", &[b'x'; 100]),
            ("long", &[b'x'; 101]),
            ("nul", b"a\0b"),
            ("broken", b"\xff"),
        ] {
            dir.write(name, bytes).unwrap();
        }
        let workspace = Arc::new(Workspace::open(folder.path()).unwrap());
        let whole = |path: &str| json!({ "path": path });
        let at_once = |arguments: Value| read_at_once(&call(&workspace, arguments));
        for (path, expected) in [("text", text), ("./below/up", text), ("empty", ""), ("full", &"x".repeat(100))] {
            assert_eq!(read(call(&workspace, whole(path)), &Stop::default()).unwrap(), expected);
            // A file system may be unable to say that it need not wait.
            assert_eq!(at_once(whole(path)).unwrap_or(expected.to_owned()), expected);
        }
        for path in ["long", "nul", "broken", "below", "below/link", "out", "../text", "/etc/passwd", "nothing"] {
            assert_eq!(at_once(whole(path)), None, "{path}");
        }
        assert_eq!(at_once(json!({ "path": "text", "offset": 2 })), None);
        assert_eq!(at_once(json!({ "path": "text", "limit": 1 })), None);
    }
}
