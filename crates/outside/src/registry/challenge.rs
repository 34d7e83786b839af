//! What a registry asks for when it refuses: the header `WWW-Authenticate`.

/// How the registry wants to be told who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Challenge {
    Basic,
    /// A token is to be fetched at `realm` first.
    Bearer {
        realm: String,
        service: Option<String>,
        /// What the token must be good for, as the registry says it.
        scopes: Vec<String>,
    },
}

impl Challenge {
    /// The best of what the headers offer: a token, which says little, before a password, which says all.
    pub(super) fn choose<'a>(headers: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let mut offered: Vec<_> = headers.into_iter().flat_map(parse).collect();
        let bearer = offered.iter().position(|challenge| matches!(challenge, Self::Bearer { .. }));
        match bearer {
            Some(index) => Some(offered.swap_remove(index)),
            None => offered.pop(),
        }
    }
}

/// The challenges of one header that are understood here.
fn parse(header: &str) -> Vec<Challenge> {
    let mut found = Vec::new();
    let mut rest = header;
    while let Some((scheme, parameters, after)) = next(rest) {
        rest = after;
        let value = |wanted: &str| {
            let found = parameters.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            found.map(|(_, value)| value.clone()).filter(|value| !value.is_empty())
        };
        if scheme.eq_ignore_ascii_case("basic") {
            found.push(Challenge::Basic);
        } else if scheme.eq_ignore_ascii_case("bearer")
            && let Some(realm) = value("realm")
        {
            let scopes = value("scope").unwrap_or_default();
            let scopes = scopes.split_whitespace().map(str::to_owned).collect();
            found.push(Challenge::Bearer { realm, service: value("service"), scopes });
        }
    }
    found
}

type Parameters = Vec<(String, String)>;

/// One scheme with its parameters, and what follows. A word that no `=` follows is the next scheme.
fn next(text: &str) -> Option<(&str, Parameters, &str)> {
    let text = text.trim_start_matches([' ', '\t', ',']);
    let end = text.find([' ', '\t', ',']).unwrap_or(text.len());
    let (scheme, mut rest) = text.split_at(end);
    if scheme.is_empty() {
        return None;
    }
    let mut parameters = Vec::new();
    loop {
        let ahead = rest.trim_start_matches([' ', '\t', ',']);
        let Some((name, value)) = ahead.split_once('=') else { break };
        let name = name.trim_end();
        if name.is_empty() || name.contains([' ', '\t', ',', '"']) {
            break;
        }
        let (value, after) = read_value(value.trim_start());
        parameters.push((name.to_owned(), value));
        rest = after;
    }
    Some((scheme, parameters, rest))
}

/// A quoted text, in which a backslash takes the next character as it is, or a bare word.
fn read_value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([' ', '\t', ',']).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (value, &quoted[at + 1..]),
            '\\' => value.extend(letters.next().map(|(_, letter)| letter)),
            letter => value.push(letter),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_offer_is_taken() {
        let scoped = |realm: &str, service: Option<&str>, scopes: &[&str]| {
            let scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
            Some(Challenge::Bearer { realm: realm.to_owned(), service: service.map(str::to_owned), scopes })
        };
        let bearer = |realm: &str, service: Option<&str>| scoped(realm, service, &[]);
        let cases: [(&[&str], Option<Challenge>); 10] = [
            (&["Basic realm=\"here\""], Some(Challenge::Basic)),
            (&["basic"], Some(Challenge::Basic)),
            (
                &[
                    "Bearer realm=\"https://a.test/token\",service=\"s, t\",scope=\"repository:a/b:pull,push repository:c:pull\"",
                ],
                scoped("https://a.test/token", Some("s, t"), &["repository:a/b:pull,push", "repository:c:pull"]),
            ),
            (&["Bearer realm=https://a.test/token"], bearer("https://a.test/token", None)),
            (&["Basic realm=\"x\", Bearer realm=\"r\", service=\"s\""], bearer("r", Some("s"))),
            (&["Basic realm=\"x\"", "Bearer realm=\"r\""], bearer("r", None)),
            (&["Bearer realm=\"a\\\"b\""], bearer("a\"b", None)),
            (&["Bearer service=\"nobody says where\""], None),
            (&["Negotiate abc==, Basic realm=\"x\""], Some(Challenge::Basic)),
            (&["", ",,", "=", "Bearer realm=\"unclosed"], bearer("unclosed", None)),
        ];
        for (headers, expected) in cases {
            assert_eq!(Challenge::choose(headers.iter().copied()), expected, "{headers:?}");
        }
    }
}
