//! Numbers with their nouns, as sentences have them.

/// `1 row`, `2 rows`.
pub fn counted(count: impl Into<u64>, noun: &str) -> String {
    match count.into() {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_no_plural() {
        assert_eq!(counted(0_u32, "row"), "0 rows");
        assert_eq!(counted(1_u32, "row"), "1 row");
        assert_eq!(counted(2_u32, "row"), "2 rows");
    }
}
