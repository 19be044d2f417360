//! Why an agent died, by what it last said.

const LIMITED: [&str; 13] = [
    "rate limit",
    "rate_limit",
    "rate-limit",
    "ratelimit",
    "too many requests",
    "usage limit",
    "limit reached",
    "hit your limit",
    "quota exceeded",
    "exceeded your current quota",
    "resource_exhausted",
    "overloaded",
    "credit balance is too low",
];

const NO_LOGIN: [&str; 14] = [
    "please run /login",
    "run /login",
    "not logged in",
    "please log in",
    "login required",
    "invalid api key",
    "incorrect api key",
    "invalid x-api-key",
    "api key not valid",
    "no api key",
    "authentication_error",
    "authentication failed",
    "set an auth method",
    "not authenticated",
];

const STATUS: [&str; 4] = ["http", "status", "error", "code"];

pub(super) fn is_rate_limited(said: &str) -> bool {
    let said = said.to_lowercase();
    LIMITED.iter().any(|words| said.contains(words)) || has_status(&said, "429")
}

pub(super) fn is_no_login(said: &str) -> bool {
    let said = said.to_lowercase();
    NO_LOGIN.iter().any(|words| said.contains(words)) || has_status(&said, "401")
}

fn has_status(said: &str, number: &str) -> bool {
    said.lines().any(|line| {
        let mut words = line.split(|letter: char| !letter.is_ascii_alphanumeric());
        words.any(|word| word == number) && STATUS.iter().any(|word| line.contains(word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_and_logins_are_told_apart() {
        for (said, limited, no_login) in [
            ("Claude AI usage limit reached|1760000000", true, false),
            ("API Error: 429 {\"type\":\"error\"}", true, false),
            (
                "stream error: exceeded retry limit, last status: 429 Too Many Requests",
                true,
                false,
            ),
            ("API Error: 529 overloaded_error: Overloaded", true, false),
            ("Invalid API key · Please run /login", false, true),
            ("Error: Not logged in.", false, true),
            ("HTTP error: 401 Unauthorized", false, true),
            ("Segmentation fault", false, false),
            ("429 of 527 quests are done", false, false),
            ("error in line 1429", false, false),
            ("", false, false),
        ] {
            assert_eq!(
                (is_rate_limited(said), is_no_login(said)),
                (limited, no_login),
                "{said}"
            );
        }
    }
}
