//! Where the parts of a module's default export are written.
//!
//! The outline is made from the syntax alone and read side by side with the value. Where the two part ways (a spread, an
//! import, a computed key, a call that makes something else of its argument), a value gets the nearest spot around it.
//! A constant is taken for its value, and a call of a function of the module for what that returns.

use crate::fault::Spot;
use crate::limits::VALUE_DEPTH_MAX;
use crate::lines::Lines;
use oxc_ast::ast::{
    Argument, ArrayExpressionElement, BindingPattern, CallExpression, Declaration, Expression, Function, FunctionBody,
    ObjectPropertyKind, Program, PropertyKind, Statement, VariableDeclaration, VariableDeclarationKind,
};
use oxc_span::{GetSpan, Span};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// The spots of a default export. Literals that are named twice are here once, so it is never larger than the file.
pub(crate) struct Outline {
    spot: Spot,
    root: usize,
    nodes: Vec<Node>,
    doubles: Vec<Double>,
}

/// A key that its object has already: the language keeps the last, and says nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Double {
    pub key: String,
    pub spot: Spot,
}

enum Node {
    /// Nothing is known about its parts.
    Opaque,
    Object(HashMap<String, (Spot, usize)>),
    /// Up to the first spread, behind which no position is known.
    List(Vec<(Spot, usize)>),
}

/// A spot, and what is written there.
#[derive(Clone, Copy)]
pub(crate) struct Here<'a> {
    pub(crate) spot: Spot,
    nodes: &'a [Node],
    node: usize,
}

impl Outline {
    /// The outline of a program, before its types are stripped.
    pub(crate) fn of(program: &Program<'_>, lines: &Lines<'_>) -> Self {
        let mut draft = Draft {
            lines,
            constants: constants(program),
            functions: functions(program),
            known: HashMap::new(),
            nodes: vec![Node::Opaque],
            doubles: Vec::new(),
        };
        let (spot, root) = match default_export(program) {
            Some(Export::Expression(expression)) => draft.root(expression),
            Some(Export::Name(name, span)) => match draft.constants.get(name).copied() {
                Some(expression) => draft.root(expression),
                None => (draft.spot(span), OPAQUE),
            },
            Some(Export::Other(span)) => (draft.spot(span), OPAQUE),
            None => (Spot::START, OPAQUE),
        };
        Self { spot, root, nodes: draft.nodes, doubles: draft.doubles }
    }

    /// Every key that is in an object of the default export again, where it is.
    pub(crate) fn doubles(&self) -> &[Double] {
        &self.doubles
    }

    /// The default export itself.
    pub(crate) fn here(&self) -> Here<'_> {
        Here { spot: self.spot, nodes: &self.nodes, node: self.root }
    }
}

impl Here<'_> {
    /// A member of an object: at its key, or at the object if it is not written there.
    pub(crate) fn member(self, key: &str) -> Self {
        match &self.nodes[self.node] {
            Node::Object(members) => self.part(members.get(key)),
            Node::Opaque | Node::List(_) => self.part(None),
        }
    }

    /// An item of a list.
    pub(crate) fn item(self, index: usize) -> Self {
        match &self.nodes[self.node] {
            Node::List(items) => self.part(items.get(index)),
            Node::Opaque | Node::Object(_) => self.part(None),
        }
    }

    fn part(self, part: Option<&(Spot, usize)>) -> Self {
        let (spot, node) = part.copied().unwrap_or((self.spot, OPAQUE));
        Self { spot, node, ..self }
    }
}

/// The node of everything that nothing is known about.
const OPAQUE: usize = 0;

enum Export<'a> {
    Expression(&'a Expression<'a>),
    /// `export { name as default }`
    Name(&'a str, Span),
    Other(Span),
}

fn default_export<'a>(program: &'a Program<'a>) -> Option<Export<'a>> {
    program.body.iter().find_map(|statement| match statement {
        Statement::ExportDefaultDeclaration(export) => Some(match export.declaration.as_expression() {
            Some(expression) => Export::Expression(expression),
            None => Export::Other(export.span),
        }),
        Statement::ExportNamedDeclaration(export) => {
            let specifier = export.specifiers.iter().find(|specifier| specifier.exported.name() == "default")?;
            Some(Export::Name(specifier.local.name().as_str(), specifier.span))
        }
        Statement::ExportFromDeclaration(export) => {
            let specifier = export.specifiers.iter().find(|specifier| specifier.exported.name() == "default")?;
            Some(Export::Other(specifier.span))
        }
        _ => None,
    })
}

/// The initial values of the constants at a module's top.
fn constants<'a>(program: &'a Program<'a>) -> HashMap<&'a str, &'a Expression<'a>> {
    let declarations = program.body.iter().filter_map(|statement| match statement {
        Statement::VariableDeclaration(declaration) => Some(&**declaration),
        Statement::ExportDeclaration(export) => match &export.declaration {
            Declaration::VariableDeclaration(declaration) => Some(&**declaration),
            _ => None,
        },
        _ => None,
    });
    declarations.filter(|declaration| declaration.kind == VariableDeclarationKind::Const).flat_map(named).collect()
}

fn named<'a>(declaration: &'a VariableDeclaration<'a>) -> impl Iterator<Item = (&'a str, &'a Expression<'a>)> {
    declaration.declarations.iter().filter_map(|declarator| match (&declarator.id, &declarator.init) {
        (BindingPattern::BindingIdentifier(name), Some(value)) => Some((name.name.as_str(), value)),
        _ => None,
    })
}

/// What the functions at a module's top return, where they do so in one place.
fn functions<'a>(program: &'a Program<'a>) -> HashMap<&'a str, &'a Expression<'a>> {
    let declared = program.body.iter().filter_map(|statement| match statement {
        Statement::FunctionDeclaration(function) => Some(&**function),
        Statement::ExportDeclaration(export) => match &export.declaration {
            Declaration::FunctionDeclaration(function) => Some(&**function),
            _ => None,
        },
        _ => None,
    });
    let declared = declared.filter_map(|function| Some((function.id.as_ref()?.name.as_str(), made_by(function)?)));
    let constant = constants(program).into_iter().filter_map(|(name, value)| {
        let returned = match value.get_inner_expression() {
            Expression::ArrowFunctionExpression(arrow) => {
                arrow.get_expression().or_else(|| returned(arrow.get_function_body()?))
            }
            Expression::FunctionExpression(function) => made_by(function),
            _ => None,
        };
        Some((name, returned?))
    });
    declared.chain(constant).collect()
}

fn made_by<'a>(function: &'a Function<'a>) -> Option<&'a Expression<'a>> {
    returned(function.body.as_ref().filter(|_| !function.generator)?)
}

fn returned<'a>(body: &'a FunctionBody<'a>) -> Option<&'a Expression<'a>> {
    body.statements.iter().find_map(|statement| match statement {
        Statement::ReturnStatement(statement) => statement.argument.as_ref(),
        _ => None,
    })
}

struct Draft<'a> {
    lines: &'a Lines<'a>,
    constants: HashMap<&'a str, &'a Expression<'a>>,
    /// By their names, what they return.
    functions: HashMap<&'a str, &'a Expression<'a>>,
    /// Literals by their offset. One is entered before its parts are, so a constant may name itself.
    known: HashMap<u32, usize>,
    nodes: Vec<Node>,
    doubles: Vec<Double>,
}

impl<'a> Draft<'a> {
    fn spot(&self, span: Span) -> Spot {
        self.lines.spot(span.start as usize)
    }

    /// What is exported: where it is made, and its node.
    fn root(&mut self, exported: &'a Expression<'a>) -> (Spot, usize) {
        let mut origin = exported;
        for _ in 0..LOOKS_MAX {
            let earlier = match origin.get_inner_expression() {
                Expression::Identifier(name) => self.constants.get(name.name.as_str()).copied(),
                Expression::CallExpression(call) => self.made(call),
                _ => None,
            };
            let Some(earlier) = earlier else { break };
            origin = earlier;
        }
        (self.spot(origin.span()), self.follow(origin, 0))
    }

    /// The node of an expression, through whatever only wraps it.
    fn follow(&mut self, expression: &'a Expression<'a>, depth: usize) -> usize {
        // No value is read deeper than that.
        if depth > VALUE_DEPTH_MAX {
            return OPAQUE;
        }
        let Some(literal) = self.literal(expression) else { return OPAQUE };
        let offset = literal.span().start;
        if let Some(&node) = self.known.get(&offset) {
            return node;
        }
        let node = self.nodes.len();
        self.nodes.push(Node::Opaque);
        self.known.insert(offset, node);
        self.nodes[node] = match literal {
            Expression::ObjectExpression(object) => {
                self.note_doubles(&object.properties);
                Node::Object(object.properties.iter().filter_map(|property| self.member(property, depth)).collect())
            }
            Expression::ArrayExpression(array) => {
                Node::List(array.elements.iter().map_while(|element| self.item(element, depth)).collect())
            }
            _ => Node::Opaque,
        };
        node
    }

    /// A getter and a setter may share a key.
    fn note_doubles(&mut self, properties: &'a [ObjectPropertyKind<'a>]) {
        let mut seen = HashSet::new();
        for property in properties {
            let ObjectPropertyKind::ObjectProperty(property) = property else { continue };
            let Some(key) = property.key.static_name().filter(|_| property.kind == PropertyKind::Init) else {
                continue;
            };
            if !seen.insert(key.clone()) {
                self.doubles.push(Double { key: key.into_owned(), spot: self.spot(property.span) });
            }
        }
    }

    fn member(&mut self, property: &'a ObjectPropertyKind<'a>, depth: usize) -> Option<(String, (Spot, usize))> {
        let ObjectPropertyKind::ObjectProperty(property) = property else { return None };
        let name = property.key.static_name()?.into_owned();
        let spot = self.spot(property.span);
        Some((name, (spot, self.follow(&property.value, depth + 1))))
    }

    fn item(&mut self, element: &'a ArrayExpressionElement<'a>, depth: usize) -> Option<(Spot, usize)> {
        let spot = self.spot(element.span());
        match element {
            ArrayExpressionElement::SpreadElement(_) => None,
            ArrayExpressionElement::Elision(_) => Some((spot, OPAQUE)),
            element => {
                Some((spot, element.as_expression().map_or(OPAQUE, |expression| self.follow(expression, depth + 1))))
            }
        }
    }

    /// The object or list that an expression is, or is made of: `defineAgent({ … })` is taken for its argument.
    fn literal(&self, expression: &'a Expression<'a>) -> Option<&'a Expression<'a>> {
        let mut next = expression;
        // A constant that stands for itself would lead in circles.
        for _ in 0..LOOKS_MAX {
            next = match next {
                Expression::ObjectExpression(_) | Expression::ArrayExpression(_) => return Some(next),
                Expression::Identifier(name) => self.constants.get(name.name.as_str())?,
                Expression::ParenthesizedExpression(inner) => &inner.expression,
                Expression::TSAsExpression(inner) => &inner.expression,
                Expression::TSSatisfiesExpression(inner) => &inner.expression,
                Expression::TSNonNullExpression(inner) => &inner.expression,
                Expression::TSTypeAssertion(inner) => &inner.expression,
                Expression::AwaitExpression(inner) => &inner.argument,
                Expression::CallExpression(call) => self.made(call).or_else(|| self.argument(&call.arguments))?,
                Expression::NewExpression(call) => self.argument(&call.arguments)?,
                _ => return None,
            };
        }
        None
    }

    /// What a function of the module returns, if it is not given an object to make it of.
    fn made(&self, call: &'a CallExpression<'a>) -> Option<&'a Expression<'a>> {
        let Expression::Identifier(name) = &call.callee else { return None };
        let returned = self.functions.get(name.name.as_str()).copied()?;
        self.object_in(&call.arguments).is_none().then_some(returned)
    }

    /// The argument that says what a call makes: the first that is written as an object, else the only one.
    fn argument(&self, arguments: &'a [Argument<'a>]) -> Option<&'a Expression<'a>> {
        let only = || arguments.first().and_then(Argument::as_expression).filter(|_| arguments.len() == 1);
        self.object_in(arguments).or_else(only)
    }

    fn object_in(&self, arguments: &'a [Argument<'a>]) -> Option<&'a Expression<'a>> {
        arguments.iter().filter_map(Argument::as_expression).find(|expression| {
            let inner = match expression.get_inner_expression() {
                Expression::Identifier(name) => self.constants.get(name.name.as_str()).copied(),
                inner => Some(inner),
            };
            inner.is_some_and(|inner| matches!(inner.get_inner_expression(), Expression::ObjectExpression(_)))
        })
    }
}

/// Wrappers around a literal, and constants that stand for constants.
const LOOKS_MAX: usize = 64;
