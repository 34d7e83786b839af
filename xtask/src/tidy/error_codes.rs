//! Every report code that ships has its entry in `docs/errors.md`, and every entry its code.

use super::{
    House, Report,
    house::ERRORS,
    source::{Source, is_for_tests},
};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeMap;
use syn::{
    ItemFn, ItemMod, Lit, LitStr, Macro,
    visit::{self, Visit},
};

pub(super) fn check(house: &House) -> Vec<Report> {
    let entries = entries(&house.errors);
    let mut used: BTreeMap<String, Report> = BTreeMap::new();
    for source in house.sources.iter().filter(|source| ships(source)) {
        for (code, line) in codes(source) {
            let what = format!("code `{code}` has no entry in {ERRORS}");
            used.entry(code).or_insert_with(|| source.report(line, what, "explain it under a heading with the code"));
        }
    }
    let unused = entries.iter().filter(|(code, _)| !used.contains_key(*code)).map(|(code, &line)| Report {
        path: ERRORS.to_owned(),
        line,
        what: format!("no code uses the entry `{code}`"),
        hint: "remove it",
    });
    let undocumented = used.iter().filter(|(code, _)| !entries.contains_key(*code)).map(|(_, report)| report.clone());
    undocumented.chain(unused).collect()
}

fn ships(source: &Source) -> bool {
    source.path.starts_with("crates/") && source.path.contains("/src/") && !source.in_tests
}

/// Headings of the second and third level that begin with a code, outside of fences.
fn entries(page: &str) -> BTreeMap<String, usize> {
    let mut entries = BTreeMap::new();
    let mut fenced = false;
    for (index, line) in page.lines().enumerate() {
        fenced ^= line.starts_with("```");
        let heading = line.strip_prefix("## ").or_else(|| line.strip_prefix("### ")).filter(|_| !fenced);
        let word = heading.and_then(|heading| heading.split([' ', ':', '`']).find(|word| !word.is_empty()));
        if let Some(code) = word.filter(|word| is_code(word)) {
            entries.entry(code.to_owned()).or_insert(index + 1);
        }
    }
    entries
}

fn is_code(text: &str) -> bool {
    matches!(text.as_bytes(), [b'A'..=b'Z', digits @ ..] if digits.len() == 3 && digits.iter().all(u8::is_ascii_digit))
}

/// Literals that are codes, outside of tests, with their lines.
fn codes(source: &Source) -> Vec<(String, usize)> {
    let mut collector = Collector::default();
    collector.visit_file(&source.syntax);
    collector.found
}

#[derive(Default)]
struct Collector {
    found: Vec<(String, usize)>,
}

impl Collector {
    fn search(&mut self, tokens: TokenStream) {
        for tree in tokens {
            match tree {
                TokenTree::Group(group) => self.search(group.stream()),
                TokenTree::Literal(literal) => {
                    if let Lit::Str(text) = Lit::new(literal) {
                        self.visit_lit_str(&text);
                    }
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !is_for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        if !is_for_tests(&function.attrs) {
            visit::visit_item_fn(self, function);
        }
    }

    fn visit_lit_str(&mut self, text: &LitStr) {
        if is_code(&text.value()) {
            self.found.push((text.value(), text.span().start().line));
        }
    }

    /// A macro's arguments are tokens, not syntax, and hold codes too.
    fn visit_macro(&mut self, call: &'ast Macro) {
        self.search(call.tokens.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::{super::complaints, *};

    const USES: &str = "
fn one() { Report::error(\"D001\", \"what\") }
fn two() { vec![Report::warning(\"D002\", \"what\")] }
const CODE: Code = Code(\"D003\");
#[cfg(test)]
mod tests { fn three() { Report::error(\"D004\", \"what\") } }
";

    #[test]
    fn a_code_without_an_entry_and_an_entry_without_a_code_are_refused() {
        let page = "# Codes\n## D001\n### `D003`: words\n## D009\n```\n## D010\n```\n## Other words\n";
        let expected = [
            "crates/a/src/lib.rs:3: code `D002` has no entry in docs/errors.md",
            "docs/errors.md:4: no code uses the entry `D009`",
        ];
        assert_eq!(complaints(check, &[(ERRORS, page), ("crates/a/src/lib.rs", USES)]), expected);
    }

    #[test]
    fn without_a_page_every_code_that_ships_lacks_its_entry() {
        let other = "fn other() { Code(\"D005\") }";
        let files = [
            ("crates/a/src/lib.rs", USES),
            ("crates/a/src/tests/b.rs", other),
            ("crates/a/tests/c.rs", other),
            ("xtask/src/d.rs", other),
        ];
        let expected = [("2", "D001"), ("3", "D002"), ("4", "D003")]
            .map(|(line, code)| format!("crates/a/src/lib.rs:{line}: code `{code}` has no entry in docs/errors.md"));
        assert_eq!(complaints(check, &files), expected);
    }

    #[test]
    fn a_code_is_a_capital_and_three_digits() {
        let looks = ["D014", "d014", "D14", "D0145", "DD14", "D01x", ""].map(is_code);
        assert_eq!(looks, [true, false, false, false, false, false, false]);
    }
}
