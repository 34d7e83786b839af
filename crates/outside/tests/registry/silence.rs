//! Registries that say nothing.

use crate::artifact::{Local, told};
use entourage_bundle::Reference;
use entourage_outside::registry::Registry;
use tokio::net::TcpListener;
use tokio::time::Instant;

#[tokio::test(start_paused = true)]
async fn a_registry_that_never_answers_is_given_up_after_half_a_minute() {
    // Whoever listens is connected to, and nobody ever takes the connection up.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let reference: Reference = format!("{}/t/a:1", listener.local_addr().unwrap()).parse().unwrap();
    let start = Instant::now();
    let (exit, text) = told(Local::new().pull(&Registry::default(), &reference).await);
    assert_eq!(exit, 3, "{text}");
    assert_eq!(start.elapsed().as_secs(), 30, "{text}");
}
