//! The secrets that MCP servers want: an artifact has those that it declares itself and those of its packages.

use crate::bundle::Bundle;
use entourage_declare::{Parcel, ParcelKind};
use entourage_model::{Place, Report, Severity};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// What is said of secrets that nobody declares. Later packages count before earlier ones, and the artifact before all:
/// a server that one of them replaces wants nothing.
pub(super) fn undeclared(parcel: &Parcel, packages: &[Bundle]) -> Vec<Report> {
    let own = parcel.definition.get("secrets").and_then(Value::as_array).into_iter().flatten();
    let all = own.chain(packages.iter().flat_map(|package| &package.secrets));
    let declared: BTreeSet<_> = all.filter_map(|secret| secret.get("key")?.as_str()).collect();
    let is_missing = |key: &str| !declared.contains(key);
    let missing = parcel.wanted_secrets.iter().filter(|wanted| is_missing(&wanted.key));
    let mut reports: Vec<_> = missing.map(|wanted| wanted.report.clone()).collect();
    let mut known: BTreeSet<_> =
        servers(parcel.mcp.as_ref().and_then(Value::as_object)).map(|(name, _)| name).collect();
    for package in packages.iter().rev() {
        let servers = servers(package.mcp.as_ref());
        for (name, server) in servers.filter(|(name, _)| known.insert(*name)) {
            let secrets = server.get("secrets").and_then(Value::as_array).into_iter().flatten();
            let missing = secrets.filter_map(Value::as_str).filter(|key| is_missing(key));
            reports.extend(missing.map(|key| report(parcel, package, name, key)));
        }
    }
    reports
}

fn servers(document: Option<&Map<String, Value>>) -> impl Iterator<Item = (&str, &Value)> {
    let servers = document.and_then(|document| document.get("servers")?.as_object());
    servers.into_iter().flatten().map(|(name, server)| (name.as_str(), server))
}

/// Whoever depends on a package in turn may still declare it.
fn report(parcel: &Parcel, package: &Bundle, server: &str, key: &str) -> Report {
    let what = format!(
        "server `{}` of the package `{}` wants the secret `{}`, which is not declared",
        server.escape_debug(),
        package.name,
        key.escape_debug()
    );
    let report = Report::error("D067", what).at(Place::file(&parcel.entry)).hint("add it to `secrets`");
    match parcel.kind {
        ParcelKind::Agent => report,
        ParcelKind::Package => Report { severity: Severity::Warning, ..report },
    }
}
