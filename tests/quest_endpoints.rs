//! `endpoints.toml`, played against its server.

use crate::played::Played;

fn submit(play: &Played, operation: &str, request: &str, said: &str) {
    play.expect(operation, &[("request", request)], said);
}

#[test]
fn each_operation_is_asked_for_and_answers() {
    let play = Played::of("endpoints");
    play.scan("endpoints.jsonl");
    let prompt = play.next();
    assert!(prompt.contains("listParcels: GET /parcels"), "{prompt}");
    for (operation, request) in [
        (
            "listParcels",
            r#"{"method": "GET", "path": "/parcels?state=sent"}"#,
        ),
        (
            "createParcel",
            r#"{"method": "POST", "path": "/parcels", "body": {"to": "Ulsan", "grams": 90}}"#,
        ),
        ("getParcel", r#"{"method": "GET", "path": "/parcels/2"}"#),
        (
            "trackParcel",
            r#"{"method": "GET", "path": "/parcels/2/track"}"#,
        ),
    ] {
        submit(&play, operation, request, "PASS");
    }
    let quote = r#"{"method": "GET", "path": "/quote"}"#;
    let answer = play.submit("getQuote", &[("request", quote)]);
    assert_eq!(
        answer["facts"][0]["location"], "GET /quote: /cents",
        "{answer:#}"
    );
    play.ends(4, 0, 5);
}

#[test]
fn what_is_no_request_of_the_operation_is_refused() {
    let play = Played::of("endpoints");
    play.scan("endpoints.jsonl");
    for request in [
        r#"{"method": "GET", "path": "/parcels/99"}"#,
        r#"{"method": "GET", "path": "/parcels/1/track"}"#,
        r#"{"method": "GET", "path": "/parcels"}"#,
        r#"{"method": "POST", "path": "/parcels/1"}"#,
        r#"{"method": "GET", "path": "http://127.0.0.1:1/parcels/1"}"#,
        r#"{"method": "GET", "path": "//127.0.0.1:1/parcels/1"}"#,
        r#"{"method": "GET", "path": "/parcels/1 HTTP/1.1\r\nX: y\r\n\r\nGET /parcels/1"}"#,
        r#"{"method": "GET", "path": "/parcels/1", "headers": {"X": "a\r\nY: b"}}"#,
        r#"{"method": "GET", "path": "/parcels/1", "headers": {"Host": "elsewhere"}}"#,
        r#"{"method": "GET", "path": "/parcels/%2e%2e%2fparcels%2f1"}"#,
        r#"["GET", "/parcels/1"]"#,
    ] {
        submit(&play, "getParcel", request, "FAIL answers");
    }
    submit(&play, "getParcel", "GET /parcels/1", "FAIL field-format");
    play.ends(0, 0, 5);
}

#[test]
fn what_the_server_cannot_read_is_wrong_and_not_left_to_a_person() {
    let play = Played::of("endpoints");
    play.scan("endpoints.jsonl");
    let deep = "[".repeat(5_000);
    for body in [deep.as_str(), r#"{\"to\": \"\\ud800\", \"grams\": 1}"#] {
        let request = format!(r#"{{"method": "POST", "path": "/parcels", "body": "{body}"}}"#);
        submit(&play, "createParcel", &request, "FAIL answers");
    }
}

#[test]
fn what_one_judgement_stores_no_other_finds() {
    let play = Played::of("endpoints");
    play.scan("endpoints.jsonl");
    let made = r#"{"method": "POST", "path": "/parcels", "body": {"to": "Ulsan", "grams": 90}}"#;
    submit(&play, "createParcel", made, "PASS");
    let third = r#"{"method": "GET", "path": "/parcels/3"}"#;
    submit(&play, "getParcel", third, "FAIL answers");
}
