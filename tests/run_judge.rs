//! `comail run` judges in its own process: agents can only talk to it.

use std::fs;
use std::process::Command;

use crate::harness::agents::{Driven, PATH};
use crate::harness::{EmailNet, Run};

const SUBMITS: &str = "comail submit --id $id --answer \"right $id\"";

const QUICK: [&str; 4] = [
    "--set=backoff=1ms",
    "--set=grace=100ms",
    "--set=last-call=200ms",
    "--set=poll=10ms",
];

fn read(driven: &Driven, name: &str) -> String {
    fs::read_to_string(driven.place.at(name)).expect("a file of the agent")
}

#[test]
fn an_agent_without_a_network_is_judged_with_that_of_the_run() {
    let drive = |agent: &str| {
        let net = EmailNet::start();
        let submit = net.acme().args(1).join(" ");
        let script = format!("cat > prompt; {agent} comail {submit}; echo $? > code");
        let mut command = net.place.command();
        command.env("PATH", PATH).arg("run").args(QUICK);
        command.arg("--set=run.max-attempts=1");
        let run = Run::of(command.args(["--", "sh", "-c", &script]));
        let code = fs::read_to_string(net.place.at("code"));
        (run, code.unwrap_or_default(), net.place.events("attempt"))
    };
    let (run, _, attempts) = drive("unshare -rn");
    run.ok();
    assert_eq!(attempts.len(), 1);
    assert_eq!(attempts[0]["verdict"], "PASS", "{attempts:#?}");
    // Where the agent's own process judges, it has no network.
    let (run, code, attempts) = drive("env -u COMAIL_SERVER unshare -rn");
    run.exits(8);
    assert_eq!(code, "1\n");
    assert_eq!(attempts, [] as [serde_json::Value; 0]);
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
    let said = read(&driven, "said");
    assert_eq!(said, "error: this server needs a token\n");
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
