//! A call of a tool, as detectors know it.

use serde_json::Value;

use super::canonical;
use super::own::Own;
use crate::base::Digest;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Call {
    pub digest: Digest,
    pub own: Option<Own>,
}

impl Call {
    #[must_use]
    pub fn new(tool: &str, arguments: &Value) -> Self {
        let digest = canonical::digest(arguments);
        Self::digested(tool, digest, Own::in_arguments(arguments))
    }

    #[must_use]
    pub fn digested(tool: &str, arguments: Digest, own: Option<Own>) -> Self {
        // No tool's name has a zero in it, so that name and arguments do not run into each other.
        let parts = [tool.as_bytes(), &[0], arguments.as_bytes()];
        Self {
            digest: Digest::of_parts(parts),
            own,
        }
    }

    #[must_use]
    pub fn noted(own: Own) -> Self {
        let arguments = match own {
            Own::Next => Digest::of(b"next"),
            Own::Status => Digest::of(b"status"),
            Own::Submit(digest) => digest,
        };
        Self::digested("comail", arguments, Some(own))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn tool_and_arguments_make_the_call() {
        let one = Call::new("Read", &json!({"path": "a"}));
        assert_eq!(one, Call::new("Read", &json!({"path": "a"})));
        assert_ne!(one, Call::new("Write", &json!({"path": "a"})));
        assert_ne!(one, Call::new("Read", &json!({"path": "b"})));
        assert_ne!(
            Call::new("Read", &json!(["a", "b"])),
            Call::new("Read", &json!(["b", "a"])),
            "the order of a list does count"
        );
    }

    proptest! {
        #[test]
        fn the_order_of_keys_does_not_hide_a_repeat(
            fields in prop::collection::btree_map("[a-z]{1,4}", any::<i32>(), 1..6)
                .prop_flat_map(|map| {
                    let fields: Vec<_> = map.into_iter().collect();
                    (Just(fields.clone()), Just(fields).prop_shuffle())
                })
        ) {
            let text = |fields: &[(String, i32)]| {
                let fields: Vec<_> = fields.iter().map(|(k, v)| format!("\"{k}\":{v}")).collect();
                format!("{{\"in\":[{{{}}}]}}", fields.join(","))
            };
            let call = |fields: &[(String, i32)]| {
                let arguments: Value = serde_json::from_str(&text(fields)).unwrap();
                Call::new("Edit", &arguments)
            };
            let (one, two) = fields;
            prop_assert_eq!(call(&one), call(&two));
            let mut other = one.clone();
            other[0].1 = other[0].1.wrapping_add(1);
            prop_assert_ne!(call(&one), call(&other));
        }
    }
}
