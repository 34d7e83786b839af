//! One piece of an answer as it is on the wire, borrowed from the bytes that came in. A plain answer is one piece.

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

#[derive(Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    pub(super) usage: Option<WireUsage>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Choice<'a> {
    /// What a stream adds.
    #[serde(borrow)]
    pub(super) delta: Option<Said<'a>>,
    /// All that a plain answer says.
    #[serde(borrow)]
    pub(super) message: Option<Said<'a>>,
    #[serde(borrow)]
    pub(super) finish_reason: Option<Text<'a>>,
}

#[derive(Deserialize)]
pub(super) struct Said<'a> {
    /// A text by the book; some servers send it in parts.
    #[serde(borrow, default, deserialize_with = "content")]
    pub(super) content: Option<Text<'a>>,
    /// What a model says in place of content that it will not give.
    #[serde(borrow)]
    pub(super) refusal: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) tool_calls: Option<Vec<WireCall<'a>>>,
}

#[derive(Deserialize)]
pub(super) struct WireCall<'a> {
    pub(super) index: Option<u64>,
    #[serde(borrow)]
    pub(super) id: Option<Text<'a>>,
    #[serde(borrow)]
    pub(super) function: Option<WireFunction<'a>>,
}

#[derive(Deserialize)]
pub(super) struct WireFunction<'a> {
    #[serde(borrow)]
    pub(super) name: Option<Text<'a>>,
    /// A text by the book; some servers send the object itself.
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct WireUsage {
    pub(super) prompt_tokens: Option<u64>,
    pub(super) completion_tokens: Option<u64>,
}

/// Borrowed unless it has escapes. A type of its own because `Option<Cow<str>>` would always copy.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

impl WireCall<'_> {
    /// Empty where there is none.
    pub(super) fn id(&self) -> &str {
        self.id.as_ref().map_or("", |id| &id.0)
    }

    /// Empty where there is none.
    pub(super) fn name(&self) -> &str {
        self.function.as_ref().and_then(|function| function.name.as_ref()).map_or("", |name| &name.0)
    }

    /// The arguments, or the piece of them that this is; empty where there is none.
    pub(super) fn arguments(&self) -> Cow<'_, str> {
        let Some(raw) = self.function.as_ref().and_then(|function| function.arguments) else {
            return Cow::Borrowed("");
        };
        match serde_json::from_str::<Text<'_>>(raw.get()) {
            Ok(text) => text.0,
            Err(_) => Cow::Borrowed(raw.get()),
        }
    }
}

/// One part of a content in parts. Those that are no text, such as what a model thought, say nothing.
#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow)]
    text: Option<Text<'a>>,
}

fn content<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Text<'a>>, D::Error> {
    deserializer.deserialize_any(ContentVisitor)
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Option<Text<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a list of parts or null")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_borrowed_str<E: serde::de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Some(Text(Cow::Borrowed(text))))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Text(Cow::Owned(text.to_owned()))))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Self::Value, A::Error> {
        let mut whole = String::new();
        while let Some(part) = parts.next_element::<Part<'de>>()? {
            whole.push_str(part.text.as_ref().map_or("", |text| &text.0));
        }
        Ok(Some(Text(Cow::Owned(whole))))
    }
}
