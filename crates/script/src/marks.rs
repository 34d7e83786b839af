//! Marks in the JavaScript for what the engine reports without a place: a thrown value that is no error has no stack,
//! a computed `import()` fails after the code that asked for it has gone on, and taking apart what is no object, or going
//! through what is no list, is placed at whatever came before it.
//!
//! `throw value` becomes `throw mark(value, line, column)`, and the same goes for what `import(…)` is given. The mark
//! gives back the value and remembers where that was; `entourage:globals` has it. Before a statement that the engine
//! keeps no place for stands `0;`, for which it does: no code is made of it but the place, which holds until the next.

use crate::lines::Lines;
use oxc_allocator::{Allocator, TakeIn, Vec as ArenaVec};
use oxc_ast::ast::{Expression, ImportExpression, NumberBase, Program, Statement, ThrowStatement};
use oxc_ast::builder::AstBuilder;
use oxc_ast_visit::{VisitMut, walk_mut};
use oxc_span::{GetSpan, Span};

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

    /// Nothing, at a place.
    fn pause(&self, span: Span) -> Statement<'a> {
        let nothing = Expression::new_numeric_literal(span, 0.0, None, NumberBase::Decimal, &self.builder);
        Statement::new_expression_statement(span, nothing, &self.builder)
    }
}

/// Whether the engine keeps no place for a statement's own work. It does for expressions, and whatever only holds
/// others has none.
fn is_unplaced(statement: &Statement<'_>) -> bool {
    matches!(
        statement,
        Statement::VariableDeclaration(_)
            | Statement::ClassDeclaration(_)
            | Statement::ForStatement(_)
            | Statement::ForInStatement(_)
            | Statement::ForOfStatement(_)
            | Statement::WhileStatement(_)
            | Statement::IfStatement(_)
            | Statement::SwitchStatement(_)
            | Statement::ReturnStatement(_)
            | Statement::ExportDefaultDeclaration(_)
            | Statement::ExportDeclaration(_)
    )
}

impl<'a> VisitMut<'a> for Marker<'a, '_> {
    fn visit_throw_statement(&mut self, statement: &mut ThrowStatement<'a>) {
        walk_mut::walk_throw_statement(self, statement);
        // An error brings its place along.
        if !matches!(statement.argument, Expression::NewExpression(_)) {
            self.mark(&mut statement.argument);
        }
    }

    fn visit_statements(&mut self, statements: &mut ArenaVec<'a, Statement<'a>>) {
        walk_mut::walk_statements(self, statements);
        if !statements.iter().any(is_unplaced) {
            return;
        }
        for statement in statements.take_in(&self.builder) {
            // What the transformer made came from nowhere.
            if is_unplaced(&statement) && !statement.span().is_empty() {
                statements.push(self.pause(statement.span()));
            }
            statements.push(statement);
        }
    }

    fn visit_import_expression(&mut self, import: &mut ImportExpression<'a>) {
        walk_mut::walk_import_expression(self, import);
        if !matches!(import.source, Expression::StringLiteral(_)) {
            self.mark(&mut import.source);
        }
    }
}
