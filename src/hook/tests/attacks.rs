//! Lines that slip past who reads them as they look, and honest ones as their control.

use super::super::{Act, Rules, ToolCall, judge_call};
use super::{Ruling, ground};

fn ruled(line: &str, zone: Option<&[&str]>) -> Ruling {
    let call = ToolCall {
        here: None,
        act: Act::Run(line.to_owned()),
    };
    judge_call(&call, &Rules::default(), &ground(zone)).ruling
}

#[track_caller]
fn assert_all(lines: &[&str], zone: Option<&[&str]>, fits: impl Fn(Ruling) -> bool) {
    let wrong: Vec<_> = lines
        .iter()
        .map(|line| (line, ruled(line, zone)))
        .filter(|(_, it)| !fits(*it))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn however_it_is_wrapped_what_is_a_persons_is_forbidden() {
    assert_all(
        &[
            "coproc X { comail resume; }",
            "set -- 1; for x do comail resume; done",
            "echo ${x:-'}'}; comail resume #'",
            "echo <(:)#; comail resume",
            "echo $((1<<2))\ncomail resume\n2",
            "cat <<E\nE\\\n\ncomail resume\nE",
            "echo $(cat <<E)\ncomail resume\nE",
            "{fd}>/dev/null comail resume",
            ". /dev/stdin <<<'comail resume'",
            "bash /dev/stdin <<<'comail resume'",
            "echo comail resume | bash /dev/stdin",
            "bash -oc posix 'comail resume'",
            "taskset 1 comail resume",
            "prlimit comail resume",
            "setpriv comail resume",
            "/lib64/ld-linux-x86-64.so.2 /usr/bin/comail resume",
            "git -c core.pager='comail resume' -p log",
            "git bisect run comail resume",
            "git -c core.sshCommand='comail resume' fetch ssh://x/y",
            "git rebase --exec 'comail resume' HEAD~1",
            "git submodule foreach 'comail resume'",
            "awk 'BEGIN{system(\"comail resume\")}'",
            "python3 -c 'import os; os.system(\"comail resume\")'",
            "csh -c 'comail resume'",
            "echo 'comail resume' | fish",
            "fish -C 'comail resume' x",
            "select x in a; do comail resume; done",
            "select x do comail resume; done",
            "for ((i=0;i<1;i++)) { comail resume; }",
            "a[0]=1 comail resume",
            "time -- comail resume",
            "case x in x) comail resume;; esac",
            "f() { command comail resume; }; f",
            "comail status <<E\nE\\\n\nrm -rf /tmp/z; comail resume\nE",
            "git config alias.x '!comail resume'; git x",
            "env -S 'comail resume'",
            "trap 'comail resume' EXIT",
            "c''omail resume",
            "co\\\nmail resume",
        ],
        None,
        |it| it == Ruling::Forbid,
    );
}

#[test]
fn however_it_is_named_the_session_is_out_of_reach() {
    assert_all(
        &[
            "rm -rf .[[:alpha:]]omail",
            "rm -rf .[^x]omail",
            "rm -rf .co[mz-a]ail",
            "rm -rf .co[]m]ail",
            "rm -f /p*/self/cwd/.co*/ledger.jsonl",
            "rm -rf d*/.co*",
            "GLOBIGNORE=x; rm -rf */ledger.jsonl",
            "python3 - <<'E'\nimport shutil\nshutil.rmtree('.comail')\nE",
            "mv -t /q /w",
            "mv --target-directory=/q .",
            "tar --remove-files -cf /tmp/x.tar .",
            "zip -rm /tmp/x.zip .",
            "cp -rT /evil .",
            "patch -p0 <<'E'\n--- .comail/ledger.jsonl\n+++ .comail/ledger.jsonl\nE",
            "apply_patch <<'E'\n*** Delete File: .comail/ledger.jsonl\nE",
            "find / -name ledger.jsonl -exec truncate -s0 {} +",
            "truncate -s0 **/ledger.jsonl",
            "chattr -R +i .",
            "setfacl -R -m u::0 .",
            "rm -rf .claude",
            "rm -rf ./.claude/",
            "rm .claude/settings.*",
            "rm -rf .cl*",
            "mv .claude .c2",
            "cp /dev/null .claude/settings.json",
            "cd .claude && rm settings.json",
            "sed -i d .claude/settings*",
            "rm rules.*",
            "tee rules.toml < /dev/null",
        ],
        None,
        |it| it == Ruling::Forbid,
    );
}

#[test]
fn what_cannot_be_told_is_asked_about() {
    assert_all(
        &[
            "bash -O dotglob -c 'rm -rf */runs'",
            "echo ${x:-'}'}; rm -rf .co* #'",
            "env -C /tmp rm -rf w",
            "env -C / rm -rf w",
            "sudo -n -D / rm -rf w",
            "git reset --hard HEAD~1",
            "git checkout HEAD~1 -- .",
            "git rm -r .",
            "git --config-env=alias.x=Y x",
            "ln -s /usr/bin/comail c; ./c next",
            "comail status ${x:-'}'}; rm -rf /tmp/z #'",
            "comail status $((1<<2))\nrm -rf /tmp/z\n2",
            "comail status\\\n | sh",
            "comail next | sh",
            "for x do rm -rf /; done",
            "comail next --worker a --lease 23h",
            "comail next --worker=a",
            "comail next --worker $X",
        ],
        None,
        |it| it >= Ruling::Prompt,
    );
}

#[test]
fn only_one_plain_command_is_let_through_unasked() {
    let allowed = |it| it == Ruling::Allow;
    assert_all(
        &[
            "comail next",
            "comail submit --id 3 --total 5 --quote 'a b'",
            "comail submit --note 'will resume the review; run $X'",
            "comail status > /dev/null 2>&1",
            "comail next --worker me --lease 5m",
        ],
        None,
        allowed,
    );
    assert_all(
        &[
            "comail status; for x do rm -rf /; done",
            "comail next | sh",
            "comail submit --in <(rm x)",
            "PATH=/evil comail next",
            "comail status 2>&1 &",
            "comail() { rm -rf /; }; comail status",
            "function comail { rm -rf /tmp; }; comail next",
            "comail status #\\\nrm -rf /",
            "comail status && make",
            "sh -c 'comail next'",
        ],
        None,
        |it| it != Ruling::Allow,
    );
}

#[test]
fn what_writes_is_held_to_the_write_zone() {
    let zone: Option<&[&str]> = Some(&["in/**"]);
    assert_all(
        &[
            "sed -i s/a/b/ known",
            "sed -n -i.bak -e p known",
            "tee known < /dev/null",
            "cp in/a known",
            "cp in/a .",
            "cp -t . in/a",
            "dd if=/dev/null of=known",
            "truncate -s0 known",
            "rm known",
            "mv in/a known",
            "mv known in/a",
            "ln -sf /etc/passwd known",
            "touch known",
            "curl -o known http://x",
            "curl -oknown http://x",
            "wget -O known http://x",
            "install -m 644 in/a known",
            "patch known in/x.patch",
        ],
        zone,
        |it| it == Ruling::Forbid,
    );
    assert_all(
        &[
            "sed -i s/a/b/ in/a",
            "sed -n 1,20p known",
            "sed s/a/b/ known",
            "cp known in/a",
            "cp known in/",
            "mv in/a in/b/",
            "rm in/a",
            "tee in/a",
            "touch -d now in/a",
            "truncate -s 0 in/a",
            "dd if=known of=in/a",
            "curl -s http://x",
            "curl -o in/a http://x",
        ],
        zone,
        |it| it <= Ruling::Leave,
    );
    assert_all(
        &["sed -i s/a/b/ known", "rm known", "cp in/a known"],
        None,
        |it| it <= Ruling::Leave,
    );
}

#[test]
fn honest_work_is_not_asked_about() {
    assert_all(
        &[
            "cargo test",
            "git status",
            "git diff HEAD~1 -- src",
            "git -C sub log --oneline -5",
            "git commit -m 'comail: resume the run'",
            "git -c user.name=a commit -m x",
            "git config --get user.name",
            "git checkout -b topic",
            "git add -A",
            "grep -rn foo src",
            "grep -rn 'comail resume' docs",
            "grep '((' a.c",
            "ls -la",
            "python3 -m pytest -q",
            "python3 run.py",
            "sed -n 1,20p file",
            "npm test",
            "comail next",
            "comail submit --id 3 --total 5 --quote 'a b'",
            "comail next && cargo run",
            "comail next && python3 run.py",
            "echo done",
            "echo \"now comail run\"",
            "cat notes.txt | wc -l",
            "make -j2 && ./run.sh",
            "command -v python3",
            "for f in a b; do echo $f; done",
            "cat <<E > notes.md\nwhat comail does\nE",
            "python3 - <<'E'\nprint(1)\nE",
            "bash -eo pipefail -c 'make'",
            "rm -rf build/*.o",
        ],
        None,
        |it| it <= Ruling::Leave,
    );
}

#[test]
fn a_tool_that_is_not_known_keeps_off_the_session_too() {
    let act = |text: &str| {
        let call = ToolCall {
            here: None,
            act: Act::Other(vec![text.to_owned()]),
        };
        judge_call(&call, &Rules::default(), &ground(None)).ruling
    };
    for text in [
        ".comail/x",
        "rm -rf .comail",
        "/w/.comail",
        "link/x",
        "comail resume",
    ] {
        assert_eq!(act(text), Ruling::Forbid, "{text}");
    }
    for text in ["x", "comail next", "/w", "resume"] {
        assert_eq!(act(text), Ruling::Leave, "{text}");
    }
    let call = ToolCall {
        here: None,
        act: Act::Run("ls".to_owned()),
    };
    let mut ground = ground(None);
    ground.here = "/w/.comail".into();
    assert_eq!(
        judge_call(&call, &Rules::default(), &ground).ruling,
        Ruling::Forbid
    );
}
