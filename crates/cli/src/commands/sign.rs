//! `entourage sign`: a signature by a key that lies in a file, attached to an artifact of the layout.

use crate::bundle_source;
use crate::environment;
use crate::failure::{Exit, Failure};
use crate::invocation::Invocation;
use crate::project;
use crate::signatures;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
use clap::Args;
use entourage_bundle::signature::{self, SecretKey};
use entourage_bundle::{Descriptor, Layout, Target};
use entourage_model::{Place, Report};
use entourage_store::Clock;
use serde_json::json;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  entourage sign --new-key team.key                  makes `team.key`, which stays with you, and `team.key.pub`
  entourage sign --key team.key                      signs the latest build; `push` sends the signature along
  entourage push registry.example.com/team/agent:1.0.0 --sign team.key
  entourage verify registry.example.com/team/agent:1.0.0 --policy require --key team.key.pub

Keys are ed25519, in the forms of OpenSSL. Whom you believe is set in your settings:
  [signatures]
  policy = \"require\"                                 or \"warn\", or \"none\"
  keys = [\"team.key.pub\"]")]
pub(crate) struct Arguments {
    /// A reference or a digest [default: the latest build]
    #[arg(value_name = "REF", conflicts_with = "new_key")]
    reference: Option<String>,
    /// The secret key to sign with
    #[arg(long, value_name = "FILE", required_unless_present = "new_key")]
    key: Option<PathBuf>,
    /// Make a new pair of keys: FILE and FILE.pub
    #[arg(long, value_name = "FILE", conflicts_with = "key")]
    new_key: Option<PathBuf>,
}

pub(crate) async fn perform(invocation: &Invocation, arguments: Arguments) -> Result<(), Failure> {
    if let Some(path) = &arguments.new_key {
        return make_keys(invocation, path);
    }
    let Some(path) = &arguments.key else { return Ok(()) };
    let key = signatures::secret_key(path).map_err(Failure::of_bundle)?;
    let target = Target::parse(arguments.reference.as_deref()).map_err(Failure::of_bundle)?;
    let (layout, artifact) = bundle_source::find(invocation, &target).await?;
    let made = attach(&layout, &artifact, &key)?;
    let signer = key.public().id();
    if invocation.is_json() {
        let document = json!({ "digest": artifact.digest, "signature": made.digest, "signer": signer });
        invocation.screen.json(&document);
    } else {
        invocation.screen.data(&made.digest.to_string());
        invocation.screen.note(&format!("`{}` is signed by `{signer}`", artifact.digest));
    }
    Ok(())
}

/// Signs an artifact of the layout.
pub(super) fn attach(layout: &Layout, artifact: &Descriptor, key: &SecretKey) -> Result<Descriptor, Failure> {
    let now = jiff::Timestamp::from_microsecond(Clock::system().now().0).unwrap_or_default();
    let now = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let mut change = layout.begin();
    let made = signature::sign(&mut change, artifact, key, &now);
    made.and_then(|made| change.commit().map(|()| made)).map_err(Failure::of_bundle)
}

/// Neither file may be there already: a key that is lost is lost.
fn make_keys(invocation: &Invocation, path: &Path) -> Result<(), Failure> {
    let path = environment::current_folder().join(path);
    let made = seed().and_then(|seed| {
        let key = SecretKey::from_seed(&seed);
        write_new(&path, &key.to_pem(), 0o600)?;
        let public = public_path(&path);
        write_new(&public, &key.public().to_pem(), 0o644)?;
        Ok((key.public().id(), public))
    });
    let (id, public) = made.map_err(|fault| {
        let report = Report::error("B053", format!("the key cannot be made: {fault}"));
        let report = report.at(Place::file(project::shown(&path)));
        Failure::new(Exit::File, report.hint("keys are never overwritten: name files that are not there yet"))
    })?;
    if invocation.is_json() {
        let document = json!({ "key": path.display().to_string(), "public": public.display().to_string(), "id": id });
        invocation.screen.json(&document);
    } else {
        invocation.screen.data(&id.to_string());
        let (key, public) = (project::shown(&path), project::shown(&public));
        invocation.screen.note(&format!("keep {key} to yourself; {public} is for whoever is to believe you"));
    }
    Ok(())
}

fn public_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".pub");
    PathBuf::from(name)
}

fn write_new(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let (folder, name) = path.parent().zip(path.file_name()).ok_or_else(|| io::Error::other("it names no file"))?;
    let folder = Dir::open_ambient_dir(folder, cap_std::ambient_authority())?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(mode);
    let mut file = folder.open_with(name, &options)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn seed() -> io::Result<[u8; 32]> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|fault| io::Error::other(fault.to_string()))?;
    Ok(seed)
}
