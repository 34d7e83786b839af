//! Registries: artifacts fetched into a layout and sent from one, every byte of them verified on its way.
//!
//! The protocol is spoken here directly, over reqwest. The crate made for it, oci-client, reads manifests and error texts
//! of any length into memory, sends credentials to whatever address a registry names, checks no sizes and never asks
//! again; a registry may be hostile, so each of these has to be in our hands.

mod address;
mod challenge;
mod credential;
mod credentials;
mod fetch;
mod helper;
mod patience;
mod push;
mod referrers;
mod token;
mod trouble;
mod upload;
mod watch;
mod wire;

pub use address::PlainHttp;
pub use credential::Credential;
pub use credentials::{CredentialFault, Credentials};
pub use patience::Patience;
pub use push::Freight;
pub use watch::{Unwatched, Watch};

use entourage_bundle::{Fault, Reference};
use reqwest::StatusCode;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use trouble::Trouble;
use wire::{Action, Proof, Wire};

/// Registries, as this process speaks to them. What a registry has granted is remembered.
#[derive(Debug, Default)]
pub struct Registry {
    settings: RegistrySettings,
    /// By host and repository.
    wires: Mutex<BTreeMap<(String, String), Arc<Wire>>>,
}

/// How registries are spoken to.
#[derive(Clone, Debug)]
pub struct RegistrySettings {
    pub plain_http: PlainHttp,
    pub credentials: Credentials,
    pub patience: Patience,
    /// Who is shown what moves.
    pub watch: Arc<dyn Watch>,
}

impl Default for RegistrySettings {
    fn default() -> Self {
        Self {
            plain_http: PlainHttp::default(),
            credentials: Credentials::default(),
            patience: Patience::default(),
            watch: Arc::new(Unwatched),
        }
    }
}

impl Registry {
    pub fn new(settings: RegistrySettings) -> Self {
        Self { settings, wires: Mutex::default() }
    }

    /// Whether the registry takes this credential. One that asks nobody takes any.
    pub async fn try_credential(&self, host: &str, credential: Credential) -> Result<(), Fault> {
        let wire = Wire::to_registry(host, self.settings.plain_http, Proof::Given(credential));
        let wire = wire.map_err(|trouble| *trouble.fault)?;
        self.settings
            .patience
            .persist(async || {
                let root = wire.at("")?;
                let answer = wire.send(Action::Pull, |client| client.get(root.clone())).await?;
                match answer.status() {
                    StatusCode::OK => Ok(()),
                    _ => Err(Trouble::of_status(host, answer).await),
                }
            })
            .await
    }

    fn wire(&self, reference: &Reference) -> Result<Arc<Wire>, Fault> {
        let key = (reference.host.clone(), reference.repository.clone());
        let mut wires = self.wires.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(wire) = wires.get(&key) {
            return Ok(Arc::clone(wire));
        }
        let RegistrySettings { plain_http, credentials, .. } = &self.settings;
        let opened = Wire::to_repository(reference, *plain_http, Proof::Known(credentials.clone()));
        let wire = Arc::new(opened.map_err(|trouble| *trouble.fault)?);
        wires.insert(key, Arc::clone(&wire));
        Ok(wire)
    }
}
