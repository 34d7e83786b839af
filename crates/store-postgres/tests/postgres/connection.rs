//! The way to the server: TLS, servers that are too old, that copy another one, or that may forget.

use crate::open::{hasty, refusal};
use crate::wire::Wire;
use crate::world::{World, step};
use entourage_store::Store;
use entourage_store_postgres::{Options, PostgresStore};
use entourage_testkit::postgres::{Database, Server, Stop};
use tokio::task::block_in_place;

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_is_looked_at_as_far_as_the_address_asks() {
    let server = block_in_place(Server::start_encrypted);
    let database = block_in_place(|| Database::at(server.url()));
    let root = format!("&sslrootcert={}", server.authority().display());
    // The certificate is for the second of the two hosts.
    let url = |host: &str, more: &str| format!("{}?{more}", database.url().replace("127.0.0.1", host));
    let good = [
        url("127.0.0.1", ""),
        url("127.0.0.1", "sslmode=require"),
        url("127.0.0.2", &format!("sslmode=require{root}")),
        url("127.0.0.2", &format!("sslmode=verify-full{root}")),
    ];
    for url in good {
        let store = PostgresStore::open(&url, Options::default()).await;
        let store = store.unwrap_or_else(|refused| unreachable!("{url}: {refused:?}"));
        let sessions = "SELECT count(*) > 0 AND bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
                        WHERE application_name = 'entourage'";
        assert_eq!(block_in_place(|| database.run(sessions)).trim(), "t", "{url}");
        store.close().await;
    }
    let bad = [
        (url("127.0.0.1", &format!("sslmode=verify-full{root}")), "S018", "not valid for"),
        (url("127.0.0.1", &format!("sslmode=require{root}")), "S018", "not valid for"),
        (url("127.0.0.2", "sslmode=verify-full"), "S018", "certificate"),
        (url("127.0.0.2", "sslmode=disable"), "S018", "only talks over TLS"),
        (url("127.0.0.2", "sslmode=verify-full&sslrootcert=/nowhere.pem"), "S025", "/nowhere.pem"),
    ];
    for (url, code, word) in bad {
        let (found, what) = refusal(&url).await;
        assert!(found == code && what.contains(word), "{url}: {found} {what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_older_than_14_is_refused() {
    let world = World::new();
    let number: String =
        world.client().await.query_one("SHOW server_version_num", &[]).await.expect("it has a version").get(0);
    let server = world.database.url().split(['@', '/']).nth(3).expect("it names a host");
    for (told, expected) in [("139999", Some("S019")), ("140000", None)] {
        let wire = Wire::before(server, Some((number.clone(), told.to_owned()))).await;
        let host = format!("127.0.0.1:{}", wire.port);
        let url = format!("{}?schema={}", world.database.url().replace(server, &host), world.schema);
        let opened = PostgresStore::open(&url, hasty()).await;
        match (opened, expected) {
            (Ok(_), None) => {}
            (Err(entourage_store::StoreError::Refused(report)), Some(code)) if report.code.0 == code => {}
            (other, _) => unreachable!("{told}: {other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_flushes_nothing_is_refused_unless_that_is_accepted() {
    for setting in ["fsync", "full_page_writes"] {
        let server = block_in_place(|| Server::start_with(&[&format!("{setting}=off")]));
        let (code, what) = refusal(server.url()).await;
        assert!(code == "S020" && what.contains(setting), "{code} {what}");
        let accepted = format!("{}?accept_loss=on", server.url());
        PostgresStore::open(&accepted, hasty()).await.expect("it was accepted");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_standby_is_refused_until_it_takes_over_and_then_nothing_is_missing() {
    // Nothing is acknowledged before the standby has it.
    let (mut primary, standby) = block_in_place(|| {
        let primary = Server::start_with(&["synchronous_standby_names=*"]);
        let standby = primary.standby();
        (primary, standby)
    });
    assert_eq!(refusal(standby.url()).await.0, "S021");
    let host = |server: &Server| server.url().split(['@', '/']).nth(3).expect("it names a host").to_owned();
    let both = format!("{},{}", host(&standby), host(&primary));
    let url = format!("postgres://postgres@{both}/postgres?target_session_attrs=read-write");
    let store = PostgresStore::open(&url, Options::default()).await.expect("one of them takes writes");
    let claim = World::new().held(&store, 1).await;
    for seq in 1..=5 {
        store.commit(claim.lease, step(&claim, seq)).await.expect("the lease is good");
    }
    let failover = tokio::task::spawn_blocking(move || {
        primary.stop(Stop::Immediate);
        standby.promote();
        standby
    });
    for seq in 6..=12 {
        store.commit(claim.lease, step(&claim, seq)).await.expect("the standby takes over");
    }
    let _standby = failover.await.expect("it takes over");
    let journal = store.journal(claim.lease.thread, 0, 100).await.expect("it can be read");
    assert_eq!(journal.len(), 13);
}
