//! `comail run` judges in its own process: agents can only talk to it.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::harness::agents::{Driven, PATH, QUICK, with_id};
use crate::harness::bench::{mark, runs};
use crate::harness::{EmailNet, Place, Run};

const SUBMITS: &str = "comail submit --id $id --answer \"right $id\"";

fn read(driven: &Driven, name: &str) -> String {
    fs::read_to_string(driven.place.at(name)).expect("a file of the agent")
}

#[test]
fn an_agent_without_a_network_is_judged_with_that_of_the_run() {
    let drive = |agent: &str, worker: &str| {
        let net = EmailNet::start();
        let submit = net.acme().args(1).join(" ");
        let script = format!("cat > prompt; {agent} comail {submit} {worker}; echo $? >> codes");
        let mut command = net.place.command();
        command.env("PATH", PATH).arg("run").args(QUICK);
        // In a confinement, `unshare` may not map its user.
        command.args(["--set=run.max-attempts=1", "--confine=off"]);
        let run = Run::of(command.args(["--", "sh", "-c", &script]));
        let code = fs::read_to_string(net.place.at("codes"));
        (run, code.unwrap_or_default(), net.place.events("attempt"))
    };
    let (run, _, attempts) = drive("unshare -rn", "");
    run.ok();
    assert_eq!(attempts.len(), 1);
    assert_eq!(attempts[0]["verdict"], "PASS", "{attempts:#?}");
    // Where the agent's own process judges, it has no network.
    let (run, code, attempts) = drive(
        "env -u COMAIL_SERVER unshare -rn",
        "--worker=run-$COMAIL_RUN.1",
    );
    run.exits(8);
    assert!(code.starts_with("1\n"), "{code}");
    assert_eq!(attempts, [] as [Value; 0]);
}

#[test]
fn a_token_is_good_for_its_quest_alone() {
    let driven = Driven::new(2);
    let script = format!(
        "[ $id = 1 ] && {{ comail submit --id 2 --answer right 2> said; echo $? > code; \
         comail next > mine; }}; {SUBMITS}"
    );
    driven.drive(&QUICK, &script).ok();
    assert_eq!(read(&driven, "code"), "2\n");
    let said = read(&driven, "said");
    assert!(
        said.contains("error: this token is good for quest 1 alone; nothing changed"),
        "{said}"
    );
    let mine = read(&driven, "mine");
    assert!(mine.starts_with("quest 1 of 2"), "{mine}");
    let attempts = driven.place.events("attempt");
    let by: Vec<_> = attempts
        .iter()
        .map(|it| (&it["quest"], &it["worker"]))
        .collect();
    assert_eq!(by.len(), 2);
    assert_ne!(by[0].1, by[1].1);
}

#[test]
fn a_token_dies_with_its_start_and_is_in_no_file() {
    let driven = Driven::new(2);
    let script = format!(
        "[ $id = 1 ] && echo $COMAIL_TOKEN > token || {{ \
         COMAIL_TOKEN=$(cat token) comail next 2> said; echo $? > code; \
         COMAIL_TOKEN=$(cat token) {SUBMITS}; echo $? >> code; }}; {SUBMITS}"
    );
    driven.drive(&QUICK, &script).ok();
    assert_eq!(read(&driven, "code"), "1\n1\n");
    // A program that counts coverage says there, too, that it may not write its counts.
    let said = read(&driven, "said");
    assert!(
        said.contains("error: this server needs a valid token\n"),
        "{said}"
    );
    assert_eq!(driven.place.attempts().len(), 2);

    let token = read(&driven, "token");
    let token = token.trim();
    assert!(token.starts_with("comail_"), "{token}");
    let holds = |path: &std::path::Path| {
        let bytes = fs::read(path).unwrap_or_default();
        String::from_utf8_lossy(&bytes).contains(token)
    };
    assert!(holds(&driven.place.at("token")));
    let session = walkdir::WalkDir::new(driven.place.at(".comail")).into_iter();
    let files = session.map(|entry| entry.expect("an entry").into_path());
    let holding: Vec<_> = files.filter(|path| holds(path)).collect();
    assert_eq!(holding, [] as [std::path::PathBuf; 0]);
}

/// Commands that a login shell starts do not get the `PATH` of the run.
#[test]
fn the_prompt_names_the_program_by_its_path() {
    let driven = Driven::new(1);
    let script = "submit=$(printf '%s\\n' \"$prompt\" | sed -n 's/^  \\(.* submit --word .*\\) --answer ANSWER/\\1/p'); \
         export PATH=/usr/bin:/bin; eval \"$submit --answer right\"";
    driven.drive(&QUICK, script).ok();
    let on_path = Command::new("sh")
        .args(["-c", "command -v comail"])
        .env("PATH", PATH)
        .output();
    assert!(
        !on_path.expect("a shell").status.success(),
        "comail is installed"
    );
}

/// A session of one quest, and a home directory with a configuration of comail.
fn with_home() -> (Driven, Place) {
    let home = Place::new();
    fs::create_dir_all(home.at(".config/comail")).expect("a folder");
    home.write(".config/comail/config.toml", "");
    (Driven::new(1), home)
}

/// Tries to change what a run keeps from its agents and what it leaves to them.
const TRIES: &str = "t() { name=$1; shift; \"$@\" 2> /dev/null && echo $name >> did; }
     append() { echo >> \"$1\"; }
     t home append $HOME/new
     t config append $HOME/.config/comail/config.toml
     t shared append $SHARED
     t mode chmod 640 $SHARED
     t session append .comail/new
     t ledger sh -c ': >> .comail/ledger.jsonl'
     t lock sh -c ': < .comail/lock'
     t signal kill -CONT $DRIVER
     t descriptor sh -c 'echo >&7'
     t network sh -c '[ $((0x$(sed -n \"s/^CapEff:\t//p\" /proc/self/status) >> 12 & 1)) = 1 ]'
     t owners sh -c '[ $((0x$(sed -n \"s/^CapEff:\t//p\" /proc/self/status) & 1)) = 1 ]'
     t own append file
     t private append $TMPDIR/file
     ";

/// A run whose session is gone for a moment ends, so only a confined agent tries this.
const MOVES: &str = "t moved mv .comail gone; ";

#[test]
fn a_confined_agent_changes_nothing_but_its_own_and_is_judged() {
    let drive = |flags: &[&str], tries: &str| {
        let (driven, home) = with_home();
        let shared = tempfile::NamedTempFile::new().expect("a file");
        let script = format!("DRIVER=$(cat driver); {tries}{SUBMITS}");
        // The shell becomes the run, so that its number is that of the run.
        let mut command = driven
            .place
            .shell("echo $$ > driver; exec comail \"$@\" 7> descriptor");
        command
            .env("HOME", home.path())
            .env("SHARED", shared.path());
        command
            .args(["sh", "run", "--json"])
            .args(QUICK)
            .args(flags);
        let text = Run::of(command.args(["--", "sh", "-c", &with_id(&script)])).ok();
        let began = text.lines().next().expect("a line");
        let began: Value = serde_json::from_str(began).expect("JSON");
        assert_eq!(driven.tally("pass"), 1);
        let did = read(&driven, "did");
        (driven, did, began)
    };
    let (driven, did, began) = drive(&[], &format!("{TRIES}{MOVES}"));
    assert_eq!(did, "own\nprivate\n", "{began}");
    assert_eq!(began["confined"], true, "{began}");
    let means = began["confinement"].as_str().expect("a text");
    assert!(means.starts_with("Landlock "), "{means}");
    let tree = fs::canonicalize(driven.place.at("")).expect("a folder");
    let may = format!("they may change {} and", tree.display());
    assert!(means.contains(&may), "{means}");

    // Nothing but the confinement keeps the session where it is.
    fs::rename(driven.place.at(".comail"), driven.place.at("gone")).expect("it moves");

    let (_, did, began) = drive(&["--confine=off"], TRIES);
    // Root may change the network of the machine, which the judge uses, and the owners of all files.
    let network = did.contains("network\n").then_some("network owners ");
    let network = network.unwrap_or_default();
    assert_eq!(!network.is_empty(), nix::unistd::getuid().is_root());
    let all = "home config shared mode session ledger lock signal descriptor ";
    let all = format!("{all}{network}own private ");
    assert_eq!(did, all.replace(' ', "\n"));
    assert_eq!(began["confined"], false);
    assert_eq!(began["confinement"], "--confine is off");
}

/// The supervisor finds what is left by opening files, which a process of its user can prevent.
#[test]
fn a_confined_agent_can_neither_name_the_run_nor_outlive_it() {
    let drive = |flags: &[&str]| {
        let driven = Driven::new(1);
        let mark = mark();
        let script = format!(
            "echo $PPID > above; ls /proc > seen; ls /dev/pts > terminals
             setsid sh -c 'trap \"\" TERM HUP; sleep {mark}; true' < /dev/null > /dev/null 2>&1 &
             {SUBMITS}"
        );
        driven.drive(&[&QUICK[..], flags].concat(), &script).ok();
        assert!(!runs(&mark));
        let numbers = |name: &str| {
            let text = read(&driven, name);
            text.lines().filter_map(|line| line.parse().ok()).collect()
        };
        let (above, seen): (Vec<u32>, Vec<u32>) = (numbers("above"), numbers("seen"));
        let terminals: Vec<u32> = numbers("terminals");
        (
            above,
            seen.contains(&std::process::id()),
            terminals.is_empty(),
        )
    };
    // A terminal of another process.
    let terminal = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/ptmx");
    let _terminal = terminal.expect("a terminal");
    assert_eq!(drive(&[]), (vec![1], false, true));
    let (above, seen, has_none) = drive(&["--confine=off"]);
    assert_ne!(above, [1]);
    assert!(seen && !has_none);
}

/// What limits the processes around an agent.
#[test]
fn a_confined_agent_limits_nothing_but_itself() {
    let driven = Driven::new(1);
    let mark = mark();
    let script = format!(
        "for it in $PPID $(cat driver); do prlimit --pid $it --nofile=0:0 && echo $it >> limited; done
         setsid sh -c 'trap \"\" TERM HUP; sleep {mark}; true' < /dev/null > /dev/null 2>&1 &
         {SUBMITS}"
    );
    let mut command = driven.place.shell("echo $$ > driver; exec comail \"$@\"");
    command.args(["sh", "run"]).args(QUICK);
    Run::of(command.args(["--", "sh", "-c", &with_id(&script)])).ok();
    assert!(!runs(&mark));
    // Its own supervisor is the first process that it sees, and needs no files to end it.
    let limited = fs::read_to_string(driven.place.at("limited")).unwrap_or_default();
    assert!(limited.is_empty() || limited == "1\n", "{limited}");
}

#[test]
fn an_agent_that_cannot_read_the_session_passes_its_quest() {
    let driven = Driven::new(1);
    fs::create_dir(driven.place.at("work")).expect("a folder");
    let session = driven.place.at(".comail").display().to_string();
    let call = r#"{"tool_name":"Bash","tool_input":{"command":"comail next"}}"#;
    let stop = r#"{"hook_event_name":"Stop","stop_hook_active":true}"#;
    let script = format!(
        "cat ../.comail/ledger.jsonl 2> /dev/null && echo read > read; \
         echo '{call}' | comail hook tool --session {session} > tool; \
         echo '{stop}' | comail hook stop --session {session} > stop; \
         comail status > status && {SUBMITS}"
    );
    let flags = [&QUICK[..], &["--dir=work"]].concat();
    driven.drive(&flags, &script).ok();
    assert!(!driven.place.at("work/read").exists());
    let tool = read(&driven, "work/tool");
    assert!(tool.contains(r#""permissionDecision":"allow""#), "{tool}");
    let stop = read(&driven, "work/stop");
    assert!(stop.contains(r#""decision":"block""#), "{stop}");
    assert!(stop.contains("quest 1 of 1"), "{stop}");
    assert!(read(&driven, "work/status").contains("TODO"));
    // Without confinement the session is there to read.
    let driven = Driven::new(1);
    let flags = [&QUICK[..], &["--confine=off"]].concat();
    driven
        .drive(
            &flags,
            &format!("cat .comail/ledger.jsonl > read; {SUBMITS}"),
        )
        .ok();
    assert!(read(&driven, "read").contains("\"type\""));
}

#[test]
fn an_agent_whose_working_directory_holds_the_home_is_not_confined() {
    let driven = Driven::new(1);
    fs::create_dir(driven.place.at("home")).expect("a folder");
    let mut command = driven.command(&QUICK, SUBMITS);
    let text = Run::of(command.env("HOME", driven.place.at("home"))).ok();
    let first = text.lines().next().expect("a line");
    assert!(first.contains(", not confined: it may change "), "{first}");
    assert!(first.contains("/home"), "{first}");
}

/// A sandbox without sockets, in which an agent can write to its temporary directory alone.
#[test]
fn where_no_socket_can_be_opened_calls_are_handed_over_in_files() {
    let driven = Driven::new(1);
    let forged = format!("comail_00000000_{}", "A".repeat(43));
    let call = |token: &str| {
        format!(r#"{{"token":"{token}","path":"v1/next","accept":"text/plain","body":"{{}}"}}"#)
    };
    driven.place.write("linked", call(&forged));
    let script = format!(
        "export COMAIL_SERVER=unix:$TMPDIR/none; spool=$COMAIL_SPOOL
         ln -s $PWD/linked $spool/a-link.call; mkfifo $spool/a-pipe.call; mkdir $spool/a-dir.call
         head -c 9000000 /dev/zero > $spool/a-long.call
         echo '{}' > $spool/a-forged.new; mv $spool/a-forged.new $spool/a-forged.call
         comail next > mine; echo $? > code; comail submit --id $id --reply it 2> refused
         comail submit --id $id --answer wrong > failed; echo $? >> code
         cp $spool/*.reply .; cp linked still; {SUBMITS}",
        call(&forged)
    );
    driven.drive(&QUICK, &script).ok();
    assert_eq!(read(&driven, "code"), "0\n5\n");
    assert!(read(&driven, "mine").starts_with("quest 1 of 1"));
    assert!(read(&driven, "failed").starts_with("FAIL quest 1"));
    assert_eq!(driven.place.attempts(), [(1, 1), (1, 2)]);
    let replies = fs::read_dir(driven.place.path()).expect("a folder");
    let names = replies.map(|entry| entry.expect("an entry").file_name());
    let replies: Vec<_> = names
        .filter(|name| name.to_string_lossy().ends_with(".reply"))
        .collect();
    assert_eq!(replies, ["a-forged.reply"]);
    assert!(read(&driven, "a-forged.reply").contains("this server needs a valid token"));
    assert_eq!(read(&driven, "still"), call(&forged));

    // Without the directory there is no other way.
    let driven = Driven::new(1);
    let script = "export COMAIL_SERVER=unix:$TMPDIR/none; unset COMAIL_SPOOL; comail next 2>> said; \
         echo $? >> codes; exit 1";
    let flags = [&QUICK[..], &["--set=run.max-attempts=1"]].concat();
    driven.drive(&flags, script).exits(8);
    assert!(read(&driven, "codes").starts_with("1\n"));
    assert!(read(&driven, "said").contains("cannot reach the server"));
}

#[test]
fn a_link_to_the_session_that_an_agent_replaces_leads_the_run_nowhere_else() {
    let driven = Driven::new(1);
    let elsewhere = Place::new();
    let mut copy = Command::new("cp");
    copy.arg("-a")
        .args([driven.place.at(".comail"), elsewhere.at("")]);
    assert!(copy.status().expect("cp").success());
    fs::rename(driven.place.at(".comail"), driven.place.at("forged")).expect("a rename");
    let link = driven.place.at(".comail");
    std::os::unix::fs::symlink(elsewhere.at(".comail"), link).expect("a link");
    let script = format!("rm .comail; ln -s forged .comail; {SUBMITS}");
    let text = driven.drive(&QUICK, &script).ok();
    assert!(text.contains("confined by Landlock"), "{text}");
    assert_eq!(elsewhere.attempts(), [(1, 1)]);
    assert_eq!(driven.place.attempts(), []);
}

#[test]
fn a_long_path_of_the_temporary_directory_keeps_no_run_from_its_socket() {
    let driven = Driven::new(1);
    let elsewhere = Place::new();
    let long = elsewhere.at(&"long".repeat(30));
    fs::create_dir(&long).expect("a folder");
    let mut command = driven.command(&QUICK, SUBMITS);
    Run::of(command.env("TMPDIR", &long)).ok();
    assert_eq!(driven.tally("pass"), 1);
}
