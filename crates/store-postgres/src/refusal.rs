//! Why a database is not used: each reason by its code, with what to change.

use crate::blob::BlobPlace;
use entourage_model::Report;
use entourage_store::StoreError;
use tokio_postgres::error::SqlState;

pub(crate) fn refuse(report: Report) -> StoreError {
    StoreError::Refused(Box::new(report))
}

pub(crate) fn address(why: &str) -> StoreError {
    let report = Report::error("S025", format!("the store's address cannot be used: {why}"));
    refuse(report.hint("it is written `postgres://USER:PASSWORD@HOST:PORT/DATABASE`"))
}

/// Why there is no connection.
pub(crate) fn connection(error: &tokio_postgres::Error) -> StoreError {
    let text = crate::fault::text(error);
    let code = error.code();
    let report = if code == Some(&SqlState::INVALID_PASSWORD) {
        Report::error("S016", format!("the database lets nobody in by that password: {text}"))
            .hint("look at the user and the password in the store's address")
    } else if text.contains("no encryption") || text.contains("SSL off") {
        Report::error("S018", format!("the database only talks over TLS: {text}"))
            .hint("add `sslmode=require`, or better `sslmode=verify-full`, to the store's address")
    } else if code == Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION) {
        Report::error("S016", format!("the database does not let this user in: {text}"))
            .hint("look at the user in the store's address, and at the server's `pg_hba.conf`")
    } else if code == Some(&SqlState::INVALID_CATALOG_NAME) {
        Report::error("S017", text).hint("make it by `createdb`, or name another one in the store's address")
    } else if text.contains("TLS") || text.contains("certificate") || text.contains("handshake") {
        Report::error("S018", format!("there is no TLS connection to the database: {text}"))
            .hint("`sslmode=verify-full` needs a certificate that this machine trusts, or `sslrootcert=FILE`")
    } else {
        Report::error("S015", format!("the database cannot be reached: {text}"))
            .hint("look whether the server runs and listens at the host and port of the store's address")
    };
    refuse(report)
}

pub(crate) fn too_old(version: &str) -> StoreError {
    refuse(
        Report::error("S019", format!("the server is PostgreSQL {version}"))
            .hint("entourage needs version 14 or newer"),
    )
}

/// A server that may forget what it has acknowledged.
pub(crate) fn forgetful(setting: &str) -> StoreError {
    let report =
        Report::error("S020", format!("the server runs with `{setting} = off`: it may lose what it acknowledged"));
    refuse(
        report
            .hint(format!("set `{setting} = on`, or add `accept_loss=on` to the address of a store that may be lost")),
    )
}

pub(crate) fn read_only() -> StoreError {
    let report = Report::error("S021", "the server is a standby, which nothing can be written to");
    refuse(report.hint("give the address of the primary"))
}

pub(crate) fn encoding(found: &str) -> StoreError {
    let report = Report::error("S022", format!("the database keeps its texts as {found}"));
    refuse(report.hint("make one by `createdb --encoding=UTF8 --template=template0`"))
}

pub(crate) fn forbidden(what: &str) -> StoreError {
    let report = Report::error("S023", format!("the tables cannot be made or read: {what}"));
    refuse(report.hint("the user needs the right to create in the database, or to use the schema of the store"))
}

pub(crate) fn foreign(schema: &str) -> StoreError {
    let report = Report::error("S024", format!("the schema `{schema}` holds something else"));
    refuse(report.hint("name another one by `schema=NAME` in the store's address"))
}

pub(crate) fn place_address(why: &str) -> StoreError {
    let report = Report::error("S045", format!("the place for long blobs cannot be used: {why}"));
    refuse(report.hint("`blobs` in the store's address is `file:///FOLDER` or `s3://BUCKET/PREFIX`"))
}

/// A place that is not there, or closed to us.
pub(crate) fn place(place: &str, why: &str, hint: &str) -> StoreError {
    refuse(Report::error("S046", format!("long blobs cannot lie in `{place}`: {why}")).hint(hint))
}

pub(crate) fn other_place(place: &dyn BlobPlace) -> StoreError {
    let report = Report::error("S047", format!("the long blobs of this store lie elsewhere, not in {place:?}"));
    refuse(report.hint("mount the folder, or name the place that other nodes name; a place can be moved as a whole"))
}

pub(crate) fn no_place() -> StoreError {
    let report = Report::error("S048", "long blobs of this store lie outside the database, and nobody said where");
    refuse(report.hint("add `blobs=…` to the store's address, as other nodes have it"))
}
