//! Whose bundles are believed: the keys that people trust, and what the policy makes of everybody else.

use crate::environment;
use crate::invocation::Invocation;
use crate::project::{self, read_outside};
use entourage_bundle::signature::{self, Policy, PublicKey, SecretKey, Standing};
use entourage_bundle::{Blobs, Descriptor, Exit, Fault, Layout};
use entourage_model::{Digest, Place, Report};
use std::path::{Path, PathBuf};

/// A key is a few lines.
const KEY_BYTES_MAX: usize = 64 << 10;

/// What signatures are checked against.
#[derive(Clone, Debug)]
pub(crate) struct Trusted {
    pub(crate) policy: Policy,
    keys: Vec<PublicKey>,
}

impl Trusted {
    /// What the settings say.
    pub(crate) fn of_settings(invocation: &Invocation) -> Result<Self, Fault> {
        Self::with(invocation, None, &[])
    }

    /// The same with what flags say: another policy, and further keys.
    pub(crate) fn with(invocation: &Invocation, policy: Option<Policy>, files: &[PathBuf]) -> Result<Self, Fault> {
        let policy = policy.unwrap_or(invocation.settings.signature_policy);
        if policy == Policy::None && files.is_empty() && invocation.settings.signature_keys.is_none() {
            return Ok(Self { policy, keys: Vec::new() });
        }
        let mut keys = Vec::new();
        for path in set_files(invocation).iter().chain(files) {
            let text = read(path)?;
            keys.push(PublicKey::parse(&text).ok_or_else(|| no_key(path, "public", "`openssl pkey -pubout`"))?);
        }
        Ok(Self { policy, keys })
    }

    /// Whether anybody wants to know who has signed.
    pub(crate) fn asks(&self) -> bool {
        self.policy != Policy::None || !self.keys.is_empty()
    }

    /// Looks at every signature of an artifact. What the policy does not take is a fault; what it dislikes is told.
    pub(crate) fn check(
        &self,
        invocation: &Invocation,
        blobs: &dyn Blobs,
        signatures: &[Descriptor],
        artifact: Digest,
    ) -> Result<Vec<Standing>, Fault> {
        let standings: Vec<_> =
            signatures.iter().map(|found| signature::standing(blobs, found, artifact, &self.keys)).collect();
        let dislike = signature::judge(self.policy, artifact, &standings)?;
        dislike.iter().for_each(|report| invocation.screen.report(report));
        Ok(standings)
    }
}

/// What the settings make of an artifact of a layout.
pub(crate) fn check_stored(invocation: &Invocation, layout: &Layout, artifact: Digest) -> Result<(), Fault> {
    let trusted = Trusted::of_settings(invocation)?;
    if trusted.policy == Policy::None {
        return Ok(());
    }
    let signatures = signature::attached(layout, artifact)?;
    trusted.check(invocation, layout, &signatures, artifact).map(drop)
}

/// The key that a person signs with.
pub(crate) fn secret_key(path: &Path) -> Result<SecretKey, Fault> {
    SecretKey::parse(&read(path)?).ok_or_else(|| no_key(path, "secret", "`entourage sign --new-key FILE`"))
}

/// The files of keys that the settings name, from the folder of the file that names them.
fn set_files(invocation: &Invocation) -> Vec<PathBuf> {
    let Some(named) = &invocation.settings.signature_keys else { return Vec::new() };
    let base = match named.file.as_deref() {
        Some(project::SETTINGS) => Some(invocation.project.root.clone()),
        Some(_) => environment::config_file().and_then(|file| file.parent().map(Path::to_owned)),
        None => None,
    };
    let base = base.unwrap_or_else(environment::current_folder);
    let whole = |path: &String| match (path.strip_prefix("~/"), environment::home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => base.join(path),
    };
    named.paths.iter().map(whole).collect()
}

fn read(path: &Path) -> Result<String, Fault> {
    let path = environment::current_folder().join(path);
    read_outside(&path, KEY_BYTES_MAX).and_then(project::text).map_err(|fault| {
        let report = Report::error("B051", format!("the key cannot be read: {fault}"));
        Fault::new(Exit::File, report.at(Place::file(project::shown(&path))))
    })
}

fn no_key(path: &Path, half: &str, maker: &str) -> Fault {
    let report = Report::error("B052", format!("this is no {half} ed25519 key"));
    let report = report.at(Place::file(project::shown(path)));
    Fault::new(Exit::Usage, report.hint(format!("a text that begins with `-----BEGIN`, as {maker} writes it")))
}
