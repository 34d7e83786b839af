//! Small stable names for identifiers: `t0` the thread, `p` its parent, `c1` its first child, `r1` a run, `q1` a request for variables.

use crate::team::{parent, this_thread};
use entourage_model::{Ids, RequestId, RunId, ThreadId, Timestamp};

/// Where copies of files lie.
const COPIES: &str = "/attachments/";

#[derive(Debug)]
pub(crate) struct Names {
    /// The identifier as text and its small name.
    known: Vec<(String, String)>,
}

impl Names {
    pub(crate) fn new() -> Self {
        let known = [(this_thread(), "t0"), (parent(), "p")];
        Self { known: known.into_iter().map(|(id, name)| (id.to_string(), name.to_owned())).collect() }
    }

    pub(crate) fn thread(&mut self, id: ThreadId) -> String {
        self.name(id.to_string(), 'c')
    }

    pub(crate) fn run(&mut self, id: &RunId) -> String {
        self.name(id.to_string(), 'r')
    }

    pub(crate) fn request(&mut self, id: RequestId) -> String {
        self.name(id.to_string(), 'q')
    }

    /// The request of that name; one that nobody has made where the name is new.
    pub(crate) fn request_named(&mut self, name: &str) -> RequestId {
        let unseen = Ids::new(Timestamp(0), 2_000 + self.known.len() as u64).request();
        self.id_of(name, unseen.to_string()).parse().expect("a request's name")
    }

    /// The thread of that name; one that nobody has seen before where the name is new.
    pub(crate) fn thread_named(&mut self, name: &str) -> ThreadId {
        let unseen = Ids::new(Timestamp(0), 1_000 + self.known.len() as u64).thread();
        self.id_of(name, unseen.to_string()).parse().expect("a thread's name")
    }

    /// A run that a script brings along is called as the script calls it.
    pub(crate) fn run_named(&mut self, name: &str) -> RunId {
        RunId::from(self.id_of(name, name.to_owned()))
    }

    /// The text with `@name` where it has identifiers, and `#` where it has the word that tells one copy of a file from
    /// another.
    pub(crate) fn shorten(&self, text: &str) -> String {
        let long = self.known.iter().filter(|(id, name)| id != name);
        let text = long.fold(text.to_owned(), |text, (id, name)| text.replace(id, &format!("@{name}")));
        text.split_inclusive(COPIES).map(without_word).collect()
    }

    /// The text with identifiers where it has `@name`.
    pub(crate) fn lengthen(&self, text: &str) -> String {
        // From the end, so that `@c12` is not taken for `@c1`.
        self.known.iter().rev().fold(text.to_owned(), |text, (id, name)| text.replace(&format!("@{name}"), id))
    }

    fn name(&mut self, id: String, letter: char) -> String {
        if let Some((_, name)) = self.known.iter().find(|(known, _)| *known == id) {
            return name.clone();
        }
        let is_free = |name: &String| self.known.iter().all(|(_, known)| known != name);
        let name = (1..).map(|number| format!("{letter}{number}")).find(is_free).expect("numbers do not end");
        self.known.push((id, name.clone()));
        name
    }

    fn id_of(&mut self, name: &str, otherwise: String) -> String {
        if let Some((id, _)) = self.known.iter().find(|(_, known)| known == name) {
            return id.clone();
        }
        self.known.push((otherwise.clone(), name.to_owned()));
        otherwise
    }
}

/// `a-0123abcd.txt` as `a-#.txt`, at the beginning of a text.
fn without_word(text: &str) -> String {
    let is_word = |word: &str| word.len() == 8 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let name = &text[..text.find(char::is_whitespace).unwrap_or(text.len())];
    match name.rsplit_once('-') {
        Some((stem, rest)) if rest.get(..8).is_some_and(is_word) => {
            format!("{stem}-#{}{}", &rest[8..], &text[name.len()..])
        }
        _ => text.to_owned(),
    }
}
