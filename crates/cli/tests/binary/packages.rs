//! Packages that come from a registry: found, pinned, merged in their order, and refused when they cannot be what they
//! must be.

use crate::project::Project;
use crate::registry::{AGENT, build, spoil};
use entourage_testkit::{Access, FakeModel, RealRegistry, Reply, Request};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A project that is a package with one rule, and depends on these.
fn package(name: &str, packages: &[&str]) -> Project {
    let definition = format!(
        "import {{ definePackage }} from 'stax';\n\
         export default definePackage({{ name: '{name}', version: '1.0.0', rules: './rules', packages: {} }});\n",
        json!(packages)
    );
    // Its priority is the lower, the later the package comes: whose rule it is goes before that.
    let priority = 90 - name.len();
    Project::new()
        .file("package.ts", &definition)
        .file("rules/own.md", &format!("---\nid: of-{name}\npriority: {priority}\n---\nRule of {name}.\n"))
}

/// An agent that depends on these, and has a rule of its own.
fn agent(packages: &[&str]) -> Project {
    let mut definition: Value = serde_json::from_str(AGENT).unwrap();
    let definition_map = definition.as_object_mut().unwrap();
    definition_map.remove("subagents");
    definition_map.insert("rules".to_owned(), json!("./rules"));
    definition_map.insert("packages".to_owned(), json!(packages));
    Project::new()
        .file("agent.json", &definition.to_string())
        .file("prompt.md", "You keep things.\n")
        .file("rules/own.md", "---\nid: of-agent\npriority: 1\n---\nRule of agent.\n")
}

/// Builds and pushes, and says which artifact it is.
fn publish(project: &Project, reference: &str) -> String {
    let digest = build(project);
    assert_eq!(project.json(&["push", reference])["digest"], digest);
    digest
}

/// The rules in the order in which an agent is told them.
fn told(project: &Project, reference: &str) -> Vec<String> {
    project.json(&["materialize", reference, "--adapter", "claude-code", "--out", "told"]);
    let text = project.read("told/CLAUDE.md");
    text.lines().filter_map(|line| line.strip_prefix("## Rule: ")).map(str::to_owned).collect()
}

#[test]
fn packages_are_fetched_pinned_and_merged_in_their_order() {
    let registry = RealRegistry::start(Access::Everybody);
    let name = |rest: &str| format!("{}/{rest}", registry.host());
    let (deep, middle, near, whole) = (name("p/deep:1"), name("p/middle:1"), name("p/near:1"), name("keeper:1"));
    let deep_digest = publish(&package("deep", &[]), &deep);
    let middle_digest = publish(&package("middle", &[&deep]), &middle);
    let near_digest = publish(&package("near", &[]), &near);
    let author = agent(&[&middle, &near]);
    publish(&author, &whole);
    let lock: Value = serde_json::from_str(&author.read("stax.lock")).unwrap();
    assert_eq!(
        lock["packages"],
        json!({
            &deep: { "digest": deep_digest, "dependencies": [] },
            &middle: { "digest": middle_digest, "dependencies": [&deep] },
            &near: { "digest": near_digest, "dependencies": [] },
        })
    );
    let expected = ["of-deep", "of-middle", "of-near", "of-agent"];
    assert_eq!(told(&Project::new(), &whole), expected, "lowest first, whatever their priorities");
    // A tag that moves afterwards changes nothing for whoever was built with what it meant.
    let moved = publish(&package("deeper", &[]), &deep);
    assert_ne!(moved, deep_digest);
    assert_eq!(told(&Project::new(), &whole), expected);
    let again = build(&author);
    assert_eq!(author.json(&["inspect", &whole])["digest"], again, "the lock decides");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_runs_is_told_rules_in_the_order_of_their_packages_and_its_skills() {
    let registry = RealRegistry::start(Access::Everybody);
    let model = FakeModel::start(|request: &Request| Reply::text(request.system())).await;
    let near = format!("{}/p/near:1", registry.host());
    publish(&package("near", &[]), &near);
    let skill = "---\nname: mend\ndescription: Mends.\n---\n\nTake a needle.\n";
    let definition = agent(&[&near]).read("agent.json").replacen('{', "{\"skills\":\"./skills\",", 1);
    let author = agent(&[]).file("agent.json", &definition).file("skills/mend/SKILL.md", skill);
    let digest = build(&author);
    let bundle = format!("oci:{}@{digest}", author.path().join(".entourage/oci").display());
    let here = Project::new().with_model(&model);
    let said = here.say(&["--json", "--project", &bundle, "--model", "openai:fake", "run", "go"]);
    let told = said.document()["result"].as_str().unwrap().to_owned();
    let titles: Vec<_> = told.lines().filter(|line| line.starts_with("## ")).collect();
    assert_eq!(titles, ["## Rule: of-near", "## Rule: of-agent", "## Skill: mend"], "{told}");
    assert!(told.ends_with("## Skill: mend\n\nMends.\n\nTake a needle."), "{told}");
}

#[test]
fn an_agent_that_runs_from_its_folder_is_said_to_go_without_its_packages() {
    let echo = Project::with_echo().read("script.json");
    let project = agent(&["r.example/a/b:1", "r.example/a/c:1"]).file("script.json", &echo);
    let column = project.read("agent.json").find("\"r.example/a/b:1\"").unwrap() + 1;
    let checked = project.json(&["check"]);
    let [report] = checked["reports"].as_array().unwrap().as_slice() else { panic!("{checked}") };
    assert_eq!((&report["severity"], &report["code"]), (&json!("warning"), &json!("B092")));
    assert_eq!(report["where"], json!({ "file": "agent.json", "line": 1, "column": column }));
    for arguments in [&["agents"][..], &["--model", "script:script.json", "run", "go"]] {
        project.say(arguments).refused(0, &["warning[B092]", &format!("at agent.json:1:{column}")]);
        let without = agent(&[]).file("script.json", &echo);
        assert!(!without.say(arguments).stderr.contains("B092"), "{arguments:?}");
    }
}

#[test]
fn a_package_that_is_no_reference_is_found_by_check_where_it_is_named() {
    let project = agent(&["r.example/a/b:1", "not a ref"]);
    let checked = project.say(&["check"]);
    assert_eq!(checked.code, Some(1), "{checked:?}");
    let document = project.say(&["--json", "check"]).document();
    let [report] = document["reports"].as_array().unwrap().as_slice() else { panic!("{document}") };
    let column = project.read("agent.json").find("\"not a ref\"").unwrap() + 1;
    assert_eq!(report["code"], "B016");
    assert_eq!(report["where"], json!({ "file": "agent.json", "line": 1, "column": column }));
    project.say(&["build"]).refused(1, &["error[B016]", &format!("at agent.json:1:{column}")]);
}

#[test]
fn a_package_that_is_a_folder_is_to_be_pushed_first() {
    for path in ["./packages/x", "../x", "/x", "~/x"] {
        let said = agent(&[path]).say(&["build"]);
        said.refused(1, &["error[B016]", &format!("`{path}`, which is a path"), "hint: build that folder, push it"]);
    }
}

#[test]
fn packages_that_cannot_be_had_or_depend_on_themselves_are_refused() {
    let registry = RealRegistry::start(Access::Everybody);
    let name = |rest: &str| format!("{}/{rest}", registry.host());
    let missing = name("p/missing:1");
    agent(&[&missing]).say(&["build"]).refused(4, &["error[B017]", &missing]);
    agent(&["127.0.0.1:1/p/down:1"]).say(&["build"]).refused(4, &["error[B017]", "error[B040]"]);
    let nobody = name(&format!("p/one@sha256:{}", "0".repeat(64)));
    agent(&[&nobody]).say(&["build"]).refused(4, &["error[B017]", &nobody]);
    // What the reference program packs names packages by tags alone, which can be led back to where they came from.
    let (one, other) = (name("p/one:1"), name("p/other:1"));
    for (from, to) in [(&one, &other), (&other, &one)] {
        let package = package("circle", &[to]);
        package.json(&["build", "--reference-bytes"]);
        package.json(&["push", from]);
    }
    let said = agent(&[&one]).say(&["build"]);
    said.refused(4, &["error[B018]", &format!("{one} -> {other} -> {one}")]);
    let keeper = name("keeper:1");
    publish(&agent(&[]), &keeper);
    agent(&[&keeper]).say(&["build"]).refused(4, &["error[B021]"]);
}

#[test]
fn a_build_that_fails_keeps_no_package_that_was_fetched_for_it() {
    let registry = RealRegistry::start(Access::Everybody);
    let name = |rest: &str| format!("{}/{rest}", registry.host());
    let (near, missing) = (name("p/near:1"), name("p/missing:1"));
    publish(&package("near", &[]), &near);
    let project = agent(&[&near, &missing]);
    project.say(&["build"]).refused(4, &["error[B017]", &missing]);
    let blobs = |project: &Project| project.kept(".entourage/oci/blobs").len();
    assert_eq!(blobs(&project), 0);
    // The same where an artifact is used whose packages cannot all be had.
    publish(&package("gone", &[]), &missing);
    let keeper = name("keeper:1");
    publish(&project, &keeper);
    assert!(blobs(&project) > 0);
    let there = Project::new();
    there.json(&["inspect", &keeper]);
    let kept = || there.kept(".entourage/oci").into_iter().collect::<BTreeMap<_, _>>();
    let before = kept();
    spoil(&registry.blob_path(project.json(&["inspect", &missing])["layers"][0]["digest"].as_str().unwrap()));
    there.say(&["materialize", &keeper, "--adapter", "codex", "--out", "o"]).refused(6, &["error[B007]"]);
    assert_eq!(kept(), before);
    there.say(&["pull", &keeper]).refused(6, &["error[B007]"]);
    assert_eq!(kept(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_pulled_is_used_without_the_registry() {
    let registry = RealRegistry::start(Access::Everybody);
    let name = |rest: &str| format!("{}/{rest}", registry.host());
    let (deep, middle, keeper) = (name("p/deep:1"), name("p/middle:1"), name("keeper:1"));
    publish(&package("deep", &[]), &deep);
    publish(&package("middle", &[&deep]), &middle);
    let digest = publish(&agent(&[&middle]), &keeper);
    let model = FakeModel::start(|request: &Request| Reply::text(request.system())).await;
    let there = Project::new().with_model(&model);
    assert_eq!(there.json(&["pull", &keeper]), json!({ "reference": keeper, "digest": digest }));
    drop(registry);
    assert_eq!(told(&there, &keeper), ["of-deep", "of-middle", "of-agent"]);
    let bundle = format!("oci:{keeper}");
    let said = there.say(&["--json", "--project", &bundle, "--model", "openai:fake", "run", "go"]);
    assert!(said.document()["result"].as_str().unwrap().contains("Rule of deep."), "{said:?}");
}

#[test]
fn packages_that_differ_are_named_however_deep_they_lie() {
    let registry = RealRegistry::start(Access::Everybody);
    let name = |rest: &str| format!("{}/{rest}", registry.host());
    let [deep, middle, near] = ["p/deep:1", "p/middle:1", "p/near:1"].map(name);
    publish(&package("deep", &[]), &deep);
    let middle_digest = publish(&package("middle", &[&deep]), &middle);
    let project = agent(&[&middle]);
    let one = build(&project);
    let depends = format!("depends on {middle}, which is {middle_digest}");
    assert!(project.say(&["inspect"]).stdout.lines().any(|line| line == depends), "{depends}");
    let moved = publish(&package("deeper", &[]), &deep);
    let lock = json!({ "lockVersion": 1, "specVersion": "1.0.0", "packages": { &deep: { "digest": moved } } });
    publish(&package("near", &[]), &near);
    let definition = agent(&[&near, &middle]).read("agent.json");
    let project = project.file("stax.lock", &lock.to_string()).file("agent.json", &definition);
    let other = build(&project);
    let difference = project.json(&["diff", &one, &other]);
    let changes = json!([{ "ref": deep, "change": "changed" }, { "ref": near, "change": "added" }]);
    assert_eq!(difference["packages"], changes);
    let said = project.say(&["diff", &other, &one]).stdout;
    assert!(said.ends_with(&format!("~ package {deep}\n- package {near}\n")), "{said}");
}

#[test]
fn an_artifact_whose_packages_cannot_be_had_is_not_pulled_but_can_be_looked_at() {
    let (registry, elsewhere) = (RealRegistry::start(Access::Everybody), RealRegistry::start(Access::Everybody));
    let near = format!("{}/p/near:1", elsewhere.host());
    let keeper = format!("{}/keeper:1", registry.host());
    publish(&package("near", &[]), &near);
    let digest = publish(&agent(&[&near]), &keeper);
    drop(elsewhere);
    let there = Project::new();
    there.say(&["pull", &keeper]).refused(4, &["error[B017]", &near]);
    assert_eq!(there.kept(".entourage/oci/blobs").len(), 0);
    assert_eq!(there.json(&["inspect", &keeper])["digest"], digest);
}

#[test]
fn a_build_whose_lock_cannot_be_written_leaves_the_store_as_it_was() {
    let registry = RealRegistry::start(Access::Everybody);
    let near = format!("{}/p/near:1", registry.host());
    publish(&package("near", &[]), &near);
    let project = agent(&[]);
    build(&project);
    let kept = |project: &Project| project.kept(".entourage/oci").into_iter().collect::<BTreeMap<_, _>>();
    let before = kept(&project);
    // Where the lock is written before it is moved to its place.
    let in_the_way = project.path().join("stax.lock.entourage-new");
    std::fs::create_dir(&in_the_way).unwrap();
    let project = project.file("agent.json", &agent(&[&near]).read("agent.json"));
    project.say(&["build"]).refused(2, &["error[C030]", "stax.lock"]);
    assert_eq!(kept(&project), before);
    std::fs::remove_dir(&in_the_way).unwrap();
    build(&project);
    // A lock that says so already need not be written.
    std::fs::create_dir(&in_the_way).unwrap();
    build(&project);
}

#[test]
fn a_package_whose_bytes_are_not_its_own_is_refused_wherever_it_is_met() {
    let registry = RealRegistry::start(Access::Everybody);
    let name = |rest: &str| format!("{}/{rest}", registry.host());
    let (near, whole) = (name("p/near:1"), name("keeper:1"));
    let package = package("near", &[]);
    publish(&package, &near);
    let rules = package.json(&["inspect"])["layers"][0]["digest"].as_str().unwrap().to_owned();
    publish(&agent(&[&near]), &whole);
    spoil(&registry.blob_path(&rules));
    agent(&[&near]).say(&["build"]).refused(6, &["error[B007]"]);
    let there = Project::new();
    there.say(&["materialize", &whole, "--adapter", "codex", "--out", "o"]).refused(6, &["error[B007]", &rules]);
    assert!(!there.path().join("o").exists());
}
