//! What a worker says of its work: a JSON object of a known shape, or plain text.

use serde_json::{Map, Value, json};

/// The lists that a worker may give.
pub(super) const LISTS: [&str; 5] = ["findings", "evidence", "decisions", "risks", "nextSteps"];

/// The entries of these are objects.
const LISTS_OF_OBJECTS: [&str; 2] = ["findings", "evidence"];

/// The worker's object, if its message is one, whatever its shape.
pub(super) fn object(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(unfenced(text.trim())).ok()
}

/// What can be taken from the worker's object: all of it if its shape is right, else the parts whose shape is.
pub(super) fn read(text: &str) -> Option<Map<String, Value>> {
    let mut object = object(text)?;
    if shape_fault(&object).is_some() {
        let alone = |key: &str, value: &Value| {
            let mut part = Map::from_iter([("decision".to_owned(), json!({"summary": ""}))]);
            part.insert(key.to_owned(), value.clone());
            shape_fault(&part).is_none()
        };
        object.retain(|key, value| alone(key, value));
    }
    Some(object)
}

/// What is wrong with a message that is an object of another shape. Plain text is as good as any.
pub(crate) fn fault(text: &str) -> Option<String> {
    shape_fault(&object(text)?)
}

/// Models put JSON between fences even when they are asked not to.
fn unfenced(text: &str) -> &str {
    let Some(rest) = text.strip_prefix("```") else { return text };
    let body = rest.strip_prefix("json").unwrap_or(rest);
    body.strip_suffix("```").map_or(text, str::trim)
}

fn shape_fault(object: &Map<String, Value>) -> Option<String> {
    let decision = match object.get("decision") {
        Some(Value::Object(decision)) => decision,
        Some(_) => return Some("`decision` must be an object".to_owned()),
        None => return Some("`decision` is missing".to_owned()),
    };
    if !decision.get("summary").is_some_and(Value::is_string) {
        return Some("`decision.summary` must be a text".to_owned());
    }
    for key in ["outcome", "confidence"] {
        if decision.get(key).is_some_and(|value| !value.is_string()) {
            return Some(format!("`decision.{key}` must be a text"));
        }
    }
    for key in LISTS {
        let Some(value) = object.get(key) else { continue };
        let Value::Array(entries) = value else { return Some(format!("`{key}` must be a list")) };
        if LISTS_OF_OBJECTS.contains(&key)
            && let Some(place) = entries.iter().position(|entry| !entry.is_object())
        {
            return Some(format!("`{key}[{place}]` must be an object"));
        }
    }
    let validation = object.get("validation");
    validation.is_some_and(|value| !value.is_object()).then(|| "`validation` must be an object".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_report_of_another_shape_the_sound_parts_are_taken() {
        for (text, expected) in [
            (r#"{"risks": ["r"], "findings": "none"}"#, r#"{"risks":["r"]}"#),
            (r#"{"decision": "yes", "nextSteps": ["n"]}"#, r#"{"nextSteps":["n"]}"#),
            (r#"{"decision": {"summary": "s"}, "evidence": [1]}"#, r#"{"decision":{"summary":"s"}}"#),
        ] {
            assert_eq!(Value::Object(read(text).unwrap_or_default()).to_string(), expected, "{text}");
        }
        assert_eq!(read("plain words"), None);
    }

    #[test]
    fn a_report_has_one_shape_and_its_faults_have_places() {
        let cases = [
            ("plain words", None),
            ("[1, 2]", None),
            (r#""a text""#, None),
            ("{ not JSON", None),
            (r#"{"decision": {"summary": "s"}}"#, None),
            ("```json\n{\"decision\": {\"summary\": \"s\"}}\n```", None),
            (r#"{"decision": {"summary": "s"}, "risks": ["r", {"any": 1}], "findings": [{}]}"#, None),
            ("{}", Some("`decision` is missing")),
            ("```\n{}\n```", Some("`decision` is missing")),
            (r#"{"decision": "yes"}"#, Some("`decision` must be an object")),
            (r#"{"decision": {}}"#, Some("`decision.summary` must be a text")),
            (r#"{"decision": {"summary": 1}}"#, Some("`decision.summary` must be a text")),
            (r#"{"decision": {"summary": "s", "confidence": 1}}"#, Some("`decision.confidence` must be a text")),
            (r#"{"decision": {"summary": "s"}, "findings": {}}"#, Some("`findings` must be a list")),
            (r#"{"decision": {"summary": "s"}, "evidence": [{}, 1]}"#, Some("`evidence[1]` must be an object")),
            (r#"{"decision": {"summary": "s"}, "validation": true}"#, Some("`validation` must be an object")),
        ];
        for (text, expected) in cases {
            assert_eq!(fault(text).as_deref(), expected, "{text}");
        }
    }
}
