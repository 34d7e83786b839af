//! A project that keeps an imported file has its agent, and gives it back.

use super::fixtures::{FILES, file};
use crate::kit::{imported, loaded, page, team};
use entourage_declare::{Format, MemoryFiles, export};
use entourage_model::Name;

#[test]
fn an_agent_is_exported_from_a_project_as_from_its_file() {
    for (format, ..) in FILES {
        let (path, text) = file(format);
        let imported = imported(path, &text);
        let [agent] = imported.agents.as_slice() else { panic!("{imported:?}") };
        let loaded = loaded(&MemoryFiles::from_iter([(agent.path.as_str(), agent.text.as_str())]));
        let found = loaded.team.agent(&agent.name).unwrap_or_else(|| panic!("{format}: {:?}", loaded.reports));
        assert_eq!(found.source.format, format.name());
        assert_eq!(found.source.file.as_deref(), Some(agent.path.as_str()));
        let names = [agent.name.clone()];
        for to in Format::ALL {
            let by_hand = export(&team(&imported), &names, to);
            assert_eq!(export(&loaded.team, &names, to).ok(), by_hand.ok(), "{format} → {to}");
        }
    }
}

#[test]
fn what_the_project_changed_since_is_exported() {
    let (path, text) = file(Format::Gemini);
    let imported = imported(path, &text);
    let kept = imported.agents[0].text.replacen("name: mender_2", "name: helper", 1);
    let kept =
        kept.replacen("description: Mends tests", "description: Helps", 1).replace("You mend tests.", "You help.");
    let loaded = loaded(&MemoryFiles::from_iter([(".agents/agents/any.md", kept)]));
    let written = export(&loaded.team, &[Name::from("helper")], Format::Gemini).expect("it can be exported");
    let (keys, body) = page(&written.files[0].1);
    assert_eq!(written.files[0].0, ".gemini/agents/helper.md");
    assert_eq!((&keys["name"], &keys["description"]), (&"helper".into(), &"Helps".into()));
    assert!(body.starts_with("\nYou help.\n"), "{body}");
}
