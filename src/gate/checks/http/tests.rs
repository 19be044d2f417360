//! `http` over pages and a service.

use crate::gate::checks::tests::Bench;
use crate::world::sandbox::{Called, Started};
use crate::world::{Fetched, Unanswered};

const PAGE: &str = "https://acme.com/a";

fn url(more: &str) -> Bench {
    Bench::of(&format!(
        "kind = \"http\"\nurl = \"{{{{ field.value }}}}\"\n{more}"
    ))
    .submit("value", PAGE)
}

#[test]
fn a_page_answers_or_not() {
    assert_eq!(url("").page(PAGE, "x").fired(), [""; 0]);
    assert_eq!(
        url("").media(PAGE, "application/pdf", "%PDF").fired(),
        [""; 0]
    );
    assert_eq!(url("").fired(), ["it"]);
    assert_eq!(url("").silent(PAGE).fired(), ["it-unconfirmed"]);
    let moved = url("").redirect(PAGE, "https://acme.com/b");
    assert_eq!(moved.clone().fired(), ["it"]);
    assert_eq!(moved.page("https://acme.com/b", "x").fired(), [""; 0]);
    assert_eq!(url("").submit("value", "ftp://acme.com/").fired(), ["it"]);
}

#[test]
fn a_field_says_its_own_part_of_the_url() {
    let of = |template: &str, value: &str| {
        Bench::of(&format!("kind = \"http\"\nurl = \"{template}\""))
            .submit("value", value)
            .page("https://acme.com/", "x")
            .page("https://acme.com/a", "x")
            .page("https://acme.com/a?", "x")
            .page("https://acme.com/a?/tests", "x")
            .page("https://acme.com/a?b=c?", "x")
            .fired()
    };
    let inner = "https://acme.com/{{ field.value }}/tests";
    assert_eq!(of(inner, "a#"), ["it"]);
    assert_eq!(of(inner, "a?"), ["it"]);
    assert_eq!(of("https://acme.com/{{ field.value }}?b=c?", "a"), [""; 0]);
    assert_eq!(of("https://acme.com/a?b={{ field.value }}", "c?"), [""; 0]);
    assert_eq!(
        of("{{ field.value }}", "https://acme.com/a?/tests"),
        [""; 0]
    );
    assert_eq!(of("https://acme.com/{{ field.value }}", " "), ["it"]);
    assert_eq!(of("https://acme.com/{{ field.other }}", "a"), ["it"]);
    let own = "kind = \"contains\"\nfield = \"value\"\nurl = \"https://acme.com/a#x\"";
    let own = Bench::of(own).page("https://acme.com/a", "the value");
    assert_eq!(own.submit("value", "the value").fired(), [""; 0]);
}

#[test]
fn another_status_may_be_asked_for() {
    assert_eq!(url("status = [404]").fired(), [""; 0]);
    assert_eq!(url("status = [404]").page(PAGE, "x").fired(), ["it"]);
    let refused = Fetched::Unanswered(Unanswered::status(403));
    assert_eq!(
        url("status = [403]").fetched(PAGE, refused.clone()).fired(),
        [""; 0]
    );
    assert_eq!(url("").fetched(PAGE, refused).fired(), ["it-unconfirmed"]);
}

const API: &str = r#"
    kind = "http"
    service = "api"
    request = "value"
    must_match = "{{ input.cell }}"
"#;

fn api(more: &str, request: &str) -> Bench {
    Bench::of(&format!("{API}{more}"))
        .submit("value", request)
        .cell("get /users/{id}")
        .answers("GET", "/users/1?full=1", 200, r#"{"id": 1, "tags": ["a"]}"#)
        .answers("GET", "/health", 200, "{}")
        .answers("GET", "/users/2", 500, "oops")
        .answers("GET", "/users/3", 200, "no json")
}

const GOOD: &str = r#"{"method": "GET", "path": "/users/1?full=1"}"#;

#[test]
fn a_service_answers_as_it_should() {
    let rules = r#"
        status = [200]
        schema = "user.json"
        headers = { Content-Type = "application/json.*" }
    "#;
    let schema = r#"{"required": ["id"], "properties": {"id": {"type": "integer"}}}"#;
    let bench = api(rules, GOOD).asset("user.json", schema);
    assert_eq!(bench.fired(), [""; 0]);
    let strict = bench
        .clone()
        .asset("user.json", r#"{"required": ["name"]}"#);
    let fact = strict.only_fact();
    assert_eq!(fact.location.as_deref(), Some("GET /users/1?full=1: /"));
    for (wrong, right) in [
        ("status = [201]", "status = [200]"),
        ("\"text/html\"", "\"application/json.*\""),
        ("\"json\"", "\"application/json.*\""),
        ("X-Request-Id = ", "Content-Type = "),
    ] {
        let other = api(&rules.replace(right, wrong), GOOD).asset("user.json", schema);
        assert_eq!(other.fired(), ["it"], "{wrong}");
    }
}

#[test]
fn a_request_or_an_answer_that_says_two_things_is_refused() {
    let twice = r#"{"method": "GET", "path": "/health", "path": "/users/1?full=1"}"#;
    let fact = api("", twice).only_fact();
    assert!(fact.actual.contains("\"path\" twice"), "{fact:?}");
    let inside = r#"{"method": "GET", "path": "/users/1?full=1", "body": {"id": 1, "id": 2}}"#;
    assert_eq!(api("", inside).fired(), ["it"]);
    let rules = r#"{"properties": {"id": {"const": 1}}}"#;
    let answers = |body: &str| {
        let bench = api("schema = \"s.json\"", GOOD).asset("s.json", rules);
        bench.answers("GET", "/users/1?full=1", 200, body)
    };
    assert_eq!(answers(r#"{"id": 2, "id": 1}"#).fired(), ["it"]);
    assert_eq!(answers(r#"{"id": 1}"#).fired(), [""; 0]);
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
        let bench = Bench::of(check).asset("api.json", document).cell(cell);
        let bench = bench.submit("value", r#"{"method": "GET", "path": "/users/1"}"#);
        bench.answers("GET", "/users/1", 200, r#"{"id": 1}"#)
    };
    assert_eq!(of("/paths/~1users~1{id}").fired(), [""; 0]);
    let fact = of("/components/schemas/Shop").only_fact();
    assert!(fact.expected.contains("name"), "{fact:?}");
    assert_eq!(of("/components/schemas/None").fired(), ["it-unconfirmed"]);
    let alone = "kind = \"http\"\nservice = \"api\"\nrequest = \"value\"\nschema_at = \"/x\"";
    assert!(Bench::of(alone).mistake().contains("say `schema`"));
}

#[test]
fn a_column_may_say_which_status() {
    let of = |cell: &str| {
        let check = "kind = \"http\"\nservice = \"api\"\nrequest = \"value\"\n\
            status_of = \"{{ input.cell }}\"";
        let bench = Bench::of(check).cell(cell);
        let bench = bench.submit("value", r#"{"method": "GET", "path": "/users/1"}"#);
        bench.answers("GET", "/users/1", 201, "")
    };
    assert_eq!(of("200, 201").fired(), [""; 0]);
    assert_eq!(of("200").fired(), ["it"]);
    assert_eq!(of("").fired(), ["it-unconfirmed"]);
    let check = "kind = \"http\"\nservice = \"api\"\nrequest = \"value\"\n\
        status_of = \"{{ field.other }}\"";
    let said = Bench::of(check)
        .submit("value", r#"{"method": "GET", "path": "/users/1"}"#)
        .answers("GET", "/users/1", 201, "");
    assert_eq!(said.clone().submit("other", "201").fired(), [""; 0]);
    assert_eq!(said.submit("other", "any").fired(), ["it"]);
    let both = "kind = \"http\"\nservice = \"api\"\nrequest = \"value\"\nstatus = [200]\n\
        status_of = \"{{ input.cell }}\"";
    assert!(Bench::of(both).mistake().contains("either"));
}

#[test]
fn another_answer_is_wrong_and_none_is_not_known() {
    assert_eq!(
        api("", r#"{"method": "GET", "path": "/users/2"}"#).fired(),
        ["it"]
    );
    let body = api(
        "schema = \"s.json\"",
        r#"{"method": "GET", "path": "/users/3"}"#,
    );
    assert_eq!(body.asset("s.json", "{}").fired(), ["it"]);
    let silent = api("", r#"{"method": "GET", "path": "/users/4"}"#);
    assert_eq!(silent.fired(), ["it-unconfirmed"]);
    let down = api("", GOOD).started(Started::Failed("port in use".to_owned()));
    assert_eq!(down.fired(), ["it-unconfirmed"]);
}

#[test]
fn a_request_that_is_refused_is_wrong_and_a_service_that_is_not_there_is_not_known() {
    let path = "/users/4";
    let request = r#"{"method": "GET", "path": "/users/4"}"#;
    let of = |called| api("", request).unanswered("GET", path, called);
    let refused = of(Called::Refused("connection closed".to_owned()));
    assert_eq!(refused.clone().fired(), ["it"]);
    let fact = refused.only_fact();
    assert_eq!(fact.location.as_deref(), Some("GET /users/4"));
    let actual = "the service gave no answer to this request: connection closed";
    assert_eq!(fact.actual, actual);
    let gone = of(Called::Unanswered("it has ended".to_owned()));
    assert_eq!(gone.fired(), ["it-unconfirmed"]);
}

#[test]
fn a_request_must_be_for_the_operation_of_the_quest() {
    for request in [
        r#"{"method": "GET", "path": "/health"}"#,
        r#"{"method": "POST", "path": "/users/1"}"#,
        r#"{"method": "GET", "path": "/users/"}"#,
        r#"{"method": "GET", "path": "/users/1/x"}"#,
        r#"{"method": "GET", "path": "/users/.."}"#,
        r#"{"method": "GET", "path": "/users/..;x"}"#,
        r#"{"method": "GET", "path": "/users/%2e%2e%2fhealth"}"#,
        r#"{"method": "GET", "path": "/users/%252e%252e%252fhealth"}"#,
    ] {
        assert_eq!(api("", request).fired(), ["it"], "{request}");
    }
    assert_eq!(api("", GOOD).cell("GET /health").fired(), ["it"]);
    assert_eq!(api("", GOOD).cell("").fired(), ["it"]);
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
        r#"{"method": "TRACE", "path": "/users/1"}"#,
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
        assert_eq!(api("", request).fired(), ["it"], "{request}");
    }
    let post = api("methods = [\"POST\"]", GOOD);
    assert_eq!(post.fired(), ["it"]);
}

#[test]
fn a_request_may_stand_in_the_table() {
    let check = "kind = \"http\"\nservice = \"api\"\nmethod = \"GET\"\n\
        path = \"/users/{{ field.value }}\"";
    let bench = Bench::of(check).answers("GET", "/users/1", 200, "{}");
    assert_eq!(bench.clone().submit("value", "1").fired(), [""; 0]);
    assert_eq!(bench.clone().submit("value", "../health").fired(), ["it"]);
    assert_eq!(bench.submit("value", "1 HTTP/1.1").fired(), ["it"]);
}

#[test]
fn a_table_that_asks_nothing_or_two_things_is_a_mistake() {
    for (check, said) in [
        ("", "say one of"),
        (
            "url = \"https://a.com/\"\nlinks_in = \"value\"",
            "say one of",
        ),
        (
            "url = \"https://a.com/\"\nmethod = \"GET\"",
            "`service` alone",
        ),
        (
            "url = \"https://a.com/\"\nschema = \"s.json\"",
            "`service` alone",
        ),
        (
            "url = \"https://a.com/\"\nheaders = { X = \"1\" }",
            "`service` alone",
        ),
        (
            "service = \"api\"\nrequest = \"value\"\nheaders = { X = \"(\" }",
            "not a pattern",
        ),
        (
            "service = \"ap\"\nrequest = \"value\"",
            "did you mean `api`",
        ),
        ("service = \"api\"", "say either"),
        ("service = \"api\"\nrequest = \"valu\"", "valu"),
    ] {
        let mistake = Bench::of(&format!("kind = \"http\"\n{check}")).mistake();
        assert!(mistake.contains(said), "{check}: {mistake}");
    }
}
