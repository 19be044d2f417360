//! Lines that once slipped past, each with an honest one as its control.

use super::super::{Act, Rules, ToolCall, judge_call};
use super::{Ruling, ground};

pub(super) const ZONE: Option<&[&str]> = Some(&["in/**"]);

pub(super) fn ruled_in(here: &str, act: Act, zone: Option<&[&str]>) -> Ruling {
    let call = ToolCall { here: None, act };
    let mut ground = ground(zone);
    ground.here = here.into();
    judge_call(&call, &Rules::default(), &ground).ruling
}

#[track_caller]
pub(super) fn assert_in(
    here: &str,
    lines: &[&str],
    zone: Option<&[&str]>,
    fits: impl Fn(Ruling) -> bool,
) {
    let judged = lines
        .iter()
        .map(|line| (line, ruled_in(here, Act::Run((*line).to_owned()), zone)));
    let wrong: Vec<_> = judged.filter(|(_, it)| !fits(*it)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

pub(super) fn forbidden(it: Ruling) -> bool {
    it == Ruling::Forbid
}

pub(super) fn asked(it: Ruling) -> bool {
    it >= Ruling::Prompt
}

pub(super) fn free(it: Ruling) -> bool {
    it <= Ruling::Leave
}

#[test]
fn a_stash_takes_the_session_along_however_it_is_spelt() {
    assert_in(
        "/w",
        &[
            "git stash -qu",
            "git stash push -qu",
            "git stash save --include-u",
            "git stash --al",
            "git stash -ka -m x",
            "git --attr-source HEAD stash -u",
        ],
        None,
        forbidden,
    );
    let honest = [
        "git stash",
        "git stash push -m update",
        "git stash pop",
        "git stash list",
        "git stash show -u",
    ];
    assert_in("/w", &honest, None, free);
}

#[test]
fn this_programs_own_commands_write_where_edits_may() {
    assert_in(
        "/w",
        &[
            "comail export --force --format jsonl .claude/settings.json",
            "comail --json export rules.toml --force",
            "comail report --html .claude/settings.json --force",
        ],
        None,
        forbidden,
    );
    assert_in(
        "/w",
        &[
            "comail export tests/test_a.py",
            "comail export --only pass tests/test_a.py",
            "comail report --html=known",
            "comail quest new x --out known",
            "comail schema --out tests",
            "comail man tests",
            "comail review --export known",
            "comail demo --dir known",
        ],
        ZONE,
        forbidden,
    );
    assert_in(
        "/w",
        &[
            "comail export",
            "comail export in/out.csv --only pass,review --columns email",
            "comail export --format jsonl /dev/stdout",
            "comail report --html in/page.html",
            "comail report --min-pass 80%",
            "comail quest check in/kind.toml --tree .",
            "comail schema submit",
            "comail man in",
            "comail review show 3",
        ],
        ZONE,
        free,
    );
}

#[test]
fn a_shell_goes_up_from_the_name_of_a_link() {
    // `/w/x/deep` leads to `/a/b/c/d`.
    let up = [
        "cd deep/../.. && find . -delete",
        "cd deep && cd ../.. && find . -delete",
        "cd deep && cd .. && cd .. && rm -rf .comail",
        "cd deep/../../.comail && rm -f head",
    ];
    assert_in("/w/x", &up, None, forbidden);
    assert_in(
        "/w/x",
        &["cd deep/.. && echo x > ../known"],
        ZONE,
        forbidden,
    );
    assert_in("/w/x", &["cd deep && find . -delete"], None, free);
}

#[test]
fn a_tilde_is_the_home_directory_too() {
    let lines = [
        "echo x > ~/y.md",
        "cp a.py ~/y.md",
        "tee ~/.bashrc",
        "dd of=~/x",
        "curl -o ~/x http://x",
    ];
    assert_in("/w/in", &lines, ZONE, forbidden);
    let edit = |path: &str| ruled_in("/w/in", Act::Edit(vec![path.to_owned()]), ZONE);
    assert_eq!(edit("~/y.md"), Ruling::Forbid);
    assert_eq!(edit("y.md~"), Ruling::Allow);
    assert_in("/w/in", &["echo x > y.md~"], ZONE, free);
}

#[test]
fn other_tools_keep_off_what_steers_too() {
    let act = |text: &str| ruled_in("/w", Act::Other(vec![text.to_owned()]), None);
    for text in [
        ".claude/settings.json",
        "/w/.claude",
        "RULES.toml",
        "sed -i d .claude/settings.json",
        "{\"path\":\"rules.toml\"}",
    ] {
        assert_eq!(act(text), Ruling::Prompt, "{text}");
    }
    for text in ["a.claude", "settings.json", "the rules of the house", "."] {
        assert_eq!(act(text), Ruling::Leave, "{text}");
    }
    let call = |input: &str| {
        let call = format!(r#"{{"tool_name":"exec_command","cwd":"/w","tool_input":{input}}}"#);
        let call = ToolCall::read(call.as_bytes()).unwrap();
        judge_call(&call, &Rules::default(), &ground(None)).ruling
    };
    assert_eq!(
        call(r#"{"cmd":"sed -i d .claude/settings.json"}"#),
        Ruling::Forbid
    );
    assert_eq!(call(r#"{"cmd":"ls"}"#), Ruling::Leave);
}

#[test]
fn what_takes_a_steering_variable_away_is_asked_about() {
    assert_in(
        "/w",
        &[
            "env -u COMAIL_WORKER comail next",
            "env -uCOMAIL_WORKER comail next",
            "env --unset=COMAIL_WORKER comail next",
            "env -i comail next",
            "env - comail next",
            "unset COMAIL_WORKER; comail next",
            "unset -v PATH",
            "export -n COMAIL_WORKER; comail next",
            "declare +x COMAIL_WORKER",
            "read COMAIL_WORKER <<< x; comail next",
            "printf -v COMAIL_WORKER x; comail next",
            "for COMAIL_WORKER in x; do comail next; done",
        ],
        None,
        asked,
    );
    let honest = [
        "env -u LANG make",
        "unset LANG",
        "read x",
        "printf PATH",
        "export -n x",
    ];
    assert_in("/w", &honest, None, free);
}
