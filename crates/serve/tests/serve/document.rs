//! The API's own description.

use crate::stage::Stage;
use entourage_testkit::Reply;
use http_body_util::Full;
use serde_json::{Value, json};

#[tokio::test]
async fn every_described_route_is_there_and_says_how_it_refuses() {
    let stage = Stage::new(Reply::text("yes")).await;
    let document = stage.get("/openapi.json").await.json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"), "{}", document["openapi"]);
    let paths = document["paths"].as_object().unwrap();
    assert!(paths.len() >= 14, "{:?}", paths.keys());
    for (path, item) in paths {
        // A task that nobody has submitted yet is listened to until somebody does.
        let is_held = path == "/tasks/{id}/events";
        for (method, operation) in item.as_object().unwrap() {
            assert_eq!(
                operation["responses"]["default"]["content"]["application/json"]["schema"]["$ref"],
                if path.starts_with("/tasks") {
                    "#/components/schemas/PlainRefusal"
                } else {
                    "#/components/schemas/Refusal"
                },
                "{method} {path}"
            );
            if is_held {
                continue;
            }
            let concrete = path.replace("{id}", "00000000-0000-0000-0000-000000000000").replace("{path}", "a");
            let request = stage.request(&method.to_uppercase(), &concrete.replace("{name}", "nobody"));
            let request = request.header("content-type", "application/json").body(Full::new("{}".into())).unwrap();
            let answer = stage.send(request).await;
            assert_ne!(answer.status, 405, "{method} {path}");
            assert!(!String::from_utf8_lossy(&answer.body).contains("no such route"), "{method} {path}");
        }
    }
}

#[tokio::test]
async fn every_reference_leads_somewhere() {
    let stage = Stage::new(Reply::text("yes")).await;
    let document = stage.get("/openapi.json").await.json();
    let mut unsearched = vec![&document];
    let mut found = 0;
    while let Some(value) = unsearched.pop() {
        match value {
            Value::Object(fields) => {
                if let Some(Value::String(target)) = fields.get("$ref") {
                    found += 1;
                    let pointer = target.strip_prefix('#').unwrap();
                    assert!(document.pointer(pointer).is_some(), "{target} leads nowhere");
                }
                unsearched.extend(fields.values());
            }
            Value::Array(items) => unsearched.extend(items),
            _ => {}
        }
    }
    assert!(found > 20, "{found}");
}

#[tokio::test]
async fn what_is_sent_is_what_is_described() {
    let stage = Stage::new(Reply::text("yes")).await;
    let thread = stage.create("boss", Some("hi")).await;
    stage.settle(&thread).await;
    let document = stage.get("/openapi.json").await.json();
    for (schema, sent) in [
        ("Thread", stage.get("/threads").await.json()["threads"][0].clone()),
        ("Run", stage.get("/runs").await.json()["runs"][0].clone()),
        ("AgentLine", stage.get("/agents").await.json()["agents"][0].clone()),
        ("Message", stage.get(&format!("/threads/{thread}/messages")).await.json()["messages"][0].clone()),
    ] {
        let names = |value: &Value| {
            let mut names: Vec<_> = value.as_object().unwrap().keys().cloned().collect();
            names.sort();
            names
        };
        let described = &document["components"]["schemas"][schema]["properties"];
        assert_eq!(names(described), names(&sent), "{schema}");
    }
    assert_eq!(document["security"], json!([{ "token": [] }]));
    assert_eq!(document["paths"]["/healthz"]["get"]["security"], json!([{}]));
}

#[tokio::test]
async fn every_operation_has_a_name_of_its_own_and_links_lead_to_one() {
    let stage = Stage::new(Reply::text("yes")).await;
    let document = stage.get("/openapi.json").await.json();
    let operations =
        document["paths"].as_object().unwrap().values().flat_map(|item| item.as_object().unwrap().values());
    let names: Vec<_> = operations.map(|operation| operation["operationId"].as_str().unwrap()).collect();
    let unique: std::collections::BTreeSet<_> = names.iter().collect();
    assert_eq!(unique.len(), names.len(), "{names:?}");
    let links = document["paths"]["/threads"]["post"]["responses"]["201"]["links"].as_object().unwrap();
    assert!(links.len() > 10 && links.contains_key("messages_send") && links.contains_key("runs_show"), "{links:?}");
    for link in links.values() {
        assert!(names.contains(&link["operationId"].as_str().unwrap()), "{link}");
    }
}
