//! Credits of who made a site, or serves it, behind the name of who owns it.

/// What begins a credit, in lower case.
const CREDITS: &[&str] = &[
    "powered by",
    "proudly powered",
    "proudly created",
    "proudly made",
    "designed by",
    "designed and",
    "designed &",
    "design by",
    "design:",
    "design :",
    "developed by",
    "created by",
    "created with",
    "made by",
    "made with",
    "built by",
    "built on",
    "built with",
    "produced by",
    "maintained by",
    "website by",
    "website:",
    "site by",
    "web by",
    "webdesign by",
    "webdesign:",
    "web design by",
    "web design:",
    "hosted by",
    "hosted on",
    "hosting by",
    "hosting:",
    "theme by",
    "theme:",
    "template by",
    "template:",
    "umsetzung:",
    "umsetzung durch",
    "realisierung:",
    "realisierung durch",
    "réalisation:",
    "réalisation :",
    "제작:",
    "제작 :",
    "제작 by",
    "디자인:",
    "디자인 :",
    "호스팅:",
    "호스팅 :",
    "호스팅제공",
    "호스팅 제공",
    "制作:",
    "制作：",
];

/// What stands before the first credit of a line.
pub(super) fn without_credit(line: &str) -> &str {
    let lower = line.to_ascii_lowercase();
    let begins_word = |at: usize| !line[..at].ends_with(char::is_alphanumeric);
    let starts = CREDITS.iter().filter_map(|credit| {
        let mut found = lower.match_indices(credit).map(|(at, _)| at);
        found.find(|at| begins_word(*at))
    });
    starts.min().map_or(line, |at| &line[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credits_end_a_line() {
        for (line, own) in [
            ("© Acme Powered by Shopify", "© Acme "),
            ("ACME Website By Beta", "ACME "),
            ("Powered by Acme", ""),
            ("한빛 호스팅: 베타", "한빛 "),
            ("Acme Hosting", "Acme Hosting"),
            ("Empowered by Acme", "Empowered by Acme"),
            ("© Acme", "© Acme"),
        ] {
            assert_eq!(without_credit(line), own, "{line}");
        }
    }
}
