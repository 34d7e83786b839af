//! A type of its own for every identifier, so that none is taken for another.

use crate::{Dialect, Timestamp};
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use uuid::Uuid;

/// A text that cannot be an identifier of the kind asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an identifier")]
pub struct BadId;

macro_rules! uuid_id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            pub const fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            pub const fn uuid(self) -> Uuid {
                self.0
            }

            pub const fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                // Only the form that we print: 36 characters, lower case, hyphens.
                let uuid = Uuid::try_parse(text).map_err(|_| BadId)?;
                if uuid.hyphenated().to_string() == text { Ok(Self(uuid)) } else { Err(BadId) }
            }
        }
    };
}

uuid_id!(
    /// A thread; a parent calls its child's thread id the child's reference.
    ThreadId
);
uuid_id!(MessageId);
uuid_id!(
    /// A request for variables that a child needs before it can start.
    RequestId
);
uuid_id!(
    /// One boot of one process. Never used again once that process is gone.
    NodeId
);

macro_rules! text_id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl<T: Into<Arc<str>>> From<T> for $name {
            fn from(text: T) -> Self {
                Self(text.into())
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }
    };
}

text_id!(
    /// A run. Its text belongs to the dialect that made it (`task_…`, `subrun_…`), else it is a plain UUID.
    RunId
);
text_id!(
    /// One tool call, as the model named it.
    CallId
);
text_id!(
    /// The name of an agent, a prompt or a tool.
    Name
);

impl Name {
    /// What an agent's own format calls it: in a team, one that had to leave its plain name to another is `format/name`.
    pub fn plain(&self) -> &str {
        self.0.split_once('/').map_or(&*self.0, |(_, plain)| plain)
    }
}

/// One of an agent's two sides. The person of an `ai_human` agent is side `b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    A,
    B,
}

impl Side {
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

/// Makes identifiers out of a moment and a seed, so that whoever decides need not draw random numbers.
///
/// The same moment and seed give the same identifiers in the same order.
#[derive(Clone, Debug)]
pub struct Ids {
    now: Timestamp,
    seed: u64,
    drawn: u64,
}

impl Ids {
    pub fn new(now: Timestamp, seed: u64) -> Self {
        Self { now, seed, drawn: 0 }
    }

    pub fn thread(&mut self) -> ThreadId {
        ThreadId(self.next())
    }

    pub fn message(&mut self) -> MessageId {
        MessageId(self.next())
    }

    /// A run's id, as the dialect that asks for it writes them.
    pub fn run(&mut self, dialect: Dialect) -> RunId {
        let prefix = match dialect {
            Dialect::Standard => "",
            Dialect::Dex => "subrun_",
            Dialect::AgentScope => "task_",
        };
        RunId::from(format!("{prefix}{}", self.next().hyphenated()))
    }

    /// A short word for a name that must not meet another.
    pub fn word(&mut self) -> u32 {
        self.drawn += 1;
        let [.., a, b, c, d] = mix(self.seed ^ self.drawn.wrapping_mul(0x9e37_79b9_7f4a_7c15)).to_be_bytes();
        u32::from_be_bytes([a, b, c, d])
    }

    pub fn request(&mut self) -> RequestId {
        RequestId(self.next())
    }

    pub fn node(&mut self) -> NodeId {
        NodeId(self.next())
    }

    /// A version 7 UUID: sorted by time and then by the order of drawing, so that new rows lie side by side on disk
    /// and children are listed in the order of their calls.
    fn next(&mut self) -> Uuid {
        self.drawn += 1;
        let high = mix(self.seed ^ self.drawn.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let low = mix(high ^ self.seed.rotate_left(32));
        let mut random = [0u8; 10];
        random[..8].copy_from_slice(&high.to_be_bytes());
        random[8..].copy_from_slice(&low.to_be_bytes()[..2]);
        // Twelve bits behind the milliseconds count; when they are full, time goes on.
        let [.., high_count, low_count] = self.drawn.to_be_bytes();
        (random[0], random[1]) = (high_count & 0x0f, low_count);
        let millis = u64::try_from(self.now.0 / 1000).unwrap_or(0) + (self.drawn >> 12);
        uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
    }
}

/// SplitMix64's finaliser: spreads every bit of the seed over the whole word.
fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_repeat_with_their_seed_and_differ_without() {
        let draw = |seed| {
            let mut ids = Ids::new(Timestamp(1_700_000_000_000_000), seed);
            [ids.thread(), ids.thread()]
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        assert_ne!(draw(1)[0], draw(1)[1]);
    }

    #[test]
    fn identifiers_are_sorted_as_they_were_drawn() {
        let mut ids = Ids::new(Timestamp(1_700_000_000_000_000), 7);
        let drawn: Vec<ThreadId> = (0..10_000).map(|_| ids.thread()).collect();
        assert!(drawn.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn only_the_printed_form_of_an_identifier_is_read() {
        let id = Ids::new(Timestamp(0), 7).thread();
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!(id.to_string().to_uppercase().parse::<ThreadId>(), Err(BadId));
        assert_eq!("nonsense".parse::<ThreadId>(), Err(BadId));
    }
}
