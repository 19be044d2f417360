//! `comail serve` on quests about a tree: the files come with the answer, and the judge does not
//! look at the agent's directory.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::harness::Run;
use crate::harness::agents::{PATH, with_id};
use crate::harness::served::{Served, bearer};
use crate::harness::shell_quest::ShellQuest;

/// A served session of scripts, and a client whose directory has the files of the write zone.
fn served() -> (Served, String) {
    let served = Served::of(ShellQuest::new("10s").place, &["--listen=127.0.0.1:0"]);
    fs::create_dir(served.client.at("in")).expect("a folder");
    served.client.write("in/yes.sh", "exit 0\n");
    served.client.write("in/no.sh", "exit 1\n");
    let token = served.token(&["--worker", "kim"]);
    (served, token)
}

fn in_tree(served: &Served, name: &str) -> PathBuf {
    served.place.at("tree").join(name)
}

fn verdict(judged: &(i32, Value)) -> &str {
    judged.1["verdict"].as_str().unwrap_or("nothing judged")
}

#[test]
fn files_come_with_the_answer_and_end_up_in_the_tree() {
    let (served, token) = served();
    let submit = |id: &str, file: &str| {
        let (id, file) = (format!("--id={id}"), format!("--file={file}"));
        served.json(&token, &["submit", &id, &file])
    };
    // The judge looks at neither its own working tree nor, by any path, at the client's directory.
    fs::write(in_tree(&served, "in/bad.sh"), "exit 0\n").expect("a script");
    fs::write(in_tree(&served, "own/data"), "changed\n").expect("a file");
    assert_eq!(verdict(&submit("1", "in/bad.sh")), "FAIL");
    let script = "test \"$(cat own/data)\" = 'as it was' && test ! -e in/no.sh && in/run.sh\n";
    served.client.write("in/mine.sh", script);
    let run = served.client.write("in/run.sh", "#!/bin/sh\nexit 0\n");
    fs::set_permissions(run, fs::Permissions::from_mode(0o755)).expect("a mode");
    fs::remove_file(served.client.at("in/no.sh")).expect("a script");
    let passed = submit("1", "in/mine.sh");
    assert_eq!(verdict(&passed), "PASS", "{:#}", passed.1);
    // A FAIL changes nothing in the tree, and an accepted answer leaves its files there.
    served.client.write("in/broken.sh", "exit 3\n");
    assert_eq!(verdict(&submit("2", "in/broken.sh")), "FAIL");
    assert!(!in_tree(&served, "in/broken.sh").exists());
    let laid = fs::read_to_string(in_tree(&served, "in/mine.sh"));
    assert_eq!(laid.expect("a script"), script);
    assert!(!in_tree(&served, "in/no.sh").exists());
    fs::remove_file(served.client.at("in/broken.sh")).expect("a script");
    for id in ["2", "3"] {
        let passed = submit(id, "in/yes.sh");
        assert_eq!(verdict(&passed), "PASS", "{:#}", passed.1);
    }
    // Each PASS is judged again by the tree as it is, and from its evidence.
    fs::write(in_tree(&served, "own/data"), "as it was\n").expect("a file");
    served.place.run(["audit", "--live"]).ok();
    served.place.run(["report"]).ok();
    fs::remove_file(in_tree(&served, "in/run.sh")).expect("a script");
    let _ = served.place.run(["report"]).exits(8);
    let attempts = served.place.events("attempt");
    let received = |attempt: &Value| attempt["evidence"].to_string().contains("received");
    let kept: Vec<_> = attempts.iter().map(received).collect();
    assert_eq!(kept, [false, true, false, true, true]);
}

/// What the server replies to an answer with this patch: the status, and the body.
fn send(served: &Served, token: &str, tree: &Value) -> (String, String) {
    let address = served.url.strip_prefix("http://").expect("HTTP");
    let call = json!({"id": 1, "fields": {"file": "in/new.sh"}, "tree": tree}).to_string();
    let request = format!(
        "POST /v1/submit HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n{call}",
        call.len()
    );
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.write_all(request.as_bytes()).expect("it is sent");
    let mut reply = String::new();
    stream.read_to_string(&mut reply).expect("a reply");
    let status = reply.split(' ').nth(1).unwrap_or_default().to_owned();
    let body = reply.split_once("\r\n\r\n");
    (status, body.map(|it| it.1.to_owned()).unwrap_or_default())
}

#[test]
fn a_patch_that_is_not_one_of_the_write_zones_is_not_judged() {
    let (served, token) = served();
    let passed = served.json(&token, &["submit", "--id=2", "--file=in/yes.sh"]);
    assert_eq!(verdict(&passed), "PASS");
    let attempts = served.place.events("attempt");
    let evidence = attempts[0]["evidence"]["exchanges"].as_array();
    let last = evidence.and_then(|it| it.last()).expect("an exchange");
    let digest = last["sandbox"]["answer"]["received"]["sha256"].as_str();
    let digest = digest.expect("a digest");
    let (folder, name) = digest.split_at(2);
    let kept = served.place.at(".comail/evidence").join(folder);
    assert!(kept.join(format!("{name}.gz")).exists());
    let other = "0".repeat(64);
    let new = json!({"in/new.sh": {"contents": {"text": "exit 0\n"}}});
    let (status, body) = send(&served, &token, &json!({"base": other, "files": new}));
    assert_eq!(status, "409", "{body}");
    assert!(body.contains("other-tree"), "{body}");
    let base = body.rsplit("about the tree ").next().expect("a digest");
    let base = &base[..64];
    symlink("../own", in_tree(&served, "in/link")).expect("a link");
    for (path, expected) in [
        ("own/data", "400"),
        ("../own/data", "400"),
        ("/etc/passwd", "400"),
        ("in/../own/data", "400"),
        ("in/.git/config", "400"),
        ("in/link/data", "409"),
        (&format!("in/{}", "n".repeat(300)), "400"),
    ] {
        let mut files = new.clone();
        files[path] = json!({"contents": {"text": "x"}});
        let (status, body) = send(&served, &token, &json!({"base": base, "files": files}));
        assert_eq!(status, expected, "{path}: {body}");
        let removed = json!({"base": base, "files": new, "removed": [path]});
        if expected == "400" {
            assert_eq!(send(&served, &token, &removed).0, "400", "{path}");
        }
    }
    let call = served.run(&token, &["submit", "--id=1", "--none", "no idea"]);
    let _ = call.exits(5);
    assert_eq!(served.place.attempts(), [(2, 1), (1, 1)]);
    let data = fs::read_to_string(in_tree(&served, "own/data"));
    assert_eq!(data.expect("a file"), "as it was\n");
    fs::remove_file(in_tree(&served, "in/link")).expect("a link");
    let good = json!({"base": base, "files": new, "removed": ["in/no.sh"]});
    assert_eq!(send(&served, &token, &good).0, "200");
}

#[test]
fn an_answer_changes_nothing_that_another_accepted_answer_wrote() {
    let (served, kim) = served();
    let lee = served.token(&["--worker", "lee"]);
    served.client.write("in/zz.sh", "exit 0\n");
    let passed = served.json(&kim, &["submit", "--id=2", "--file=in/zz.sh"]);
    assert_eq!(verdict(&passed), "PASS");
    let (_, kind) = send(&served, &lee, &json!({"base": "0".repeat(64)}));
    let base = kind.rsplit("about the tree ").next().expect("a digest");
    let base = &base[..64];
    let new = |path: &str| json!({"in/new.sh": {"contents": {"text": "exit 0\n"}}, path: {"contents": {"text": "x"}}});
    let names = || {
        let found = fs::read_dir(in_tree(&served, "in")).expect("a folder");
        let mut names: Vec<_> = found.map(|it| it.expect("a name").file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    for (path, removed, expected) in [
        ("in/zz.sh/x", "in/yes.sh", "409"),
        ("in/zz.sh", "in/yes.sh", "409"),
        ("in/other", "in/zz.sh", "400"),
    ] {
        let patch = json!({"base": base, "files": new(path), "removed": [removed]});
        let (status, body) = send(&served, &lee, &patch);
        assert_eq!(status, expected, "{path}: {body}");
        assert!(body.contains("in/zz.sh"), "{body}");
        assert_eq!(names(), before);
    }
    assert_eq!(served.place.attempts(), [(2, 1)]);
    served.client.write("in/zz.sh", "exit 0 # mine\n");
    let run = served.run(&lee, &["submit", "--id=1", "--file=in/zz.sh"]);
    run.says("error: in/zz.sh has other contents in the tree");
    let _ = run.exits(1);
    let kept = fs::read_to_string(in_tree(&served, "in/zz.sh"));
    assert_eq!(kept.expect("a script"), "exit 0\n");
    let patch = json!({"base": base, "files": new("in/other"), "removed": ["in/yes.sh"]});
    assert_eq!(send(&served, &lee, &patch).0, "200");
    assert!(!in_tree(&served, "in/yes.sh").exists());
}

#[test]
fn only_the_files_of_an_answer_may_be_long() {
    let (served, token) = served();
    let bearer = bearer(&token);
    let long = |fields: &str, text: &str| {
        let tree = json!({"base": "0".repeat(64), "files": {"in/a": {"contents": {"text": text}}}});
        let body = format!(r#"{{"id": 1, "tree": {tree}, "fields": {{"file": [{fields}]}}}}"#);
        let asked = served.asked("POST /v1/submit", &[bearer.as_str()], &body);
        asked.status
    };
    let two_mib = "0,".repeat(1 << 20) + "0";
    assert_eq!(long(&two_mib, ""), 413);
    assert_eq!(long("0", &two_mib), 409);
}

#[test]
fn a_client_sends_files_of_its_tree_alone() {
    let (served, token) = served();
    let submit = |says: &str| {
        let run = served.run(&token, &["submit", "--id=1", "--file=in/yes.sh"]);
        run.says(says);
        let _ = run.exits(2);
    };
    symlink("/etc/passwd", served.client.at("in/link")).expect("a link");
    submit("error: in/link is a link, and links are not sent");
    fs::remove_file(served.client.at("in/link")).expect("a link");
    served.client.write("in/large", vec![0; (16 << 20) + 1]);
    submit("error: with in/large, the changed files of the write zones are more than");
    fs::remove_file(served.client.at("in/large")).expect("a file");
    fs::rename(served.client.at("in"), served.client.at("elsewhere")).expect("a folder");
    submit("hint: run this command in the root of the tree, or set COMAIL_TREE");
    assert_eq!(served.place.attempts(), []);
    fs::create_dir(served.client.at("work")).expect("a folder");
    fs::rename(served.client.at("elsewhere"), served.client.at("work/in")).expect("a folder");
    let mut there = served.command(&token, &["submit", "--id=1", "--file=in/yes.sh"]);
    Run::of(there.env("COMAIL_TREE", "work")).ok();
}

/// The agents of a run work in the tree itself, so they send no files of another directory.
#[test]
fn the_judge_of_a_run_reads_the_tree_in_which_its_agents_work() {
    for without_socket in ["", "export COMAIL_SERVER=unix:$TMPDIR/none; "] {
        let place = ShellQuest::new("10s").place;
        let script = with_id(&format!(
            "{without_socket}cd tree && echo 'exit 1' > in/$id.sh && comail submit --id $id \
             --file in/$id.sh > ../said; echo 'exit 0' > in/$id.sh; mkdir -p $TMPDIR/elsewhere; \
             cd $TMPDIR/elsewhere; comail submit --id $id --file in/$id.sh"
        ));
        let mut command = place.command();
        command.env("PATH", PATH).args(["run", "--confine=off"]);
        Run::of(command.args(["--", "sh", "-c", &script])).ok();
        let attempts = place.events("attempt");
        let verdicts: Vec<_> = attempts.iter().map(|it| &it["verdict"]).collect();
        assert_eq!(verdicts, ["FAIL", "PASS"].repeat(3), "{attempts:#?}");
        let read = |attempt: &Value| !attempt["evidence"].to_string().contains("received");
        assert!(attempts.iter().all(read), "{attempts:#?}");
    }
}
