//! Dependencies: found depth first, merged beneath the agent, and refused when they make no sense.

use crate::kit::{BYTES_MAX, Known, Shop, agent, codes, project};
use crate::unpack::on_disk;
use entourage_bundle::{Assembly, Built, Bundle, BytesOf, Fault, LayerKind, Lock, Offline, Wanted, extract};
use entourage_declare::{Files as _, MemoryFiles};
use entourage_model::Digest;
use serde_json::{Value, json};

fn package(name: &str, packages: &[&str], more: &[(&str, &str)]) -> MemoryFiles {
    let parts: Vec<_> = ["rules", "skills", "knowledge", "surfaces"]
        .into_iter()
        .filter(|part| more.iter().any(|(path, _)| path.starts_with(&format!("{part}/"))))
        .map(|part| format!("{part}: './{part}',"))
        .collect();
    let files = [("mcp.json", "mcp"), ("subagents.json", "subagents")]
        .into_iter()
        .filter(|(file, _)| more.iter().any(|(path, _)| path == file))
        .map(|(file, key)| format!("{key}: './{file}',"))
        .collect::<String>();
    let definition = format!(
        "import {{ definePackage }} from 'stax';\nexport default definePackage({{ name: '{name}', version: '1.0.0', {}{files} packages: {} }});",
        parts.concat(),
        json!(packages)
    );
    let mut all = project(more);
    all.insert("package.ts", definition, false);
    all
}

/// Builds packages, each after those that it depends on.
fn shelve(shop: &Shop, known: &mut Known, text: &str, files: &MemoryFiles) -> Built {
    let built = shop
        .build_with(files, BytesOf::Specification, known)
        .unwrap_or_else(|fault| panic!("{:?}", fault.into_reports()));
    known.packages.push((text.to_owned(), built.descriptor.digest));
    built
}

fn dependent(packages: &[&str], more: &str) -> String {
    agent(&format!(r#","packages":{}{more}"#, json!(packages)))
}

#[test]
fn dependencies_are_pinned_in_the_artifact_and_in_the_lock() {
    let (shop, mut known) = (Shop::new(), Known::default());
    let inner = shelve(&shop, &mut known, "h.io/inner:1", &package("inner", &[], &[("rules/a.md", "A.")]));
    let outer = shelve(&shop, &mut known, "h.io/outer:1", &package("outer", &["h.io/inner:1"], &[]));
    let files = project(&[("agent.json", &dependent(&["h.io/outer:1"], ""))]);
    let built = shop.build_with(&files, BytesOf::Specification, &known).unwrap();
    let entry = json!({ "ref": "h.io/outer:1", "kind": "package", "digest": outer.descriptor.digest });
    assert_eq!(shop.json_layer(&built, "packages"), json!({ "specVersion": "1.0.0", "packages": [entry] }));
    let listed = json!([
        { "ref": "h.io/outer:1", "digest": outer.descriptor.digest, "dependencies": ["h.io/inner:1"] },
        { "ref": "h.io/inner:1", "digest": inner.descriptor.digest },
    ]);
    assert_eq!(shop.open(built.descriptor.digest).unwrap().config["packages"], listed);
    let lock = built.lock.clone().unwrap();
    let expected = json!({
        "lockVersion": 1,
        "specVersion": "1.0.0",
        "packages": {
            "h.io/inner:1": { "digest": inner.descriptor.digest, "dependencies": [] },
            "h.io/outer:1": { "digest": outer.descriptor.digest, "dependencies": ["h.io/inner:1"] },
        },
    });
    assert_eq!(serde_json::from_slice::<Value>(&lock).unwrap(), expected);
    let locked = Digest::of(&lock).to_string();
    assert_eq!(built.manifest.annotations["dev.stax.lock.digest"], locked);
    // With the lock the registry is not asked, and a tag that moved changes nothing.
    known.packages.clear();
    known.asked.borrow_mut().clear();
    let mut files = files;
    files.insert("stax.lock", lock, false);
    let again = shop.build_with(&files, BytesOf::Specification, &known).unwrap();
    assert_eq!(again.descriptor.digest, built.descriptor.digest);
    assert_eq!(known.asked.borrow().as_slice(), [""; 0]);
}

#[test]
fn without_a_lock_a_tag_is_asked_for_again() {
    let (shop, mut known) = (Shop::new(), Known::default());
    let old = shelve(&shop, &mut known, "h.io/x:1", &package("x", &[], &[("rules/a.md", "Old.")]));
    shop.layout.tag(&"h.io/x:1".parse().unwrap(), &old.descriptor).unwrap();
    let new = shelve(&shop, &mut Known::default(), "h.io/x:1", &package("x", &[], &[("rules/a.md", "New.")]));
    known.packages[0].1 = new.descriptor.digest;
    let files = project(&[("agent.json", &dependent(&["h.io/x:1"], ""))]);
    let pinned = |built: Built| Lock::parse(&built.lock.unwrap()).unwrap().digest("h.io/x:1");
    let built = shop.build_with(&files, BytesOf::Specification, &known).unwrap();
    assert_eq!(pinned(built), Some(new.descriptor.digest));
    // Where nobody can be asked, what is here must do.
    let built = shop.try_build(&files, BytesOf::Specification).unwrap();
    assert_eq!(pinned(built), Some(old.descriptor.digest));
}

#[test]
fn what_is_nearer_wins() {
    let (shop, mut known) = (Shop::new(), Known::default());
    let subagents = |who: &str, names: &[&str]| {
        let agents: serde_json::Map<_, _> =
            names.iter().map(|name| ((*name).to_owned(), json!({ "description": who, "instructions": who }))).collect();
        json!({ "agents": agents }).to_string()
    };
    let servers = |who: &str, names: &[&str]| {
        let servers: serde_json::Map<_, _> =
            names.iter().map(|name| ((*name).to_owned(), json!({ "command": who }))).collect();
        json!({ "servers": servers }).to_string()
    };
    let skill = "---\nname: s\ndescription: S.\n---\nS.";
    let rule = |id: &str, text: &str| format!("---\nid: {id}\n---\n{text}");
    let make = |who: &'static str, names: &[&str]| {
        let texts = [
            ("subagents.json".to_owned(), subagents(who, names)),
            ("mcp.json".to_owned(), servers(who, names)),
            (format!("rules/{who}.md"), rule("style", who)),
            ("rules/same-place.md".to_owned(), rule(&format!("own-{who}"), who)),
            (format!("knowledge/{who}.md"), who.to_owned()),
            ("knowledge/shared.md".to_owned(), who.to_owned()),
            ("skills/s/SKILL.md".to_owned(), skill.to_owned()),
            (format!("skills/s/{who}.txt"), who.to_owned()),
        ];
        texts.to_vec()
    };
    let as_files = |texts: &[(String, String)]| texts.to_vec();
    let of = |name: &str, packages: &[&str], texts: &[(String, String)]| {
        let texts = as_files(texts);
        let borrowed: Vec<_> = texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        package(name, packages, &borrowed)
    };
    shelve(&shop, &mut known, "h.io/deep:1", &of("deep", &[], &make("deep", &["a", "b", "c", "d"])));
    shelve(&shop, &mut known, "h.io/one:1", &of("one", &[], &make("one", &["a", "b", "c"])));
    shelve(&shop, &mut known, "h.io/two:1", &of("two", &["h.io/deep:1"], &make("two", &["a", "b"])));
    let mut files =
        project(&[("agent.json", &dependent(&["h.io/one:1", "h.io/two:1"], r#","subagents":"./subagents.json""#))]);
    files.insert("subagents.json", subagents("own", &["a"]), false);
    let built = shop.build_with(&files, BytesOf::Specification, &known).unwrap();
    let bundle = Bundle::open(&shop.layout, built.descriptor.digest, BYTES_MAX).unwrap();
    let assembly = Assembly::of(shop.shelf(&known), bundle).unwrap();
    let order: Vec<_> = assembly.packages.iter().map(|package| package.name.as_str()).collect();
    assert_eq!(order, ["deep", "one", "two"]);
    let merged = assembly.files(&shop.layout, Wanted::Everything).unwrap();
    let text = |path: &str| String::from_utf8(merged.read(path).unwrap_or_else(|_| panic!("{path}"))).unwrap();
    let winners = ["a", "b", "c", "d"].map(|name| text(&format!("subagents/{name}.md")));
    assert_eq!(winners, ["own", "two", "one", "deep"]);
    let servers: Value = serde_json::from_str(&text("mcp.json")).unwrap();
    let winners = ["a", "b", "c", "d"].map(|name| servers["servers"][name]["command"].clone());
    assert_eq!(winners, ["two", "two", "one", "deep"]);
    assert_eq!(text("knowledge/shared.md"), "two");
    assert_eq!(text("knowledge/deep.md"), "deep");
    assert_eq!(merged.list("skills/s").unwrap(), ["SKILL.md", "two.txt"], "a skill is replaced whole");
    let rules = entourage_declare::rules_in(&merged, "rules");
    let ids: Vec<_> = rules.iter().map(|rule| (rule.id.as_str(), rule.text.trim())).collect();
    assert_eq!(ids, [("own-deep", "deep"), ("own-one", "one"), ("own-two", "two"), ("style", "two")]);
}

#[test]
fn secrets_may_be_declared_by_packages() {
    let (shop, mut known) = (Shop::new(), Known::default());
    let wanting = |names: &[&str], key: &str| {
        let servers = names.iter().map(|name| ((*name).to_owned(), json!({ "command": "c", "secrets": [key] })));
        json!({ "servers": Value::Object(servers.collect()) }).to_string()
    };
    let declaring = "export default { name: 'keys', version: '1.0.0', secrets: [{ key: 'TOKEN', required: true }] };";
    shelve(&shop, &mut known, "h.io/keys:1", &project(&[("package.ts", declaring)]));
    // Whoever depends on a package may declare what it wants.
    let servers = package("servers", &[], &[("mcp.json", &wanting(&["theirs"], "OTHER"))]);
    let built = shelve(&shop, &mut known, "h.io/servers:1", &servers);
    let said = |built: &Built| built.warnings.iter().map(|report| report.code.0).collect::<Vec<_>>();
    assert_eq!(said(&built), ["D067"]);
    let on_top = package("on-top", &["h.io/servers:1"], &[("mcp.json", &wanting(&["mine"], "TOKEN"))]);
    assert_eq!(said(&shelve(&shop, &mut known, "h.io/on-top:1", &on_top)), ["D067", "D067"]);

    let build = |packages: &[&str], names: &[&str], more: &str| {
        let definition = dependent(packages, &format!(r#","mcp":"./mcp.json"{more}"#));
        let files = project(&[("agent.json", &definition), ("mcp.json", &wanting(names, "TOKEN"))]);
        shop.build_with(&files, BytesOf::Specification, &known).map(|built| said(&built)).map_err(codes)
    };
    assert_eq!(build(&["h.io/keys:1"], &["own"], ""), Ok(vec![]));
    assert_eq!(build(&[], &["own"], ""), Err((1, vec!["D067"])));
    assert_eq!(build(&["h.io/servers:1"], &["theirs"], ""), Err((1, vec!["D067"])), "the package declares none");
    assert_eq!(build(&["h.io/keys:1", "h.io/servers:1"], &["own"], ""), Err((1, vec!["D067"])), "nobody has `OTHER`");
    assert_eq!(build(&["h.io/keys:1", "h.io/servers:1"], &["theirs"], ""), Ok(vec![]), "the server is replaced");
    let other = r#","secrets":[{"key":"OTHER","required":true}]"#;
    assert_eq!(build(&["h.io/keys:1", "h.io/servers:1"], &["own"], other), Ok(vec![]));
}

#[test]
fn a_circle_is_told_as_a_path() {
    // A package cannot be built before what it depends on, so that a circle comes about when a tag moves.
    let (shop, mut known) = (Shop::new(), Known::default());
    shelve(&shop, &mut known, "h.io/b:1", &package("b", &[], &[]));
    shelve(&shop, &mut known, "h.io/a:1", &package("a", &["h.io/b:1"], &[]));
    let circle = reference_built(&shop, &known, "b", &["h.io/a:1"]);
    known.packages[0].1 = circle.descriptor.digest;
    let files = project(&[("agent.json", &dependent(&["h.io/b:1"], ""))]);
    let fault = shop.build_with(&files, BytesOf::Specification, &known).unwrap_err();
    let conflict_or_circle = fault.exit() as u8;
    let what = fault.into_reports().remove(0).what;
    assert_eq!(conflict_or_circle, 4);
    assert!(what.contains("h.io/b:1 -> h.io/a:1 -> h.io/b:1"), "{what}");
}

/// The reference program's artifacts name packages without digests.
fn reference_built(shop: &Shop, known: &Known, name: &str, packages: &[&str]) -> Built {
    shop.build_with(&package(name, packages, &[]), BytesOf::ReferenceProgram, known).unwrap()
}

#[test]
fn a_chain_may_have_thirty_two_packages() {
    let (shop, mut known) = (Shop::new(), Known::default());
    let text = |at: usize| format!("h.io/p{at}:1");
    shelve(&shop, &mut known, &text(0), &package("p0", &[], &[]));
    for at in 1..33 {
        let files = package(&format!("p{at}"), &[&text(at - 1)], &[]);
        let result = shop.build_with(&files, BytesOf::Specification, &known);
        match (at, result) {
            (33.., _) => unreachable!("the loop ends before"),
            (_, Ok(built)) => known.packages.push((text(at), built.descriptor.digest)),
            (at, Err(fault)) => panic!("{at}: {:?}", fault.into_reports()),
        }
    }
    let build = |at: usize| {
        let files = project(&[("agent.json", &dependent(&[&text(at)], ""))]);
        shop.build_with(&files, BytesOf::Specification, &known).map_err(codes)
    };
    build(31).expect("a chain of 32");
    assert_eq!(build(32).unwrap_err(), (4, vec!["B019"]), "a chain of 33");
}

#[test]
fn a_package_that_cannot_be_had_is_named() {
    let (shop, mut known) = (Shop::new(), Known::default());
    let files = project(&[("agent.json", &dependent(&["h.io/gone:1"], ""))]);
    let before = shop.snapshot();
    let build =
        |known: &Known, files: &MemoryFiles| shop.build_with(files, BytesOf::Specification, known).map_err(codes);
    assert_eq!(build(&known, &files).unwrap_err(), (4, vec!["B017", "B002"]));
    assert_eq!(shop.snapshot(), before);
    let plain = project(&[("agent.json", &agent(""))]);
    let built = shop.try_build(&plain, BytesOf::Specification).unwrap();
    known.packages.push(("h.io/gone:1".to_owned(), built.descriptor.digest));
    assert_eq!(build(&known, &files).unwrap_err(), (4, vec!["B021"]), "an agent is no package");
}

/// `a:1` and `b:1` were built with different ones of `c:1`. Those two.
fn at_odds(shop: &Shop, known: &mut Known) -> [Digest; 2] {
    let old = shelve(shop, known, "h.io/c:1", &package("c", &[], &[("rules/a.md", "Old.")]));
    shelve(shop, known, "h.io/a:1", &package("a", &["h.io/c:1"], &[]));
    known.packages.retain(|(text, _)| text != "h.io/c:1");
    let new = shelve(shop, known, "h.io/c:1", &package("c", &[], &[("rules/a.md", "New.")]));
    shelve(shop, known, "h.io/b:1", &package("b", &["h.io/c:1"], &[]));
    [old.descriptor.digest, new.descriptor.digest]
}

#[test]
fn one_reference_means_one_artifact_whoever_comes_first() {
    let (shop, mut known) = (Shop::new(), Known::default());
    let [old, new] = at_odds(&shop, &mut known);
    let build = |packages: [&str; 2]| {
        let packages = packages.map(|name| format!("h.io/{name}:1"));
        let files = project(&[("agent.json", &dependent(&packages.each_ref().map(String::as_str), ""))]);
        shop.build_with(&files, BytesOf::Specification, &known)
    };
    let (by_a, by_b) = ("by `h.io/a:1`", "by `h.io/b:1`");
    let cases = [
        (["a", "b"], [(old, by_a), (new, by_b)]),
        (["b", "a"], [(new, by_b), (old, by_a)]),
        (["a", "c"], [(old, by_a), (new, "directly")]),
        (["c", "a"], [(new, "directly"), (old, by_a)]),
    ];
    for (packages, [(one, by_one), (other, by_other)]) in cases {
        let fault = build(packages).unwrap_err();
        assert_eq!(fault.exit() as u8, 4);
        let report = fault.into_reports().remove(0);
        assert_eq!(report.code.0, "B020");
        assert_eq!(report.what, format!("`h.io/c:1` is wanted as `{one}` {by_one}, and as `{other}` {by_other}"));
    }
    build(["b", "c"]).unwrap();
    build(["c", "b"]).unwrap();
}

/// A lock as a person writes it.
fn decision(text: &str, digest: Digest) -> String {
    json!({ "lockVersion": 1, "specVersion": "1.0.0", "packages": { text: { "digest": digest } } }).to_string()
}

#[test]
fn the_lock_decides_what_packages_are_at_odds_about() {
    let (shop, mut known) = (Shop::new(), Known::default());
    for decided in at_odds(&shop, &mut known) {
        let lock = decision("h.io/c:1", decided);
        let agent = dependent(&["h.io/a:1", "h.io/b:1"], "");
        let files = project(&[("agent.json", &agent), ("stax.lock", &lock)]);
        let built = shop.build_with(&files, BytesOf::Specification, &known).unwrap();
        let lock = Lock::parse(built.lock.as_deref().unwrap()).unwrap();
        assert_eq!(lock.digest("h.io/c:1"), Some(decided));
        // Whoever uses the artifact has no lock.
        let bundle = shop.open(built.descriptor.digest).unwrap();
        assert_eq!(bundle.lock, lock);
        let assembly = Assembly::of(shop.shelf(&Offline), bundle).unwrap();
        let order: Vec<_> = assembly.packages.iter().map(|package| package.name.as_str()).collect();
        assert_eq!(order, ["c", "a", "b"]);
        assert_eq!(assembly.packages[0].digest, decided);
    }
}

#[test]
fn what_was_decided_for_a_package_holds_for_whoever_depends_on_it() {
    let (shop, mut known) = (Shop::new(), Known::default());
    let [old, new] = at_odds(&shop, &mut known);
    let mut both = package("both", &["h.io/a:1", "h.io/b:1"], &[]);
    both.insert("stax.lock", decision("h.io/c:1", old), false);
    shelve(&shop, &mut known, "h.io/both:1", &both);
    let agent = dependent(&["h.io/both:1"], "");
    let pinned = |files: &MemoryFiles| {
        let built = shop.build_with(files, BytesOf::Specification, &known).unwrap();
        Lock::parse(&built.lock.unwrap()).unwrap().digest("h.io/c:1")
    };
    let mut files = project(&[("agent.json", &agent)]);
    assert_eq!(pinned(&files), Some(old));
    // Its own lock is nearer.
    files.insert("stax.lock", decision("h.io/c:1", new), false);
    assert_eq!(pinned(&files), Some(new));
}

#[test]
fn an_artifact_of_others_that_is_at_odds_with_itself_is_refused() {
    let (shop, mut known) = (Shop::new(), Known::default());
    at_odds(&shop, &mut known);
    let files = project(&[("agent.json", &dependent(&["h.io/a:1", "h.io/b:1"], ""))]);
    let built = shop.build_with(&files, BytesOf::ReferenceProgram, &known).unwrap();
    let bundle = shop.open(built.descriptor.digest).unwrap();
    let fault = Assembly::of(shop.shelf(&known), bundle).unwrap_err();
    assert_eq!(codes(fault), (4, vec!["B020"]));
}

#[test]
fn an_extracted_agent_is_built_with_the_packages_that_it_was_built_with() {
    let (shop, mut known) = (Shop::new(), Known::default());
    let [old, _] = at_odds(&shop, &mut known);
    let files = project(&[("agent.json", &dependent(&["h.io/a:1"], ""))]);
    let built = shop.build_with(&files, BytesOf::Specification, &known).unwrap();
    let folder = shop.folder.path().join("out");
    let names = extract(&shop.open(built.descriptor.digest).unwrap(), &shop.layout, &folder).unwrap();
    assert_eq!(names, ["agent.json", "stax.lock", "packages.json"]);
    let extracted = on_disk(&folder);
    let lock = extracted.read("stax.lock").unwrap();
    assert_eq!(Some(&lock), built.lock.as_ref());
    assert_eq!(Lock::parse(&lock).unwrap().digest("h.io/c:1"), Some(old));
    // All tags have moved, or nobody knows them any more.
    let again = shop.try_build(&extracted, BytesOf::Specification).unwrap();
    assert_eq!(again.descriptor.digest, built.descriptor.digest);
}

#[test]
fn a_package_alone_is_no_project() {
    let (shop, mut known) = (Shop::new(), Known::default());
    let built = shelve(&shop, &mut known, "h.io/x:1", &package("x", &[], &[("rules/a.md", "A.")]));
    let bundle = shop.open(built.descriptor.digest).unwrap();
    let fault: Fault = bundle.files(&shop.layout, Wanted::Everything).unwrap_err();
    assert_eq!(codes(fault), (1, vec!["B015"]));
    assert!(bundle.manifest.layer(LayerKind::Rules).is_some());
}

#[test]
fn a_lock_that_is_none_is_the_authors_fault() {
    let shop = Shop::new();
    let files = project(&[("agent.json", &agent("")), ("stax.lock", "{}")]);
    assert_eq!(codes(shop.try_build(&files, BytesOf::Specification).unwrap_err()), (1, vec!["B027"]));
    Lock::parse(b"{}").unwrap_err();
}
