//! Why the provider of a model refused an agent, read from the agent's errors.

use std::sync::LazyLock;

use regex::Regex;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderError {
    NotLoggedIn,
    /// It is overloaded, or limits the rate.
    Busy,
}

impl ProviderError {
    pub(super) fn of_status(status: u64) -> Option<Self> {
        match status {
            401 | 403 => Some(Self::NotLoggedIn),
            429 | 503 | 529 => Some(Self::Busy),
            _ => None,
        }
    }

    /// Reads the last line that names a reason.
    pub(super) fn of_lines(text: &str) -> Option<Self> {
        text.lines().rev().find_map(Self::of_text)
    }

    /// Reads the text of an error: its first HTTP status, or the words that providers and their
    /// libraries use.
    pub(super) fn of_text(text: &str) -> Option<Self> {
        static SAYS: LazyLock<Option<Regex>> = LazyLock::new(|| {
            Regex::new(
                r"(?ix) \b(?:status|code|error)\b [^\w\n]{0,4} (?<status>[1-5]\d\d) \b
                | (?<login> authenticat(?:ion|e\ you) | unauthori[sz]ed | unauthenticated
                    | api.?key | \blog(?:ged)?.?in\b )
                | (?<busy> rate.?limit | too\ many\ requests | resource.?exhausted | overloaded
                    | usage\ limit | quota )",
            )
            .ok()
        });
        let said = SAYS.as_ref()?.captures(text)?;
        if let Some(status) = said.name("status") {
            return Self::of_status(status.as_str().parse().ok()?);
        }
        let refuses_login = said.name("login").is_some();
        Some(if refuses_login {
            Self::NotLoggedIn
        } else {
            Self::Busy
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_a_missing_login_from_a_rate_limit() {
        let (login, busy) = (Some(ProviderError::NotLoggedIn), Some(ProviderError::Busy));
        for (text, expected) in [
            // Codex 0.169.0
            (
                "unexpected status 401 Unauthorized: Invalid API key provided, url: …",
                login,
            ),
            (
                "exceeded retry limit, last status: 429 Too Many Requests",
                busy,
            ),
            ("You've hit your usage limit. Try again at 3 pm.", busy),
            // Gemini CLI 0.61.0
            (
                r#"[API Error: {"error":{"message":"Bad key","code":401}}]"#,
                login,
            ),
            (
                r#"[API Error: {"error":{"status":"RESOURCE_EXHAUSTED"}}]"#,
                busy,
            ),
            (
                "Attempt 1 failed with status 429. Retrying with backoff...",
                busy,
            ),
            // Qwen Code 0.24.4
            ("[API Error: 401 Invalid API key provided]", login),
            ("[API Error: 429 You are sending requests too fast]", busy),
            // aider 0.86.2
            (
                "litellm.AuthenticationError: AuthenticationError: OpenAIException",
                login,
            ),
            (
                "litellm.RateLimitError: RateLimitError: check the quota of your API key",
                busy,
            ),
            (
                "Error: Authentication required. Please run 'cursor-agent login' first",
                login,
            ),
            // Neither
            (
                "stream disconnected before completion: error sending request",
                None,
            ),
            ("API Error: 500 the login service failed", None),
            ("status 404 Not Found: there is no such model", None),
            ("the file has 429 lines and 401 words", None),
            ("", None),
        ] {
            assert_eq!(ProviderError::of_text(text), expected, "{text}");
        }
    }
}
