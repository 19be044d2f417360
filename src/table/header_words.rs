//! Words that head columns of company lists, in the languages that lists come in.

use unicode_normalization::UnicodeNormalization as _;

/// Headings in lower case, letters and digits alone.
const WORDS: &[&str] = &[
    // English
    "account",
    "address",
    "brand",
    "business",
    "category",
    "ceo",
    "city",
    "client",
    "code",
    "comment",
    "comments",
    "company",
    "companyname",
    "contact",
    "country",
    "customer",
    "description",
    "domain",
    "email",
    "emailaddress",
    "employees",
    "enterprise",
    "fax",
    "founded",
    "homepage",
    "id",
    "industry",
    "mail",
    "mobile",
    "name",
    "no",
    "note",
    "notes",
    "number",
    "organisation",
    "organization",
    "owner",
    "phone",
    "postcode",
    "region",
    "remark",
    "remarks",
    "revenue",
    "sector",
    "site",
    "state",
    "status",
    "street",
    "supplier",
    "tel",
    "telephone",
    "title",
    "type",
    "url",
    "vendor",
    "web",
    "webpage",
    "website",
    "www",
    "zip",
    // Korean
    "기업",
    "기업명",
    "담당자",
    "대표",
    "대표자",
    "대표자명",
    "대표전화",
    "메일",
    "번호",
    "법인명",
    "분류",
    "비고",
    "사업자등록번호",
    "사업자번호",
    "사이트",
    "상호",
    "상호명",
    "순번",
    "업종",
    "업체",
    "업체명",
    "연락처",
    "웹사이트",
    "이름",
    "이메일",
    "이메일주소",
    "전화",
    "전화번호",
    "주소",
    "지역",
    "팩스",
    "홈페이지",
    "홈페이지주소",
    "회사",
    "회사명",
    "국가",
    // Japanese
    "会社",
    "会社名",
    "企業名",
    "社名",
    "法人名",
    "名称",
    "商号",
    "代表者",
    "担当者",
    "住所",
    "所在地",
    "電話",
    "電話番号",
    "ファックス",
    "メール",
    "メールアドレス",
    "ホームページ",
    "サイト",
    "ウェブサイト",
    "国",
    "業種",
    "備考",
    "番号",
    "法人番号",
    // Chinese
    "公司",
    "公司名",
    "公司名称",
    "公司名稱",
    "企业",
    "企业名称",
    "企業名稱",
    "名稱",
    "网站",
    "網站",
    "网址",
    "網址",
    "官网",
    "邮箱",
    "電郵",
    "电子邮件",
    "電子郵件",
    "电话",
    "電話號碼",
    "地址",
    "国家",
    "國家",
    "备注",
    "備註",
    "行业",
    "行業",
    "联系人",
    "聯絡人",
    // German
    "adresse",
    "ansprechpartner",
    "branche",
    "firma",
    "firmenname",
    "kunde",
    "land",
    "lieferant",
    "nummer",
    "ort",
    "plz",
    "strasse",
    "straße",
    "telefon",
    "unternehmen",
    "webseite",
    // French
    "entreprise",
    "société",
    "societe",
    "nom",
    "pays",
    "téléphone",
    "courriel",
    "siteweb",
    "fournisseur",
    "ville",
    "raisonsociale",
    // Spanish, Portuguese, Italian
    "empresa",
    "nombre",
    "país",
    "pais",
    "correo",
    "teléfono",
    "telefono",
    "sitioweb",
    "nome",
    "endereço",
    "azienda",
    "società",
    "paese",
    "indirizzo",
    "sito",
    "dirección",
    "razónsocial",
];

/// Whether `text` heads a column: a known word, or made of known words alone.
///
/// What stands in brackets does not count: `기업명(국문)` is `기업명`.
pub fn is_heading_word(text: &str) -> bool {
    let lower: String = text.nfkc().flat_map(char::to_lowercase).collect();
    let outside = match lower.split_once(['(', '[', '<']) {
        Some((before, _)) if !before.trim().is_empty() => before,
        _ => &lower,
    };
    let known = |word: &str| WORDS.contains(&word);
    let joined: String = outside.chars().filter(|c| c.is_alphanumeric()).collect();
    let mut words = outside
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .peekable();
    known(&joined) || (words.peek().is_some() && words.all(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_headings_as_people_write_them() {
        for text in [
            "E-Mail",
            "Company Name",
            "WEBSITE URL",
            "회사 명",
            "업체명 / 상호",
            "No.",
            "会社名（英語）",
        ] {
            assert!(is_heading_word(text), "{text}");
        }
    }

    #[test]
    fn a_name_that_holds_a_word_is_none() {
        for text in [
            "",
            "Acme Company",
            "한빛회사",
            "Brand New Tools",
            "(Company",
            "1",
        ] {
            assert_eq!(is_heading_word(text), text == "(Company", "{text}");
        }
    }
}
