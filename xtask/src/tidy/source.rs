//! One Rust file: its text, its tokens and its syntax.

use super::Report;
use proc_macro2::{TokenStream, TokenTree};
use syn::{Attribute, Item};

pub(crate) struct Source {
    /// From the workspace's root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
    pub(super) tokens: TokenStream,
    pub(super) syntax: syn::File,
    /// Whether all of it is compiled for tests only.
    pub(super) in_tests: bool,
}

impl Source {
    pub(super) fn parse(path: String, text: String) -> Result<Self, Report> {
        let parsed = text.parse::<TokenStream>().map_err(syn::Error::from);
        let parsed = parsed.and_then(|tokens| Ok((syn::parse2(tokens.clone())?, tokens)));
        match parsed {
            Ok((syntax, tokens)) => {
                let in_tests = path.split('/').any(|part| part == "tests" || part == "benches");
                Ok(Self { path, text, tokens, syntax, in_tests })
            }
            Err(fault) => {
                let line = fault.span().start().line;
                Err(Report { path, line, what: format!("this is not Rust: {fault}"), hint: "make it compile" })
            }
        }
    }

    pub(super) fn report(&self, line: usize, what: impl Into<String>, hint: &'static str) -> Report {
        Report { path: self.path.clone(), line, what: what.into(), hint }
    }

    /// Paths, without `.rs`, of the modules that this file declares for tests only.
    pub(super) fn test_modules(&self) -> Vec<String> {
        let stem = self.path.strip_suffix(".rs").unwrap_or(&self.path);
        let folder = match stem.rsplit_once('/') {
            Some((folder, "lib" | "main")) => folder,
            _ => stem,
        };
        let name_of = |item: &Item| match item {
            Item::Mod(module) if module.content.is_none() && is_for_tests(&module.attrs) => {
                Some(format!("{folder}/{}", module.ident))
            }
            _ => None,
        };
        self.syntax.items.iter().filter_map(name_of).collect()
    }
}

/// `#[test]`, `#[tokio::test]`, `#[cfg(test)]` and `#[cfg(all(test, …))]`; what may ship as well is not for tests.
pub(super) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        if attribute.path().is_ident("cfg") {
            let condition = attribute.meta.require_list().map(|list| words(list.tokens.clone())).unwrap_or_default();
            return condition.iter().any(|word| word == "test")
                && !condition.iter().any(|word| word == "any" || word == "not");
        }
        attribute.path().segments.last().is_some_and(|segment| segment.ident == "test")
    })
}

/// Every identifier, however deep.
pub(super) fn words(tokens: TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    for tree in tokens {
        match tree {
            TokenTree::Ident(word) => found.push(word.to_string()),
            TokenTree::Group(group) => found.extend(words(group.stream())),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    found
}
