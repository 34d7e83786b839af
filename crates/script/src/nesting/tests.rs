//! The bound against trees that a real parser makes.

use super::*;
use crate::limits::STACK_BYTES;
use oxc_allocator::Allocator;
use oxc_parser::Parser;
use oxc_semantic::SemanticBuilder;
use oxc_span::SourceType;
use proptest::prelude::*;
use std::thread;

/// The least limit under which a text is let through.
fn bound(text: &str) -> usize {
    let mut range = 0..text.len() * 4 + 16;
    while range.start < range.end {
        let middle = range.start.midpoint(range.end);
        if Scanner::new(text, middle).scan().is_ok() {
            range.end = middle;
        } else {
            range.start = middle + 1;
        }
    }
    range.end
}

/// What the parser made of a text.
struct Tree {
    /// How many nodes lie inside each other; nothing if it does not parse.
    depth: Option<usize>,
    /// What all attempts took, those that failed included.
    bytes: usize,
}

fn parse(text: &str) -> Tree {
    let text = text.to_owned();
    let deep = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        let allocator = Allocator::default();
        let parsed = Parser::new(&allocator, &text, SourceType::ts()).parse();
        let bytes = allocator.used_bytes();
        if parsed.diagnostics.has_errors() {
            return Tree { depth: None, bytes };
        }
        let built = SemanticBuilder::new().with_build_nodes(true).build(&parsed.program);
        let nodes = built.semantic.nodes();
        let mut depths = vec![0usize; nodes.len()];
        // Parents come before their children.
        for node in nodes.iter().skip(1) {
            depths[node.id().index()] = depths[nodes.parent_id(node.id()).index()] + 1;
        }
        Tree { depth: depths.into_iter().max(), bytes }
    });
    deep.unwrap().join().unwrap()
}

/// What is let through is no deeper than its bound, and no more work.
fn holds(text: &str) -> Result<(), String> {
    if too_deep(text).is_some() {
        return Ok(());
    }
    let mut scanner = Scanner::new(text, NESTING_MAX);
    scanner.scan().map_err(|at| format!("too deep at {at}"))?;
    let tree = parse(text);
    // A byte of source takes about 20; what grows with the square of these few levels takes more.
    if tree.bytes as u64 > 2000 * scanner.work + (1 << 16) {
        return Err(format!("{} bytes for work of {}: {text}", tree.bytes, scanner.work));
    }
    let bound = bound(text);
    match tree.depth {
        // A level is at most four nodes: a property, its object, the statement or the wrapper around it.
        Some(depth) if depth > 4 * bound + 16 => Err(format!("depth {depth}, bound {bound}: {text}")),
        _ => Ok(()),
    }
}

#[test]
fn what_nests_without_brackets_is_counted() {
    for (unit, middle, end) in [
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("{a:", "1", "}"),
        ("!", "1", ""),
        ("a=>", "1", ""),
        ("a?b:", "1", ""),
        ("2**", "1", ""),
        ("f(", "1", ")"),
        ("`${", "1", "}`"),
        ("/'/,[", "1", "]"),
        ("a/2/'x'/[", "1", "]"),
        ("1./(", "1", ")"),
        ("x++/(", "1", ")"),
        ("x. return/(", "1", ")"),
        ("x.#in/(", "1", ")"),
        ("x?./**/in/(", "1", ")"),
        ("x!/(", "1", ")"),
        ("// '\u{2028}(", "1", ")"),
        ("'\\\r\n'+(", "1", ")"),
        ("<a>", "1", ""),
        ("class extends ", "a{}", "{}"),
        ("await\u{a0}", "a", ""),
    ] {
        let text = format!("x={}{middle}{}", unit.repeat(200), end.repeat(200));
        assert!(parse(&text).depth.is_none_or(|depth| depth >= 200), "{text}");
        assert_eq!(holds(&text), Ok(()));
        assert!(Scanner::new(&text, 190).scan().is_err(), "{text}");
    }
    for text in [
        "if(a)b;else ".repeat(200) + "c",
        "if(a)if(a)if(a)b,c;else ".repeat(60) + "c",
        "do if(a) do x; while(1); else ".repeat(60) + "c" + &";while(1)".repeat(60),
        "for await (a of b)\n".repeat(200) + "c",
        "if\u{2028}(a)\n".repeat(200) + "c",
        "type A=".to_owned() + &"B<a,".repeat(200) + "c" + &">".repeat(200),
        "type A=".to_owned() + &"keyof\n".repeat(200) + "c",
        "a:for(;;){break a\n/'/;".to_owned() + &"(".repeat(200) + "c" + &")".repeat(200) + "}",
    ] {
        assert_eq!(holds(&text), Ok(()));
        assert!(Scanner::new(&text, 180).scan().is_err(), "{text}");
    }
}

#[test]
fn what_the_parser_would_try_again_and_again_is_refused() {
    for (start, unit) in [
        ("type T=", "( {[a in A<b,("),
        ("x=", "a<{["),
        ("type T=", "(infer b extends "),
        ("type T=", "({a="),
        ("x=a as ", "([a=b as "),
        ("x=1./", "a<({[//`\n"),
        ("x=", "a<(b:{["),
    ] {
        let text = format!("{start}{}", unit.repeat(60));
        assert!(too_deep(&text).is_some_and(|at| at < text.len()), "{text}");
    }
}

#[test]
fn sources_that_go_on_and_on_are_not_deep() {
    for line in [
        "const a = { b: [1, 2.5, -3], c: f(x)(y).z };\n",
        "const a = 1\nlet b = a + 1\nfoo(a).bar(b)\n",
        "if (a) b(); else c();\nwhile (d) e();\n",
        "function f(a: A<B>, b?: C): D { return /['\"`]/.test(a) ? a / b / 2 : `${b}/${b}`; }\n",
        "interface A {\n a: string\n b(): number\n readonly c: D[]\n}\n",
        "class A {\n #a = 1\n static b() {}\n get c() { return 1 }\n}\n",
        "export type A = 'a' | 'b'\nexport { b } from './b'\n",
        "// it's (a) [comment\n/* \" ( */ foo();\n",
        "a = `it's ${b} (not [deep` + '((((' + \"[[[[\";\n",
        "switch (a) {\n case 1: b(); break;\n default: c();\n}\n",
        "const a = b\n  / c\n  / (d + 1) / 2\nconst e = f! / 2 / g++ / 3\nif (a > b) /x'/.test(c)\n",
        "const f = async <T,>(a?: T): Promise<Map<string, A<T>>> => a ? { b: c < d } : ({ e: (g: T) => ({ h: g as T[] }) })\n",
        "for (const a of b) {\n if (a) {\n c()\n } else if (b) {\n d()\n } else {\n e()\n }\n}\n",
    ] {
        let text = line.repeat(500);
        assert!(parse(&text).depth.is_some(), "{line}");
        assert!(bound(&text) < 40, "{}: {line}", bound(&text));
    }
}

const TOKENS: &[&str] = &[
    "a",
    "b",
    "1",
    "1.",
    "'x'",
    "\"",
    "'",
    "`",
    "`${",
    "}",
    "{",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    "=>",
    "=",
    "+",
    "-",
    "++",
    "!",
    "~",
    "?",
    ":",
    "?.",
    ".",
    "...",
    ",",
    ";",
    "\n",
    " ",
    "/",
    "/'/",
    "/[/]/",
    "//",
    "/*",
    "*/",
    "if(a)",
    "if",
    "else ",
    "while(a)",
    "while",
    "do ",
    "for(;;)",
    "for await(a of b)",
    "new ",
    "typeof ",
    "await ",
    "async ",
    "function f()",
    "class ",
    "extends ",
    "return ",
    "keyof ",
    "type A=",
    " as ",
    " in ",
    " of ",
    " is ",
    "case ",
    "default:",
    "switch(a)",
    "let ",
    "import(",
    "f(",
    "f<",
    "{a:",
    "()=>",
    "a=>",
    "**",
    "&&",
    "??",
    "|",
    "\\",
    "\u{2028}",
    "\u{a0}",
    "\r\n",
    "get ",
    "break ",
    "return",
    ". ",
    "...",
    "debugger",
    "continue",
    "delete ",
    "void ",
    "#in",
    "a:",
    "try{",
    "}catch{",
    "}finally{",
    "#",
    "@",
    "$",
    "yield ",
    "export ",
    "declare ",
    "namespace ",
    "enum ",
];

fn piece() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(TOKENS), 0..6).prop_map(|tokens| tokens.concat())
}

/// What nests, with what ends it again.
const EXPRESSIONS: &[(&str, &str)] = &[
    ("(", ")"),
    ("[", "]"),
    ("[b,", "]"),
    ("{a:", "}"),
    ("{b,a:", "}"),
    ("f(", ")"),
    ("f(b,", ")"),
    ("`${", "}`"),
    ("`'${", "}`"),
    ("!", ""),
    ("-", ""),
    ("a+", ""),
    ("a/", ""),
    ("/'/+", ""),
    ("/[/'\"]/+", ""),
    ("1./", ""),
    ("a++/", ""),
    ("a!/", ""),
    ("a?b:", ""),
    ("a?", ":b"),
    ("b=>", ""),
    ("(b)=>", ""),
    ("async b=>", ""),
    ("()=>{return ", "}"),
    ("typeof ", ""),
    ("void\n", ""),
    ("await ", ""),
    ("new ", ""),
    ("a in ", ""),
    ("a as b as ", ""),
    ("<b>", ""),
    ("f<b,c>(", ")"),
    ("a<", ""),
    ("a>", ""),
    ("a=", ""),
    ("a??", ""),
    ("2**", ""),
    ("a.b[", "]"),
    ("a?.(", ")"),
    ("class{a=", "}"),
    ("class{static{", "}}"),
    ("function(){return ", "}"),
    ("[...", "]"),
    ("a.return/", ""),
    ("a. in /", ""),
    ("{get a(){return ", "}}"),
    ("import(", ")"),
    ("'\\\n'+", ""),
    ("\"\\\r\n\"+", ""),
    ("a`${", "}`"),
    ("", ".a"),
    ("", "()"),
    ("", "[0]"),
    ("", "!"),
    ("", " as b"),
    ("", "\n.a"),
    ("", "?.a"),
    ("", "``"),
    ("", "<b>()"),
    ("", " satisfies c"),
    ("a<{[", "]:b}>"),
    ("a<({[", "]:b})=>c>"),
    ("a as {[", "]:b}"),
    ("a as ({b=", "}:c)=>d"),
    ("(b:{[", "]:c})=>d"),
    ("({b=", "}:c)=>d"),
    ("([b=", "])=>d"),
    ("a<typeof b[", "]>"),
    ("a?(b):c=>", ""),
    ("a?(b):", ""),
    ("a?(b):c=>", ":d"),
    ("async(b=", ")=>c"),
    ("async(", ")"),
    ("async<b>(", ")"),
    ("<b,>(c=", ")=>d"),
    ("<b>(", ")"),
    ("<b extends {[", "]:c}>(d)=>e"),
];

const STATEMENTS: &[(&str, &str)] = &[
    ("if(a)", ""),
    ("if(a)b;else ", ""),
    ("if(a)b\nelse ", ""),
    ("if(a){}else ", ""),
    ("if(a)if(a)b,c;else ", ""),
    ("for(;;)", ""),
    ("for(a of b)\n", ""),
    ("for await(a of b)\n", ""),
    ("while(a)\n", ""),
    ("while(a)", ""),
    ("do ", ";while(a)"),
    ("do ", "\nwhile(a)"),
    ("do if(a) do b; while(a); else ", ";while(a)"),
    ("{", "}"),
    ("try{", "}catch{}"),
    ("try{}catch{", "}"),
    ("function f(){", "}"),
    ("switch(a){case b:", "}"),
    ("a=>{", "}"),
    ("x=()=>{", "}"),
    ("with_:", ""),
    ("b\n;{", "}"),
    ("namespace A{", "}"),
    ("class A{b(){", "}}"),
    ("if(a)\n", ""),
    ("if\u{a0}(a)\n", ""),
    ("b;", ""),
    ("b\n", ""),
    ("if(a)b,c\nelse{", "}"),
    ("if(a)for(;;)b;else while(a)", ""),
];

const TYPES: &[(&str, &str)] = &[
    ("A<", ">"),
    ("A<b,", ">"),
    ("A<b,c<d>,", ">"),
    ("(", ")"),
    ("{a:", "}"),
    ("{b:c,a:", "}"),
    ("[", "]"),
    ("[b,", "]"),
    ("keyof ", ""),
    ("keyof\n", ""),
    ("readonly ", "[]"),
    ("a extends b?c:", ""),
    ("a extends b?", ":c"),
    ("()=>", ""),
    ("(a:b)=>", ""),
    ("new()=>", ""),
    ("a|", ""),
    ("a&", ""),
    ("", "[]"),
    ("", "['b']"),
    ("{[a in ", "]:b}"),
    ("`${", "}`"),
    ("A<()=>b,", ">"),
    ("unique ", ""),
    ("<T,>(a:T)=>", ""),
    ("{a():", "}"),
    ("typeof a.b|", ""),
    ("{[", "]:b}"),
    ("({a=", "}:b)=>c"),
    ("([a=", "]:b)=>c"),
    ("({[", "]:a}:b)=>c"),
    ("(a:b,{c=", "}:d)=>e"),
    ("(readonly {a=", "}:b)=>c"),
    ("a extends infer b extends ", "?c:d"),
    ("(infer b extends ", "?c:d)"),
    ("(a extends infer b extends ", "?c:d)"),
    ("{[a in b as ", "]:c}"),
    ("typeof import(", ")"),
    ("import('a',{with:", "})"),
    ("(new({a=", "}:b)=>c)"),
];

/// Something that changes nothing between two tokens, or that only looks like it.
const GAPS: &[&str] = &["", "", "", "", " ", "\n", "/*'*/", "/*\n(*/", "//`\n", "//(\u{2028}", "\u{a0}", "\r\n"];

fn nested(pairs: &'static [(&'static str, &'static str)]) -> impl Strategy<Value = (String, String)> {
    let pair = (proptest::sample::select(pairs), proptest::sample::select(GAPS), proptest::sample::select(GAPS));
    proptest::collection::vec(pair, 1..4).prop_map(|pairs| {
        let unit = pairs.iter().map(|((open, _), gap, _)| format!("{open}{gap}")).collect();
        let end = pairs.iter().rev().map(|((_, close), _, gap)| format!("{close}{gap}")).collect();
        (unit, end)
    })
}

fn tower() -> impl Strategy<Value = String> {
    let levels = || 8usize..60;
    let expression = (nested(EXPRESSIONS), levels())
        .prop_map(|((unit, end), levels)| format!("x={}a{}", unit.repeat(levels), end.repeat(levels)));
    let statement = (nested(STATEMENTS), levels())
        .prop_map(|((unit, end), levels)| format!("{}b{}", unit.repeat(levels), end.repeat(levels)));
    let of_type = (nested(TYPES), levels())
        .prop_map(|((unit, end), levels)| format!("type T={}a{}", unit.repeat(levels), end.repeat(levels)));
    let both =
        (nested(TYPES), nested(EXPRESSIONS), levels()).prop_map(|((one, one_end), (other, other_end), levels)| {
            let (unit, end) = (format!("{one}{other}"), format!("{other_end}{one_end}"));
            format!("x=a as {}a{}", unit.repeat(levels), end.repeat(levels))
        });
    prop_oneof![expression, statement, of_type, both]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_tower_is_higher_than_its_bound(text in tower()) {
        if let Err(why) = holds(&text) {
            return Err(TestCaseError::fail(why));
        }
    }

    #[test]
    fn no_repeated_piece_is_deeper_than_its_bound((start, unit, middle, end) in (piece(), piece(), piece(), piece())) {
        let text = format!("{start}{}{middle}{}", unit.repeat(60), end.repeat(60));
        if let Err(why) = holds(&text) {
            return Err(TestCaseError::fail(why));
        }
    }
}
