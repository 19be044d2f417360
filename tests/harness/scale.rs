//! How long the long tests run.

/// How many processes are killed: `small`, or as many as `COMAIL_TEST_KILLS` says.
pub fn kills(small: u64) -> u64 {
    asked().unwrap_or(small)
}

/// `small`, or `large` where `COMAIL_TEST_KILLS` asks for the long run.
pub fn pick<T>(small: T, large: T) -> T {
    if asked().is_some() { large } else { small }
}

fn asked() -> Option<u64> {
    let count = std::env::var("COMAIL_TEST_KILLS").ok()?;
    Some(count.parse().expect("a number of kills"))
}
