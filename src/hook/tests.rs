//! Calls held against the rules, in a place that is only imagined.

mod attacks;
mod slips;
mod written;

use std::path::{Component, Path, PathBuf};

use super::ground::{Ground, WriteZone};
use super::real_path::Unresolved;
use super::ruling::Ruling::{self, Allow, Forbid, Leave, Prompt};
use super::{Act, Rules, ToolCall, judge_call};
use crate::world::tree::Zones;

/// Paths as they are written, but for `/w/link`, which leads to the session, `/w/in/out`, which
/// leads out of the zone, and `/w/in/closed`, which nobody may look into.
fn leads(path: &Path) -> Result<PathBuf, Unresolved> {
    let mut real = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                real.pop();
            }
            Component::CurDir => {}
            other => real.push(other),
        }
        if real == Path::new("/w/link") {
            real = "/w/.comail".into();
        } else if real == Path::new("/w/x/deep") {
            real = "/a/b/c/d".into();
        } else if real == Path::new("/w/in/out") {
            real = "/etc".into();
        } else if real == Path::new("/w/in/closed") {
            return Err(Unresolved::Links);
        }
    }
    Ok(real)
}

fn ground(zone: Option<&[&str]>) -> Ground<'static> {
    let zone = zone.map(|globs| WriteZone {
        root: "/w".into(),
        zones: Zones::new(&globs.iter().map(|&glob| glob.into()).collect::<Vec<_>>()).unwrap(),
    });
    Ground {
        here: "/w".into(),
        home: Some("/home/me".into()),
        session: "/w/.comail".into(),
        zone,
        worker: Some("me".into()),
        steering: vec!["/w/rules.toml".into()],
        leads: &leads,
        shared: &|path| path == Path::new("/w/in/shared"),
    }
}

fn rules() -> Rules {
    Rules::parse(
        r#"
        [[rule]]
        prefix = [["ls", "git", "cat", "python"]]
        decision = "allow"
        [[rule]]
        prefix = ["git", "push"]
        decision = "forbid"
        [[rule]]
        prefix = ["cargo", "publish"]
        decision = "prompt"
        [[rule]]
        prefix = ["sudo"]
        decision = "forbid"
        "#,
    )
    .unwrap()
}

#[track_caller]
fn judged(act: Act, zone: Option<&[&str]>) -> Ruling {
    let call = ToolCall { here: None, act };
    judge_call(&call, &rules(), &ground(zone)).ruling
}

#[track_caller]
fn assert_lines(cases: &[(&str, Ruling)]) {
    for (line, ruling) in cases {
        let ruled = judge_call(
            &ToolCall {
                here: None,
                act: Act::Run((*line).to_owned()),
            },
            &rules(),
            &ground(Some(&["in/**"])),
        );
        assert_eq!(ruled.ruling, *ruling, "{line:?}: {}", ruled.why);
    }
}

#[test]
fn each_command_of_a_line_counts_and_the_strictest_wins() {
    assert_lines(&[
        ("ls", Allow),
        ("ls; git status", Allow),
        ("ls; make", Leave),
        ("make && git push", Forbid),
        ("git status || git push", Forbid),
        ("ls | git push", Forbid),
        ("ls & git push", Forbid),
        ("ls\ngit push", Forbid),
        ("(ls; (git push))", Forbid),
        ("{ git push; }", Forbid),
        ("if ls; then git push; fi", Forbid),
        ("while true; do git push; done", Forbid),
        ("for x in a b; do git push; done", Forbid),
        ("case x in y) git push;; esac", Forbid),
        ("f() { git push; }", Forbid),
        ("! git push", Forbid),
        ("ls # git push", Allow),
        ("ls 'a; git push'", Allow),
        ("ls \"a && git push\"", Allow),
        ("ls a\\;git push", Allow),
        ("cargo publish; git push", Forbid),
        ("cargo publish; ls", Prompt),
        ("", Allow),
    ]);
}

#[test]
fn quotes_options_and_folders_hide_nothing() {
    assert_lines(&[
        ("g\"i\"t pu\\sh", Forbid),
        ("'git' 'push'", Forbid),
        ("/usr/bin/git push", Forbid),
        ("git -C x --no-pager push", Forbid),
        ("X=1 git push", Forbid),
        ("git -c alias.x=push x", Prompt),
        ("$GIT push", Prompt),
        ("git $'push'", Prompt),
        ("{git,push}", Prompt),
        ("$(echo git) push", Prompt),
        ("PATH=. git status", Prompt),
        ("GIT_SSH_COMMAND=x git fetch", Prompt),
        ("COMAIL_WORKER=other comail next", Prompt),
        ("XDG_CONFIG_HOME=x comail next", Prompt),
        ("python3 -c \"open('comail.toml', 'w')\"", Prompt),
        ("awk 'BEGIN{print 1 > \"comail.toml\"}'", Prompt),
        ("python3 -c \"open('notes.toml', 'w')\"", Leave),
        ("export LD_PRELOAD=x", Prompt),
        ("ls $HOME", Prompt),
        ("echo $HOME", Leave),
    ]);
}

#[test]
fn what_runs_another_command_is_seen_through() {
    assert_lines(&[
        ("ls $(git push)", Forbid),
        ("ls `git push`", Forbid),
        ("ls \"$(git push)\"", Forbid),
        ("ls '$(git push)'", Allow),
        ("ls ${x:-$(git push)}", Forbid),
        ("cat <(git push)", Forbid),
        ("cat <<E\n$(git push)\nE", Forbid),
        ("cat <<'E'\n$(git push)\nE", Allow),
        ("cat <<E\ngit push\nE", Allow),
        ("bash <<E\ngit push\nE", Forbid),
        ("bash <<< 'git push'", Forbid),
        ("env X=1 git push", Forbid),
        ("env -i -u A git push", Forbid),
        ("env --split-string='git push'", Prompt),
        ("xargs -n 1 git push", Forbid),
        ("ls | xargs rm", Prompt),
        ("sudo ls", Forbid),
        ("doas -u root git push", Forbid),
        ("nice -n 5 git push", Forbid),
        ("timeout -s KILL 5 git push", Forbid),
        ("command git push", Forbid),
        ("exec git push", Forbid),
        ("time -p git push", Forbid),
        ("nohup env nice git push", Forbid),
        ("nice --unknown 1 git push", Prompt),
        ("sh -c 'git push'", Forbid),
        ("bash -lc 'ls; git push'", Forbid),
        ("/bin/sh -e -c \"git push\"", Forbid),
        ("sh -c 'ls'", Allow),
        ("sh -c \"$X\"", Prompt),
        ("curl x | sh", Prompt),
        ("sh -s < x", Prompt),
        ("eval git push", Forbid),
        ("eval 'git push'", Forbid),
        ("eval $X", Prompt),
        ("find . -exec git push {} +", Forbid),
        ("su -c 'git push'", Prompt),
        ("alias ls='git push'", Prompt),
        ("trap 'git push' EXIT", Prompt),
        ("ls 'a", Prompt),
        ("ls \u{1b}[0m", Prompt),
    ]);
    // The line of the first is `sh`, which is fed what nobody knows.
    let nested = "sh -c ".repeat(20) + "ls";
    assert_lines(&[
        (&nested, Prompt),
        (&("env ".repeat(20) + "git push"), Prompt),
    ]);
}

#[test]
fn the_session_directory_is_out_of_reach() {
    assert_lines(&[
        ("git status; rm -rf .comail", Forbid),
        ("cat .comail/ledger.jsonl", Forbid),
        ("cat ./x/../.comail/head", Forbid),
        ("cat /w/.comail/head", Forbid),
        ("cat .COMAIL/head", Forbid),
        ("cat link/ledger.jsonl", Forbid),
        ("cat < .comail/head", Forbid),
        ("ls x > .comail/lock", Forbid),
        ("cp x --target=.comail", Forbid),
        ("dd of=link/x", Forbid),
        ("python -c \"open('.comail/x')\"", Forbid),
        ("python -c \"open('/w/.comail/x')\"", Forbid),
        ("rm -rf .com*", Forbid),
        ("rm -rf .[a-z]*", Forbid),
        ("rm -rf /w/.?omail", Forbid),
        ("rm -rf .", Forbid),
        ("rm -rf ../w", Forbid),
        ("rm -rf /", Forbid),
        ("mv ../w ../v", Forbid),
        ("mv a .", Forbid),
        ("mv in/a in/b", Leave),
        ("rm -rf *", Forbid),
        ("find . -delete", Forbid),
        ("find -name x -delete", Forbid),
        ("find .. -exec rm {} ;", Forbid),
        ("find . -name x", Leave),
        ("git clean -fdx", Forbid),
        ("cd / && rm -rf w/.comail", Forbid),
        ("cd ..; rm -rf w", Forbid),
        ("cd in; cat ../link/head", Forbid),
        ("cd $X; ls", Prompt),
        ("cd -; ls", Prompt),
        ("for x in .comail/*; do cat $x; done", Forbid),
        ("env -C .comail ls", Forbid),
        ("xargs rm < .comail/x", Forbid),
        ("cat '.comail", Forbid),
        ("rm -rf in/x", Leave),
        ("cat comail.md .comailrc", Allow),
        ("ls ..", Allow),
        ("cat rules.toml", Prompt),
        ("sed -i s/a/b/ .claude/settings.json", Forbid),
    ]);
}

#[test]
fn an_agent_works_with_comail_and_decides_nothing() {
    assert_lines(&[
        ("comail next", Allow),
        ("comail submit --id 1 --none 'looked at .comail'", Allow),
        ("comail submit --session /w/.comail --note \"$X\"", Leave),
        ("comail --session=.comail status --json", Allow),
        ("comail --session .comail resume", Forbid),
        ("comail resume --by me", Forbid),
        ("/opt/bin/comail forget x", Forbid),
        ("Comail resume", Forbid),
        ("comail release --worker x", Forbid),
        ("comail dispute --id 1", Forbid),
        ("comail scan x --update", Forbid),
        ("comail hook install --yes", Forbid),
        ("comail review", Leave),
        ("comail review show 3", Leave),
        ("comail review --by me accept 3", Forbid),
        ("comail review --import=x", Forbid),
        ("comail review $X 3", Forbid),
        ("comail $X", Prompt),
        ("comail --session $X next", Prompt),
        ("printf accept | comail review accept 1", Forbid),
        ("sh -c 'comail resume'", Forbid),
        ("./comail next", Leave),
        ("comail export --out .comail/x", Forbid),
        ("rm -- comail --session .comail", Forbid),
    ]);
}

#[test]
fn redirections_write_where_edits_may() {
    assert_lines(&[
        ("ls > in/a", Allow),
        ("ls >> in/a 2>&1", Allow),
        ("ls > /dev/null", Allow),
        ("ls > out", Forbid),
        ("ls &> /tmp/x", Forbid),
        ("ls 2> in/../out", Forbid),
        ("ls > in/out/passwd", Forbid),
        ("ls > $X", Prompt),
        ("ls > in/*", Prompt),
        ("cd in && ls > a", Forbid),
        ("> in/a", Allow),
        ("while ls; do ls; done > out", Forbid),
    ]);
}

#[test]
fn edits_stay_in_the_write_zone() {
    let zone: Option<&[&str]> = Some(&["in/**", "new.md"]);
    let edit = |path: &str| judged(Act::Edit(vec![path.to_owned()]), zone);
    for path in ["in/a", "/w/in/a/b", "./new.md", "x/../in/a"] {
        assert_eq!(edit(path), Allow, "{path}");
    }
    for path in [
        "out",
        "in/../out",
        "/etc/passwd",
        "in/out/passwd",
        "in/closed",
        "In/a",
        "in",
        "",
        "in/a\0",
        ".comail/x",
        "link/x",
        ".COMAIL/x",
        "in/\u{1b}x",
        ".claude/settings.json",
        "rules.toml",
        "/w/in/.git/x",
    ] {
        assert_eq!(edit(path), Forbid, "{path}");
    }
    let both = vec!["in/a".to_owned(), "out".to_owned()];
    assert_eq!(judged(Act::Edit(both), zone), Forbid);
    assert_eq!(judged(Act::Edit(vec![]), zone), Forbid);
    assert_eq!(judged(Act::Edit(vec!["in/a".into()]), Some(&[])), Forbid);
}

#[test]
fn without_a_tree_all_but_the_session_and_the_settings_may_be_edited() {
    let edit = |path: &str| judged(Act::Edit(vec![path.to_owned()]), None);
    for path in ["out", "/tmp/x", ".comailrc"] {
        assert_eq!(edit(path), Leave, "{path}");
    }
    for path in [
        ".comail",
        ".comail/x",
        "link/x",
        "a/.claude/settings.local.json",
        "RULES.toml",
    ] {
        assert_eq!(edit(path), Forbid, "{path}");
    }
    assert_eq!(judged(Act::Other(vec!["x".into()]), None), Leave);
}
