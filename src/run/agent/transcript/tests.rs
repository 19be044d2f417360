use serde_json::json;

use super::*;

#[test]
fn a_conversation_is_named_by_what_can_be_no_option() {
    let mut transcript = Transcript::new();
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
fn events_that_nobody_takes_cost_no_memory_and_no_count() {
    let mut transcript = Transcript::new();
    for _ in 0..MAX_EVENTS * 2 {
        transcript.turn(spent(1, None));
    }
    assert_eq!(transcript.events().len(), MAX_EVENTS);
    assert_eq!(
        transcript.used.map(|used| used.tokens),
        Some(2 * MAX_EVENTS as u64)
    );
    transcript.turn(spent(0, None));
    assert_eq!(transcript.events().len(), 2);
}

#[test]
fn no_value_is_taken_for_another() {
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
            assert_ne!(ToolCall::new("t", one), ToolCall::new("t", other));
        }
    }
}

#[test]
fn keeps_the_end_and_no_more() {
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
fn cuts_no_character_in_two() {
    assert_eq!(end_of("aé", 1), "");
    assert_eq!(end_of("aé", 2), "é");
    assert_eq!(end_of("aé", 9), "aé");
}
