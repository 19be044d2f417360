//! Words and signs around an owner's name.

/// Labels of the name of who runs a site, folded to lower case.
const LABELS: &[&str] = &[
    "상호",
    "상호명",
    "회사",
    "회사명",
    "법인명",
    "업체명",
    "기업명",
    "운영",
    "운영사",
    "운영자",
    "copyright",
    "company",
    "company name",
    "firma",
    "impressum",
    "会社名",
    "商号",
    "社名",
    "運営会社",
    "公司名称",
    "公司",
];

/// Those of [`LABELS`] that stand before a firm's full name and nothing else.
const FIRMS: &[&str] = &[
    "상호",
    "상호명",
    "회사명",
    "법인명",
    "업체명",
    "기업명",
    "会社名",
    "商号",
    "社名",
    "運営会社",
    "公司名称",
];

/// Labels of what commonly follows an owner's name, folded to lower case.
const FOLLOWING: &[&str] = &[
    "대표",
    "대표자",
    "대표이사",
    "주소",
    "사업자",
    "사업자번호",
    "사업자등록번호",
    "통신판매업신고",
    "통신판매업신고번호",
    "개인정보책임자",
    "개인정보보호책임자",
    "전화",
    "전화번호",
    "팩스",
    "이메일",
    "tel",
    "phone",
    "fax",
    "email",
    "e-mail",
    "mail",
    "address",
    "ceo",
    "adresse",
    "anschrift",
    "住所",
    "所在地",
    "地址",
];

/// Words around a name that make it no other name, folded to lower case.
const TRIMMINGS: &[&str] = &[
    "all",
    "rights",
    "reserved",
    "alle",
    "rechte",
    "vorbehalten",
    "copyright",
    "copyrights",
    "by",
    "welcome",
    "willkommen",
    "to",
    "the",
    "official",
    "home",
    "homepage",
    "page",
    "website",
    "site",
    "web",
    "logo",
    "로고",
    "홈",
    "홈페이지",
    "공식",
    "공식홈페이지",
    "웹사이트",
    "사이트",
    "오신",
    "오신것을",
    "것을",
    "환영합니다",
    "公式",
    "公式サイト",
    "公式ホームページ",
    "オフィシャルサイト",
    "コーポレートサイト",
    "企業サイト",
    "webサイト",
    "トップページ",
    "ホームページ",
    "サイト",
    "ようこそ",
    "官网",
    "官方网站",
    "首页",
];

/// Those of [`TRIMMINGS`] that before a name may credit it, and not name the owner.
pub(super) const CREDITING: &[&str] = &[
    "by", "website", "site", "web", "page", "homepage", "logo", "로고",
];

/// Particles that lean on a name without making it another.
pub(super) const PARTICLES: &[&str] = &["에", "의", "へ", "の", "へようこそ", "公式サイト"];

/// Whether a sign parts one piece of a line from the next.
pub(super) fn is_between(c: char) -> bool {
    matches!(
        c,
        '|' | '｜' | ',' | ';' | '·' | '•' | '/' | '│' | 'ㅣ' | '–' | '—' | '、' | '，' | '＊'
    )
}

/// Whether the name of who runs the site follows the label.
pub(super) fn is_owners(label: &str) -> bool {
    is_listed(LABELS, label)
}

/// Whether the label commonly follows an owner's name.
pub(super) fn is_following(label: &str) -> bool {
    is_listed(FOLLOWING, label)
}

/// Whether nothing but the full name of who runs the site follows the label.
pub(super) fn is_firms_own(label: &str) -> bool {
    is_listed(FIRMS, label)
}

fn is_listed(list: &[&str], label: &str) -> bool {
    let label = bare(label);
    list.contains(&label.as_str())
}

/// A word in lower case without the signs around it.
pub(super) fn bare(word: &str) -> String {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    word.to_lowercase()
}

/// Whether a word is a trimming, a year or years, or nothing but signs.
pub(super) fn is_trimming(word: &str) -> bool {
    let bare = bare(word);
    let is_years = bare
        .chars()
        .all(|c| c.is_ascii_digit() || matches!(c, '-' | '–' | '~' | '.'));
    is_years && !word.contains(['(', ')']) && bare.len() != 1 || TRIMMINGS.contains(&bare.as_str())
}
