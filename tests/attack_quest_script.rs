//! An agent that puts something in the way of a script, or has a service say nothing.

use std::fs;

use serde_json::Value;

use crate::harness::letters::Letters;

const FILE: &str = r#"name = "answers"
unit = "letter"

[input]
key = ["letter"]

[tree]
root = "tree"
write = ["**"]

[prompt]
text = "Answer {{ key }}."

[[field]]
name = "answer"
kind = "text"

[[check]]
name = "judged"
kind = "script"
script = "judge.sh"
interpreter = ["sh"]

[[control]]
name = "right"
key = "one"
submit = { answer = "good" }
verdict = "PASS"

[[control]]
name = "wrong"
key = "one"
submit = { answer = "bad" }
verdict = "FAIL"
fires = ["judged"]
"#;

fn scanned() -> Letters {
    let letters = Letters::with(FILE);
    letters
        .place
        .write("judge.sh", "grep -q '\"answer\":\"good\"'\n");
    fs::create_dir(letters.place.at("tree")).expect("a directory");
    let scan = ["scan", "list.jsonl", "--quest", "letters.toml"];
    letters.run(scan).ok();
    letters
}

fn submitted(letters: &Letters, letter: &str, field: &str) -> Value {
    letters
        .json(["submit", &format!("--letter={letter}"), field])
        .1
}

/// The verdict on a good answer, and where its first fact is.
fn submit(letters: &Letters) -> (Value, Value) {
    let answer = submitted(letters, "one", "--answer=good");
    (
        answer["verdict"].clone(),
        answer["facts"][0]["location"].clone(),
    )
}

#[test]
fn what_stands_in_the_way_of_a_script_is_wrong_and_not_left_to_a_person() {
    let letters = scanned();
    letters.place.write("tree/.comail", "in the way\n");
    assert_eq!(submit(&letters), ("FAIL".into(), ".comail".into()));
    fs::remove_file(letters.place.at("tree/.comail")).expect("a file");
    std::os::unix::fs::symlink("/tmp", letters.place.at("tree/.comail")).expect("a link");
    assert_eq!(submit(&letters), ("FAIL".into(), ".comail".into()));
    fs::remove_file(letters.place.at("tree/.comail")).expect("a link");
    letters.place.write("tree/notes", "beside it\n");
    assert_eq!(submit(&letters).0, "PASS");
    letters.run(["audit"]).ok();
}

const SERVICE: &str = r#"name = "requests"
unit = "letter"
max_tries = 9

[input]
key = ["letter"]

[tree]
root = "tree"
write = ["in/**"]

[prompt]
text = "Write a request for {{ key }}."

[[field]]
name = "request"
kind = "json"

[[service]]
name = "api"
argv = ["python3", "server.py", "{{ port }}"]
ready = { path = "/" }
start_within = "60s"

[[check]]
name = "answers"
kind = "http"
service = "api"
request = "request"

[[control]]
name = "right"
key = "one"
submit = { request = '{"method": "GET", "path": "/fine"}' }
verdict = "PASS"

[[control]]
name = "wrong"
key = "one"
submit = { request = '{"method": "GET", "path": "/missing"}' }
verdict = "FAIL"
fires = ["answers"]
"#;

/// A server that one path each makes fall silent, talk nonsense, stop short, or end.
const SERVER: &str = r#"import os, socketserver, sys

ANSWERS = {
    b"/drop": b"",
    b"/nonsense": b"what?\r\n\r\n",
    b"/short": b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}",
    b"/packed": b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
    b"/missing": b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
}
FINE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        words = self.rfile.readline().split()
        while self.rfile.readline().strip():
            pass
        path = words[1] if len(words) > 1 else b"/drop"
        if path == b"/end":
            os._exit(1)
        self.wfile.write(ANSWERS.get(path, FINE))

class Server(socketserver.TCPServer):
    allow_reuse_address = True

Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"#;

fn asks(letters: &Letters, letter: &str, path: &str) -> Value {
    let request = format!(r#"--request={{"method": "GET", "path": "{path}"}}"#);
    submitted(letters, letter, &request)
}

#[test]
fn a_request_that_a_service_does_not_answer_is_wrong_and_not_left_to_a_person() {
    let letters = Letters::with(SERVICE);
    fs::create_dir(letters.place.at("tree")).expect("a directory");
    letters.place.write("tree/server.py", SERVER);
    letters
        .run(["scan", "list.jsonl", "--quest", "letters.toml"])
        .ok();
    for path in ["/drop", "/nonsense", "/short", "/packed"] {
        let answer = asks(&letters, "one", path);
        assert_eq!(answer["verdict"], "FAIL", "{answer:#}");
        let fact = &answer["facts"][0];
        assert_eq!(fact["location"], format!("GET {path}"), "{answer:#}");
        let actual = fact["actual"].as_str().expect("a text");
        assert!(actual.contains("no answer to this request"), "{answer:#}");
    }
    assert_eq!(asks(&letters, "one", "/fine")["verdict"], "PASS");
    let ended = asks(&letters, "two", "/end");
    assert_eq!(ended["verdict"], "REVIEW", "{ended:#}");
    letters.run(["audit"]).ok();
}
