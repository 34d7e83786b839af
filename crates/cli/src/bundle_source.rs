//! Artifacts by name: found in the project's layout, or fetched into it when they are not there.

use crate::failure::Failure;
use crate::interrupt::Interrupts;
use crate::invocation::Invocation;
use crate::packing::Registries;
use crate::signatures::{self, Trusted};
use crate::{environment, transfer};
use entourage_bundle::signature::SIGNATURE;
use entourage_bundle::{Bundle, Change, Descriptor, Exit, Fault, Layout, Lock, PackageEntry, Reference, Shelf, Target};
use entourage_model::{Digest, Report};
use entourage_outside::registry::{Credentials, Patience, PlainHttp, Registry, RegistrySettings};

/// The layout, in the data folder.
const FOLDER: &str = "oci";
const CREDENTIALS: &str = "credentials.json";

/// The project's layout, made if there is none.
pub(crate) fn layout(invocation: &Invocation) -> Result<Layout, Failure> {
    invocation.project.make_data_folder()?;
    Layout::create(&invocation.project.data.join(FOLDER)).map_err(Failure::of_bundle)
}

/// What a person means. A reference that the layout does not know is fetched; the registry is not asked about one that
/// it knows.
pub(crate) async fn find(invocation: &Invocation, target: &Target) -> Result<(Layout, Descriptor), Failure> {
    let path = invocation.project.data.join(FOLDER);
    if !path.exists() && !matches!(target, Target::Reference(_)) {
        // Looking makes nothing.
        return Err(Failure::of_bundle(match target {
            Target::Digest(digest) => Fault::Absent(*digest),
            Target::Latest | Target::Reference(_) => Fault::NothingBuilt,
        }));
    }
    let layout = layout(invocation)?;
    let found = match (layout.resolve(target).map_err(Failure::of_bundle)?, target) {
        (Some(found), _) => found,
        (None, Target::Reference(reference)) => {
            pull_alone(invocation, &layout, reference).map_err(Failure::of_bundle)?
        }
        (None, Target::Latest | Target::Digest(_)) => layout.find(target).map_err(Failure::of_bundle)?,
    };
    Ok((layout, found))
}

/// The same for whoever is going to use what it says: what somebody else packed must be signed as the policy demands.
pub(crate) async fn find_trusted(invocation: &Invocation, target: &Target) -> Result<(Layout, Descriptor), Failure> {
    let (layout, found) = find(invocation, target).await?;
    match target {
        Target::Latest => {}
        Target::Reference(_) | Target::Digest(_) => {
            signatures::check_stored(invocation, &layout, found.digest).map_err(Failure::of_bundle)?;
        }
    }
    Ok((layout, found))
}

/// Fetches an artifact into the layout, with everything that whoever uses it needs, or nothing.
pub(crate) fn pull(invocation: &Invocation, layout: &Layout, reference: &Reference) -> Result<Descriptor, Fault> {
    let Fetched { artifact, packages, lock, mut change } = fetch(invocation, layout, reference)?;
    let bytes_max = invocation.settings.limits.artifact_bytes;
    let shelf = Shelf { layout, fetch: &Registries(invocation), bytes_max };
    entourage_bundle::fetch_packages(shelf, &mut change, &packages, &lock)?;
    change.commit()?;
    Ok(artifact)
}

/// The same for whoever looks at the artifact alone: packages that cannot be had are in nobody's way.
fn pull_alone(invocation: &Invocation, layout: &Layout, reference: &Reference) -> Result<Descriptor, Fault> {
    let Fetched { artifact, change, .. } = fetch(invocation, layout, reference)?;
    change.commit()?;
    Ok(artifact)
}

/// An artifact that is whole and checked.
pub(crate) struct Fetched<'a> {
    pub(crate) artifact: Descriptor,
    packages: Vec<PackageEntry>,
    lock: Lock,
    /// By which the layout has it.
    pub(crate) change: Change<'a>,
}

/// An artifact, once it is there. All of it happens on one thread of its own: memory that one thread takes and another
/// gives back piles up, and an artifact may be large.
pub(crate) fn fetch<'a>(
    invocation: &Invocation,
    layout: &'a Layout,
    reference: &Reference,
) -> Result<Fetched<'a>, Fault> {
    let work = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|cause| Fault::Machine { doing: "starting to fetch".to_owned(), cause })?;
        runtime.block_on(Box::pin(async {
            let mut interrupts = Interrupts::listen()
                .map_err(|cause| Fault::Machine { doing: "listening to signals".to_owned(), cause })?;
            // A fetch that is dropped takes what it has written along.
            tokio::select! {
                fetched = fetched(invocation, layout, reference) => fetched,
                () = interrupts.next() => Err(interrupted(reference)),
            }
        }))
    };
    std::thread::scope(|scope| scope.spawn(work).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
}

/// Looks into all of what is fetched; only then the layout may know it by its reference.
async fn fetched<'a>(invocation: &Invocation, layout: &'a Layout, reference: &Reference) -> Result<Fetched<'a>, Fault> {
    let bytes_max = invocation.settings.limits.artifact_bytes;
    let registry = registry(invocation);
    let mut change = layout.begin();
    let artifact = registry.fetch(reference, &mut change, bytes_max).await?;
    let Bundle { packages, lock, .. } = Bundle::open(&change, artifact.digest, bytes_max)?;
    let fetched = registry.fetch_attached(reference, artifact.digest, SIGNATURE, &mut change).await;
    let signatures = fetched.unwrap_or_else(|fault| {
        // An artifact is whole without them. Where they are required, their absence is what is told.
        tracing::warn!(?fault, "the signatures of {reference} cannot be fetched");
        Vec::new()
    });
    let trusted = Trusted::of_settings(invocation)?;
    trusted.check(invocation, &change, &signatures, artifact.digest)?;
    signatures.iter().for_each(|signature| change.add(signature));
    // A tag beside a digest was not asked for: nobody knows what it means by now.
    let name = if reference.digest.is_some() { reference.to_string() } else { reference.tagged_name() };
    change.tag(&artifact, name);
    Ok(Fetched { artifact, packages, lock, change })
}

/// Brings in what was attached to an artifact in its registry since it was fetched. Where nobody can be asked, what is
/// here must do.
pub(crate) async fn fetch_signatures(
    invocation: &Invocation,
    layout: &Layout,
    reference: &Reference,
    artifact: Digest,
) -> Result<(), Fault> {
    let mut change = layout.begin();
    match registry(invocation).fetch_attached(reference, artifact, SIGNATURE, &mut change).await {
        Ok(signatures) if signatures.is_empty() => Ok(()),
        Ok(signatures) => {
            signatures.iter().for_each(|signature| change.add(signature));
            change.commit()
        }
        Err(fault) => {
            tracing::warn!(?fault, "the registry of {reference} cannot be asked for signatures");
            Ok(())
        }
    }
}

fn interrupted(reference: &Reference) -> Fault {
    let report = Report::error("B054", format!("`{reference}` was not fetched: interrupted; nothing of it was kept"));
    Fault::new(Exit::Cancelled, report)
}

/// How registries are spoken to in this call.
pub(crate) fn registry(invocation: &Invocation) -> Registry {
    Registry::new(RegistrySettings {
        plain_http: if invocation.options.plain_http { PlainHttp::Anywhere } else { PlainHttp::ThisMachine },
        credentials: credentials(),
        patience: Patience::default(),
        watch: transfer::watch(&invocation.screen),
    })
}

/// Our own file beside the user's settings, and Docker's.
pub(crate) fn credentials() -> Credentials {
    let docker = environment::variable("DOCKER_CONFIG").map(std::path::PathBuf::from);
    let docker = docker.or_else(|| Some(environment::home()?.join(".docker")));
    Credentials {
        own: environment::config_file().map(|file| file.with_file_name(CREDENTIALS)),
        docker: docker.map(|folder| folder.join("config.json")),
    }
}
