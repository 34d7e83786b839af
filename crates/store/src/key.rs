//! When two items that came with the same key are the same request.

use entourage_model::{Attachment, Item};
use std::sync::Arc;

/// Whether `second` asks for what `first` asked for.
///
/// A caller that repeats itself draws a new message id, a new run id and a new time; those make no difference, and
/// neither does what has become of the files that it attaches. The answer to a repetition is made from the first item,
/// so that the caller sees the ids of the first call. Values that were sealed are told apart by their fingerprint.
pub fn same_request(first: &Item, second: &Item) -> bool {
    let (first, second) = match (first, second) {
        (Item::Message(first), Item::Message(second)) => (first, second),
        (
            Item::Variables { request: first, fingerprint: Some(known), .. },
            Item::Variables { request: second, fingerprint: Some(given), .. },
        ) => return first == second && known == given,
        (first, second) => return first == second,
    };
    let mut second = second.clone();
    let message = Arc::make_mut(&mut second.message);
    (message.id, message.created_at) = (first.message.id, first.message.created_at);
    if paths(&message.attachments).eq(paths(&first.message.attachments)) {
        message.attachments.clone_from(&first.message.attachments);
    }
    if second.run.is_some() && first.run.is_some() {
        second.run.clone_from(&first.run);
    }
    *first == second
}

fn paths(attachments: &[Attachment]) -> impl Iterator<Item = &str> {
    attachments.iter().map(|attachment| attachment.path.as_str())
}
