//! The modules that come with the program, by name: what definitions import instead of packages, and what the
//! evaluation itself needs.
//!
//! Everything here is text. A module is parsed only when somebody imports it, so a definition that names no schema
//! never pays for `zod`. The seam between these sources and the code that evaluates them:
//!
//! - `entourage:globals` is a *script*, not a module: no imports, no exports. It runs before anything else, in
//!   `evaluate` and in `call`, and expects these host functions on `globalThis`, which it takes away again:
//!   - `__entourage_load(name)` evaluates the script `source(name)` and gives its value. The rarer globals (`URL`,
//!     `TextDecoder`, `AbortController`, …) and the half of `zod` that parses are scripts of their own, loaded at the
//!     first touch.
//!   - `__entourage_random(count)` gives `count` random bytes (at most 65,536) of the operating system, as a
//!     `Uint8Array` or an array of numbers.
//!   - `__entourage_log(level, text)` takes what `console` says; `level` is `debug`, `info`, `warn` or `error`.
//!
//!   `setTimeout` and `clearTimeout`, where they exist, are set before it; where they do not, it leaves functions that
//!   throw and say why.
//! - An object with a method `[Symbol.for('entourage.schema')]` is exported as what that method returns: plain JSON.
//! - A function (or object) with a property `[Symbol.for('entourage.value')]` is exported as the value of that property.
//!   Providers of Standard Agents are such functions: `provider: openai` reads as `"openai"`.
//! - `globalThis.__entourage_mark__(value)` gives back its value and remembers where it was called, for the places of
//!   faults: `marks` puts it around what needs it, and `[Symbol.for('entourage.where')](value)` gives that stack.
//! - `entourage:state` exports `makeState(facts, ask, askNow)`, where `ask(method, arguments)` returns a promise of plain
//!   JSON and `askNow` waits for it, and `prepareArguments(definition, arguments, misfit)`, which applies the schema of a
//!   tool's `args` (defaults, transforms, coercions) and throws an `Error` that lists the faults as `[path] message`.
//!   `call` awaits it before `execute`.

/// The source of a module that a definition may import, or of an internal one; `None` if it is not ours.
pub(crate) fn source(name: &str) -> Option<&'static str> {
    PUBLIC.iter().chain(INTERNAL).find(|(known, _)| *known == name).map(|(_, source)| *source)
}

/// The names that authors may import, in the order in which people should read them. Internal modules (`entourage:…`)
/// are not among them.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    PUBLIC.iter().map(|(name, _)| *name)
}

/// Every module with its source, internal ones included: what an evaluation depends on besides the project's files.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    PUBLIC.iter().chain(INTERNAL).copied()
}

/// A provider's package: the factory under its own name and as default.
macro_rules! provider {
    ($package:literal, $export:literal, $value:literal) => {
        (
            concat!("@standardagents/", $package),
            concat!(
                "import { provider } from 'entourage:standard-agents/provider';\nexport const ",
                $export,
                " = provider('",
                $value,
                "');\nexport default ",
                $export,
                ";\n"
            ),
        )
    };
}

/// A file of this folder under the name by which it is imported.
macro_rules! file {
    ($name:literal, $file:literal) => {
        ($name, include_str!(concat!("modules/", $file)))
    };
}

const PUBLIC: &[(&str, &str)] = &[
    file!("zod", "zod.js"),
    file!("zod/v4", "zod.js"),
    file!("zod/v3", "zod.js"),
    file!("entourage", "entourage.js"),
    file!("@standardagents/spec", "standard-agents.js"),
    file!("@standardagents/builder", "standard-agents.js"),
    provider!("openai", "openai", "openai"),
    provider!("anthropic", "anthropic", "anthropic"),
    // Model references call Google's models by their family.
    provider!("google", "google", "gemini"),
    provider!("gemini", "gemini", "gemini"),
    provider!("ollama", "ollama", "ollama"),
    provider!("groq", "groq", "groq"),
    provider!("openrouter", "openrouter", "openrouter"),
    provider!("cerebras", "cerebras", "cerebras"),
    provider!("xai", "xai", "xai"),
    provider!("cloudflare", "cloudflare", "cloudflare"),
    provider!("mistral", "mistral", "mistral"),
    provider!("deepseek", "deepseek", "deepseek"),
    file!("stax", "stax.js"),
    file!("@stax/claude-code", "stax/claude-code.js"),
    file!("@stax/codex", "stax/codex.js"),
    file!("@stax/cursor", "stax/cursor.js"),
    file!("@stax/gemini", "stax/gemini.js"),
    file!("@stax/generic", "stax/generic.js"),
    file!("@stax/github-copilot", "stax/github-copilot.js"),
    file!("@stax/openclaw", "stax/openclaw.js"),
    file!("@stax/opencode", "stax/opencode.js"),
    file!("@stax/windsurf", "stax/windsurf.js"),
];

const INTERNAL: &[(&str, &str)] = &[
    file!("entourage:globals", "globals.js"),
    file!("entourage:globals/text", "globals/text.js"),
    file!("entourage:globals/clone", "globals/clone.js"),
    file!("entourage:globals/crypto", "globals/crypto.js"),
    file!("entourage:globals/url", "globals/url.js"),
    file!("entourage:globals/abort", "globals/abort.js"),
    file!("entourage:state", "state.js"),
    file!("entourage:standard-agents/provider", "standard-agents/provider.js"),
    file!("entourage:stax/adapter", "stax/adapter.js"),
    file!("entourage:zod/all", "zod/all.js"),
    file!("entourage:zod/type", "zod/type.js"),
    file!("entourage:zod/schema", "zod/schema.js"),
    file!("entourage:zod/string", "zod/string.js"),
    file!("entourage:zod/number", "zod/number.js"),
    file!("entourage:zod/plain", "zod/plain.js"),
    file!("entourage:zod/object", "zod/object.js"),
    file!("entourage:zod/collections", "zod/collections.js"),
    file!("entourage:zod/unions", "zod/unions.js"),
    file!("entourage:zod/wrappers", "zod/wrappers.js"),
    file!("entourage:zod/parsing", "zod/parsing.js"),
    file!("entourage:zod/parsing/values", "zod/parsing/values.js"),
    file!("entourage:zod/parsing/containers", "zod/parsing/containers.js"),
    file!("entourage:zod/parsing/checks", "zod/parsing/checks.js"),
    file!("entourage:zod/parsing/formats", "zod/parsing/formats.js"),
    file!("entourage:zod/parsing/words", "zod/parsing/words.js"),
];
