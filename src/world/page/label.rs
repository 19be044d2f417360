//! Lines that label an owner's name or address, or claim a copyright.

/// Words that are followed by the owner's name or address.
const LABELS: &[&str] = &[
    "주소",
    "상호",
    "상호명",
    "회사명",
    "법인명",
    "업체명",
    "대표",
    "대표자",
    "대표이사",
    "사업자등록번호",
    "사업자 등록번호",
    "사업자번호",
    "통신판매업신고",
    "address",
    "company",
    "company name",
    "registered office",
    "anschrift",
    "impressum",
    "diensteanbieter",
    "betreiber",
    "betreiber der website",
    "betreiber der webseite",
    "seitenbetreiber",
    "firma",
    "adresse",
    "住所",
    "所在地",
    "会社名",
    "商号",
    "社名",
    "地址",
    "公司名称",
];

/// Whether a line claims a copyright.
pub(super) fn is_copyright(line: &str) -> bool {
    let lower = line.to_lowercase();
    let sign = |at: usize| {
        let rest = lower[at + "(c)".len()..].trim_start();
        rest.starts_with(|c: char| c.is_ascii_digit()) || rest.starts_with("copyright")
    };
    lower.contains(['©', 'ⓒ'])
        || lower.contains("copyright")
        || lower.contains("all rights reserved")
        || lower.contains("alle rechte vorbehalten")
        || lower.match_indices("(c)").any(|(at, _)| sign(at))
}

/// What of a line labels what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    /// The line is a label; its value follows.
    Alone,
    /// The line has a label and what it labels.
    WithValue,
    /// There is none.
    None,
}

/// The label of an address line: at its start, or anywhere before a colon.
pub(super) fn label(line: &str) -> Label {
    let lower = line.to_lowercase();
    if is_imprint(&lower) {
        return Label::Alone;
    }
    let colon = |c: char| matches!(c, ':' | '：' | '|' | ')');
    for part in
        std::iter::once(lower.as_str()).chain(lower.split(['|', '/', ',', '·', '•']).skip(1))
    {
        let part = part.trim();
        for label in LABELS {
            let Some(rest) = part.strip_prefix(label) else {
                continue;
            };
            let value = rest.trim_start();
            if value.trim_matches(colon).trim().is_empty() {
                return Label::Alone;
            }
            let latin = label.is_ascii();
            if value.starts_with(colon) || (!latin && rest.starts_with(char::is_whitespace)) {
                return Label::WithValue;
            }
        }
    }
    Label::None
}

/// Whether a line is the heading that German law gives to the name of who runs a site.
fn is_imprint(lower: &str) -> bool {
    const LONGEST: usize = 60;
    lower.len() <= LONGEST && lower.starts_with("angaben gem") && lower.contains('§')
}
