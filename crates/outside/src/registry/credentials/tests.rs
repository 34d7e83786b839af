//! Which of the files is believed, and how ours is kept.

use super::*;
use entourage_model::Secret;

const AUTH_ALICE: &str = "YWxpY2U6b3Blbg==";

fn files(own: Option<&str>, docker: Option<&str>) -> (tempfile::TempDir, Credentials) {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: Option<&str>| {
        let path = folder.path().join(name);
        if let Some(text) = text {
            write(&path, text).unwrap();
        }
        Some(path)
    };
    let credentials = Credentials { own: put("own.json", own), docker: put("config.json", docker) };
    (folder, credentials)
}

async fn found(credentials: &Credentials, host: &str) -> String {
    match credentials.find(host).await {
        Ok(None) => "none".to_owned(),
        Ok(Some(Credential::Password { username, password })) => format!("{username}/{}", password.reveal()),
        Ok(Some(Credential::IdentityToken(token))) => format!("token {}", token.reveal()),
        Err(fault) => fault.to_string(),
    }
}

#[tokio::test]
async fn a_host_is_found_however_docker_spells_it() {
    let cases = [
        ("r.test:5000", "r.test:5000", "alice/open"),
        ("https://r.test", "r.test", "alice/open"),
        ("http://r.test:80/v1/", "r.test:80", "alice/open"),
        ("https://index.docker.io/v1/", "docker.io", "alice/open"),
        ("r.test", "r.test:5000", "none"),
        ("r.test", "other.test", "none"),
    ];
    for (key, host, expected) in cases {
        let text = format!(r#"{{"auths": {{"{key}": {{"auth": "{AUTH_ALICE}"}}}}}}"#);
        let (_folder, credentials) = files(None, Some(&text));
        assert_eq!(found(&credentials, host).await, expected, "{key}");
    }
}

#[tokio::test]
async fn our_own_file_goes_first_and_docker_s_stays_as_it_is() {
    let docker = format!(r#"{{"auths": {{"r.test": {{"auth": "{AUTH_ALICE}"}}}}}}"#);
    let (_folder, credentials) = files(None, Some(&docker));
    let bob = Credential::Password { username: "bob".to_owned(), password: Secret::new("b") };
    let path = credentials.keep("r.test", &bob).unwrap();
    credentials.keep("s.test", &bob).unwrap();
    assert_eq!(found(&credentials, "r.test").await, "bob/b");
    assert_eq!(found(&credentials, "s.test").await, "bob/b");
    assert_eq!(bytes(credentials.docker.as_deref().unwrap()).unwrap(), docker.as_bytes());
    let mode = std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_named_and_not_repeated() {
    let (_folder, credentials) = files(None, Some(r#"{"auths": {"r.test": "open-sesame"#));
    let fault = found(&credentials, "r.test").await;
    assert!(fault.contains("config.json` cannot be read: line 1 is no JSON"), "{fault}");
    assert!(!fault.contains("open-sesame"), "{fault}");
}

#[tokio::test]
async fn a_helper_that_is_not_there_is_named() {
    let (_folder, credentials) = files(None, Some(r#"{"credHelpers": {"r.test": "nobody-has-this"}}"#));
    let fault = found(&credentials, "r.test").await;
    assert!(fault.starts_with("`docker-credential-nobody-has-this` cannot be asked"), "{fault}");
    assert_eq!(found(&credentials, "other.test").await, "none");
    let (_folder, credentials) = files(None, Some(r#"{"credsStore": "../x"}"#));
    assert_eq!(found(&credentials, "r.test").await, "`../x` is no name of a credential helper");
}
