//! Nothing is left for later: no `todo!`, no `unimplemented!`, no ignored test. Tokens are searched rather than
//! syntax, because these hide inside the arguments of other macros.

use super::{House, Report, source::words};
use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};

pub(super) fn check(house: &House) -> Vec<Report> {
    let mut reports = Vec::new();
    for source in &house.sources {
        let mut found = Vec::new();
        search(source.tokens.clone(), &mut found);
        reports.extend(found.into_iter().map(|(line, what)| source.report(line, what, "finish it, or leave it out")));
    }
    reports
}

fn search(tokens: TokenStream, found: &mut Vec<(usize, String)>) {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, tree) in trees.iter().enumerate() {
        match (tree, trees.get(index + 1)) {
            // `todo != 1` is a comparison: its `!` is joined to what follows.
            (TokenTree::Ident(name), Some(TokenTree::Punct(mark)))
                if (name == "todo" || name == "unimplemented")
                    && mark.as_char() == '!'
                    && mark.spacing() == Spacing::Alone =>
            {
                found.push((name.span().start().line, format!("`{name}!` is in the code")));
            }
            (TokenTree::Punct(mark), Some(TokenTree::Group(group))) if mark.as_char() == '#' && ignores(group) => {
                found.push((mark.span().start().line, "a test is ignored".to_owned()));
            }
            _ => {}
        }
        if let TokenTree::Group(group) = tree {
            search(group.stream(), found);
        }
    }
}

/// `[ignore]`, `[ignore = "…"]` and `[cfg_attr(…, ignore)]`.
fn ignores(attribute: &Group) -> bool {
    let words = words(attribute.stream());
    let name = words.first().map(String::as_str);
    attribute.delimiter() == Delimiter::Bracket
        && (name == Some("ignore") || name == Some("cfg_attr") && words.iter().any(|word| word == "ignore"))
}

#[cfg(test)]
mod tests {
    use super::{super::complaints, *};

    #[test]
    fn what_is_left_for_later_is_found_wherever_it_hides() {
        let text = "
fn one() { todo!() }
fn two() { assert_eq!(vec![unimplemented!(\"later\")], []) }
#[test] #[ignore] fn three() {}
#[cfg_attr(windows, ignore = \"slow\")] fn four() {}
";
        let expected = [
            "crates/a/src/lib.rs:2: `todo!` is in the code",
            "crates/a/src/lib.rs:3: `unimplemented!` is in the code",
            "crates/a/src/lib.rs:4: a test is ignored",
            "crates/a/src/lib.rs:5: a test is ignored",
        ];
        assert_eq!(complaints(check, &[("crates/a/src/lib.rs", text)]), expected);
    }

    #[test]
    fn words_that_only_look_like_it_are_fine() {
        let text =
            "/// No `todo!()` here, and no #[ignore].\nfn a() { let todo = \"todo!()\"; ignore(todo!= b, [ignore]) }";
        assert_eq!(complaints(check, &[("crates/a/src/lib.rs", text)]), [""; 0]);
    }
}
