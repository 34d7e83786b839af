//! A thread's own files, as a tool reads and writes them.
//!
//! Content is kept by its digest as soon as it is written, which changes nothing that anybody sees; the paths that
//! point at it become durable with the end of the call.

mod find;
mod metadata;

pub(super) use metadata::own_key;

use super::desk::Desk;
use super::door::{ThreadDoor, read};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use entourage_engine::ThreadState;
use entourage_model::{Act, Digest, FileRow, Name, Timestamp, copy_path, file_path, mime_type};
use entourage_outside::tool::Enclosure;
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize)]
struct ByPath {
    path: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WriteFile {
    path: String,
    text: Option<String>,
    base64: Option<String>,
    mime_type: Option<String>,
    metadata: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
pub(super) struct ReadFile {
    path: String,
    r#as: As,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum As {
    Auto,
    Text,
    Bytes,
}

#[derive(Deserialize)]
struct MoveFile {
    from: String,
    to: String,
}

impl ThreadDoor {
    pub(super) async fn ask_file(&self, method: &str, arguments: Value) -> Result<Value, String> {
        self.load_files().await?;
        match method {
            "writeFile" => self.write(read(arguments)?).await,
            "readFile" => {
                let wanted: ReadFile = read(arguments)?;
                let file = self.desk().file(&file_path(&wanted.path).map_err(told)?).cloned();
                self.content(file, &wanted).await
            }
            "statFile" => Ok(stat(self.desk().records(), &path_of(arguments)?)),
            "readdirFile" => {
                let ByPath { path } = read(arguments)?;
                Ok(entries(self.desk().records(), &folder(&path)?))
            }
            "unlinkFile" => self.unlink(path_of(arguments)?),
            "mkdirFile" => Ok(folder_record(&path_of(arguments)?, self.inner.store.now())),
            "rmdirFile" => self.rmdir(&path_of(arguments)?),
            "moveFile" => self.rename(read(arguments)?),
            "findFiles" => find::find(self.desk().records(), &read(arguments)?),
            "grepFiles" => self.grep(read(arguments)?).await,
            _ => {
                let desk = self.desk();
                let bytes: u64 = desk.files().map(|file| file.size).sum();
                Ok(json!({ "files": desk.files().count(), "bytes": bytes }))
            }
        }
    }

    /// What the thread had when this was first asked.
    async fn load_files(&self) -> Result<(), String> {
        if self.desk().has_files() {
            return Ok(());
        }
        let rows = self.inner.store.files(self.place.thread).await.map_err(told)?;
        self.desk().set_files(rows);
        Ok(())
    }

    async fn write(&self, file: WriteFile) -> Result<Value, String> {
        let WriteFile { path, text, base64, mime_type, metadata } = file;
        let path = file_path(&path).map_err(told)?;
        let bytes = match (text, base64) {
            (Some(text), _) => text.into_bytes(),
            (None, Some(data)) => STANDARD.decode(data).map_err(|_| "the data is not base64".to_owned())?,
            (None, None) => return Err("a file needs `text` or `base64`".to_owned()),
        };
        let file = self.put(path, bytes, mime_type).await?;
        let mut desk = self.desk();
        desk.describe(&self.world(), &file.path, metadata)?;
        Ok(record(&file, metadata::find(&desk.state.values, &file.path)))
    }

    /// Keeps the content and points the path at it.
    async fn put(&self, path: String, bytes: Vec<u8>, given: Option<String>) -> Result<FileRow, String> {
        may_put(self.desk().files(), &path)?;
        self.desk().charge(&self.world(), bytes.len())?;
        let digest = Digest::of(&bytes);
        self.inner.store.put_blob(digest, &bytes).await.map_err(told)?;
        let file = FileRow {
            mime_type: given.unwrap_or_else(|| mime_type(&path, &bytes).to_owned()),
            path,
            digest,
            size: bytes.len() as u64,
            created_at: self.inner.store.now(),
        };
        self.act(Act::PutFile(file.clone()))?;
        Ok(file)
    }

    /// The content of a file of any thread, where there is one.
    pub(super) async fn content(&self, file: Option<FileRow>, wanted: &ReadFile) -> Result<Value, String> {
        let Some(file) = file else { return Ok(Value::Null) };
        let bytes = self.bytes(&file).await?;
        let is_text = |bytes: &[u8]| !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok();
        Ok(match wanted.r#as {
            As::Text => json!({ "text": String::from_utf8_lossy(&bytes) }),
            As::Auto if is_text(&bytes) => json!({ "text": String::from_utf8_lossy(&bytes) }),
            As::Auto | As::Bytes => json!({ "base64": STANDARD.encode(&bytes) }),
        })
    }

    async fn bytes(&self, file: &FileRow) -> Result<Vec<u8>, String> {
        let (found, max) = (file.size, self.inner.limits.script_bytes);
        if usize::try_from(found).is_ok_and(|found| found > max) {
            return Err(format!("`{}` has {found} bytes; a tool may read at most {max}", file.path));
        }
        let blob = self.inner.store.blob(file.digest).await.map_err(told)?;
        blob.ok_or_else(|| format!("the content of `{}` is missing", file.path))
    }

    fn unlink(&self, path: String) -> Result<Value, String> {
        let mut desk = self.desk();
        if desk.file(&path).is_none() {
            return Err(format!("there is no file `{path}`"));
        }
        desk.take_description(&self.world(), &path)?;
        desk.act(&self.world(), Act::RemoveFile { path }).map(|()| Value::Null)
    }

    /// Folders are where files are, so an empty one is gone already.
    fn rmdir(&self, path: &str) -> Result<Value, String> {
        let folder = format!("{path}/");
        if self.desk().files().any(|file| file.path.starts_with(&folder)) {
            return Err(format!("the folder `{path}` is not empty"));
        }
        Ok(Value::Null)
    }

    /// Moves a file, or a folder with all that is in it.
    fn rename(&self, MoveFile { from, to }: MoveFile) -> Result<Value, String> {
        let (from, to) = (file_path(&from).map_err(told)?, file_path(&to).map_err(told)?);
        let mut desk = self.desk();
        let within = |file: &&FileRow| {
            file.path.strip_prefix(&from).is_some_and(|rest| matches!(rest.bytes().next(), None | Some(b'/')))
        };
        let moved: Vec<FileRow> = desk.files().filter(within).cloned().collect();
        if moved.is_empty() {
            return Err(format!("there is no file `{from}`"));
        }
        let world = self.world();
        for file in moved {
            let path = file_path(&format!("{to}{}", &file.path[from.len()..])).map_err(told)?;
            let said = desk.take_description(&world, &file.path)?;
            desk.act(&world, Act::RemoveFile { path: file.path.clone() })?;
            may_put(desk.files(), &path)?;
            desk.describe(&world, &path, said)?;
            desk.act(&world, Act::PutFile(FileRow { path, ..file }))?;
        }
        Ok(stat(desk.records(), &to))
    }

    async fn grep(&self, wanted: find::Grep) -> Result<Value, String> {
        let pattern = wanted.compile()?;
        let files: Vec<FileRow> = self.desk().files().filter(|file| wanted.covers(file)).cloned().collect();
        let mut found = Vec::new();
        for file in files {
            let Ok(text) = String::from_utf8(self.bytes(&file).await?) else { continue };
            if find::matches(&file, &text, &pattern, &mut found) {
                break;
            }
        }
        Ok(Value::Array(found))
    }

    /// Keeps the whole of what a tool gave as a file of the thread. Where that is more than a call may leave behind, nothing is
    /// kept.
    pub(super) async fn keep(&self, tool: &Name, text: &str) -> Option<String> {
        self.load_files().await.ok()?;
        let kept = self.put(fresh_path(&format!("{tool}.txt")), text.as_bytes().to_vec(), None).await;
        kept.ok().map(|file| file.path)
    }

    /// The files of a result or a message: what the thread has, and what is new.
    pub(super) async fn enclose(&self, enclosures: Vec<Enclosure>) -> Result<Vec<FileRow>, String> {
        if enclosures.is_empty() {
            return Ok(Vec::new());
        }
        self.load_files().await?;
        let mut files = Vec::new();
        for enclosure in enclosures {
            files.push(match enclosure {
                Enclosure::Kept { path } => {
                    let path = file_path(&path).map_err(told)?;
                    let found = self.desk().file(&path).cloned();
                    found.ok_or_else(|| format!("there is no file `{path}` to attach"))?
                }
                Enclosure::New { name, mime_type, bytes } => self.put(fresh_path(&name), bytes, mime_type).await?,
            });
        }
        Ok(files)
    }
}

/// A path is a file or a folder, never both.
fn may_put<'f>(files: impl Iterator<Item = &'f FileRow>, path: &str) -> Result<(), String> {
    let within = |inner: &str, outer: &str| inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'));
    for file in files {
        if within(&file.path, path) {
            return Err(format!("`{path}` is a folder"));
        }
        if within(path, &file.path) {
            return Err(format!("`{}` is a file, not a folder", file.path));
        }
    }
    Ok(())
}

/// A path among the attachments that nothing else has.
pub(super) fn fresh_path(name: &str) -> String {
    copy_path(name, fastrand::u32(..))
}

impl Desk {
    /// The files, which were read before, each with what was said about it.
    fn records(&self) -> impl Iterator<Item = Record<'_>> {
        described(self.files(), &self.state)
    }
}

/// A file, and what was said about it.
pub(super) type Record<'f> = (&'f FileRow, Option<&'f Value>);

/// Files of a thread, each with what the thread says about it.
pub(super) fn described<'f>(
    files: impl Iterator<Item = &'f FileRow>,
    state: &'f ThreadState,
) -> impl Iterator<Item = Record<'f>> {
    files.map(|file| (file, metadata::find(&state.values, &file.path)))
}

/// A file as scripts know it.
pub(super) fn record(file: &FileRow, metadata: Option<&Value>) -> Value {
    let mut record = plain_record(file);
    if let Some(metadata) = metadata {
        record["metadata"] = metadata.clone();
    }
    record
}

fn plain_record(file: &FileRow) -> Value {
    json!({
        "path": file.path,
        "name": file.name(),
        "mimeType": file.mime_type,
        "size": file.size,
        "isDirectory": false,
        "createdAt": file.created_at,
        "storage": "local",
    })
}

fn folder_record(path: &str, at: Timestamp) -> Value {
    let name = path.rsplit('/').next().unwrap_or(path);
    json!({
        "path": path,
        "name": name,
        "mimeType": "inode/directory",
        "size": 0,
        "isDirectory": true,
        "createdAt": at,
        "storage": "local",
    })
}

/// The file or folder at a path, or nothing.
pub(super) fn stat<'f>(files: impl Iterator<Item = Record<'f>>, path: &str) -> Value {
    for (file, metadata) in files {
        match file.path.strip_prefix(path) {
            Some("") => return record(file, metadata),
            Some(rest) if rest.starts_with('/') => return folder_record(path, file.created_at),
            Some(_) | None => {}
        }
    }
    Value::Null
}

/// What lies directly in a folder, whose path ends in a slash.
pub(super) fn entries<'f>(files: impl Iterator<Item = Record<'f>>, folder: &str) -> Value {
    let mut found: Vec<Value> = Vec::new();
    let mut last = None;
    for (file, metadata) in files {
        let Some(rest) = file.path.strip_prefix(folder) else { continue };
        match rest.split_once('/') {
            None => found.push(record(file, metadata)),
            // Files are sorted, so those of one folder lie side by side.
            Some((name, _)) if last == Some(name) => {}
            Some((name, _)) => {
                last = Some(name);
                found.push(folder_record(&format!("{folder}{name}"), file.created_at));
            }
        }
    }
    Value::Array(found)
}

/// The path of a folder with the slash behind it; the root's is one slash.
pub(super) fn folder(path: &str) -> Result<String, String> {
    let path = path.trim_end_matches('/');
    if path.is_empty() { Ok("/".to_owned()) } else { Ok(file_path(path).map_err(told)? + "/") }
}

pub(super) fn path_of(arguments: Value) -> Result<String, String> {
    let ByPath { path } = read(arguments)?;
    file_path(&path).map_err(told)
}

impl ReadFile {
    pub(super) fn path(&self) -> Result<String, String> {
        file_path(&self.path).map_err(told)
    }
}

pub(super) fn told(fault: impl std::fmt::Display) -> String {
    fault.to_string()
}
