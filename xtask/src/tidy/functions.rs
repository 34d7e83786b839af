//! Every function of a source, with what the checks on functions ask for.

use super::source::{Source, is_for_tests};
use syn::{
    Attribute, Block, FnArg, ImplItemFn, ItemFn, ItemImpl, ItemMod, Signature, TraitItemFn,
    spanned::Spanned,
    visit::{self, Visit},
};

#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) line: usize,
    /// From the line of `fn` to that of the closing brace.
    pub(super) lines: usize,
    /// Without `self`.
    pub(super) parameters: usize,
    pub(super) in_tests: bool,
    /// Its signature was chosen by a trait, which is looked at where it is declared.
    pub(super) implements_trait: bool,
}

/// Functions written inside a macro's arguments are not seen.
pub(super) fn functions(source: &Source) -> Vec<Function> {
    let mut collector = Collector { found: Vec::new(), in_tests: source.in_tests, in_trait_impl: false };
    collector.visit_file(&source.syntax);
    collector.found
}

struct Collector {
    found: Vec<Function>,
    in_tests: bool,
    in_trait_impl: bool,
}

impl Collector {
    fn describe(&self, attributes: &[Attribute], signature: &Signature, body: Option<&Block>) -> Function {
        let line = signature.fn_token.span.start().line;
        let end = body.map_or(signature.span(), |body| body.brace_token.span.close()).end().line;
        Function {
            name: signature.ident.to_string(),
            line,
            lines: end - line + 1,
            parameters: signature.inputs.iter().filter(|input| matches!(input, FnArg::Typed(_))).count(),
            in_tests: self.in_tests || is_for_tests(attributes),
            implements_trait: false,
        }
    }
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        let before = self.in_tests;
        self.in_tests |= is_for_tests(&module.attrs);
        visit::visit_item_mod(self, module);
        self.in_tests = before;
    }

    fn visit_item_impl(&mut self, block: &'ast ItemImpl) {
        let before = std::mem::replace(&mut self.in_trait_impl, block.trait_.is_some());
        visit::visit_item_impl(self, block);
        self.in_trait_impl = before;
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        self.found.push(self.describe(&function.attrs, &function.sig, Some(&function.block)));
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        let described = self.describe(&function.attrs, &function.sig, Some(&function.block));
        self.found.push(Function { implements_trait: self.in_trait_impl, ..described });
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
        self.found.push(self.describe(&function.attrs, &function.sig, function.default.as_ref()));
        visit::visit_trait_item_fn(self, function);
    }
}
