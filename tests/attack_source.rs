//! Pages of the company's own site that do not publish the submitted address on its behalf:
//! visitors wrote it, the page disowns it, or it is a part of a longer one. Each attack has honest neighbours, which must pass.

use crate::attack_page::{all_pass, none_passes};
use crate::harness::EmailNet;
use crate::harness::email_net::{ACME, Submission, page};
use crate::servers::http::Reply;

const INFO: &str = "info@acme.co.kr";
const MADE_UP: &str = "made.up@acme.co.kr";

fn at(net: &EmailNet, path: &str, html: &str, email: &str) -> Submission {
    let source = net.presents(path, html);
    net.acme().email(email).source(&source)
}

/// Expects that `email` passes on none of the pages, each with one of `texts`.
#[track_caller]
fn no_text_passes(texts: &[&str], email: &str) {
    none_passes(
        ACME,
        texts.iter().map(|text| (*text, *text)),
        |net, text| at(net, "/page", &page(ACME, text), email),
    );
}

#[track_caller]
fn every_text_passes(texts: &[&str], email: &str) {
    all_pass(
        ACME,
        texts.iter().map(|text| (*text, *text)),
        |net, text| at(net, "/page", &page(ACME, text), email),
    );
}

/// Pages that visitors write, each with what makes it one.
const OF_VISITORS: &[(&str, &str)] = &[
    (
        "phpBB",
        "<body id=phpbb><div class=postbody>made.up@acme.co.kr</div>",
    ),
    (
        "MediaWiki",
        "<meta name=generator content='MediaWiki 1.41.0'><body>made.up@acme.co.kr",
    ),
    (
        "Discourse",
        "<meta name=generator content='Discourse 3.2.0 - https://github.com/discourse/discourse'><p>made.up@acme.co.kr",
    ),
    ("vBulletin", "<html id=vbulletin_html><p>made.up@acme.co.kr"),
    ("XenForo", "<html id=XF><p>made.up@acme.co.kr"),
    (
        "DokuWiki",
        "<meta name=generator content=DokuWiki><p>made.up@acme.co.kr",
    ),
    (
        "gnuboard",
        "<article id=bo_v><h1>hi</h1><div id=bo_v_con>made.up@acme.co.kr</div></article>",
    ),
    (
        "Zeroboard",
        "<form action='zboard.php?id=free'></form><p>made.up@acme.co.kr",
    ),
    (
        "Cafe24",
        "<div class='xans-element- xans-board xans-board-read-4'>made.up@acme.co.kr</div>",
    ),
    (
        "KBoard",
        "<div id=kboard-document class=kboard-document>made.up@acme.co.kr</div>",
    ),
    ("Discuz", "<body id=nv_forum><p>made.up@acme.co.kr"),
    (
        "WordPress comments",
        "<ol class=commentlist><li>made.up@acme.co.kr</li></ol>",
    ),
    (
        "schema.org posting",
        "<div itemscope itemtype='https://schema.org/DiscussionForumPosting'>made.up@acme.co.kr</div>",
    ),
    (
        "schema.org comments",
        "<div itemscope itemtype='http://schema.org/UserComments'>made.up@acme.co.kr</div>",
    ),
    (
        "JSON-LD posting",
        "<script type='application/ld+json'>{\"@context\":\"https://schema.org\",\"@type\":\"DiscussionForumPosting\"}</script><p>made.up@acme.co.kr",
    ),
    ("hreview", "<div class=hreview>made.up@acme.co.kr</div>"),
    (
        "microformat",
        "<div class='u-comment h-cite'>made.up@acme.co.kr</div>",
    ),
    (
        "rel ugc",
        "<p>made.up@acme.co.kr <a rel='nofollow ugc' href='https://x.example/'>my page</a>",
    ),
    (
        "guest book",
        "<p>Kim, 2026-01-02: made.up@acme.co.kr<p>Lee, 2026-01-03: hello<form method=post><input name=nickname><input type=password name=pw><textarea name=text></textarea></form>",
    ),
    (
        "list of comments",
        "<p>Our news</p><h3>3 Kommentare</h3><p>made.up@acme.co.kr",
    ),
    (
        "the same in Japanese",
        "<p>news</p><h3>コメント (2)</h3><p>made.up@acme.co.kr",
    ),
];

#[test]
fn software_that_visitors_write_with_is_known_by_its_marks() {
    none_passes(ACME, OF_VISITORS.iter().copied(), |net, html| {
        let html = format!("{html}<title>Acme Foods</title><footer>© 2026 Acme Foods</footer>");
        at(net, "/page", &html, MADE_UP)
    });
    let honest = [
        (
            "WordPress",
            "<meta name=generator content='WordPress 6.7'><p>info@acme.co.kr",
        ),
        (
            "XpressEngine",
            "<meta name=Generator content=XpressEngine><p>info@acme.co.kr",
        ),
        (
            "a contact form",
            "<p>info@acme.co.kr<form method=post><input name=name><input name=email><textarea name=message></textarea></form>",
        ),
        (
            "a contact form beside news",
            "<p>info@acme.co.kr<p>2026-01-02 News<p>2026-01-03 News<form method=post><input name=name><textarea name=m></textarea></form>",
        ),
        (
            "a forum in the menu",
            "<nav><a href=/forum>Forum</a></nav><p>info@acme.co.kr",
        ),
        (
            "comments below",
            "<p>info@acme.co.kr<h3>3 Kommentare</h3><p>nice",
        ),
    ];
    all_pass(ACME, honest, |net, html| {
        let html = format!("<title>Acme Foods</title>{html}<footer>© 2026 Acme Foods</footer>");
        at(net, "/page", &html, INFO)
    });
}

#[test]
fn an_address_that_its_page_disowns_does_not_pass() {
    no_text_passes(
        &[
            "The address old@acme.co.kr is no longer in use.",
            "old@acme.co.kr is not our address.",
            "Please do not write to old@acme.co.kr",
            "Beware of mails from<br>old@acme.co.kr<br>new@acme.co.kr",
            "Beware of fraudulent e-mails from these addresses:<br>a@acme.co.kr<br>b@acme.co.kr<br>old@acme.co.kr",
            "Spam trap, do not use: old@acme.co.kr",
            "Diese Adresse wird nicht mehr verwendet: old@acme.co.kr",
            "Die Adresse old@acme.co.kr ist nicht mehr gültig.",
            "old@acme.co.kr gehört nicht zu uns.",
            "Achtung, Betrüger schreiben von old@acme.co.kr",
            "Spamfalle:<br>old@acme.co.kr",
            "L'adresse old@acme.co.kr n'est plus utilisée.",
            "N'écrivez pas à old@acme.co.kr",
            "La dirección old@acme.co.kr ya no está en uso.",
            "No escriba a old@acme.co.kr",
            "O endereço old@acme.co.kr não é mais utilizado.",
            "L'indirizzo old@acme.co.kr non è più attivo.",
            "Het adres old@acme.co.kr is niet meer in gebruik.",
            "Adres old@acme.co.kr jest nieaktualny.",
            "old@acme.co.kr は現在使用しておりません。",
            "old@acme.co.kr は当社のアドレスではありません。",
            "old@acme.co.kr 은 더 이상 사용하지 않습니다.",
            "old@acme.co.kr 은 당사 이메일이 아닙니다.",
            "old@acme.co.kr 已停用",
            "old@acme.co.kr 不是我们的邮箱",
            "Format of our addresses, for example: old@acme.co.kr",
            "Bitte entfernen Sie NOSPAM: old@acme.co.kr",
        ],
        "old@acme.co.kr",
    );
    no_text_passes(&["infoNOSPAM@acme.co.kr"], "infonospam@acme.co.kr");
    no_text_passes(
        &["Please contact the server administrator, webmaster@acme.co.kr, and inform them"],
        "webmaster@acme.co.kr",
    );
    no_text_passes(
        &["To join the list, write to majordomo@acme.co.kr"],
        "majordomo@acme.co.kr",
    );
    every_text_passes(
        &[
            "info@acme.co.kr<br>If this address no longer works, call us.",
            "info@acme.co.kr<p>Our fax is no longer in use.",
            "Our old shop is closed. Write to info@acme.co.kr",
            "Please do not hesitate to write to info@acme.co.kr",
            "Bitte zögern Sie nicht, an info@acme.co.kr zu schreiben.",
            "Kein Spam! Kontakt: info@acme.co.kr",
            "No dude en escribir a info@acme.co.kr",
            "이메일: info@acme.co.kr<p>팩스는 더 이상 사용하지 않습니다.",
            "N'hésitez pas à nous écrire : info@acme.co.kr",
        ],
        INFO,
    );
}

#[test]
fn a_refusal_counts_in_every_language() {
    let refusals = [
        "Harvesting of e-mail addresses from this site is prohibited.",
        "Das Sammeln von E-Mail-Adressen von dieser Website ist untersagt.",
        "Der Nutzung der veröffentlichten Kontaktdaten zur Übersendung von nicht angeforderter Werbung wird widersprochen.",
        "La collecte des adresses électroniques de ce site est interdite.",
        "Il est interdit de collecter les adresses e-mail publiées sur ce site.",
        "Queda prohibida la recopilación de direcciones de correo electrónico de este sitio.",
        "É proibida a coleta de endereços de e-mail deste site.",
        "È vietata la raccolta degli indirizzi e-mail pubblicati su questo sito.",
        "Het verzamelen van e-mailadressen van deze website is verboden.",
        "Zbieranie adresów e-mail z tej strony jest zabronione.",
        "本サイトに掲載されたメールアドレスの収集を禁止します。",
        "본 웹사이트에 게시된 이메일 주소가 무단으로 수집되는 것을 거부합니다.",
        "禁止收集本网站的电子邮件地址。",
        "嚴禁蒐集本網站之電子郵件地址。",
    ];
    let texts = refusals.map(|refusal| format!("info@acme.co.kr<p>{refusal}"));
    no_text_passes(&texts.each_ref().map(String::as_str), INFO);
    let honest = [
        "We collect your e-mail address. Smoking is prohibited.",
        "Sie können der Nutzung Ihrer E-Mail-Adresse jederzeit widersprechen.",
        "Nous collectons votre adresse e-mail avec votre consentement.",
        "Recopilamos su dirección de correo electrónico. Prohibido fumar.",
        "Coletamos seu endereço de e-mail. A reprodução é proibida.",
        "Raccogliamo il tuo indirizzo e-mail. La riproduzione è vietata.",
        "Wij verzamelen uw e-mailadres. Roken is verboden.",
        "Zbieramy Twój adres e-mail. Kopiowanie jest zabronione.",
        "お客様のメールアドレスを取得します。転載を禁止します。",
        "我们收集您的电子邮件地址。禁止转载。",
    ];
    let texts = honest.map(|notice| format!("info@acme.co.kr<p>{notice}"));
    every_text_passes(&texts.each_ref().map(String::as_str), INFO);
}

#[test]
fn a_part_of_an_address_that_a_break_parts_is_not_the_address() {
    no_text_passes(
        &[
            "in<br>fo@acme.co.kr",
            "write to in<br>fo@acme.co.kr",
            "in<wbr>fo@acme.co.kr",
            "in&shy;fo@acme.co.kr",
            "in<br/>\nfo@acme.co.kr<br>Seoul",
            "<span>in<br>fo@acme.co.kr</span>",
            "</p><pre>in\nfo@acme.co.kr</pre><p>",
            "in-<br>fo@acme.co.kr",
            "in.<br>fo@acme.co.kr",
            "x＿fo@acme.co.kr",
            "x‑fo@acme.co.kr",
            "x．fo@acme.co.kr",
            "x＠fo@acme.co.kr",
            "ｘfo@acme.co.kr",
        ],
        "fo@acme.co.kr",
    );
    no_text_passes(
        &[
            "info@acme.co.kr．com",
            "info@acme.co.kr。com",
            "info@acme.co.kr․com",
            "info@acme.co.kr｡com",
            "info@acme.co.kr﹒com",
            "info@acme.co.kr<br>.com",
            "info@acme.co.kr.<br>com",
            "info@acme.co.kr .com",
            "info@acme.co.kr‑shop.com",
            "info@acme.co.kr－shop.com",
            "info@acme.co.kr-<br>shop.com",
            "info@acme.co.kr＠bolt.kr",
            "info@acme.co.kr<wbr>.com",
            "info@acme.co.kr&shy;.com",
        ],
        INFO,
    );
    every_text_passes(
        &[
            "Seoul<br>info@acme.co.kr<br>Tel 02-123",
            "Email<br>info@acme.co.kr",
            "email<br>info@acme.co.kr",
            "e-mail:<br>info@acme.co.kr",
            "Kontakt per mail an<br>info@acme.co.kr",
            "서울시 강남구<br>info@acme.co.kr<br>02-123",
            "info@acme.co.kr。メール",
            "info@acme.co.kr. We reply.",
            "info@acme.co.kr.<br>We reply.",
            "info@acme.co.kr · 02-123",
            "info@acme.co.kr – Seoul",
            "info@<wbr>acme.co.kr",
            "Contact us<br>info@acme.co.kr",
            "info@acme.co.kr<br>www.acme.co.kr",
        ],
        INFO,
    );
}

#[test]
fn an_answer_that_no_reader_sees_as_a_page_does_not_pass() {
    let html = page(ACME, INFO);
    let replies = [
        (
            "an attachment",
            Reply::html(html.clone()).with("Content-Disposition", "attachment; filename=a.html"),
        ),
        (
            "205",
            Reply::status(205)
                .with("Content-Type", "text/html")
                .body(html.clone()),
        ),
        (
            "206",
            Reply::status(206)
                .with("Content-Type", "text/html")
                .body(html.clone()),
        ),
        (
            "207",
            Reply::status(207)
                .with("Content-Type", "text/html")
                .body(html.clone()),
        ),
    ];
    none_passes(ACME, replies, EmailNet::answers);
    let inline = Reply::html(html).with("Content-Disposition", "inline");
    all_pass(ACME, [("inline", inline)], EmailNet::answers);
}

#[test]
fn a_page_that_a_script_leaves_at_once_does_not_pass() {
    no_text_passes(
        &[
            "info@acme.co.kr<script>location='/x'</script>",
            "info@acme.co.kr<script>location.replace('/x')</script>",
            "info@acme.co.kr<script>var a=1;\nwindow.location.href = '/x';</script>",
            "info@acme.co.kr<script>top.location.assign(\"/x\")</script>",
            "info@acme.co.kr<script>document.location='/x'</script>",
            "<body onload=\"location.href='/x'\">info@acme.co.kr",
        ],
        INFO,
    );
    every_text_passes(
        &[
            "info@acme.co.kr<script>if (top != self) top.location = self.location</script>",
            "info@acme.co.kr<script>function go(){location.href='/x'}</script>",
            "info@acme.co.kr<script>b.onclick=function(){location='/x'}</script>",
            "info@acme.co.kr<script>var location2='/x';console.log('location=1')</script>",
            "info@acme.co.kr<script>if(location.protocol=='http:')\n location.href='https:'+x</script>",
            "info@acme.co.kr<script>var here=location.href; location.hash='#a'</script>",
        ],
        INFO,
    );
}
