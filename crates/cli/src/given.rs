//! A variable as somebody types it: `NAME=VALUE`.

use entourage_model::{Secret, Team, VariableValue};
use std::collections::BTreeMap;
use std::str::FromStr;

/// Its value is in no log and in no message, because it may be a secret.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    name: String,
    value: Secret,
}

impl FromStr for Given {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() => {
                Ok(Self { name: name.trim().to_owned(), value: Secret::new(value) })
            }
            Some(_) | None => Err("write it as NAME=VALUE".to_owned()),
        }
    }
}

/// The variables of a new thread; of two with one name the later counts.
pub(crate) fn variables(given: Vec<Given>, team: &Team) -> BTreeMap<String, VariableValue> {
    let value = |Given { name, value }: Given| {
        let value = team.variable(&name, value.reveal());
        (name, value)
    };
    given.into_iter().map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_a_value_are_told_apart_at_the_first_sign() {
        for (text, expected) in [("A=1", Some(("A", "1"))), ("A=", Some(("A", ""))), ("A=b=c", Some(("A", "b=c")))] {
            let given: Option<Given> = text.parse().ok();
            assert_eq!(given.as_ref().map(|given| (given.name.as_str(), given.value.reveal())), expected);
        }
        for text in ["", "A", "=1", " =1"] {
            assert!(text.parse::<Given>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn what_is_typed_is_never_printed() {
        let given: Given = "TOKEN=hunter2".parse().unwrap();
        assert!(!format!("{given:?}").contains("hunter2"));
    }
}
