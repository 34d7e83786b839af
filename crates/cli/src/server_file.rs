//! `server.json` in the data folder: where the server is that holds it.

use crate::failure::{Exit, Failure};
use crate::project::Project;
use cap_std::fs::Dir;
use entourage_model::Report;
use serde_json::{Value, json};
use std::io;
use std::net::SocketAddr;

const NAME: &str = "server.json";
const DRAFT: &str = "server.json.new";

/// Where the server is said to be; nothing where nobody has said so in a way that can be read.
pub(crate) fn read(project: &Project) -> Option<SocketAddr> {
    let folder = Dir::open_ambient_dir(&project.data, cap_std::ambient_authority()).ok()?;
    let document: Value = serde_json::from_str(&folder.read_to_string(NAME).ok()?).ok()?;
    document.get("address")?.as_str()?.parse().ok()
}

/// A process that is killed leaves it behind: whoever reads it has to find the store locked first.
#[derive(Debug)]
pub(crate) struct ServerFile {
    folder: Dir,
    text: String,
}

impl ServerFile {
    pub(crate) fn write(project: &Project, address: SocketAddr) -> Result<Self, Failure> {
        let document = json!({ "address": address, "pid": std::process::id() });
        let text = format!("{document}\n");
        let write = || {
            let folder = Dir::open_ambient_dir(&project.data, cap_std::ambient_authority())?;
            folder.write(DRAFT, &text)?;
            folder.rename(DRAFT, &folder, NAME)?;
            Ok(folder)
        };
        let written = write().map_err(|fault: io::Error| {
            Failure::new(Exit::File, Report::error("C039", format!("`{NAME}` cannot be written: {fault}")))
        });
        Ok(Self { folder: written?, text })
    }

    /// The server answers nobody any more. Another one of this data folder, on a store that many share, may have said
    /// meanwhile that it does.
    pub(crate) fn remove(self) {
        if self.folder.read_to_string(NAME).is_ok_and(|text| text != self.text) {
            return;
        }
        if let Err(fault) = self.folder.remove_file(NAME) {
            tracing::warn!("`{NAME}` cannot be removed: {fault}");
        }
    }
}
