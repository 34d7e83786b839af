//! Root threads that are made once for each key.

use super::world::World;
use crate::row::{RootKey, RootMade};
use entourage_model::{Digest, NewThread};
use futures::future::join_all;

fn key(name: &str, request: &str) -> RootKey {
    RootKey { name: name.to_owned(), request: Digest::of(request.as_bytes()) }
}

/// A root thread with a run.
fn asked(world: &mut World) -> NewThread {
    let mut new = world.root();
    new.run = Some(world.new_run(new.id));
    new
}

pub async fn a_repeated_root_is_the_first_one(mut world: World) {
    let node = world.node().await;
    let (first, second) = (asked(&mut world), asked(&mut world));
    let run = first.run.as_ref().map(|run| run.id.clone());
    let made = world.store().create_once(first.clone(), key("k", "hello"), Some(node)).await;
    let RootMade::New(Some(claim)) = made.expect("it is new") else { unreachable!("a claim was asked for") };
    assert_eq!((claim.lease.thread, claim.journal.as_ref()), (first.id, Some(&first.events)));
    let repeated = world.store().create_once(second.clone(), key("k", "hello"), Some(node)).await;
    let repeated = repeated.expect("it is the same");
    assert_eq!(repeated, RootMade::Repeated { thread: first.id, run });
    assert_eq!(world.store().made_once(&key("k", "hello")).await.expect("it can be read"), Some(repeated));
    assert_eq!(world.store().made_once(&key("other", "hello")).await.expect("it can be read"), None);
    assert_eq!(world.store().thread(second.id).await.expect("it can be read"), None);
    let lost = second.run.expect("it was given one").id;
    assert_eq!(world.store().run(&lost).await.expect("it can be read"), None);
    assert_eq!(world.claim_all(node).await, [], "a repetition makes no work");
}

pub async fn a_root_key_with_another_request_is_a_conflict(mut world: World) {
    let (first, second) = (asked(&mut world), asked(&mut world));
    world.store().create_once(first, key("k", "hello"), None).await.expect("it is new");
    let made = world.store().create_once(second.clone(), key("k", "hallo"), None).await;
    assert_eq!(made.expect("that is an answer"), RootMade::Conflict);
    let known = world.store().made_once(&key("k", "hallo")).await;
    assert_eq!(known.expect("it can be read"), Some(RootMade::Conflict));
    assert_eq!(world.store().thread(second.id).await.expect("it can be read"), None);
    let made = world.store().create_once(second, key("other", "hallo"), None).await;
    assert_eq!(made.expect("the key is new"), RootMade::New(None));
}

pub async fn a_root_key_goes_with_its_thread(mut world: World) {
    let (first, second) = (asked(&mut world), asked(&mut world));
    world.store().create_once(first.clone(), key("k", "hello"), None).await.expect("it is new");
    world.store().delete(first.id).await.expect("it can be deleted");
    let made = world.store().create_once(second, key("k", "hallo"), None).await;
    assert_eq!(made.expect("nothing is known of the first"), RootMade::New(None));
    world.insist_on_soundness().await;
}

pub async fn a_refused_root_leaves_its_key_free(mut world: World) {
    let first = asked(&mut world);
    world.create(first.clone(), None).await;
    world.store().create_once(first, key("k", "hello"), None).await.expect_err("it exists already");
    let second = asked(&mut world);
    let made = world.store().create_once(second, key("k", "hello"), None).await;
    assert_eq!(made.expect("the key was not used"), RootMade::New(None));
}

pub async fn a_root_key_used_at_once_makes_one_thread(mut world: World) {
    let news: Vec<_> = (0..16).map(|_| asked(&mut world)).collect();
    let store = world.store();
    let made = join_all(news.into_iter().map(|new| store.create_once(new, key("k", "hello"), None))).await;
    let made: Vec<_> = made.into_iter().map(|made| made.expect("it is the same request")).collect();
    assert_eq!(made.iter().filter(|made| matches!(made, RootMade::New(_))).count(), 1);
    let repeated = made.iter().filter_map(|made| match made {
        RootMade::Repeated { thread, .. } => Some(*thread),
        RootMade::New(_) | RootMade::Conflict => None,
    });
    let threads: std::collections::BTreeSet<_> = repeated.collect();
    assert_eq!(threads.len(), 1);
}
