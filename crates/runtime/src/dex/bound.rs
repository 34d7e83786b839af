//! Values that may be long, cut to what a model can be shown.

use serde_json::Value;

/// The value with every text in it cut to `text_max` bytes and every list to `list_max` entries, each cut marked.
/// Returns how many cuts that took.
pub(super) fn cut(value: &mut Value, text_max: usize, list_max: usize) -> usize {
    match value {
        Value::String(text) if text.len() > text_max => {
            let (shown, size) = (text.floor_char_boundary(text_max), text.len());
            text.truncate(shown);
            text.push_str(&format!("\n[cut: {shown} of {size} bytes shown]"));
            1
        }
        Value::Array(entries) => {
            let size = entries.len();
            entries.truncate(list_max);
            let cuts: usize = entries.iter_mut().map(|entry| cut(entry, text_max, list_max)).sum();
            if size > list_max {
                entries.push(format!("[cut: {list_max} of {size} entries shown]").into());
            }
            cuts + usize::from(size > list_max)
        }
        Value::Object(members) => members.values_mut().map(|member| cut(member, text_max, list_max)).sum(),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn long_texts_and_lists_are_cut_and_marked() {
        let mut value = json!({"a": "äää", "b": [1, 2, 3], "c": {"d": "xx", "e": null}});
        assert_eq!(cut(&mut value, 3, 2), 2);
        let expected = json!({
            "a": "ä\n[cut: 2 of 6 bytes shown]",
            "b": [1, 2, "[cut: 2 of 3 entries shown]"],
            "c": {"d": "xx", "e": null},
        });
        assert_eq!(value, expected);
        let mut short = json!(["a", {"b": [1]}]);
        assert_eq!(cut(&mut short, 10, 10), 0);
        assert_eq!(short, json!(["a", {"b": [1]}]));
    }
}
