//! A service's answers.

use crate::base::rows;
use crate::gate::checks::tests::CheckCase;
use crate::world::sandbox::Called;

const API: &str = r#"
    kind = "http"
    service = "api"
    request = "value"
    must_match = "{{ input.cell }}"
"#;

fn api(more: &str, request: &str) -> CheckCase {
    CheckCase::of(&format!("{API}{more}"))
        .submit("value", request)
        .cell("get /users/{id}")
        .answers("/users/1?full=1", 200, r#"{"id": 1, "tags": ["a"]}"#)
        .answers("/health", 200, "{}")
        .answers("/users/2", 500, "oops")
        .answers("/users/3", 200, "no json")
}

fn request(method: &str, path: &str) -> String {
    format!(r#"{{"method": "{method}", "path": "{path}"}}"#)
}

const GOOD: &str = r#"{"method": "GET", "path": "/users/1?full=1"}"#;

#[test]
fn a_service_answers_as_it_should() {
    let rules = r#"
        status = "200"
        schema = "user.json"
        headers = { Content-Type = "application/json.*" }
    "#;
    let schema = r#"{"required": ["id"], "properties": {"id": {"type": "integer"}}}"#;
    let bench = api(rules, GOOD).asset("user.json", schema);
    bench.passes();
    let strict = bench
        .clone()
        .asset("user.json", r#"{"required": ["name"]}"#);
    let fact = strict.only_fact();
    assert_eq!(fact.location.as_deref(), Some("GET /users/1?full=1: /"));
    for (right, wrong) in rows! {
        "200" => "201";
        "application/json.*" => "json";
        "Content-Type" => "X-Request-Id";
    } {
        let other = api(&rules.replace(right, wrong), GOOD);
        other.asset("user.json", schema).fails();
    }
}

#[test]
fn a_quest_file_may_make_the_request_itself() {
    let check = "kind = \"http\"\nservice = \"api\"\npath = \"/users/{{ field.value }}\"";
    let bench = CheckCase::of(check).answers("/users/1", 200, "{}");
    bench.clone().submit("value", "1").passes();
    for value in ["../health", "1 HTTP/1.1"] {
        bench.clone().submit("value", value).fails();
    }
    // Nothing answers another method.
    for method in ["POST", "TRACE"] {
        let check = format!("{check}\nmethod = \"{method}\"");
        let other = CheckCase::of(&check).answers("/users/1", 200, "{}");
        other.submit("value", "1").is_unconfirmed();
    }
}

#[test]
fn a_request_or_an_answer_that_says_two_things_is_refused() {
    let twice = r#"{"method": "GET", "path": "/health", "path": "/users/1?full=1"}"#;
    let fact = api("", twice).only_fact();
    assert!(fact.actual.contains("\"path\" twice"), "{fact:?}");
    let inside = r#"{"method": "GET", "path": "/users/1?full=1", "body": {"id": 1, "id": 2}}"#;
    api("", inside).fails();
    let rules = r#"{"properties": {"id": {"const": 1}}}"#;
    let answers = |body: &str| {
        let bench = api("schema = \"s.json\"", GOOD).asset("s.json", rules);
        bench.answers("/users/1?full=1", 200, body)
    };
    answers(r#"{"id": 2, "id": 1}"#).fails();
    answers(r#"{"id": 1}"#).passes();
}

#[test]
fn the_schema_may_stand_at_a_place_of_a_document() {
    let document = r##"{
        "openapi": "3.1.0",
        "components": {"schemas": {"User": {"required": ["id"]}, "Shop": {"required": ["name"]}}},
        "paths": {"/users/{id}": {"$ref": "#/components/schemas/User"}}
    }"##;
    let of = |cell: &str| {
        let check = "kind = \"http\"\nservice = \"api\"\nrequest = \"value\"\n\
            schema = \"api.json\"\nschema_at = \"{{ input.cell }}\"";
        let bench = CheckCase::of(check).asset("api.json", document).cell(cell);
        let bench = bench.submit("value", r#"{"method": "GET", "path": "/users/1"}"#);
        bench.answers("/users/1", 200, r#"{"id": 1}"#)
    };
    of("/paths/~1users~1{id}").passes();
    let fact = of("/components/schemas/Shop").only_fact();
    assert!(fact.expected.contains("name"), "{fact:?}");
    of("/components/schemas/None").is_unconfirmed();
    let alone = "kind = \"http\"\nservice = \"api\"\nrequest = \"value\"\nschema_at = \"/x\"";
    assert!(CheckCase::of(alone).mistake().contains("say `schema`"));
}

#[test]
fn a_column_may_say_which_status() {
    let of = |cell: &str| {
        let check = "kind = \"http\"\nservice = \"api\"\nrequest = \"value\"\n\
            status = \"{{ input.cell }}\"";
        let bench = CheckCase::of(check).cell(cell);
        let bench = bench.submit("value", r#"{"method": "GET", "path": "/users/1"}"#);
        bench.answers("/users/1", 201, "")
    };
    of("200, 201").passes();
    of("200").fails();
    of("").is_unconfirmed();
    let check = "kind = \"http\"\nservice = \"api\"\nrequest = \"value\"\n\
        status = \"{{ field.other }}\"";
    let said = CheckCase::of(check)
        .submit("value", r#"{"method": "GET", "path": "/users/1"}"#)
        .answers("/users/1", 201, "");
    said.clone().submit("other", "201").passes();
    said.submit("other", "any").fails();
}

#[test]
fn another_answer_is_wrong_and_none_is_not_known() {
    api("", r#"{"method": "GET", "path": "/users/2"}"#).fails();
    let body = api(
        "schema = \"s.json\"",
        r#"{"method": "GET", "path": "/users/3"}"#,
    );
    body.asset("s.json", "{}").fails();
    let silent = api("", r#"{"method": "GET", "path": "/users/4"}"#);
    silent.is_unconfirmed();
    let down = api("", GOOD).no_service("port in use");
    down.is_unconfirmed();
}

#[test]
fn a_request_that_is_refused_is_wrong_and_a_service_that_is_not_there_is_not_known() {
    let path = "/users/4";
    let request = r#"{"method": "GET", "path": "/users/4"}"#;
    let of = |called| api("", request).called(path, called);
    let refused = of(Called::Refused("connection closed".to_owned()));
    refused.clone().fails();
    let fact = refused.only_fact();
    assert_eq!(fact.location.as_deref(), Some("GET /users/4"));
    let actual = "the service gave no answer to this request: connection closed";
    assert_eq!(&*fact.actual, actual);
    let gone = of(Called::Unanswered("it has ended".to_owned()));
    gone.is_unconfirmed();
}

#[test]
fn a_request_must_be_for_the_operation_of_the_quest() {
    for (method, path) in rows! {
        "GET" => "/health";
        "POST" => "/users/1";
        "GET" => "/users/";
        "GET" => "/users/1/x";
        "GET" => "/users/..";
        "GET" => "/users/..;x";
        "GET" => "/users/%2e%2e%2fhealth";
        "GET" => "/users/%252e%252e%252fhealth";
    } {
        api("", &request(method, path)).fails();
    }
    api("", GOOD).cell("GET /health").fails();
    api("", GOOD).cell("").fails();
}

#[test]
fn a_request_that_steers_the_carriage_is_never_sent() {
    for request in [
        "no json",
        "[]",
        r#"["GET", "/users/1?full=1"]"#,
        r#"{"method": "GET"}"#,
        r#"{"method": "GET", "path": "/users/1", "host": "x"}"#,
        r#"{"method": "get", "path": "/users/1"}"#,
        r#"{"method": "CONNECT", "path": "/users/1"}"#,
        r#"{"method": "GET /health HTTP/1.1", "path": "/users/1"}"#,
        r#"{"method": "GET", "path": "http://evil.com/users/1"}"#,
        r#"{"method": "GET", "path": "users/1"}"#,
        r#"{"method": "GET", "path": "/users/1 HTTP/1.1\r\nX: y"}"#,
        r#"{"method": "GET", "path": "/users/1#x"}"#,
        r#"{"method": "GET", "path": "/users/1", "headers": {"X": "a\r\nB: c"}}"#,
        r#"{"method": "GET", "path": "/users/1", "headers": {"X\n": "a"}}"#,
        r#"{"method": "GET", "path": "/users/1", "headers": {"Host": "evil"}}"#,
        r#"{"method": "GET", "path": "/users/1", "headers": {"Content-Length": "0"}}"#,
    ] {
        api("", request).fails();
    }
}

#[test]
fn a_table_that_asks_nothing_or_two_things_is_a_mistake() {
    for (check, said) in rows! {
        "" => "say either";
        "service = \"api\"\nlinks_in = \"value\"" => "say either";
        "links_in = \"value\"\nrequest = \"other\"" => "`service` only";
        "links_in = \"value\"\nschema = \"s.json\"" => "`service` only";
        "links_in = \"value\"\nstatus = \"200\"" => "`service` only";
        "service = \"ap\"\nrequest = \"value\"" => "did you mean `api`";
        "service = \"api\"" => "say either `request`";
        "service = \"api\"\nrequest = \"value\"\npath = \"/\"" => "say either";
        "service = \"api\"\npath = \"/\"\nmethod = \"get\"" => "one of GET";
        "service = \"api\"\nrequest = \"valu\"" => "valu";
    } {
        let mistake = CheckCase::of(&format!("kind = \"http\"\n{check}")).mistake();
        assert!(mistake.contains(said), "{check}: {mistake}");
    }
}
