//! The globals beyond the language itself.

use crate::{attempt, check};
use serde_json::json;

#[test]
fn text_and_bytes_go_back_and_forth() {
    check(
        "const bytes = (text: string) => [...new TextEncoder().encode(text)];
const text = (...bytes: number[]) => new TextDecoder().decode(new Uint8Array(bytes));
const tried = (attempt: () => unknown) => { try { return attempt(); } catch (error: any) { return error.name; } };",
        &[
            ("bytes('aé€😀')", json!([97, 195, 169, 226, 130, 172, 240, 159, 152, 128])),
            ("bytes('\\ud800')", json!([239, 191, 189])),
            ("text(97, 195, 169, 226, 130, 172, 240, 159, 152, 128)", json!("aé€😀")),
            ("text(0xef, 0xbb, 0xbf, 97)", json!("a")),
            ("text(0xff, 97)", json!("\u{fffd}a")),
            // Overlong, a surrogate, and above the last code point.
            ("text(0xc0, 0x80)", json!("\u{fffd}\u{fffd}")),
            ("text(0xed, 0xa0, 0x80)", json!("\u{fffd}\u{fffd}\u{fffd}")),
            ("text(0xf4, 0x90, 0x80, 0x80)", json!("\u{fffd}\u{fffd}\u{fffd}\u{fffd}")),
            ("text(0xe2, 0x82)", json!("\u{fffd}")),
            (
                "tried(() => new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255])))",
                json!("TypeError"),
            ),
            ("tried(() => new TextDecoder('utf-16'))", json!("RangeError")),
            (
                "(() => { const decoder = new TextDecoder(); return decoder.decode(new Uint8Array([226, 130]), { stream: true }) + decoder.decode(new Uint8Array([172])); })()",
                json!("€"),
            ),
            ("new TextDecoder().decode(new Uint8Array([1, 97, 2]).buffer.slice(1, 2))", json!("a")),
            ("new TextDecoder().decode('already text' as any)", json!("already text")),
            ("new TextDecoder().decode(new TextEncoder().encode('x'.repeat(10000))).length", json!(10000)),
            ("[btoa('hi'), atob('aGk=')]", json!(["aGk=", "hi"])),
        ],
    );
}

#[test]
fn addresses_are_taken_apart_and_put_together() {
    check(
        "const url = new URL('https://user:pw@EXAMPLE.com:443/a/./b/../c?x=1&y=2#z');
const changed = new URL('http://a/b');
changed.searchParams.append('q', 'ü &');
changed.hash = 'top';
changed.port = '8080';",
        &[
            ("url.href", json!("https://user:pw@example.com/a/c?x=1&y=2#z")),
            (
                "[url.protocol, url.host, url.port, url.pathname, url.search, url.hash, url.origin]",
                json!(["https:", "example.com", "", "/a/c", "?x=1&y=2", "#z", "https://example.com"]),
            ),
            ("[url.username, url.password]", json!(["user", "pw"])),
            ("url.searchParams.get('y')", json!("2")),
            ("changed.href", json!("http://a:8080/b?q=%C3%BC+%26#top")),
            ("new URL('../y?z', 'http://a/b/c/d').href", json!("http://a/b/y?z")),
            ("new URL('//other/x', 'https://a/b').href", json!("https://other/x")),
            ("new URL('mailto:a@b.c').pathname", json!("a@b.c")),
            ("new URL('http://[::1]:80/').host", json!("[::1]")),
            ("URL.canParse('no')", json!(false)),
            (
                "['http://', 'http://a b/', 'http://a:99999/', 'http://1.2.3/', 'http://ü.de/'].map((text) => URL.canParse(text))",
                json!([false, false, false, false, false]),
            ),
            ("JSON.stringify({ url })", json!("{\"url\":\"https://user:pw@example.com/a/c?x=1&y=2#z\"}")),
            ("new URLSearchParams({ a: '1', b: 'x y' }).toString()", json!("a=1&b=x+y")),
            ("[...new URLSearchParams('a=1&a=2&b')]", json!([["a", "1"], ["a", "2"], ["b", ""]])),
        ],
    );
}

#[test]
fn values_are_cloned_with_what_they_share() {
    check(
        "const shared = { n: 1 };
const value: any = { date: new Date(0), map: new Map([['k', shared]]), set: new Set([1]), bytes: new Uint8Array([1, 2]), list: [shared, shared], error: new TypeError('x') };
value.self = value;
const copy = structuredClone(value);",
        &[
            ("copy !== value && copy.self === copy", json!(true)),
            ("copy.list[0] === copy.list[1] && copy.list[0] !== shared && copy.map.get('k') === copy.list[0]", json!(true)),
            ("[copy.date.getTime(), [...copy.set], [...copy.bytes], copy.error.name]", json!([0, [1], [1, 2], "TypeError"])),
            ("(() => { try { structuredClone(() => 1); } catch (error: any) { return error.name; } })()", json!("TypeError")),
        ],
    );
}

#[test]
fn random_values_come_from_the_system() {
    check(
        "const id = crypto.randomUUID();",
        &[
            ("/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)", json!(true)),
            ("new Set(Array.from({ length: 100 }, () => crypto.randomUUID())).size", json!(100)),
            ("crypto.getRandomValues(new Uint8Array(64)).some((byte) => byte > 0)", json!(true)),
            ("crypto.getRandomValues(new Uint32Array(2)).length", json!(2)),
            (
                "(() => { try { crypto.getRandomValues(new Float64Array(1)); } catch (error: any) { return error.name; } })()",
                json!("TypeError"),
            ),
        ],
    );
}

#[test]
fn signals_abort_once() {
    check(
        "const controller = new AbortController();
const heard: string[] = [];
controller.signal.addEventListener('abort', () => heard.push('abort'));
controller.abort('enough');
controller.abort('again');
const joined = AbortSignal.any([new AbortController().signal, AbortSignal.abort('other')]);",
        &[
            ("heard", json!(["abort"])),
            ("[controller.signal.aborted, controller.signal.reason]", json!([true, "enough"])),
            (
                "(() => { try { controller.signal.throwIfAborted(); } catch (reason) { return reason; } })()",
                json!("enough"),
            ),
            ("[joined.aborted, joined.reason]", json!([true, "other"])),
            ("AbortSignal.abort().reason.name", json!("AbortError")),
        ],
    );
}

#[test]
fn the_console_takes_anything() {
    check(
        "const circle: any = {}; circle.self = circle;
console.log('a', 1, { b: 2 }, circle, null, undefined, 5n, Symbol('s'), () => 1);
console.error(new Error('x')); console.warn(); console.info('%s', 'x'); console.debug([1]); console.assert(false, 'no');",
        &[("typeof console.table", json!("function"))],
    );
}

#[test]
fn what_a_sandbox_lacks_says_so() {
    for (expression, why) in [
        ("fetch('http://a')", "no network"),
        ("require('fs')", "`import`"),
        ("setTimeout(() => {}, 1)", "only while a tool runs"),
        ("setInterval(() => {}, 1)", "does not exist"),
        ("process.env.HOME", "process"),
        ("Deno.env", "Deno"),
    ] {
        let fault = attempt(&format!("export default {expression};")).expect_err(expression);
        assert!(fault.what.contains(why), "{expression}: {fault}");
    }
}

#[test]
fn the_hosts_own_functions_are_out_of_reach() {
    check(
        "",
        &[(
            "['__entourage_load', '__entourage_random', '__entourage_log', 'process', 'Buffer'].filter((name) => name in globalThis)",
            json!([]),
        )],
    );
}
