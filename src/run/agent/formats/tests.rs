use serde_json::json;

use super::*;
use crate::base::{Digest, rows};
use crate::run::agent::transcript::{MAX_DOING, MAX_EVENTS, Tail, end_of};
use crate::run::detect::tool_call;

fn read(stream: Stream, lines: &[Value]) -> Transcript {
    let mut reader = Reader::new(stream, 0, None);
    for line in lines {
        reader.line(line.to_string().as_bytes());
    }
    reader.end();
    reader.transcript
}

fn call(tool: &str, arguments: &Value) -> Digest {
    tool_call(tool, arguments).unwrap()
}

fn calls(transcript: &mut Transcript) -> Vec<Digest> {
    let events = transcript.events().into_iter();
    events
        .filter_map(|event| match event {
            AgentEvent::ToolCall(call) => Some(call),
            _ => None,
        })
        .collect()
}

fn turns(transcript: &mut Transcript) -> Vec<u64> {
    let events = transcript.events().into_iter();
    events
        .filter_map(|event| match event {
            AgentEvent::Turn { new_tokens } => Some(new_tokens),
            _ => None,
        })
        .collect()
}

fn claude() -> Vec<Value> {
    let usage = json!({"input_tokens": 10, "cache_creation_input_tokens": 500,
        "cache_read_input_tokens": 20_000, "output_tokens": 40});
    vec![
        json!({"type": "system", "subtype": "init", "session_id": "c-1", "tools": []}),
        json!({"type": "assistant", "session_id": "c-1", "message": {"id": "m1", "usage": usage,
            "content": [{"type": "text", "text": "I look."}]}}),
        json!({"type": "assistant", "session_id": "c-1", "message": {"id": "m1", "usage": usage,
            "content": [{"type": "tool_use", "id": "t1", "name": "Bash",
                "input": {"command": "ls", "x": 1}}]}}),
        json!({"type": "user", "message": {"content": [{"type": "tool_result",
            "is_error": true, "content": "Claude requested permissions to use Bash, but you haven't granted it yet."}]}}),
        json!({"type": "assistant", "message": {"id": "m2", "usage": {"output_tokens": 7},
            "content": [{"type": "text", "text": "It is {\"a\": 1}"}]}}),
        json!({"type": "result", "subtype": "success", "is_error": false, "result": "It is {\"a\": 1}",
            "session_id": "c-1", "total_cost_usd": 0.5, "usage": {"input_tokens": 900, "output_tokens": 100},
            "permission_denials": [{"tool_name": "Bash", "tool_input": {}}]}),
    ]
}

#[test]
fn reads_calls_turns_and_cost_of_claude() {
    let stream = Stream::Events;
    let mut transcript = read(stream, &claude());
    let bash = call("Bash", &json!({"x": 1, "command": "ls"}));
    assert_eq!(calls(&mut transcript), [bash]);
    assert_eq!(turns(&mut read(stream, &claude()))[0], 550);
    assert_eq!(transcript.used, Some(spent(20_560, Some(500_000_000))));
    assert_eq!(transcript.conversation.as_deref(), Some("c-1"));
    assert!(transcript.denied);
    assert!(transcript.said.text().ends_with("It is {\"a\": 1}\n"));

    let allowed: Vec<Value> = claude().into_iter().take(3).collect();
    let transcript = read(stream, &allowed);
    assert!(!transcript.denied);
    assert_eq!(transcript.used.map(|used| used.tokens), Some(20_550));
}

#[test]
fn an_answer_in_pieces_is_one_turn_and_two_are_two() {
    let piece = |id: &str| {
        json!({"type": "assistant", "message": {"id": id, "content": [],
        "usage": {"input_tokens": 30, "output_tokens": 3}}})
    };
    let stream = Stream::Events;
    let lines = [piece("a"), piece("a"), piece("b")];
    assert_eq!(turns(&mut read(stream, &lines)), [33, 33]);
}

#[test]
fn a_turn_with_much_text_is_large_despite_a_small_count() {
    let text = "x".repeat(4_000);
    let line = json!({"type": "assistant", "message": {"id": "m", "usage": {"output_tokens": 1},
        "content": [{"type": "text", "text": text}]}});
    let turns = turns(&mut read(Stream::Events, &[line]));
    assert!(turns[0] >= 1_000, "{turns:?}");
}

#[test]
fn counts_each_item_of_codex_once() {
    let item = |kind: &str, item: Value| json!({"type": kind, "item": item});
    let command = json!({"id": "i0", "type": "command_execution", "command": "ls"});
    let declined =
        json!({"id": "i0", "type": "command_execution", "command": "ls", "status": "declined"});
    let lines = [
        json!({"type": "thread.started", "thread_id": "0199-a"}),
        item("item.started", command.clone()),
        item("item.completed", declined),
        item(
            "item.completed",
            json!({"id": "i1", "type": "mcp_tool_call", "server": "s",
            "tool": "look", "arguments": {"b": 1, "a": 2}}),
        ),
        item(
            "item.completed",
            json!({"id": "i2", "type": "agent_message", "text": "{\"a\": 1}"}),
        ),
        json!({"type": "turn.completed", "usage": {"input_tokens": 900,
            "cached_input_tokens": 800, "output_tokens": 50}}),
    ];
    let mut transcript = read(Stream::Events, &lines);
    let expected = [
        call("command", &json!("ls")),
        call("s_look", &json!({"a": 2, "b": 1})),
    ];
    assert_eq!(calls(&mut transcript), expected);
    assert_eq!(transcript.used.map(|used| used.tokens), Some(950));
    assert_eq!(transcript.conversation.as_deref(), Some("0199-a"));
    assert_eq!(transcript.said.text(), "{\"a\": 1}\n");
    assert!(transcript.denied);
    let failed = json!({"type": "turn.failed", "error": {"message": "usage limit reached"}});
    let transcript = read(Stream::Events, &[failed]);
    assert!(transcript.complaints.text().contains("usage limit"));
}

fn estimates(events: Vec<AgentEvent>) -> Vec<u64> {
    let events = events.into_iter();
    events
        .filter_map(|event| match event {
            AgentEvent::Estimate(tokens) => Some(tokens),
            _ => None,
        })
        .collect()
}

#[test]
fn each_model_call_counts_the_whole_conversation() {
    let length = |line: &Value| line.to_string().len() as u64;
    let output = "x".repeat(4_000);
    let item = |kind: &str, item: Value| json!({"type": kind, "item": item});
    let command = |id: &str| json!({"id": id, "type": "command_execution", "command": "ls"});
    let done = |id: &str| json!({"id": id, "type": "command_execution", "command": "ls", "aggregated_output": output});
    let says = json!({"id": "i9", "type": "agent_message", "text": "Done."});
    let codex = vec![
        json!({"type": "thread.started", "thread_id": "0199-a"}),
        item("item.started", command("i0")),
        item("item.completed", done("i0")),
        item("item.started", command("i1")),
        item("item.completed", done("i1")),
        item("item.completed", says),
    ];
    let use_tool = |id: u8| json!({"type": "tool_use", "tool_name": "shell", "tool_id": id, "parameters": {"c": "ls"}});
    let result = |id: u8| json!({"type": "tool_result", "tool_id": id, "output": output});
    let gemini = vec![
        json!({"type": "init", "session_id": "g-1", "model": "pro"}),
        // Its answer repeats the prompt.
        json!({"type": "message", "role": "user", "content": output}),
        use_tool(1),
        result(1),
        // Two calls at a time wait for one answer of the model.
        use_tool(2),
        use_tool(3),
        result(2),
        result(3),
        json!({"type": "message", "role": "assistant", "content": "Done.", "delta": true}),
    ];
    let sent = |lines: &[Value]| {
        let mut reader = Reader::new(Stream::Events, 1_000, None);
        for line in lines {
            reader.line(line.to_string().as_bytes());
        }
        let estimate = reader.transcript.estimate();
        let seen = estimates(reader.transcript.events());
        assert!(
            seen.is_sorted() && seen.last() == Some(&estimate),
            "{seen:?}"
        );
        assert_eq!(reader.transcript.used, None);
        estimate
    };
    let first = 1_000;
    let second = first + length(&codex[2]);
    let third = second + length(&codex[4]);
    assert_eq!(sent(&codex), (first + second + third) / 4);
    // The answer that a tool has just given is sent at once.
    assert_eq!(sent(&codex[..3]), (first + second) / 4);
    assert_eq!(sent(&codex[..2]), first / 4);

    let second = first + length(&gemini[2]) + length(&gemini[3]);
    let third = second + gemini[4..8].iter().map(length).sum::<u64>();
    assert_eq!(sent(&gemini), (first + second + third) / 4);
}

#[test]
fn a_reported_number_replaces_the_estimate() {
    let item = json!({"id": "i0", "type": "command_execution", "command": "ls"});
    let lines = [
        json!({"type": "thread.started", "thread_id": "0199-a"}),
        json!({"type": "item.completed", "item": item}),
        json!({"type": "turn.completed", "usage": {"input_tokens": 900, "output_tokens": 50}}),
        json!({"type": "item.completed", "item": item}),
    ];
    let mut transcript = read(Stream::Events, &lines);
    assert_eq!(transcript.used, Some(spent(950, None)));
    let events = transcript.events();
    let reported = events
        .iter()
        .position(|it| matches!(it, AgentEvent::Spent(_)));
    let after = events[reported.unwrap()..].to_vec();
    assert_eq!(estimates(after), [0; 0]);
}

#[test]
fn a_resumed_conversation_counts_again_and_a_new_one_does_not() {
    let begins = |name: &str| json!({"type": "thread.started", "thread_id": name});
    let item = json!({"type": "agent_message", "text": "x".repeat(4_000)});
    let says = json!({"type": "item.completed", "item": item});
    let start = |resumed, name| {
        let mut reader = Reader::new(Stream::Events, 400, resumed);
        for line in [begins(name), says.clone()] {
            reader.line(line.to_string().as_bytes());
        }
        (reader.transcript.estimate(), reader.transcript.totals)
    };
    let (tokens, totals) = start(None, "t-1");
    assert_eq!(tokens, 100);
    let resumed = || Some(("t-1".to_owned(), totals));
    assert_eq!(start(resumed(), "t-1").0, (totals.bytes + 400) / 4);
    assert_eq!(start(resumed(), "t-2").0, 100);
}

#[test]
fn joins_the_pieces_of_a_gemini_message() {
    let lines = [
        json!({"type": "init", "session_id": "g-1", "model": "pro"}),
        json!({"type": "message", "role": "user", "content": "{\"not\": 1}"}),
        json!({"type": "tool_use", "tool_name": "shell", "tool_id": "1", "parameters": {"c": "ls"}}),
        json!({"type": "tool_result", "tool_id": "1", "status": "error",
            "error": {"message": "Tool execution denied by policy."}}),
        json!({"type": "message", "role": "assistant", "content": "{\"a\":", "delta": true}),
        json!({"type": "message", "role": "assistant", "content": " 1}", "delta": true}),
        json!({"type": "result", "status": "success", "stats": {"total_tokens": 260,
            "input_tokens": 60, "output_tokens": 200, "cached": 10}}),
    ];
    let mut transcript = read(Stream::Events, &lines);
    assert_eq!(calls(&mut transcript), [call("shell", &json!({"c": "ls"}))]);
    assert_eq!(transcript.said.text().trim(), "{\"a\": 1}");
    assert_eq!(transcript.used.map(|used| used.tokens), Some(260));
    assert!(transcript.denied);
}

/// What Claude Code 2.1.330 prints with a bad key, shortened.
fn claude_with_status(status: u16) -> Vec<Value> {
    let retry = |attempt| {
        json!({"type": "system", "subtype": "api_retry", "attempt": attempt, "max_retries": 10,
            "error_status": status, "error": "some_error", "session_id": "c-1"})
    };
    let text = format!("Failed to authenticate. API Error: {status} {{\"a\": 1}}");
    vec![
        json!({"type": "system", "subtype": "init", "session_id": "c-1", "tools": []}),
        retry(1),
        retry(2),
        json!({"type": "assistant", "is_api_error_message": true, "api_error_status": status,
            "message": {"id": "m1", "content": [{"type": "text", "text": text}]}}),
        json!({"type": "result", "subtype": "success", "is_error": true, "result": text,
            "api_error_status": status, "session_id": "c-1"}),
    ]
}

#[test]
fn notices_at_once_that_the_provider_refuses_claude() {
    for (status, provider, refusals) in [
        (401, Some(ProviderError::NotLoggedIn), 1),
        (403, Some(ProviderError::NotLoggedIn), 1),
        (429, Some(ProviderError::Busy), 0),
        (529, Some(ProviderError::Busy), 0),
        (500, None, 0),
    ] {
        let lines = claude_with_status(status);
        let mut transcript = read(Stream::Events, &lines);
        assert_eq!(transcript.provider, provider, "{status}");
        let events = transcript.events().into_iter();
        let refused = events.filter(|event| *event == AgentEvent::NotLoggedIn);
        assert_eq!(refused.count(), refusals, "{status}");
        // Two retries are enough, and the first may end with a renewed login.
        let begun = |lines: &[Value]| {
            let mut transcript = read(Stream::Plain, lines);
            transcript.events().contains(&AgentEvent::NotLoggedIn)
        };
        assert!(!begun(&lines[..2]));
        assert_eq!(begun(&lines[..3]), refusals == 1);
        // An answer of the model shows that the provider accepts it.
        let answered = [&lines[..3], &claude()[1..3]].concat();
        assert_eq!(read(Stream::Events, &answered).provider, None);
    }
}

#[test]
fn notices_a_missing_login_of_claude_without_a_status() {
    let says = |error: &str| {
        [
            json!({"type": "assistant", "is_api_error_message": true, "error": error, "message":
                {"id": "m1", "content": [{"type": "text", "text": "Please run /login"}]}}),
            json!({"type": "result", "is_error": true, "api_error_status": null,
                "result": "Please run /login"}),
        ]
    };
    for (error, provider) in [
        ("authentication_failed", Some(ProviderError::NotLoggedIn)),
        ("rate_limit", Some(ProviderError::Busy)),
        ("invalid_request", None),
    ] {
        let transcript = read(Stream::Events, &says(error));
        assert_eq!(transcript.provider, provider, "{error}");
        assert_eq!(transcript.complaints.text(), "Please run /login\n");
    }
}

#[test]
fn reads_the_provider_error_of_each_known_agent() {
    // What the programs print with a bad key and at a rate limit, shortened.
    let codex = |text: &str| {
        vec![
            json!({"type": "thread.started", "thread_id": "0199-a"}),
            json!({"type": "error", "message": format!("Reconnecting... 1/5 ({text})")}),
            json!({"type": "turn.failed", "error": {"message": text}}),
        ]
    };
    let gemini = |code: u16| {
        vec![
            json!({"type": "init", "session_id": "g-1", "model": "pro"}),
            json!({"type": "message", "role": "user", "content": "Answer the quest."}),
            json!({"type": "result", "status": "error", "error": {"type": "unknown",
                "message": format!("[API Error: {{\"error\":{{\"code\":{code}}}}}]")},
                "stats": {"total_tokens": 0}}),
        ]
    };
    let opencode = |code: u16| {
        vec![
            json!({"type": "error", "sessionID": "ses_1", "error": {"name": "APIError",
            "data": {"message": "Invalid request", "statusCode": code}}}),
        ]
    };
    let qwen = |code: u16| {
        let text = format!("[API Error: {code} Try again]");
        vec![
            json!({"type": "system", "subtype": "init", "session_id": "q-1"}),
            json!({"type": "assistant", "session_id": "q-1", "message": {"id": "m1",
                "content": [{"type": "text", "text": text}],
                "usage": {"input_tokens": 0, "output_tokens": 0}}}),
            json!({"type": "result", "is_error": true, "error": {"message": text}}),
        ]
    };
    let (login, busy) = (Some(ProviderError::NotLoggedIn), Some(ProviderError::Busy));
    for (lines, expected) in [
        (
            codex("unexpected status 401 Unauthorized: a bad key"),
            login,
        ),
        (
            codex("exceeded retry limit, last status: 429 Too Many Requests"),
            busy,
        ),
        (codex("stream disconnected before completion"), None),
        (gemini(401), login),
        (gemini(429), busy),
        (gemini(500), None),
        (opencode(401), login),
        (opencode(429), busy),
        (opencode(500), None),
        (qwen(401), login),
        (qwen(429), busy),
        (qwen(500), None),
    ] {
        let transcript = read(Stream::Events, &lines);
        assert_eq!(transcript.provider, expected, "{lines:?}");
        // What the model says afterwards shows that the provider accepts it.
        let item = json!({"id": "i1", "type": "agent_message", "text": "status 401"});
        let answered = [lines, vec![json!({"type": "item.completed", "item": item})]].concat();
        assert_eq!(read(Stream::Events, &answered).provider, None);
    }
}

#[test]
fn the_text_of_an_error_is_not_an_answer() {
    // What Gemini CLI 0.61.0 prints with a bad key, shortened.
    let gemini = json!({"type": "result", "status": "error", "error": {"type": "unknown",
        "message": "[API Error: {\"error\":{\"code\":401}}]"}, "stats": {"total_tokens": 0}});
    let codex = json!({"type": "error", "message": "status 401: {\"a\": 1}"});
    for lines in [
        vec![gemini],
        vec![codex.clone()],
        claude_with_status(401),
        claude_with_status(500),
    ] {
        let transcript = read(Stream::Events, &lines);
        assert_eq!(transcript.said.text().trim(), "", "{lines:?}");
        assert!(transcript.complaints.text().contains('1'), "{lines:?}");
    }
    assert_eq!(read(Stream::Plain, &[codex]).said.text(), "");
    let result = json!({"type": "result", "status": "success", "result": "{\"a\": 1}"});
    let transcript = read(Stream::Events, &[result]);
    assert_eq!(transcript.said.text(), "{\"a\": 1}\n");
}

#[test]
fn after_a_resume_only_the_increase_of_a_total_counts() {
    let resumed = |name: &str, totals, lines: &[Value]| {
        let mut reader = Reader::new(Stream::Events, 0, Some((name.to_owned(), totals)));
        for line in lines {
            reader.line(line.to_string().as_bytes());
        }
        reader.end();
        reader.transcript
    };
    let dollars = |total: f64| {
        vec![
            json!({"type": "system", "subtype": "init", "session_id": "c-1"}),
            json!({"type": "result", "session_id": "c-1", "total_cost_usd": total,
            "usage": {"input_tokens": 30, "output_tokens": 3}}),
        ]
    };
    let cost = |transcript: &Transcript| transcript.used.and_then(|used| used.cost);
    let first = read(Stream::Events, &dollars(0.5));
    assert_eq!(cost(&first), Some(500_000_000));
    let second = resumed("c-1", first.totals, &dollars(0.75));
    assert_eq!(cost(&second), Some(250_000_000));
    assert_eq!(second.used.map(|used| used.tokens), Some(33));
    assert_eq!(second.totals.cost, 750_000_000);
    // Another conversation, and a total that began again, are counted whole.
    let other = resumed("c-0", first.totals, &dollars(0.75));
    assert_eq!(cost(&other), Some(750_000_000));
    let again = resumed("c-1", first.totals, &dollars(0.25));
    assert_eq!(cost(&again), Some(250_000_000));
    // A start that ends before it reports a total keeps the last one.
    let cut = resumed("c-1", first.totals, &dollars(0.75)[..1]);
    assert_eq!((cut.totals, cut.used), (first.totals, None));

    let tokens = |total: u64| {
        vec![
            json!({"type": "thread.started", "thread_id": "t-1"}),
            json!({"type": "turn.completed", "usage": {"input_tokens": total, "output_tokens": 0}}),
        ]
    };
    let used = |transcript: &Transcript| transcript.used.map(|used| used.tokens);
    let first = read(Stream::Events, &tokens(900));
    assert_eq!(used(&first), Some(900));
    let second = resumed("t-1", first.totals, &tokens(1_000));
    assert_eq!(used(&second), Some(100));
    let two_turns = [tokens(900), tokens(1_000)].concat();
    assert_eq!(used(&read(Stream::Events, &two_turns)), Some(1_000));
}

#[test]
fn reads_the_calls_of_cursor_and_opencode() {
    let line = json!({"type": "tool_call", "subtype": "started", "session_id": "s-1",
        "tool_call": {"readToolCall": {"args": {"path": "a"}}}});
    let done = json!({"type": "tool_call", "subtype": "completed",
        "tool_call": {"readToolCall": {"args": {"path": "a"}, "result": {}}}});
    let mut transcript = read(Stream::Events, &[line, done]);
    assert_eq!(
        calls(&mut transcript),
        [call("readToolCall", &json!({"path": "a"}))]
    );

    let lines = [
        json!({"type": "tool_use", "sessionID": "ses_1", "part": {"tool": "bash",
            "state": {"status": "completed", "input": {"command": "ls"}}}}),
        json!({"type": "text", "sessionID": "ses_1", "part": {"text": "done"}}),
        json!({"type": "step_finish", "sessionID": "ses_1", "part": {"cost": 0.001,
            "tokens": {"input": 10, "output": 5, "reasoning": 1, "cache": {"read": 9, "write": 4}}}}),
    ];
    let mut transcript = read(Stream::Events, &lines);
    assert_eq!(calls(&mut transcript).len(), 1);
    assert_eq!(transcript.used, Some(spent(29, Some(1_000_000))));
}

#[test]
fn the_first_line_identifies_a_known_format() {
    let mut transcript = read(Stream::Plain, &claude());
    assert_eq!(calls(&mut transcript).len(), 1);
    assert_eq!(transcript.used.map(|used| used.tokens), Some(20_560));
}

#[test]
fn reads_common_field_names_of_an_unknown_agent() {
    let lines = [
        json!({"type": "tool_call", "name": "search", "arguments": {"q": "x"}}),
        json!({"usage": {"input_tokens": 10, "output_tokens": 2}}),
        json!({"usage": {"input_tokens": 20, "output_tokens": 3}, "total_cost_usd": 0.1}),
        json!({"type": "message", "text": "so it is"}),
        json!({"type": "shop", "company": "Acme", "text": "a field"}),
        json!({"session_id": "x1", "usage": {"total_tokens": 5}}),
    ];
    let mut transcript = read(Stream::Plain, &lines);
    assert_eq!(calls(&mut transcript), [call("search", &json!({"q": "x"}))]);
    assert_eq!(transcript.used, Some(spent(40, Some(100_000_000))));
    assert_eq!(transcript.said.text(), format!("so it is\n{}\n", lines[4]));
}

#[test]
fn skips_unknown_and_broken_lines() {
    let mut reader = Reader::new(Stream::Events, 0, None);
    for line in [
        "{\"type\": \"new\", \"usage\": 7}",
        "{\"type\": [",
        "{}",
        "{\"type\": \"assistant\"}",
        "{\"type\": \"result\", \"usage\": [], \"permission_denials\": {}}",
        "{\"type\": \"item.completed\"}",
        "{\"type\": \"tool_use\"}",
    ] {
        reader.line(line.as_bytes());
    }
    reader.line(b"\xff{");
    reader.end();
    assert_eq!(reader.transcript.used, None);
    assert!(!reader.transcript.denied);
}

#[test]
fn counts_all_tokens_and_the_cached_ones_separately() {
    for (told, counted) in rows! {
        json!({"input_tokens": 10, "cache_creation_input_tokens": 200,
            "cache_read_input_tokens": 9_000, "output_tokens": 5}) => Some((9_215, 9_000));
        json!({"input_tokens": 900, "cached_input_tokens": 800, "output_tokens": 5})
            => Some((905, 800));
        json!({"prompt_tokens": 90, "completion_tokens": 5, "total_tokens": 95,
            "prompt_tokens_details": {"cached_tokens": 80}}) => Some((95, 80));
        // Where a cache served a part of `input_tokens`, too.
        json!({"input_tokens": 90, "output_tokens": 5, "cache_read_input_tokens": 80,
            "total_tokens": 95}) => Some((95, 80));
        json!({"prompt": 50, "input": 40, "cached": 10, "candidates": 7}) => Some((57, 10));
        json!({"input": 7, "output": 2, "reasoning": 1, "cache": {"read": 50, "write": 40}})
            => Some((100, 50));
        json!({"total_tokens": 12}) => Some((12, 0));
        json!({"output_tokens": 12}) => Some((12, 0));
        json!({"input_tokens": 1, "cached_input_tokens": 9}) => Some((1, 1));
        json!({"input_tokens": "many"}) => None;
        json!({}) => None;
        json!(3) => None;
    } {
        let counted = counted.map(|(all, cached)| Tokens { all, cached });
        assert_eq!(tokens_in(&told), counted, "{told}");
    }
}

#[test]
fn reads_a_price_in_dollars() {
    assert_eq!(cost_in(&json!({"total_cost_usd": 0.25})), Some(250_000_000));
    assert_eq!(cost_in(&json!({"cost": 0})), Some(0));
    assert_eq!(cost_in(&json!({"cost": -1.0})), None);
    assert_eq!(cost_in(&json!({"cost": "much"})), None);
}

#[test]
fn a_conversation_name_cannot_look_like_an_option() {
    let mut transcript = Transcript::new(0, None);
    for name in [
        json!("--yolo"),
        json!(""),
        json!("a b"),
        json!(7),
        json!("x".repeat(999)),
    ] {
        transcript.converses(&json!({ "session_id": name }));
    }
    assert_eq!(
        (transcript.conversation.take(), transcript.events()),
        (None, Vec::new())
    );
    transcript.converses(&json!({ "thread_id": "0c7-a" }));
    transcript.converses(&json!({ "thread_id": "0c7-a" }));
    assert_eq!(
        transcript.events(),
        [AgentEvent::Conversation("0c7-a".to_owned())]
    );
}

#[test]
fn untaken_events_are_bounded_and_usage_is_still_counted() {
    let mut transcript = Transcript::new(0, None);
    for _ in 0..MAX_EVENTS * 2 {
        transcript.turn(Tokens { all: 1, cached: 0 }, None);
    }
    assert_eq!(transcript.events().len(), MAX_EVENTS);
    assert_eq!(
        transcript.used.map(|used| used.tokens),
        Some(2 * MAX_EVENTS as u64)
    );
    transcript.turn(Tokens::default(), None);
    assert_eq!(transcript.events().len(), 2);
}

#[test]
fn different_arguments_are_different_calls() {
    let values = [
        json!({"a": "1"}),
        json!({"a": 1}),
        json!({"a": [1]}),
        json!({"a,b": 1}),
        json!([]),
        json!({}),
        json!(null),
        json!("null"),
        json!([[], []]),
        json!([[[]]]),
    ];
    for (index, one) in values.iter().enumerate() {
        for other in &values[..index] {
            assert_ne!(call("t", one), call("t", other));
        }
    }
}

#[test]
fn keeps_only_the_end() {
    let mut tail = Tail::new(4);
    for (more, kept) in [
        ("ab", "ab"),
        ("", "ab"),
        ("cde", "bcde"),
        ("0123456", "3456"),
    ] {
        tail.push(more.as_bytes());
        assert_eq!(tail.text(), kept);
    }
}

#[test]
fn does_not_split_characters() {
    assert_eq!(end_of("aé", 1), "");
    assert_eq!(end_of("aé", 2), "é");
    assert_eq!(end_of("aé", 9), "aé");
}

#[test]
fn shows_the_last_call_or_the_last_line() {
    let mut reader = Reader::new(Stream::Plain, 0, None);
    let call = r#"{"type":"tool_use","name":"Bash","input":{"command":"ls\n  -l"}}"#;
    reader.line(call.as_bytes());
    assert_eq!(reader.transcript.doing().as_deref(), Some("Bash ls -l"));
    assert_eq!(reader.transcript.doing(), None);
    reader.line(b"first words\n  last words \n\n");
    assert_eq!(reader.transcript.doing().as_deref(), Some("last words"));
    reader.line(b"  \n");
    assert_eq!(reader.transcript.doing(), None);
    reader.line(&b"x".repeat(10 * MAX_DOING));
    let long = reader.transcript.doing().unwrap();
    assert_eq!(long.chars().count(), MAX_DOING + 1, "and an ellipsis");
    // Words that arrive in pieces are read as a whole.
    for piece in ["I read ", "the page"] {
        reader.transcript.says_on(piece);
    }
    let words = reader.transcript.doing().unwrap();
    assert!(words.ends_with("I read the page"), "{words}");
}
