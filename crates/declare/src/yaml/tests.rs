//! Text in, values and faults with their places out.

use super::*;
use proptest::prelude::*;
use serde_json::json;

#[test]
fn values_follow_the_core_schema_of_yaml_1_2() {
    for (text, expected) in [
        ("", json!(null)),
        ("# nothing\n", json!(null)),
        ("a:\nb: ~\nc: null\n", json!({ "a": null, "b": null, "c": null })),
        ("[yes, no, on, off, y, n]", json!(["yes", "no", "on", "off", "y", "n"])),
        ("[true, False, TRUE, tRUE]", json!([true, false, true, "tRUE"])),
        ("[1, -1, +1, 007, 0o17, 0x1F, 0b1, 1_000]", json!([1, -1, 1, 7, 15, 31, "0b1", "1_000"])),
        ("[1.5, .5, 1., 1e3, -.5E-1, 1.2.3, '.', e3]", json!([1.5, 0.5, 1.0, 1000.0, -0.05, "1.2.3", ".", "e3"])),
        ("[18446744073709551615, 18446744073709551616]", json!([u64::MAX, 18446744073709551616.0])),
        ("[.inf, .nan, 1e999, 2024-01-01, 12:30]", json!([".inf", ".nan", "1e999", "2024-01-01", "12:30"])),
        ("['1', \"true\", \"a\\u00e9\\n\"]", json!(["1", "true", "aé\n"])),
        ("[!!str 1, !!int '1', ! 1, !!float 1.5, !!null '']", json!(["1", 1, "1", 1.5, null])),
        ("a: |\n  x\n   y\n\n  z\nb: >-\n  x\n  y\n", json!({ "a": "x\n y\n\nz\n", "b": "x y" })),
        ("1: a\ntrue: b\n'<<': c\n", json!({ "1": "a", "true": "b", "<<": "c" })),
        ("--- \na: 1\n...\n", json!({ "a": 1 })),
        ("a: x\r\nb:\r\n- 1\r\n", json!({ "a": "x", "b": [1] })),
        ("a: &x [1, {b: 2}]\nc: *x\n", json!({ "a": [1, { "b": 2 }], "c": [1, { "b": 2 }] })),
        ("a: &k b\n*k : 1\n", json!({ "a": "b", "b": 1 })),
        ("x: &x {a: 1, b: 2}\ny:\n  b: 3\n  <<: *x\n", json!({ "x": { "a": 1, "b": 2 }, "y": { "b": 3, "a": 1 } })),
        ("<<: [{a: 1}, {a: 2, b: 3}]\n", json!({ "a": 1, "b": 3 })),
    ] {
        assert_eq!(parse(text, 1).map(|node| node.value()).map_err(|fault| fault.what), Ok(expected), "{text}");
    }
}

#[test]
fn what_is_not_yaml_is_refused_at_its_place_in_the_file() {
    for (text, expected) in [
        ("a: b: c\n", "11:5 mapping values are not allowed in this context"),
        ("a: 1\n\tb: 2\n", "12:1 a tab cannot be used as indentation"),
        ("a: [1\nb: 2\n", "12:2 illegal placement of ':' indicator"),
        ("é: 'x\n", "12:1 invalid indentation in multiline quoted scalar"),
        ("a: 1\nb: é\na: 2\n", "13:1 the key `a` is in its mapping twice"),
        ("a: {b: 1, b: 2}\n", "11:11 the key `b` is in its mapping twice"),
        ("a: 1\n b: 2\n", "12:3 mapping values are not allowed in this context"),
        ("a: *x\n", "11:4 while parsing node, found unknown anchor"),
        ("a: &x [*x]\n", "11:8 an alias stands within the value that it repeats"),
        ("[a]: 1\n", "11:1 a key must be a word"),
        (": 1\n", "11:1 a key must be a word"),
        ("~: 1\n", "11:1 a key must be a word"),
        ("a: !secret b\n", "11:1 the tag `!secret` does not fit this value"),
        ("a: !!int b\n", "11:1 the tag `!!int` does not fit this value"),
        ("<<: 1\n", "11:1 `<<` must be a mapping, or a list of them"),
        ("a: 1\n---\nb: 2\n", "12:1 there is more than one document"),
    ] {
        let fault = parse(text, 11).map(|_| ()).unwrap_err();
        assert_eq!(format!("{}:{} {}", fault.spot.line, fault.spot.column, fault.what), expected, "{text}");
    }
}

#[test]
fn a_field_lies_at_its_key_and_an_item_at_itself() {
    let node = parse("é:\n  - ü\n  - {k: v}\nz: &a\n  y: 1\nx: *a\n", 2).unwrap();
    let mut spots = Vec::new();
    collect("", &node, &mut spots);
    let expected = [" 2:1", ".é 2:1", ".é.0 3:5", ".é.1 4:5", ".é.1.k 4:6", ".z 5:1", ".z.y 6:3", ".x 7:1", ".x.y 6:3"];
    assert_eq!(spots, expected);
}

fn collect(path: &str, node: &Node, spots: &mut Vec<String>) {
    spots.push(format!("{path} {}:{}", node.spot.line, node.spot.column));
    match &node.tree {
        Tree::List(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(&format!("{path}.{index}"), item, spots);
            }
        }
        Tree::Object(entries) => {
            for (key, item) in entries {
                collect(&format!("{path}.{key}"), item, spots);
            }
        }
        Tree::Null | Tree::Flag(_) | Tree::Number(_) | Tree::Text(_) | Tree::Function | Tree::Alien(_) => {}
    }
}

#[test]
fn what_aliases_repeat_has_limits() {
    let laughs = (1..10).fold("a0: &a0 [x]\n".to_owned(), |text, level| {
        let before = format!("*a{}, ", level - 1).repeat(10);
        format!("{text}a{level}: &a{level} [{before}]\n")
    });
    assert_eq!(parse(&laughs, 1).unwrap_err().what, "there are more than 100000 values");
    let bytes = format!("a: &a {}\nb: [{}]\n", "x".repeat(1 << 20), "*a, ".repeat(9));
    assert_eq!(parse(&bytes, 1).unwrap_err().what, "aliases repeat more than 8 MiB");
    let deep =
        (1..80).fold("a0: &a0 x\n".to_owned(), |text, level| format!("{text}a{level}: &a{level} [*a{}]\n", level - 1));
    assert_eq!(parse(&deep, 1).unwrap_err().what, "values are nested more than 64 deep");
}

#[test]
fn nesting_and_number_have_limits() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(parse(&nested(DEPTH_MAX), 1).is_ok());
    assert!(parse(&nested(DEPTH_MAX + 1), 1).is_err());
    assert!(parse(&nested(100_000), 1).is_err());
    assert!(parse(&"- ".repeat(100_000), 1).is_err());
    assert!(parse(&format!("[{}1]", "1,".repeat(VALUES_MAX)), 1).is_err());
}

proptest! {
    #[test]
    fn whatever_is_written_never_panics(text in "([a-c:&*!'\"\\[\\]{},?|>%#~<.\n\r\t 0-9é-]|\n  |: |- )*") {
        if let (Ok(node), Ok(value)) = (parse(&text, 1), serde_saphyr::from_str::<serde_json::Value>(&text)) {
            prop_assert_eq!(node.value().is_object(), value.is_object());
        }
    }

    #[test]
    fn what_a_writer_wrote_is_read_as_it_was(text: String, key: String, number: i64, flag: bool) {
        let value = json!({ "text": text, "key": { key: [number, flag, null, text] } });
        let written = serde_saphyr::to_string(&value).unwrap();
        prop_assert_eq!(parse(&written, 1).map(|node| node.value()).map_err(|fault| (fault, written)).unwrap(), value);
    }
}
