//! The page's content security policy.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::base::Digest;

/// The policy that allows this style sheet and this script, by their hashes, and nothing else.
pub(super) fn policy(style: &str, script: &str) -> String {
    let (style, script) = (hash(style), hash(script));
    format!(
        "default-src 'none'; style-src '{style}'; script-src '{script}'; base-uri 'none'; \
         form-action 'none'"
    )
}

fn hash(text: &str) -> String {
    let digest = Digest::of(text.as_bytes());
    format!("sha256-{}", STANDARD.encode(digest.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_a_browser() {
        // From the specification of subresource integrity: the hash of `alert('Hello, world.');`
        // by another program.
        assert_eq!(
            hash("alert('Hello, world.');"),
            "sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng="
        );
    }

    #[test]
    fn nothing_is_allowed_that_is_not_named() {
        let policy = policy("a", "b");
        assert!(policy.starts_with("default-src 'none'; "), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert!(!policy.contains('*'), "{policy}");
    }
}
