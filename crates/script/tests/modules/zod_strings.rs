//! Strings and their formats, shown and parsed.

use crate::{check_parsing, check_schemas};
use serde_json::json;

#[test]
fn strings_say_their_lengths_and_patterns() {
    check_schemas(&[
        ("z.string()", json!({"type": "string"})),
        ("z.string().min(2).max(5)", json!({"type": "string", "minLength": 2, "maxLength": 5})),
        ("z.string().length(3)", json!({"type": "string", "minLength": 3, "maxLength": 3})),
        ("z.string().nonempty()", json!({"type": "string", "minLength": 1})),
        ("z.string().regex(/^a+$/)", json!({"type": "string", "pattern": "^a+$"})),
        (
            "z.string().regex(/^a/).regex(/b$/)",
            json!({"type": "string", "pattern": "^a", "allOf": [{"pattern": "b$"}]}),
        ),
        // Without its flag the pattern would refuse what the schema accepts.
        ("z.string().regex(/^a+$/i)", json!({"type": "string"})),
        ("z.string().includes('a.b')", json!({"type": "string", "pattern": "a\\.b"})),
        ("z.string().startsWith('a')", json!({"type": "string", "pattern": "^a.*"})),
        ("z.string().endsWith('z')", json!({"type": "string", "pattern": ".*z$"})),
        ("z.string().trim().toLowerCase().toUpperCase()", json!({"type": "string"})),
        ("z.string().trim().min(1)", json!({"type": "string", "minLength": 1})),
    ]);
}

#[test]
fn formats_that_json_schema_knows_are_named() {
    for (format, names) in [
        ("email", &["z.string().email()", "z.email()"][..]),
        ("uri", &["z.string().url()", "z.url()", "z.httpUrl()"]),
        ("uuid", &["z.string().uuid()", "z.uuid()", "z.uuidv4()", "z.uuidv7()", "z.guid()"]),
        ("date-time", &["z.string().datetime()", "z.iso.datetime()", "z.string().datetime({ offset: true })"]),
        ("date", &["z.string().date()", "z.iso.date()"]),
        ("time", &["z.string().time()", "z.iso.time()"]),
        ("duration", &["z.string().duration()", "z.iso.duration()"]),
        ("ipv4", &["z.ipv4()", "z.string().ip({ version: 'v4' })"]),
        ("ipv6", &["z.ipv6()", "z.string().ip({ version: 'v6' })"]),
        ("hostname", &["z.hostname()"]),
    ] {
        let cases: Vec<_> = names.iter().map(|name| (*name, json!({"type": "string", "format": format}))).collect();
        check_schemas(&cases);
    }
}

#[test]
fn other_formats_are_told_by_their_pattern_or_not_at_all() {
    check_schemas(&[
        ("z.string().ip()", json!({"type": "string", "anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]})),
        ("z.base64()", json!({"type": "string", "contentEncoding": "base64"})),
        ("z.string().cuid()", json!({"type": "string", "pattern": "^[cC][0-9a-z]{6,}$"})),
        ("z.cuid2()", json!({"type": "string", "pattern": "^[0-9a-z]+$"})),
        ("z.nanoid()", json!({"type": "string", "pattern": "^[A-Za-z0-9_-]{21}$"})),
        ("z.ulid()", json!({"type": "string", "pattern": "^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$"})),
        ("z.e164()", json!({"type": "string", "pattern": "^\\+[1-9]\\d{6,14}$"})),
        ("z.base64url()", json!({"type": "string", "pattern": "^[A-Za-z0-9_-]*$"})),
        ("z.string().lowercase()", json!({"type": "string", "pattern": "^[^A-Z]*$"})),
        ("z.jwt()", json!({"type": "string"})),
        ("z.emoji()", json!({"type": "string"})),
        ("z.cidrv4()", json!({"type": "string"})),
    ]);
}

#[test]
fn formats_take_what_they_mean_and_nothing_else() {
    for (schema, right, wrong) in [
        (
            "z.email()",
            &["a@b.co", "first.last+tag@sub.example.org"][..],
            &["a@b", "@b.co", "a..b@c.de", "a b@c.de", "a@b.c d"][..],
        ),
        ("z.url()", &["https://example.com/a?b#c", "ftp://x"], &["example.com", "http://", "no"]),
        ("z.httpUrl()", &["http://a"], &["ftp://a"]),
        (
            "z.uuid()",
            &["01234567-89ab-4cde-8f01-23456789abcd", "00000000-0000-0000-0000-000000000000"],
            &["01234567-89ab-4cde-7f01-23456789abcd", "x"],
        ),
        ("z.uuidv4()", &["01234567-89ab-4cde-8f01-23456789abcd"], &["01234567-89ab-7cde-8f01-23456789abcd"]),
        ("z.guid()", &["01234567-89ab-0cde-0f01-23456789abcd"], &["01234567-89ab-0cde-0f01"]),
        (
            "z.iso.datetime()",
            &["2024-02-29T12:00:00Z", "2024-01-01T00:00Z", "2024-01-01T00:00:00.123Z"],
            &["2023-02-29T12:00:00Z", "2024-01-01T24:00:00Z", "2024-01-01T00:00:00+01:00", "2024-01-01"],
        ),
        (
            "z.iso.datetime({ offset: true })",
            &["2024-01-01T00:00:00+01:00", "2024-01-01T00:00:00Z"],
            &["2024-01-01T00:00:00"],
        ),
        ("z.iso.datetime({ local: true })", &["2024-01-01T00:00:00"], &["2024-01-01 00:00:00"]),
        ("z.iso.datetime({ precision: 3 })", &["2024-01-01T00:00:00.123Z"], &["2024-01-01T00:00:00Z"]),
        ("z.iso.date()", &["2024-02-29", "1999-12-31"], &["2023-02-29", "2024-13-01", "2024-1-1", "1900-02-29"]),
        ("z.iso.time()", &["23:59", "23:59:59.5"], &["24:00", "23:60"]),
        ("z.iso.duration()", &["P1DT2H", "PT5M", "P2W"], &["P", "PT", "1D"]),
        ("z.ipv4()", &["127.0.0.1"], &["256.0.0.1", "1.2.3", "01.2.3.4"]),
        ("z.ipv6()", &["::1", "2001:db8::8a2e:370:7334", "::ffff:1.2.3.4"], &["1::2::3", "12345::", "1:2:3"]),
        ("z.string().ip()", &["::1", "1.2.3.4"], &["x"]),
        ("z.cidrv4()", &["10.0.0.0/8"], &["10.0.0.0/33", "10.0.0.0"]),
        ("z.base64()", &["aGk=", ""], &["aGk", "a-_="]),
        ("z.nanoid()", &["V1StGXR8_Z5jdHi6B-myT"], &["short"]),
        ("z.cuid()", &["cjld2cjxh0000qzrmn831i7rn"], &["x"]),
        ("z.ulid()", &["01ARZ3NDEKTSV4RRFFQ69G5FAV"], &["81ARZ3NDEKTSV4RRFFQ69G5FAV"]),
        ("z.e164()", &["+4915112345678"], &["015112345678"]),
        ("z.jwt()", &["eyJhbGciOiJIUzI1NiJ9.e30.x"], &["a.b", "a.b.c"]),
        ("z.hostname()", &["a.example.org"], &["-a.org", "a_b.org"]),
        ("z.emoji()", &["🎉"], &["a"]),
        ("z.string().startsWith('a').endsWith('z').includes('m')", &["amz"], &["az", "amy", "bmz"]),
        ("z.string().regex(/^a+$/g)", &["aa"], &["ab"]),
        ("z.string().lowercase()", &["abc"], &["Abc"]),
    ] {
        let expressions: Vec<_> = (right.iter().map(|text| (text, true)))
            .chain(wrong.iter().map(|text| (text, false)))
            .map(|(text, fits)| (format!("{schema}.safeParse({}).success", json!(text)), json!(fits)))
            .collect();
        let cases: Vec<_> = expressions.iter().map(|(expression, fits)| (expression.as_str(), fits.clone())).collect();
        check_parsing(&cases);
    }
}

#[test]
fn strings_are_changed_in_the_order_of_the_calls() {
    check_parsing(&[
        ("taken(z.string().trim().toUpperCase(), ' a ')", json!("A")),
        ("taken(z.string().trim().min(1), ' a ')", json!("a")),
        ("faults(z.string().trim().min(1), '  ')", json!([": Too small: expected string to have >=1 characters"])),
        ("taken(z.coerce.string(), 5)", json!("5")),
        ("taken(z.stringbool(), 'Yes')", json!(true)),
        ("taken(z.stringbool(), '0')", json!(false)),
        ("z.stringbool().safeParse('maybe').success", json!(false)),
        ("z.string().min(2).min(5).max(9).minLength", json!(5)),
    ]);
}
