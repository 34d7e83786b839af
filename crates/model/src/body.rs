//! What is written down for good: events, items and teams, as JSON.
//!
//! How a type is written and read is generic in who writes and reads it, and these are the largest types there are: they
//! are compiled for JSON here, and not by every crate that keeps or reads one.

use crate::{Event, Item, Team};

/// Something that is kept as JSON.
pub trait Body: Sized {
    fn to_json(&self) -> serde_json::Result<String>;
    fn from_json(bytes: &[u8]) -> serde_json::Result<Self>;
}

macro_rules! body {
    ($($kept:ty),+) => {
        $(impl Body for $kept {
            fn to_json(&self) -> serde_json::Result<String> {
                serde_json::to_string(self)
            }

            fn from_json(bytes: &[u8]) -> serde_json::Result<Self> {
                serde_json::from_slice(bytes)
            }
        })+
    };
}

body!(Event, Item, Team);
