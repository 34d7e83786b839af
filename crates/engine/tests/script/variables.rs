//! What variables hold, where a model sees them, and which of them reach a child.

use crate::check;

#[test]
fn a_prompt_says_what_its_variables_hold_and_nothing_where_they_hold_nothing() {
    check(
        "boss says=REGION,NOTHING,NAME env=NAME:boss",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        > StartRun r1
        > CallModel boss a 0
        | system "You are boss/a.   boss"
        | user "hi"
        "#,
    );
}

#[test]
fn the_thread_goes_before_the_agent_the_prompt_the_user_and_everybody() {
    let everywhere = "everybody A=0 B=0 C=0 D=0 E=0\nuser alice A=1 B=1 C=1 D=1\nthread boss of=alice";
    check(
        &format!("boss says=A,B,C,D,E,F tools=note env=A:3,B:3 prompt_env=A:2,B:2,C:2\ntool note\n{everywhere}"),
        r#"
        < ask r1 hi ...
        < model | k1=note ...
        < tool k1 done noted ; env A 4
        ! VariablesSet A=4
        ! CallEnded k1 note done "noted"
        > CallModel boss a 1
        | system "You are boss/a. 4 3 2 1 0 "
        | user "hi"
        | assistant "" k1
        | tool k1 "noted"
        "#,
    );
}

#[test]
fn another_users_variables_are_not_read() {
    check(
        "boss says=A\nuser alice A=1\nthread boss of=bob",
        r#"
        < ask r1 hi
        ! SessionStarted a
        ! Posted user "hi" r1
        > StartRun r1
        > CallModel boss a 0
        | system "You are boss/a. "
        | user "hi"
        "#,
    );
}

#[test]
fn no_model_is_shown_a_secret_or_a_scoped_variable() {
    check(
        "boss says=TOKEN,KEY,PIN,REGION tools=note env=TOKEN:t0,KEY:k0,REGION:north\ntool note secret=TOKEN scoped=KEY",
        r#"
        < ask r1 hi ...
        < model | k1=note ...
        < tool k1 done noted ; env TOKEN t1 ; env KEY k1 ; secret PIN p1
        ! VariablesSet TOKEN=t1
        ! VariablesSet KEY=k1
        ! VariablesSet secret PIN=p1
        ! CallEnded k1 note done "noted"
        > CallModel boss a 1
        | system "You are boss/a.    north"
        | user "hi"
        | assistant "" k1
        | tool k1 "noted"
        "#,
    );
}

#[test]
fn a_child_begins_with_its_parents_variables() {
    check(
        "boss tools=note children=writer&\ntool note\nwriter says=A",
        r#"
        < ask r1 hi ...
        < model | k1=note ...
        < tool k1 done noted ; env A 1 ; secret B 2 ...
        < model | k2=writer {"message":"go"}
        ! Answered a "" k2
        ! ChildStarted c1 writer r2 background
        ! CallEnded k2 writer done "The subagent was initiated successfully. Reference: @c1"
        > Spawn c1 writer depth=1 VariablesSet A=1 secret B=2 Message user "go" r2->t0
        > CallModel boss a 2
        "#,
    );
}

#[test]
fn a_scoped_variable_reaches_a_child_only_if_it_is_given_to_it() {
    let team = "tool note scoped=A,B\ntool deep scoped=C\nwriter tools=note children=scout&\nscout tools=deep";
    let variables = "< ask r1 hi ...
        < model | k1=note ...
        < tool k1 done noted ; env A 1 ; env B 2 ; env C 3 ; env D 4 ...
        < model | k2=writer {\"message\":\"go\"}
        ! Answered a \"\" k2
        ! ChildStarted c1 writer r2 background
        ! CallEnded k2 writer done \"The subagent was initiated successfully. Reference: @c1\"";
    for (gives, reached) in [("", "D=4"), ("gives=A", "A=1 D=4"), ("gives=C,B", "B=2 C=3 D=4")] {
        check(
            &format!("boss tools=note children=writer& {gives}\n{team}"),
            &format!(
                "{variables}
                > Spawn c1 writer depth=1 VariablesSet {reached} Message user \"go\" r2->t0
                > CallModel boss a 2"
            ),
        );
    }
}
