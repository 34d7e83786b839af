//! A value together with the places at which its parts were written.

use crate::fault::Spot;

/// A value and where it lies in the TypeScript that gave it. A field's value lies where its key does.
#[derive(Clone, Debug, PartialEq)]
pub struct Located {
    pub spot: Spot,
    pub found: Found,
}

/// What a value is. Members that are `undefined` are absent; as items of a list they are `Alien`.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    Null,
    Flag(bool),
    Number(serde_json::Number),
    Text(String),
    List(Vec<Located>),
    /// In the order in which the fields were made.
    Object(Vec<(String, Located)>),
    /// Callable, and not to be carried out of the script.
    Function,
    /// Nothing that data can be, such as `NaN` or a symbol. What it is instead, for people: a noun without a full stop.
    Alien(String),
}
