//! The contract that every store passes: one suite of cases, run by each backend as its own tests.
//!
//! A backend writes `entourage_store::contract!(make);` into a test file, where `make` is an async function that
//! returns a fresh [`Subject`]. Each case becomes one test of that file.

pub mod commit;
pub mod delivery;
pub mod file;
pub mod lease;
pub mod listing;
pub mod node;
pub mod property;
pub mod queue;
pub mod race;
pub mod root;
pub mod run;
pub mod sample;
pub mod spawn;
mod world;

pub use world::World;

use crate::{Clock, MemoryStore, Store};
use async_trait::async_trait;
use entourage_model::Timestamp;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// A store under test, with its time in the test's hands.
#[async_trait]
pub trait Subject: Send + Sync {
    fn store(&self) -> &dyn Store;

    /// Lets this much of the store's own time pass.
    async fn advance(&self, by: Duration);
}

/// A clock that only moves when it is told to.
#[derive(Clone, Debug)]
pub struct HandClock(Arc<AtomicI64>);

impl HandClock {
    /// Some moment in November 2023.
    pub fn new() -> Self {
        Self(Arc::new(AtomicI64::new(1_700_000_000_000_000)))
    }

    pub fn clock(&self) -> Clock {
        let now = Arc::clone(&self.0);
        Clock::new(move || Timestamp(now.load(Ordering::SeqCst)))
    }

    pub fn advance(&self, by: Duration) {
        self.0.fetch_add(i64::try_from(by.as_micros()).expect("a test's time fits"), Ordering::SeqCst);
    }
}

impl Default for HandClock {
    fn default() -> Self {
        Self::new()
    }
}

/// The memory store as a subject, and as what the others are compared with.
#[derive(Debug)]
pub struct InMemory {
    clock: HandClock,
    store: MemoryStore,
}

impl InMemory {
    pub fn new() -> Self {
        let clock = HandClock::new();
        let store = MemoryStore::with_clock(clock.clock());
        Self { clock, store }
    }
}

impl Default for InMemory {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Subject for InMemory {
    fn store(&self) -> &dyn Store {
        &self.store
    }

    async fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }
}

/// Runs one case over a fresh subject. Called by what [`contract!`](crate::contract!) writes.
pub fn check<S: Subject + 'static>(make: impl AsyncFn() -> S, case: impl AsyncFn(World)) {
    runtime().block_on(async { case(World::new(Box::new(make().await))).await });
}

/// One that can block, so that a store may keep its work off the test's thread.
fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime can be made")
}

/// Writes one test per case of the contract: `contract!(make)` with `async fn make() -> impl Subject`.
#[macro_export]
macro_rules! contract {
    ($make:path) => {
        $crate::contract! { @cases $make;
            commit: events_are_appended_in_order
            commit: a_stale_epoch_is_fenced_and_changes_nothing
            commit: another_node_is_fenced
            commit: a_wrong_seq_is_fenced
            commit: a_deleted_thread_is_fenced
            commit: a_running_thread_keeps_its_lease
            commit: a_parked_thread_gives_its_lease_back
            commit: a_line_that_came_late_keeps_the_thread_from_parking
            commit: a_late_line_that_is_consumed_does_not_keep_it
            commit: consumed_lines_leave_the_queue
            commit: buried_lines_become_dead_letters
            commit: usage_adds_up
            commit: a_terminated_thread_has_its_time_and_sleeps_for_good
            commit: an_empty_commit_has_no_position
            delivery: a_delivery_to_a_missing_thread_is_dropped
            delivery: a_delivery_to_a_terminated_thread_is_dropped
            delivery: a_delivery_to_a_parked_thread_claims_it
            delivery: a_delivery_to_a_parked_thread_makes_it_ready_without_a_claim
            delivery: two_deliveries_make_one_claim_with_both_lines
            delivery: an_older_line_comes_first_in_the_claim
            delivery: a_delivery_to_a_held_thread_notifies_its_own_node
            delivery: a_delivery_to_itself_keeps_the_thread_from_parking
            delivery: a_delivery_behind_its_own_termination_is_dropped
            spawn: a_new_thread_has_events_lines_and_run
            spawn: a_thread_exists_once
            spawn: a_new_thread_brings_its_journal_when_it_is_claimed
            spawn: a_thread_without_work_rests_until_somebody_writes
            spawn: a_spawned_thread_is_claimed_with_its_lines
            spawn: a_spawned_thread_is_ready_without_a_claim
            spawn: a_claim_holds_lines_delivered_later_in_its_commit
            spawn: a_full_tree_refuses_the_whole_commit
            spawn: grandchildren_count_toward_the_root
            spawn: a_deleted_child_makes_room
            queue: lines_are_numbered_without_gaps
            queue: a_missing_thread_takes_no_line
            queue: a_terminated_thread_takes_no_line
            queue: a_repeated_key_gives_the_first_line
            queue: a_key_with_another_message_is_a_conflict
            queue: a_key_does_not_ask_what_became_of_attached_files
            queue: a_key_is_remembered_when_its_line_is_gone
            queue: a_key_belongs_to_one_thread
            queue: a_full_queue_refuses_messages_only
            queue: a_consumed_message_makes_room
            queue: a_parked_thread_is_claimed_with_its_line
            queue: a_parked_thread_becomes_ready_without_a_claim
            queue: a_held_thread_is_left_to_its_holder
            queue: a_run_is_written_with_its_line
            root: a_repeated_root_is_the_first_one
            root: a_root_key_with_another_request_is_a_conflict
            root: a_root_key_goes_with_its_thread
            root: a_refused_root_leaves_its_key_free
            root: a_root_key_used_at_once_makes_one_thread
            lease: claims_are_made_longest_waiting_first
            lease: a_claimed_thread_is_not_claimed_again
            lease: claims_can_be_kept_to_one_tree
            lease: a_claim_holds_what_the_thread_needs
            lease: attempts_are_counted_at_claim_and_reset_at_commit
            lease: a_thread_that_was_tried_in_vain_is_taken_up_alone
            lease: a_released_thread_is_ready_and_its_attempt_does_not_count
            lease: a_stale_release_changes_nothing
            lease: a_thread_wakes_when_its_time_has_come
            lease: only_a_parked_thread_is_taken_up_for_its_time
            node: a_node_that_was_never_registered_is_dead
            node: a_heartbeat_keeps_a_node_alive
            node: a_dead_node_stays_dead_and_claims_nothing
            node: threads_of_a_dead_node_are_swept_once
            node: a_zombie_cannot_commit_after_the_sweep
            run: a_run_goes_from_pending_to_running_to_done
            run: an_interrupted_run_waits_and_goes_on
            run: a_run_that_has_begun_is_never_pending
            run: a_terminal_run_never_changes
            run: a_failed_run_says_why
            run: a_run_done_at_a_limit_names_it
            run: an_existing_run_is_left_alone
            run: a_result_is_delivered_once
            run: cancelling_is_noted_until_the_end
            listing: threads_come_newest_first_in_pages
            listing: thread_filters_combine
            listing: threads_that_work_or_wait_are_found_by_one_look
            listing: runs_come_newest_first_in_pages
            listing: run_filters_combine
            listing: a_journal_is_read_in_pages
            listing: a_journal_of_many_pages_is_read_to_its_end
            listing: events_name_the_epoch_that_they_were_written_under
            listing: a_tree_journal_is_in_order_of_position
            listing: positions_are_never_given_twice
            file: blobs_are_kept_under_their_digest
            file: files_point_at_blobs
            file: a_file_needs_its_blob_and_its_thread
            file: files_of_a_commit_become_durable_with_it
            file: a_commit_with_a_file_without_its_blob_writes_nothing
            file: deleting_takes_the_subtree_and_leaves_the_rest
            file: a_sound_store_has_nothing_to_report
            file: a_closed_store_refuses
            race: concurrent_claims_take_each_thread_once
            race: concurrent_lines_are_numbered_without_gaps
            race: one_of_many_commits_with_the_same_lease_wins
            race: a_key_used_at_once_queues_one_line
        }

        #[test]
        fn behaves_as_the_memory_store_whatever_happens() {
            $crate::contract::property::compare($make);
        }
    };
    (@cases $make:path; $($module:ident: $case:ident)*) => {
        $(
            #[test]
            fn $case() {
                $crate::contract::check($make, $crate::contract::$module::$case);
            }
        )*
    };
}
