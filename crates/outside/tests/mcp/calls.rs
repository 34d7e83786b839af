//! What calls of a server's tools come to.

use crate::stage::{Stage, key};
use entourage_model::{EffectClass, Name, Served as _};

#[tokio::test]
async fn a_servers_tools_have_names_and_classes_that_the_engine_understands() {
    let stage = Stage::new("");
    assert!(stage.servers.tools(&key()).is_none(), "nothing is started before it is needed");
    stage.servers.ready(&key()).await.unwrap();
    let tools = stage.servers.tools(&key()).unwrap();
    for (name, class) in [
        ("mcp__sly__echo", EffectClass::Pure),
        ("mcp__sly__again", EffectClass::Idempotent),
        ("mcp__sly__once", EffectClass::AtMostOnce),
    ] {
        assert_eq!(tools[&Name::from(name)].class, class, "{name}");
    }
    assert_eq!(tools[&Name::from("mcp__sly__echo")].parameters["required"][0], "text");
}

#[tokio::test]
async fn calls_are_checked_made_and_answered() {
    let stage = Stage::new("");
    assert_eq!(stage.done("mcp__sly__echo", r#"{"text": "hi"}"#).await, "heard hi");
    assert_eq!(stage.done("mcp__sly__structured", "").await, "{\n  \"answer\": 42\n}");
    assert_eq!(stage.failed("mcp__sly__fail", "{}").await, "it did not work");
    let unfit = stage.failed("mcp__sly__echo", r#"{"text": 7}"#).await;
    assert!(unfit.contains("do not fit its schema"), "{unfit}");
    let unknown = stage.failed("mcp__sly__ecko", "{}").await;
    assert!(unknown.contains("Did you mean `mcp__sly__echo`?"), "{unknown}");
    assert_eq!(stage.log().len(), 1, "one process serves all calls");
}

#[tokio::test]
async fn a_command_knows_no_more_of_us_than_its_declaration_gives_it() {
    let stage = Stage::new("");
    let folder = stage.folder.path().canonicalize().unwrap();
    let expected = format!("{} GIVEN=<t0k> HOME=/nowhere PATH=/usr/local/bin:/usr/bin:/bin ", folder.display());
    assert_eq!(stage.done("mcp__sly__env", "{}").await, expected);
}

#[tokio::test]
async fn a_picture_becomes_a_file_of_the_thread() {
    let stage = Stage::new("");
    let text = stage.done("mcp__sly__picture", "{}").await;
    assert_eq!(text, "look\n\n[image: image/png, 5 bytes, kept as `/outputs/image.png`]");
    assert_eq!(*stage.kept.0.lock().unwrap(), [("image.png".to_owned(), b"hello".to_vec())]);
}

#[tokio::test]
async fn two_tools_that_would_have_one_name_are_both_there() {
    let stage = Stage::new("");
    stage.servers.ready(&key()).await.unwrap();
    let names = stage.names();
    let odd: Vec<_> = names.iter().filter(|name| name.starts_with("mcp__sly__odd_name_x")).collect();
    assert_eq!(odd.len(), 2, "{names:?}");
    assert_eq!(stage.done(odd[0], "{}").await, "first");
    assert_eq!(stage.done(odd[1], "{}").await, "second");
}
