//! Marks in the JavaScript for what the engine reports without a place: a thrown value that is no error has no stack,
//! and a computed `import()` fails after the code that asked for it has gone on.
//!
//! `throw value` becomes `throw mark(value, line, column)`, and the same goes for what `import(…)` is given. The mark
//! gives back the value and remembers where that was; `entourage:globals` has it.

use crate::lines::Lines;
use oxc_allocator::{Allocator, TakeIn};
use oxc_ast::ast::{Expression, ImportExpression, NumberBase, Program, ThrowStatement};
use oxc_ast::builder::AstBuilder;
use oxc_ast_visit::{VisitMut, walk_mut};
use oxc_span::GetSpan;

/// The mark, as code calls it.
const MARK: &str = "__entourage_mark__";

pub(crate) fn set<'a>(program: &mut Program<'a>, allocator: &'a Allocator, lines: &Lines<'_>) {
    Marker { builder: AstBuilder::new(allocator), lines }.visit_program(program);
}

struct Marker<'a, 'l> {
    builder: AstBuilder<'a>,
    lines: &'l Lines<'l>,
}

impl<'a> Marker<'a, '_> {
    fn mark(&self, expression: &mut Expression<'a>) {
        let inner = expression.take_in(&self.builder);
        let span = inner.span();
        let callee = Expression::new_identifier(span, MARK, &self.builder);
        let spot = self.lines.spot(span.start as usize);
        let number = |number: u32| {
            Expression::new_numeric_literal(span, number.into(), None, NumberBase::Decimal, &self.builder).into()
        };
        let arguments = [inner.into(), number(spot.line), number(spot.column)];
        *expression = Expression::new_call_expression(span, callee, None, arguments, false, &self.builder);
    }
}

impl<'a> VisitMut<'a> for Marker<'a, '_> {
    fn visit_throw_statement(&mut self, statement: &mut ThrowStatement<'a>) {
        walk_mut::walk_throw_statement(self, statement);
        // An error brings its place along.
        if !matches!(statement.argument, Expression::NewExpression(_)) {
            self.mark(&mut statement.argument);
        }
    }

    fn visit_import_expression(&mut self, import: &mut ImportExpression<'a>) {
        walk_mut::walk_import_expression(self, import);
        if !matches!(import.source, Expression::StringLiteral(_)) {
            self.mark(&mut import.source);
        }
    }
}
