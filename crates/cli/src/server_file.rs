//! `server.json` in the data folder: where the server is that holds it, and how it shows that it is this one.

use crate::failure::{Exit, Failure};
use crate::private_file;
use crate::project::Project;
use cap_std::fs::Dir;
use entourage_model::Report;
use entourage_serve::{Identity, Service};
use serde_json::{Value, json};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

const NAME: &str = "server.json";

/// What the file says of a server, which may be gone: its port may be somebody else's by now.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) address: SocketAddr,
    pub(crate) identity: Identity,
}

/// Where the server is said to be; nothing where nobody has said so in a way that can be read.
pub(crate) fn read(project: &Project) -> Option<Named> {
    let folder = Dir::open_ambient_dir(&project.data, cap_std::ambient_authority()).ok()?;
    let document: Value = serde_json::from_str(&folder.read_to_string(NAME).ok()?).ok()?;
    let mut address: SocketAddr = document.get("address")?.as_str()?.parse().ok()?;
    // A server that listens on every address is asked on the loopback one.
    if address.ip().is_unspecified() {
        address.set_ip(match address.ip() {
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    Some(Named { address, identity: Identity::parse(document.get("identity")?.as_str()?)? })
}

/// A process that is killed leaves it behind: whoever reads it has to find the store locked first.
#[derive(Debug)]
pub(crate) struct ServerFile {
    folder: Dir,
    text: String,
}

impl ServerFile {
    /// Says where the service is, and gives it what it proves itself with.
    pub(crate) fn write(project: &Project, address: SocketAddr, service: Service) -> Result<(Self, Service), Failure> {
        let write = || {
            let identity = Identity::generate(private_file::randomness()?)?;
            let document = json!({ "address": address, "pid": std::process::id(), "identity": identity.reveal() });
            let folder = Dir::open_ambient_dir(&project.data, cap_std::ambient_authority())?;
            let text = private_file::make(&folder, NAME, &document.to_string())?;
            Ok((Self { folder, text }, service.identified(identity)))
        };
        write().map_err(|fault: io::Error| {
            Failure::new(Exit::File, Report::error("C039", format!("`{NAME}` cannot be written: {fault}")))
        })
    }

    /// The server answers nobody any more. Another one of this data folder, on a store that many share, may have said
    /// meanwhile that it does.
    pub(crate) fn remove(self) {
        if self.folder.read_to_string(NAME).is_ok_and(|text| text.trim() != self.text.trim()) {
            return;
        }
        if let Err(fault) = self.folder.remove_file(NAME) {
            tracing::warn!("`{NAME}` cannot be removed: {fault}");
        }
    }
}
