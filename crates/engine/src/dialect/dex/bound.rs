//! Values that may be long, cut to what a model can be shown.

use serde_json::{Map, Value};

/// Longer texts give way alone; shorter ones take lists and objects along, and words and ids are not cut.
const SHORT_TEXT_BYTES: usize = 256;
const WORD_BYTES: usize = 64;
/// Stands where members of an object were left out.
const REST: &str = "[cut]";

/// What a value is cut to at first: the bytes of each text in it, the entries of each list and object.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub text: usize,
    pub entries: usize,
}

impl Bounds {
    /// The next narrower ones; nothing where there are none that would leave anything to say.
    fn narrower(self) -> Option<Self> {
        let entries = if self.text > SHORT_TEXT_BYTES { self.entries } else { (self.entries / 2).max(1) };
        let text = self.text.min((self.text / 2).max(WORD_BYTES));
        (text < self.text || entries < self.entries).then_some(Self { text, entries })
    }
}

/// The value, cut as often as it takes until its JSON has at most `bytes_max` bytes, each cut marked. What it is made of
/// at the top, all of it, is there in the end, be it as a mark alone.
pub fn fit(value: &Value, bytes_max: usize, bounds: Bounds) -> Value {
    let mut next = Some(bounds);
    while let Some(bounds) = next {
        let cut = top(value, |part| short(part, bounds));
        if cut.to_string().len() <= bytes_max {
            return cut;
        }
        next = bounds.narrower();
    }
    top(value, |part| match part {
        Value::Array(_) | Value::Object(_) | Value::String(_) => REST.into(),
        Value::Null | Value::Bool(_) | Value::Number(_) => part.clone(),
    })
}

fn top(value: &Value, part: impl Fn(&Value) -> Value) -> Value {
    match value.as_object() {
        Some(members) => members.iter().map(|(key, member)| (key.clone(), part(member))).collect(),
        None => part(value),
    }
}

/// The value with every text in it cut to so many bytes, and every list and object to so many entries.
fn short(value: &Value, bounds: Bounds) -> Value {
    match value {
        Value::String(text) => short_text(text, bounds.text).into(),
        Value::Array(entries) => {
            let shown = entries.iter().take(bounds.entries).map(|entry| short(entry, bounds));
            let rest = mark(bounds.entries, entries.len(), "entries").map(Value::from);
            shown.chain(rest).collect()
        }
        Value::Object(members) => {
            let member = |(key, member): (&String, &Value)| (short_text(key, bounds.text), short(member, bounds));
            let mut shown: Map<String, Value> = members.iter().take(bounds.entries).map(member).collect();
            let rest = mark(bounds.entries, members.len(), "members");
            shown.extend(rest.map(|rest| (REST.to_owned(), rest.into())));
            shown.into()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn short_text(text: &str, bytes_max: usize) -> String {
    let shown = text.floor_char_boundary(bytes_max);
    match mark(shown, text.len(), "bytes") {
        Some(mark) => format!("{}\n{mark}", &text[..shown]),
        None => text.to_owned(),
    }
}

/// Says how much of something is shown, where that is not all of it.
fn mark(shown: usize, size: usize, of: &str) -> Option<String> {
    (shown < size).then(|| format!("[cut: {shown} of {size} {of} shown]"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn long_texts_lists_and_objects_are_cut_and_marked() {
        let value = json!({"a": "äää", "b": [1, 2, 3], "c": {"d": "xx", "e": null, "f": 1}});
        let expected = json!({
            "a": "ä\n[cut: 2 of 6 bytes shown]",
            "b": [1, 2, "[cut: 2 of 3 entries shown]"],
            "c": {"d": "xx", "e": null, "[cut]": "[cut: 2 of 3 members shown]"},
        });
        assert_eq!(fit(&value, 1000, Bounds { text: 3, entries: 2 }), expected);
        let short = json!(["a", {"b": [1]}]);
        assert_eq!(fit(&short, 1000, Bounds { text: 10, entries: 10 }), short);
    }

    #[test]
    fn however_long_a_value_is_it_fits_in_the_end() {
        let texts: Vec<String> = (0..200).map(|_| "x".repeat(4000)).collect();
        let members: Map<String, Value> = (0..3000).map(|n| (format!("key {n}"), "v".repeat(100).into())).collect();
        let deep = (0..100).fold(json!("deep"), |inner, _| json!([inner, {"x": "y"}]));
        let keys = json!({"k".repeat(100_000): 1, "l".repeat(100_000): 2});
        let value = json!({"version": 2, "texts": texts, "members": members, "deep": deep, "keys": keys});
        for bytes_max in [100, 1000, 16_000] {
            let cut = fit(&value, bytes_max, Bounds { text: 4096, entries: 50 });
            assert!(cut.to_string().len() <= bytes_max, "{bytes_max}: {}", cut.to_string().len());
            assert_eq!(cut["version"], 2);
            assert_eq!(cut.as_object().unwrap().len(), 5);
        }
    }
}
