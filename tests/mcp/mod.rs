//! The tools of the Model Context Protocol, as the Python SDK uses them.

use std::path::Path;

use serde_json::{Value, json};

use crate::harness::served::Served;
use crate::harness::{Run, tools};

/// How the client speaks to the server: as of 2026, without a handshake, or as before.
const MODES: [&str; 2] = ["auto", "legacy"];

/// What the client is told when it plays a new session.
fn played(mode: &str, to: impl FnOnce(&Served) -> String) -> Value {
    let served = Served::start(&["--listen=127.0.0.1:0"]);
    let token = served.token(&["--worker", "kim"]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/play.py");
    let mut python = served.place.shell(r#"exec "$0" "$@""#);
    python.arg(tools::made().join("python/bin/python3"));
    python.arg(script).args([&to(&served), mode]);
    python.env("COMAIL_SERVER", &served.url);
    python.env("COMAIL_TOKEN", token);
    let told = serde_json::from_str(&Run::of(&mut python).ok()).expect("JSON");
    let attempts = served.place.events("attempt");
    let workers: Vec<_> = attempts.iter().map(|it| &it["worker"]).collect();
    assert_eq!(workers, ["kim", "kim"]);
    told
}

fn assert_plays(told: &Value) {
    let names: Vec<_> = told["tools"].as_object().expect("tools").keys().collect();
    assert_eq!(names, ["next", "status", "submit"]);
    let fields = &told["tools"]["submit"]["properties"]["fields"];
    assert_eq!(
        fields["properties"]["quote"],
        json!({"type": "string", "description": "A line of the letter"})
    );
    assert!(fields["properties"]["total"].is_object(), "{fields}");
    assert_eq!(fields["required"], json!(["quote"]));
    let prompt = told["prompt"].as_str().expect("a prompt");
    assert!(prompt.contains("Read one: please pay 10 EUR"), "{prompt}");
    assert_eq!(told["next"]["returned"]["quest"]["key"], "one");
    assert_eq!(told["next"]["returned"]["claim"]["worker"], "kim");

    let wrong = &told["wrong"];
    assert_eq!(wrong["returned"]["verdict"], "FAIL");
    assert_eq!(wrong["returned"]["facts"][0]["rule"], "quote-in-letter");
    // The tool worked; only the answer is wrong.
    assert_eq!(wrong["error"], false);
    assert_eq!(told["misnamed"]["error"], true);
    let message = told["misnamed"]["returned"]["error"]["message"].as_str();
    assert!(message.is_some_and(|text| text.contains("no field \"nosuch\"")));
    assert_eq!(told["right"]["returned"]["verdict"], "PASS");
    let tally = &told["status"]["returned"]["tally"];
    assert_eq!((&tally["pass"], &tally["todo"]), (&json!(1), &json!(1)));
}

#[test]
fn a_python_client_plays_a_session_over_http() {
    for mode in MODES {
        assert_plays(&played(mode, |served| format!("{}/mcp", served.url)));
    }
}

#[test]
fn a_python_client_plays_a_session_over_standard_input_and_output() {
    for mode in MODES {
        let program = env!("CARGO_BIN_EXE_comail").to_owned();
        assert_plays(&played(mode, |_| program));
    }
}
