//! Whether a value is what a JSON Schema describes.
//!
//! The validator's library is generic over the values that it looks at, so that each crate that used it would compile it
//! again. It is compiled here, for `serde_json`'s values.

use serde_json::Value;

/// A schema, ready to be compared with values. It never reads another document.
#[derive(Debug)]
pub struct Schema(jsonschema::Validator);

/// What a schema has against a value: the first few, and how many there are.
#[derive(Debug, PartialEq, Eq)]
pub struct Misfits {
    pub first: Vec<Misfit>,
    pub count: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Misfit {
    /// As a JSON pointer; empty for the value itself.
    pub place: String,
    pub what: String,
}

impl Schema {
    /// Fails with what is wrong with the schema itself.
    pub fn new(source: &Value) -> Result<Self, String> {
        jsonschema::options().offline().build(source).map(Self).map_err(|fault| fault.to_string())
    }

    /// Nothing if the value fits; otherwise what speaks against it, up to `shown_max` in words.
    pub fn misfits(&self, value: &Value, shown_max: usize) -> Option<Misfits> {
        let mut misfits = Misfits { first: Vec::new(), count: 0 };
        for fault in self.0.iter_errors(value) {
            misfits.count += 1;
            if misfits.count <= shown_max {
                let place = fault.instance_path().as_str().to_owned();
                misfits.first.push(Misfit { place, what: fault.to_string() });
            }
        }
        (misfits.count > 0).then_some(misfits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_misfit_has_a_place_and_words() {
        let schema = Schema::new(&json!({"properties": {"n": {"type": "integer"}}, "required": ["m"]})).expect("valid");
        assert_eq!(schema.misfits(&json!({"n": 1, "m": 2}), 5), None);
        let misfits = schema.misfits(&json!({"n": "x"}), 5).expect("it does not fit");
        let places: Vec<_> = misfits.first.iter().map(|misfit| misfit.place.as_str()).collect();
        assert_eq!((misfits.count, places), (2, vec!["", "/n"]));
        assert!(misfits.first[1].what.contains("integer"), "{misfits:?}");
    }

    #[test]
    fn only_some_are_put_into_words() {
        let schema = Schema::new(&json!({"items": {"type": "string"}})).expect("valid");
        let misfits = schema.misfits(&json!([1, 2, 3, 4]), 2).expect("it does not fit");
        assert_eq!((misfits.first.len(), misfits.count), (2, 4));
    }

    #[test]
    fn a_schema_reads_no_other_document() {
        for reference in ["https://example.com/a.json", "file:///etc/hostname"] {
            assert!(Schema::new(&json!({"$ref": reference})).is_err(), "{reference}");
        }
    }
}
