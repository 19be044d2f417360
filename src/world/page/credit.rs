//! Lines that say that another's name follows, and not the owner's.

/// Words behind which one name follows.
const ONE: &[&str] = &[
    "by",
    "client",
    "design",
    "host",
    "hosting",
    "partner",
    "seller",
    "sponsor",
    "vendor",
    "pg",
    "결제대행",
    "결제대행사",
    "디자인",
    "웹디자인",
    "제작",
    "판매자",
    "호스팅",
    "호스팅제공자",
    "후원",
];

/// Words behind which a list of names follows.
const MANY: &[&str] = &[
    "affiliates",
    "brands",
    "clientes",
    "clients",
    "customers",
    "dealers",
    "distributors",
    "family",
    "fournisseurs",
    "investors",
    "kunden",
    "lieferanten",
    "marken",
    "members",
    "partenaires",
    "partners",
    "references",
    "referenzen",
    "resellers",
    "retailers",
    "sellers",
    "shops",
    "sponsors",
    "subsidiaries",
    "suppliers",
    "vendors",
    "가맹점",
    "거래처",
    "계열사",
    "고객사",
    "관계사",
    "관련기관",
    "관련사이트",
    "대리점",
    "입점브랜드",
    "입점사",
    "입점업체",
    "제휴사",
    "주요거래처",
    "주요고객",
    "주요고객사",
    "파트너",
    "파트너사",
    "패밀리",
    "패밀리사이트",
    "협력사",
    "협력업체",
    "회원사",
    "グループ会社",
    "パートナー",
    "主要取引先",
    "加盟店",
    "取引先",
    "関連会社",
    "友情链接",
    "合作伙伴",
    "客户",
];

/// A line that announces a name is no longer than this, in words.
const MOST_WORDS: usize = 4;

/// The same in bytes, of a line whose words count as one.
const MOST_JOINED: usize = 40;

/// What a line says of the names that follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Credit {
    /// Nothing.
    #[default]
    None,
    /// The next line is another's name.
    Next,
    /// So is every line of a list.
    List,
    /// The line stands in such a list.
    Rest,
}

/// What a line says of the names that follow: `Hosting by`, `협력사:`.
pub(super) fn credit(line: &str) -> Credit {
    let line = line.trim_end().trim_end_matches([':', '：']);
    let words: Vec<String> = line
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    // The name itself may stand there, but then the line says so on its own.
    let last = words.last().filter(|_| words.len() <= MOST_WORDS).cloned();
    let joined = (line.len() <= MOST_JOINED).then(|| words.concat());
    let is_in = |list: &[&str]| {
        let mut said = last.iter().chain(&joined);
        said.any(|word| list.contains(&word.as_str()))
    };
    if is_in(MANY) {
        Credit::List
    } else if is_in(ONE) {
        Credit::Next
    } else {
        Credit::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credits_announce_one_or_many() {
        for (line, expected) in [
            ("Hosting by", Credit::Next),
            ("호스팅 제공자", Credit::Next),
            ("Our partners:", Credit::List),
            ("CUSTOMERS", Credit::List),
            ("주요 거래처", Credit::List),
            ("협력사：", Credit::List),
            ("Contact", Credit::None),
            ("We wrote a long line about our customers", Credit::None),
            ("", Credit::None),
        ] {
            assert_eq!(credit(line), expected, "{line}");
        }
    }
}
