//! TypeScript without its types: JavaScript, what it imports, and where all of it came from.

use crate::fault::{Fault, FaultKind, Spot};
use crate::limits::PATTERN_NESTING_MAX;
use crate::lines::Lines;
use crate::marks;
use crate::nesting;
use crate::outline::Outline;
use crate::places::{self, Origin};
use oxc_allocator::Allocator;
use oxc_ast::AstKind;
use oxc_ast::ast::{
    ImportAttributeKey, ImportDeclarationSpecifier, ModuleExportName, Program, Statement, TSModuleReference, WithClause,
};
use oxc_codegen::{Codegen, CodegenOptions, CodegenReturn, CommentOptions};
use oxc_parser::{ParseOptions, Parser};
use oxc_semantic::{Scoping, SemanticBuilder};
use oxc_span::{SourceType, Span};
use oxc_transformer::{TransformOptions, Transformer};
use std::path::{Path, PathBuf};

/// A module as the engine takes it.
pub(crate) struct Stripped {
    pub(crate) javascript: String,
    pub(crate) imports: Vec<Import>,
    pub(crate) outline: Outline,
}

/// One import that is left once types are gone, or that nobody uses. An `import(…)` whose specifier is computed is not
/// among them.
pub(crate) struct Import {
    pub(crate) specifier: String,
    /// Of the specifier.
    pub(crate) spot: Spot,
    /// The `type` that is asked for by `with { type: … }`.
    pub(crate) asked: Option<String>,
    /// What it takes from the module, by the name it has there.
    pub(crate) names: Vec<(String, Spot)>,
}

/// Strips the module at `path`.
pub(crate) fn strip(path: &str, text: &str) -> Result<Stripped, Fault> {
    let allocator = Allocator::default();
    let lines = Lines::new(text);
    let fault = |message: &str, offset: Option<u32>| {
        let fault = Fault::new(FaultKind::Syntax, path, message);
        match offset {
            Some(offset) => fault.at(lines.spot(offset as usize)),
            None => fault,
        }
    };
    if let Some(offset) = nesting::too_deep(text) {
        return Err(fault("nested too deep", u32::try_from(offset).ok()));
    }
    let options = ParseOptions { parse_regular_expression: patterns_are_flat(text), ..ParseOptions::default() };
    let parsed = Parser::new(&allocator, text, source_type(path)).with_options(options).parse();
    if let Some(error) = parsed.diagnostics.errors().next() {
        return Err(fault(&error.message, error.labels.first().map(|label| label.offset())));
    }
    let mut program = parsed.program;
    if let Some((what, span)) = program.body.iter().find_map(unsupported) {
        return Err(fault(what, Some(span.start)));
    }
    // It is legal on the first line only, and the JavaScript begins on the second.
    program.hashbang = None;
    let outline = Outline::of(&program, &lines);
    let requests: Vec<_> = parsed.module_record.dynamic_imports.iter().map(|import| import.module_request).collect();
    let scoping = {
        // Nodes are needed to find decorators only, and hardly any file has an `@` outside of comments.
        let built =
            SemanticBuilder::new_compiler().with_build_nodes(text.contains('@')).with_enum_eval(true).build(&program);
        if let Some(error) = built.diagnostics.errors().next() {
            return Err(fault(&error.message, error.labels.first().map(|label| label.offset())));
        }
        let decorator = built.semantic.nodes().iter().find_map(|node| match node.kind() {
            AstKind::Decorator(decorator) => Some(decorator.span),
            _ => None,
        });
        if let Some(span) = decorator {
            return Err(fault("decorators are not supported", Some(span.start)));
        }
        built.semantic.into_scoping()
    };
    let unused = unused_imports(&program, &scoping, &lines);
    let options = TransformOptions::default();
    let transformed = Transformer::new(&allocator, Path::new(path), &options).build_with_scoping(scoping, &mut program);
    if let Some(error) = transformed.diagnostics.errors().next() {
        return Err(fault(&error.message, error.labels.first().map(|label| label.offset())));
    }
    marks::set(&mut program, &allocator, &lines);
    let mut imports = static_imports(&program, &lines);
    imports.extend(requests.into_iter().filter_map(|request| dynamic_import(text, request, &lines)));
    imports.extend(unused);
    Ok(Stripped { javascript: print(&program, path, &lines), imports, outline })
}

/// Whether the parser may look into regular expressions, which it does level by level on its stack. They end with their
/// line, so no line can hold a deeper one. Others are left to the engine, which finds the same faults without a place.
fn patterns_are_flat(text: &str) -> bool {
    let mut opened = 0;
    text.bytes().all(|byte| {
        match byte {
            b'(' | b'[' => opened += 1,
            b'\n' | b'\r' => opened = 0,
            _ => {}
        }
        opened <= PATTERN_NESTING_MAX
    })
}

/// What TypeScript has from the time before modules.
fn unsupported(statement: &Statement<'_>) -> Option<(&'static str, Span)> {
    match statement {
        Statement::TSExportAssignment(export) => Some(("write `export default` instead of `export =`", export.span)),
        Statement::TSImportEqualsDeclaration(import) => match &import.module_reference {
            TSModuleReference::ExternalModuleReference(_) => {
                Some(("write `import … from` instead of `import … = require`", import.span))
            }
            TSModuleReference::IdentifierReference(_) | TSModuleReference::QualifiedName(_) => None,
        },
        _ => None,
    }
}

fn source_type(path: &str) -> SourceType {
    match path.rsplit_once('.') {
        Some((_, "ts" | "mts")) => SourceType::ts(),
        _ => SourceType::mjs(),
    }
}

fn print(program: &Program<'_>, path: &str, lines: &Lines<'_>) -> String {
    let options = CodegenOptions {
        comments: CommentOptions::disabled(),
        // Indentation grows with the square of the depth, and nobody reads it.
        indent_width: 0,
        source_map_path: Some(PathBuf::from(path)),
        ..CodegenOptions::default()
    };
    let CodegenReturn { code, map, .. } = Codegen::new().with_options(options).build(program);
    let Some(map) = map else { return code };
    let written = Lines::new(&code);
    // The engine counts lines by LF alone and columns in bytes. It is in doubt about columns of the first line, so that
    // one is left empty.
    let (mut line, mut line_start, mut seen) = (2, 0, 0);
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let origins = map.get_tokens().map(|token| {
        let offset = written.offset(token.get_dst_line(), token.get_dst_col()).max(seen);
        for (index, _) in code[seen..offset].match_indices('\n') {
            line += 1;
            line_start = seen + index + 1;
        }
        seen = offset;
        let source = lines.spot(lines.offset(token.get_src_line(), token.get_src_col()));
        Origin { line: count(line), column: count(offset - line_start + 1), source }
    });
    let origins: Vec<_> = origins.collect();
    places::attach(format!("\n{code}"), &origins)
}

fn static_imports(program: &Program<'_>, lines: &Lines<'_>) -> Vec<Import> {
    let spot = |span: Span| lines.spot(span.start as usize);
    let import = |specifier: &str, span: Span, with: Option<&WithClause<'_>>, names: Vec<(String, Spot)>| Import {
        specifier: specifier.to_owned(),
        spot: spot(span),
        asked: with.and_then(asked),
        names,
    };
    let name = |name: &ModuleExportName<'_>, span: Span| (name.name().as_str().to_owned(), spot(span));
    let found = program.body.iter().filter_map(|statement| match statement {
        Statement::ImportDeclaration(declaration) => {
            let names = declaration.specifiers.iter().flatten().filter_map(|specifier| match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(specifier) => {
                    Some(name(&specifier.imported, specifier.span))
                }
                ImportDeclarationSpecifier::ImportDefaultSpecifier(specifier) => {
                    Some(("default".to_owned(), spot(specifier.span)))
                }
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => None,
            });
            let source = &declaration.source;
            Some(import(&source.value, source.span, declaration.with_clause.as_deref(), names.collect()))
        }
        Statement::ExportFromDeclaration(declaration) => {
            let names = declaration.specifiers.iter().map(|specifier| name(&specifier.local, specifier.span));
            let source = &declaration.source;
            Some(import(&source.value, source.span, declaration.with_clause.as_deref(), names.collect()))
        }
        Statement::ExportAllDeclaration(declaration) => {
            let source = &declaration.source;
            Some(import(&source.value, source.span, declaration.with_clause.as_deref(), Vec::new()))
        }
        _ => None,
    });
    found.collect()
}

/// Imports of the project's own modules that nobody uses, not even as types: they go with the types, and a module that
/// is not there would never be missed.
fn unused_imports(program: &Program<'_>, scoping: &Scoping, lines: &Lines<'_>) -> Vec<Import> {
    let is_value = |specifier: &&ImportDeclarationSpecifier<'_>| match specifier {
        ImportDeclarationSpecifier::ImportSpecifier(specifier) => specifier.import_kind.is_value(),
        ImportDeclarationSpecifier::ImportDefaultSpecifier(_)
        | ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => true,
    };
    let is_unused = |specifier: &ImportDeclarationSpecifier<'_>| {
        let symbol = specifier.local().symbol_id.get();
        symbol.is_some_and(|symbol| scoping.get_resolved_reference_ids(symbol).is_empty())
    };
    let found = program.body.iter().filter_map(|statement| match statement {
        Statement::ImportDeclaration(declaration) => {
            let is_own = declaration.source.value.starts_with('.') && declaration.import_kind.is_value();
            let mut values = declaration.specifiers.iter().flatten().filter(is_value).peekable();
            let is_unused = values.peek().is_some() && values.all(is_unused);
            (is_own && is_unused).then(|| Import {
                specifier: declaration.source.value.to_string(),
                spot: lines.spot(declaration.source.span.start as usize),
                asked: None,
                names: Vec::new(),
            })
        }
        _ => None,
    });
    found.collect()
}

fn asked(clause: &WithClause<'_>) -> Option<String> {
    clause.with_entries.iter().find_map(|entry| {
        let key = match &entry.key {
            ImportAttributeKey::Identifier(name) => name.name.as_str(),
            ImportAttributeKey::StringLiteral(text) => text.value.as_str(),
        };
        (key == "type").then(|| entry.value.value.as_str().to_owned())
    })
}

/// `import('…')` with a plain text in it, as far as its escapes need not be read.
fn dynamic_import(text: &str, request: Span, lines: &Lines<'_>) -> Option<Import> {
    let written = text.get(request.start as usize..request.end as usize)?;
    let quote = written.chars().next().filter(|quote| matches!(quote, '\'' | '"' | '`'))?;
    let specifier = written.strip_prefix(quote)?.strip_suffix(quote)?;
    if specifier.contains(['\\', quote]) || (quote == '`' && specifier.contains("${")) {
        return None;
    }
    Some(Import {
        specifier: specifier.to_owned(),
        spot: lines.spot(request.start as usize),
        asked: None,
        names: Vec::new(),
    })
}
