//! What to do about an agent that failed, guessed from its words: a run keeps what went wrong only as a text.

use entourage_model::ThreadId;

/// Words of a failure, and what helps. The first that fits is given.
const ADVICE: [(&str, &str); 7] = [
    (
        "there is no key for it",
        "set the provider's key (`OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, `GEMINI_API_KEY`), or choose another model by `--model`",
    ),
    (
        "could not be reached",
        "is the provider up, and its address right (`OPENAI_BASE_URL`, `OLLAMA_HOST`)? Or choose another model by `--model`",
    ),
    ("answered 401", "the provider refuses the key: look at its variable, such as `OPENAI_API_KEY`"),
    ("answered 403", "the provider refuses what the key may do: look at its account"),
    ("answered 404", "the provider knows no such model: look at `model`, or choose another by `--model`"),
    ("answered 429", "the provider wants fewer requests: wait a little, then write to the thread again"),
    ("names no provider", "a model is named `provider:model`, as in `openai:gpt-5`"),
];

pub(crate) fn for_failure(error: &str, thread: ThreadId) -> String {
    let known = ADVICE.iter().find(|(words, _)| error.contains(words)).map(|(_, advice)| (*advice).to_owned());
    known.unwrap_or_else(|| format!("`entourage show {thread}` tells what happened before"))
}
