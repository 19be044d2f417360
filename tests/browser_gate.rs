//! What a reader sees decides: pages in a real Chromium.

use std::collections::HashMap;
use std::io;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use comail::world::browser::{Browser, Resource, ResourceAnswer, Resources};
use comail::world::mailbox::Mailbox;
use comail::world::page::{Page, Presence, presence};
use comail::world::sandbox::Launcher;
use comail::world::{Rendered, RenderedPage, Response, Unanswered, UnansweredKind};
use url::Url;

use crate::harness::email_net::{ACME, WWW};
use crate::harness::served::Served;
use crate::harness::tools::chromium;
use crate::harness::{EmailNet, Place};
use crate::servers::http::Reply;

const PAGE: &str = "https://acme.co/contact";

/// A URL as the page writes it.
fn url(text: &str) -> Url {
    let page = Url::parse(PAGE).expect("a URL");
    page.join(text).expect("a URL")
}

/// Files that a page may ask for, by URL. What is not there does not exist; what is `None` does not
/// answer.
#[derive(Default)]
struct Files {
    known: HashMap<String, Option<(&'static str, String)>>,
    asked: Mutex<Vec<String>>,
}

impl Files {
    fn with(mut self, path: &str, kind: &'static str, body: &str) -> Self {
        self.known
            .insert(url(path).into(), Some((kind, body.to_owned())));
        self
    }

    fn silent(mut self, path: &str) -> Self {
        self.known.insert(url(path).into(), None);
        self
    }
}

impl Resources for Files {
    fn get(&self, url: &Url, _within: Duration) -> Resource {
        self.asked
            .lock()
            .expect("no test panicked")
            .push(url.to_string());
        match self.known.get(url.as_str()) {
            Some(Some((kind, body))) => Resource::Answered(ResourceAnswer {
                status: 200,
                headers: vec![("Content-Type".to_owned(), (*kind).to_owned())],
                body: body.clone().into_bytes(),
            }),
            Some(None) => {
                let why = Unanswered::new(UnansweredKind::Timeout, "late");
                Resource::Unanswered(why)
            }
            None => Resource::Answered(ResourceAnswer {
                status: 404,
                headers: Vec::new(),
                body: Vec::new(),
            }),
        }
    }

    fn may_read(&self, frame: &Url) -> bool {
        frame.path() != "/forbidden"
    }
}

fn browser() -> Browser {
    let comail = PathBuf::from(env!("CARGO_BIN_EXE_comail"));
    Browser::started_by(Launcher::new(comail), chromium())
}

fn render(browser: &Browser, html: &str, files: &dyn Resources) -> Rendered {
    let response = Response {
        disposition: None,
        status: 200,
        content_type: Some("text/html; charset=utf-8".to_owned()),
        location: None,
        refresh: None,
        body: html.as_bytes().to_vec(),
    };
    browser.render(&url(""), &response, files)
}

fn rendered_by(browser: &Browser, html: &str, files: &Files) -> RenderedPage {
    match render(browser, html, files) {
        Rendered::Page(page) => page,
        other => panic!("{other:?}: {html}"),
    }
}

fn page(rendered: &RenderedPage) -> Page {
    let page = Page::rendered(&url(""), None, &rendered.body, rendered.incomplete);
    page.expect("the browser's form of a page")
}

fn shown(browser: &Browser, html: &str, files: &Files) -> Presence {
    presence(&page(&rendered_by(browser, html, files)), &address())
}

fn address() -> Mailbox {
    Mailbox::parse("info@acme.co").expect("an address")
}

/// Pages that show the address in text that a reader sees, each a line.
const SEEN: &str = r#"
<p>info@acme.co</p>
<a href="/cdn-cgi/l/email-protection" data-cfemail="422b2c242d0223212f276c212d">[email&#160;protected]</a>
<a href="/cdn-cgi/l/email-protection#422b2c242d0223212f276c212d">Mail</a>
<p>Mail:info@acme.co, or call</p>
<p style="color:#777">info@acme.co</p>
<p style="background:#000;color:#fff">info@acme.co</p>
<p style="font-size:10px">info@acme.co</p>
<p>in<b>fo</b>@<i>acme</i>.co</p>
<p>info@<span style="display:none">we want no spam</span>acme.co</p>
<div style="height:3000px"></div><p>info@acme.co</p>
<div style="overflow:auto;height:100px"><div style="height:900px"></div>info@acme.co</div>
<p style="opacity:.7">info@acme.co</p>
<p id=p></p><script>p.textContent = 'info' + '@acme.co'</script>
<script>onload = () => setTimeout(() => document.body.append('info@acme.co'), 150)</script>
<a href="mailto:info@acme.co">Write to us</a>
<a href="mailto:info@acme.co"><svg width=20 height=20><rect width=20 height=20 /></svg></a>
<details><summary>Contact</summary><p>info@acme.co</p></details>
<details><summary>FAQ</summary><p>Nothing about mail.</p></details><p>info@acme.co</p>
<p style="display:contents">info@acme.co</p>
<button onclick="p.hidden=false" aria-expanded=false>Contact</button><p id=p hidden>info@acme.co</p>
<div role=tab onclick="p.style.display='block'">Contact</div><p id=p style="display:none">info@acme.co</p>
<label for=c>Contact</label><input id=c type=checkbox style="display:none"><p>info@acme.co</p><style>p{display:none}:checked~p{display:block}</style>
<p style="opacity:0;transition:opacity 1s" id=p>info@acme.co</p><script>setTimeout(()=>p.style.opacity=1,50)</script>
<div style="height:2000px"></div><p style="opacity:0" id=p>info@acme.co</p><script>new IntersectionObserver(e=>{if(e[0].isIntersecting)p.style.opacity=1}).observe(p)</script>
<div id=host></div><script>host.attachShadow({mode:'open'}).innerHTML='<p>info@acme.co</p>'</script>
<style>p{display:none}</style><style>p{display:block}</style><p>info@acme.co</p>
<div style="position:relative;height:40px"><p style="position:absolute;top:0;left:0;margin:0">info@acme.co</p></div>
<table><tr><td>E-Mail<td>info@acme.co</table>
<div>Kim<div style="height:1000px">Sales</div><span>info@acme.co</span></div>
<p style="background:linear-gradient(#036,#024);color:#fff">info@acme.co</p>
<p style="text-shadow:1px 1px #000;color:#eee">info@acme.co</p>
<p style="width:80px;word-break:break-all">info@acme.co</p>
<p style="transform:rotate(-3deg)">info@acme.co</p>
<svg width=400 height=40><text x=10 y=20>info@acme.co</text></svg>
<div style="position:fixed;inset:0;background:#fff;z-index:9" id=m><button onclick="m.remove()">Accept</button></div><p>info@acme.co</p>
<dialog id=d><p>info@acme.co</p></dialog><button onclick="d.showModal()">Contact</button>
<div popover id=d><p>info@acme.co</p></div><button popovertarget=d>Contact</button>
<p style="animation:f 1s infinite alternate">info@acme.co</p><style>@keyframes f{from{color:#000}to{color:#555}}</style>
<p style="transition:1s">info@acme.co</p>
<div class=m><span>Contact</span><p class=s>info@acme.co</p></div><style>.s{display:none}.m:hover .s{display:block}</style>
<p dir=rtl>دبي info@acme.co هاتف</p>
<a href="mailto:info@acme.co" dir=rtl>اتصل بنا</a>
<p style="background:linear-gradient(90deg,#036,#900);-webkit-background-clip:text;color:transparent">info@acme.co</p>
<p><span style="background:linear-gradient(transparent 55%,#f90 55%)">info@acme.co</span></p>
<p style="text-decoration:underline #c00">info@acme.co</p>
<p><svg width=16 height=16><rect width=16 height=16 /></svg>info@acme.co</p>
<p><svg width=50 height=16><rect width=50 height=16 /></svg> info@acme.co</p>
<div style="display:flex"><b>E-Mail:</b><span>info@acme.co</span><button>Copy</button></div>
<p><input value=4711 style="padding:2px 6px">info@acme.co</p>
<div style="display:flex;line-height:1"><span>E-Mail</span><span style="margin-left:5px">info@acme.co</span></div>
<p style="margin:0;line-height:1">Write<br>info@acme.co<br>or call</p>
<a href="mailto:info@acme.co" style="display:block;width:20px;height:14px;background:#036"></a>
<a href="mailto:info@acme.co"><i class=i></i></a><style>.i::before{content:"\2709"}</style>
<div style="position:sticky;top:0;height:60px;background:#fff;z-index:2">bar</div><div style="height:800px"></div><p>info@acme.co</p><div style="height:2000px"></div>
<p>&lt;<b>info@acme.co</b>&gt;, <i>(</i><b>info@acme.co</b><i>)</i></p>
<p><b>E-Mail:</b><span>info@acme.co</span><u>,</u> or call</p>
<p><a style="text-decoration:underline">info@acme.co</a></p>
<p style="text-decoration:underline">Write to <b>info@acme.co</b><i>: now</i></p>
<span style="border:1px solid #000;border-radius:4px;padding:2px">info@acme.co</span>
<button style="padding:1px 3px">info@acme.co</button>
<p style="outline:2px solid #00f;display:inline-block">info@acme.co</p>
<table border=1 cellspacing=0 cellpadding=1><tr><td>Mail<td>info@acme.co<td>Fax</table>
<ul><li>info@acme.co</ul>
<ul style="list-style:inside"><li>info@acme.co</ul>
<ul style="list-style:'– ' inside"><li>info@acme.co</ul>
<ol style="list-style-position:inside"><li>info@acme.co</ol>
<p><span class=m>info@acme.co</span></p><style>.m::before{content:"E-Mail: "}</style>
<p><span class=m>info@acme.co</span></p><style>.m::before{content:"<"}.m::after{content:">"}</style>
<p><span class=m>info@acme.co</span></p><style>.m{position:relative;padding-left:17px}.m::before{content:"\2709";position:absolute;left:0}</style>
<p style="background:#036;color:#fff"><span style="background:#eee;color:#000">info@acme.co</span></p>
<p style="width:80px;word-break:break-all;border:1px solid #000">info@acme.co</p>
<p style="border-bottom:1px solid #000;line-height:1">info@acme.co</p>
<div style="display:flex"><input type=submit value="Copy" style="margin-right:5px"><span>info@acme.co</span></div>
"#;

/// Pages that hold the address where no reader sees it, each a line.
const UNSEEN: &str = r#"
<style>.x{display:none}</style><p class=x><a href="/x" data-cfemail="422b2c242d0223212f276c212d">[email&#160;protected]</a></p>
<p style="opacity:0"><a href="/cdn-cgi/l/email-protection#422b2c242d0223212f276c212d">Mail</a></p>
<div style="position:relative"><a href="/cdn-cgi/l/email-protection#422b2c242d0223212f276c212d">Mail</a><p style="position:absolute;inset:0;margin:0;background:#fff"></p></div>
<p style="display:none">info@acme.co</p>
<p style="visibility:hidden">info@acme.co</p>
<p>info@<span style="visibility:hidden">we want no spam</span>acme.co</p>
<p style="opacity:0">info@acme.co</p>
<p style="color:#fff">info@acme.co</p>
<p style="color:#fafafa">info@acme.co</p>
<p style="color:transparent">info@acme.co</p>
<p style="font-size:1px">info@acme.co</p>
<p style="font-size:4px">info@acme.co</p>
<p style="position:absolute;left:-9999px">info@acme.co</p>
<p style="position:absolute;top:-500px">info@acme.co</p>
<p style="text-indent:-9999px;overflow:hidden">info@acme.co</p>
<p style="position:fixed;left:3000px">info@acme.co</p>
<div style="height:0;overflow:hidden">info@acme.co</div>
<div style="width:30px;height:20px;overflow:hidden;white-space:nowrap"><span style="margin-left:40px">info@acme.co</span></div>
<p style="clip-path:inset(100%)">info@acme.co</p>
<p style="clip-path:polygon(0 0,1px 0,0 1px)">info@acme.co</p>
<p style="position:absolute;clip:rect(0,0,0,0)">info@acme.co</p>
<div style="position:relative">info@acme.co<div style="position:absolute;inset:0;background:#fff"></div></div>
<div style="position:relative">info@acme.co<div style="position:absolute;inset:0;background:#fff;pointer-events:none"></div></div>
<p style="transform:scale(0)">info@acme.co</p>
<p style="transform:matrix(0,0,0,0,0,0)">info@acme.co</p>
<p style="scale:0">info@acme.co</p>
<p style="font-size:0">info@acme.co</p>
<p style="font-size:.01px">info@acme.co</p>
<p style="color:rgba(0,0,0,0)">info@acme.co</p>
<p style="color:#fff;background:#fff">info@acme.co</p>
<p style="-webkit-text-fill-color:#fff">info@acme.co</p>
<p style="position:absolute;clip-path:polygon(0 0,0 0,0 0)">info@acme.co</p>
<p style="mask:linear-gradient(transparent,transparent)">info@acme.co</p>
<p style="zoom:.1">info@acme.co</p>
<p style="transform:rotateY(90deg)">info@acme.co</p>
<div style="position:fixed;inset:0;background:#fff;z-index:9"></div><p>info@acme.co</p>
<div style="overflow:auto;height:0"><div style="height:900px"></div>info@acme.co</div>
<a href="mailto:info@acme.co"><img src=/m.png width=1 height=1></a>
<p style="filter:opacity(0)">info@acme.co</p>
<p><bdo dir=rtl>info@acme.co</bdo></p>
<p style="unicode-bidi:bidi-override;direction:rtl">info@acme.co</p>
<p style="text-decoration:line-through">info@acme.co</p>
<s>info@acme.co</s>
<input placeholder="info@acme.co">
<input value="info@acme.co">
<textarea>info@acme.co</textarea>
<select><option>x<option>info@acme.co</select>
<!-- info@acme.co --><p>Contact</p>
<template>info@acme.co</template>
<noscript>info@acme.co</noscript>
<p data-mail="info@acme.co">Contact</p>
<script>var mail = 'info@acme.co'</script><p>Contact</p>
<a href="mailto:info@acme.co"></a>
<a href="mailto:info@acme.co" style="display:none">Write</a>
<a href="mailto:info@acme.co" style="color:#fff">Write</a>
<p>info@acme.co</p><script>document.querySelector('p').remove()</script><!-- info@acme.co -->
<div style="position:relative;z-index:1;background:#fff;height:60px;margin-bottom:-60px"></div><p style="margin:0">info@acme.co</p><div style="position:absolute;top:0;left:0;width:600px;height:100px;background:#fff;z-index:5"></div>
<p style="background:url(/dark.png) #fff;color:#fff">info@acme.co</p>
<p style="mix-blend-mode:multiply;color:#fff">info@acme.co</p>
<button onclick="location='https://other.example/'">Go</button><p hidden>info@acme.co</p>
<p><span class=m></span></p><style>.m::before{content:"info@acme.co"}</style>
<p><span class=m>info</span></p><style>.m::after{content:"@acme.co"}</style>
<p style="content-visibility:hidden">info@acme.co</p>
<div style="position:relative">info@acme.co<div style="position:absolute;inset:0;background:#fff">and many other words</div></div>
<p style="color:#fff;text-decoration:underline #000">info@acme.co</p>
<p style="transform:scaleX(.02);transform-origin:left">info@acme.co</p>
<p style="-webkit-text-security:disc">info@acme.co</p>
<p><span class=x>info@acme.co</span></p><style>.x{position:relative}.x:after{content:"";position:absolute;left:0;right:0;top:50%;border-top:2px solid red}</style>
<p>info@acme.co</p><hr style="margin-top:-26px;border:2px solid red">
<p style="position:relative;display:inline-block">info@acme.co<svg style="position:absolute;inset:0;width:100%;height:100%" preserveAspectRatio=none viewBox="0 0 10 10"><path d="M0 0L10 10M0 10L10 0" stroke=red /></svg></p>
<p><span style="background:linear-gradient(transparent 45%,#000 45%,#000 60%,transparent 60%)">info@acme.co</span></p>
<a href="mailto:info@acme.co" style="display:inline-block;width:2px;height:2px;background:#000"></a>
<a href="mailto:info@acme.co" style="display:block;width:300px;height:50px"></a>
<div style="max-height:5px;overflow:clip"><p style="margin:0;padding-top:10px">info@acme.co</p></div>
"#;

/// Pages on whose screen something else reads on into the address, each a line.
const TOUCHED: &str = r#"
<div style="display:flex">sales.<span>info@acme.co</span></div>
<table cellspacing=0 cellpadding=0><tr><td>sales.<td>info@acme.co</table>
<p><span style="float:left">sales.</span>info@acme.co</p>
<p style="position:relative;padding-left:36px"><span style="position:absolute;left:0">sales.</span>info@acme.co</p>
<div style="display:flex"><span>info@acme.co</span><span>.example</span></div>
<p>office<span style="position:relative;left:-4px"> info@acme.co</span></p>
<p>E-Mail: <input value="sales." style="border:0;padding:0;width:40px">info@acme.co</p>
<p>E-Mail: <svg width=50 height=16><text y=12>sales.</text></svg>info@acme.co</p>
<p>E-Mail: max<img alt="." src="data:," width=4 height=12>info@acme.co</p>
<p>E-Mail: <canvas id=c width=50 height=14></canvas>info@acme.co</p>
<p>E-Mail: info@acme.co<img src=/d.png width=40 height=12></p>
<p>E-Mail: <span id=h></span>info@acme.co</p><script>h.attachShadow({mode:'closed'}).innerHTML='sales.'</script>
<p>E-Mail: info@acme<span id=h></span>.co</p><script>h.attachShadow({mode:'closed'}).innerHTML='.foods'</script>
<p>E-Mail: info@acme.co<span id=h></span></p><script>h.attachShadow({mode:'closed'}).innerHTML='.kr'</script>
<ul style="list-style:'sales.' inside"><li>info@acme.co</ul>
<p style="display:list-item;list-style:'sales_' inside">info@acme.co</p>
<p><span class=m>info@acme.co</span></p><style>.m::before{counter-reset:n 4711;content:counter(n)}</style>
<p><span class=m>info@acme.co</span></p><style>.m::before{content:"sales-" / "Mail: "}</style>
<p><span class=m>info@acme.co</span></p><style>.m{quotes:"sales." ""}.m::before{content:open-quote}</style>
<p><q style="quotes:'' '.kr'">info@acme.co</q></p>
<p><span class=m>info@acme.co</span> <i class=n></i></p><style>.n::before{content:"sales.";margin-left:-132px}.m{margin-left:40px}</style>
<p><input placeholder="sales." style="border:0;padding:0;width:36px;font:inherit">info@acme.co</p>
<p><img src="/none.png" alt="ab.">info@acme.co</p>
<div style="display:flex"><iframe srcdoc="<body style='margin:0;text-align:right'>sales." style="border:0;width:38px;height:20px"></iframe><span>info@acme.co</span></div>
<p><span style="background:url(/d.svg);display:inline-block;width:30px;height:14px"></span>info@acme.co</p>
<p><span style="background:url(/d.svg);padding-left:30px;pointer-events:none"></span>info@acme.co</p>
<p><span class=m></span>info@acme.co</p><style>.m::before{content:url(/d.svg)}</style>
<p style="width:6em;overflow-wrap:anywhere">info@acme<span id=h></span>.co</p><script>h.attachShadow({mode:'closed'}).innerHTML='.foods'</script>
<p style="background:#000;color:#fff">E-Mail: <span id=h></span>info@acme.co</p><script>h.attachShadow({mode:'closed'}).innerHTML='sales.'</script>
<p>E-Mail: <canvas id=c width=14 height=14></canvas>info@acme.co</p><script>d=c.getContext('2d');d.font='16px serif';d.fillText('x.',1,12)</script>
"#;

/// Pages whose reader does not see the name, each a line.
const NAMELESS: &str = r#"
<p style="color:#fff">Acme Foods Ltd</p>
<p style="color:#fff;background:linear-gradient(#fff,#fff)">Acme Foods Ltd</p>
<div style="position:relative">Acme Foods Ltd<div style="position:absolute;inset:0;background:#fff"></div></div>
<div style="position:relative">Acme Foods Ltd<div style="position:absolute;inset:0;background:#fff">Other Trading Ltd</div></div>
<div style="position:relative">Acme Foods Ltd<b style="position:absolute;left:0;top:0;width:3em;background:#fff;color:#fff">x</b></div>
<p>Acme <span style="color:#fff">Foods</span> Ltd</p>
<div style="height:5000px"></div><footer><p style="color:#fff">Acme Foods Ltd</p></footer>
<p style="background:#fff url(/white.svg);color:#fff">Acme Foods Ltd</p>
<p style="filter:blur(20px)">Acme Foods Ltd</p>
<p style="font-size:1px">Acme Foods Ltd</p>
<p id=p>Acme</p><script>onscroll = () => { p.firstChild.data = 'Acme Foods Ltd'; p.style.color = '#fff' }</script><div style="height:3000px">x</div><p style="color:#fff">a@b.co
"#;

/// Pages whose reader sees it.
const NAMED: &str = r#"
<p>Acme Foods Ltd</p>
<h1 style="background:linear-gradient(90deg,#036,#900);-webkit-background-clip:text;color:transparent">Acme Foods Ltd</h1>
<p style="line-height:.9">One<br>Acme Foods Ltd<br>Two</p>
<div style="background:#036 url(/dark.svg);color:#fff">Acme Foods Ltd</div>
<div style="background:url(/dark.svg);color:#fff">Acme Foods Ltd</div>
<div style="height:5000px"></div><footer style="background:#222;color:#aaa">© Acme Foods Ltd</footer>
<details><summary>Imprint</summary><p>Acme Foods Ltd</p></details>info@acme.co<p hidden>x@acme.co</p>
<svg width=300 height=40><text x=10 y=20>Acme Foods Ltd</text></svg>
<div style="position:fixed;top:0;left:0;right:0;height:80px;background:#fff">Menu</div><p style="margin-top:90px">Acme Foods Ltd</p>
<div style="position:sticky;bottom:0;height:100px;background:#eee;z-index:3">Cookies?</div><div style="height:840px"></div><p>Acme Foods Ltd</p>
<iframe srcdoc="<div style='height:1500px'></div><p>Acme Foods Ltd" width=600 height=1600></iframe>
<p style="writing-mode:vertical-rl">Acme Foods Ltd</p>
<p style="width:4em">Acme Foods Ltd</p>
"#;

fn lines(pages: &str) -> impl Iterator<Item = &str> {
    pages.lines().filter(|line| !line.is_empty())
}

#[test]
fn an_address_is_seen_where_a_reader_sees_it() {
    let browser = browser();
    let files = Files::default();
    let refused: Vec<_> = lines(SEEN)
        .filter(|html| shown(&browser, html, &files) != Presence::Visible)
        .collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

#[test]
fn an_address_that_nobody_sees_is_not_visible() {
    let browser = browser();
    let files = Files::default();
    let passed: Vec<_> = lines(UNSEEN)
        .map(|html| (html, shown(&browser, html, &files)))
        .filter(|(_, how)| matches!(how, Presence::Visible | Presence::Absent))
        .collect();
    assert!(passed.is_empty(), "{passed:#?}");
}

#[test]
fn an_address_that_something_touches_is_unclear() {
    let browser = browser();
    let files = Files::default().with("/d.svg", "image/svg+xml", DRAWN);
    let others: Vec<_> = lines(TOUCHED)
        .map(|html| (html, shown(&browser, html, &files)))
        .filter(|(_, how)| *how != Presence::Obfuscated)
        .collect();
    assert!(others.is_empty(), "{others:#?}");
}

/// Letters that are a picture.
const DRAWN: &str = r#"<svg xmlns="http://www.w3.org/2000/svg" width="30" height="14"><path d="M2 4h10v8h-10zM26 11h3v2h-3z"/></svg>"#;

const GROUND: &str = r#"<svg xmlns="http://www.w3.org/2000/svg" width="99" height="99"><rect width="99" height="99" fill="COLOUR"/></svg>"#;

#[test]
fn a_name_is_read_where_a_reader_sees_it() {
    let browser = browser();
    let names = |html: &str| {
        let files = Files::default()
            .with(
                "/dark.svg",
                "image/svg+xml",
                &GROUND.replace("COLOUR", "#003"),
            )
            .with(
                "/white.svg",
                "image/svg+xml",
                &GROUND.replace("COLOUR", "#fff"),
            );
        let rendered = rendered_by(&browser, html, &files);
        let frames = rendered.frames.iter().map(|frame| &frame.body);
        let bodies = frames.chain([&rendered.body]);
        let mut pages = bodies.map(|body| Page::rendered(&url(""), None, body, false).unwrap());
        pages.any(|page| page.visible.join(" ").contains("Acme Foods Ltd"))
    };
    let unread: Vec<_> = lines(NAMED).filter(|html| !names(html)).collect();
    let read: Vec<_> = lines(NAMELESS).filter(|html| names(html)).collect();
    assert!(
        unread.is_empty() && read.is_empty(),
        "{unread:#?} {read:#?}"
    );
}

#[test]
fn a_mail_link_with_an_icon_is_loaded_and_seen() {
    let browser = browser();
    for page in [
        r#"<a href="mailto:info@acme.co"><img src="/a.svg" width=20 height=14></a>"#,
        r#"<a href="mailto:info@acme.co"><img src="/a.svg"></a>"#,
        r#"<a href="mailto:info@acme.co" style="display:block;width:20px;height:20px;background:url(/a.svg)"></a>"#,
    ] {
        let drawn = |color: &str| {
            let svg = GROUND.replace("COLOUR", color);
            Files::default().with("/a.svg", "image/svg+xml", &svg)
        };
        assert_eq!(shown(&browser, page, &drawn("#003")), Presence::Visible);
        assert_eq!(shown(&browser, page, &drawn("#fff")), Presence::Hidden);
    }
}

#[test]
fn an_external_style_sheet_hides_and_shows() {
    let browser = browser();
    let page = r#"<link rel=stylesheet href="/a.css"><p class=x>info@acme.co</p>"#;
    let hiding = Files::default().with("/a.css", "text/css", ".x{display:none}");
    assert_eq!(shown(&browser, page, &hiding), Presence::Hidden);
    let showing = Files::default().with("/a.css", "text/css", ".x{color:#333}");
    assert_eq!(shown(&browser, page, &showing), Presence::Visible);
}

#[test]
fn a_style_sheet_or_script_that_does_not_come_leaves_the_page_unanswered() {
    let browser = browser();
    for page in [
        r#"<link rel=stylesheet href="/a"><p>info@acme.co</p>"#,
        r#"<script src="/a"></script><p>info@acme.co</p>"#,
        r#"<script>document.write('<script src="/a"><\/script>')</script><p>info@acme.co</p>"#,
    ] {
        let silent = render(&browser, page, &Files::default().silent("/a"));
        let Rendered::Unanswered(why) = silent else {
            panic!("{silent:?}: {page}");
        };
        assert_eq!(why.silence, UnansweredKind::Timeout);
        // Nothing is there: that is an answer.
        assert_eq!(shown(&browser, page, &Files::default()), Presence::Visible);
    }
    let image = r#"<img src="/a"><p>info@acme.co</p>"#;
    assert_eq!(
        shown(&browser, image, &Files::default().silent("/a")),
        Presence::Visible
    );
}

#[test]
fn data_that_does_not_come_leaves_the_page_incomplete() {
    let browser = browser();
    let page = "<p id=p>Loading</p><script>fetch('/a').then(r=>r.text()).then(t=>p.textContent=t)</script>";
    let data = Files::default().with("/a", "text/plain", "info@acme.co");
    assert_eq!(shown(&browser, page, &data), Presence::Visible);
    let silent = rendered_by(&browser, page, &Files::default().silent("/a"));
    assert!(silent.incomplete);
    let posted = "<script>fetch('/a',{method:'POST',body:'x'})</script><p>x</p>";
    let files = Files::default().with("/a", "text/plain", "x");
    assert!(rendered_by(&browser, posted, &files).incomplete);
    assert_eq!(files.asked.lock().unwrap().len(), 0);
}

#[test]
fn an_image_behind_an_address_is_loaded() {
    let browser = browser();
    let page = r#"<div style="background:url(/a.svg);background-size:cover;color:#fff;padding:9px">info@acme.co</div>"#;
    let drawn = |color: &str| {
        let svg = format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="99" height="99"><rect width="99" height="99" fill="{color}"/></svg>"#
        );
        Files::default().with("/a.svg", "image/svg+xml", &svg)
    };
    assert_eq!(shown(&browser, page, &drawn("#003")), Presence::Visible);
    assert_eq!(shown(&browser, page, &drawn("#fff")), Presence::Hidden);
}

#[test]
fn frames_are_read_apart() {
    let browser = browser();
    let page = r#"<p>Acme</p><iframe src="/in" width=400 height=200></iframe>
        <iframe src="/hidden" style="display:none"></iframe>
        <iframe src="https://other.example/in" width=400 height=200></iframe>
        <iframe src="/forbidden" width=400 height=200></iframe>
        <iframe srcdoc="<p>fax@acme.co</p>" width=400 height=200></iframe>"#;
    let files = Files::default()
        .with("/in", "text/html", "<p>info@acme.co</p>")
        .with("/hidden", "text/html", "<p>x@acme.co</p>")
        .with("https://other.example/in", "text/html", "<p>y@acme.co</p>");
    let rendered = rendered_by(&browser, page, &files);
    let mut urls: Vec<_> = rendered
        .frames
        .iter()
        .map(|frame| frame.url.as_str())
        .collect();
    urls.sort_unstable();
    let own = [
        "https://acme.co/contact",
        "https://acme.co/in",
        "https://other.example/in",
    ];
    let forbidden = "https://acme.co/forbidden";
    let shown: Vec<_> = urls.into_iter().filter(|url| *url != forbidden).collect();
    assert_eq!(shown, own);
    assert_eq!(rendered.forbidden, [Url::parse(forbidden).unwrap()]);
    let asked = files.asked.lock().unwrap();
    assert!(!asked.iter().any(|url| url == forbidden), "{asked:?}");
    let own = |html: &str| {
        let files = Files::default().with("/in", "text/html", html);
        let page = r#"<p>Acme</p><div style="height:2000px"></div><iframe src="/in"></iframe>"#;
        let rendered = rendered_by(&browser, page, &files);
        let frame = &rendered.frames[0];
        let page = Page::rendered(&frame.url, None, &frame.body, false).unwrap();
        presence(&page, &address())
    };
    assert_eq!(own("<p>info@acme.co</p>"), Presence::Visible);
    assert_eq!(
        own("<p style='color:#fff'>info@acme.co</p>"),
        Presence::Hidden
    );
}

#[test]
fn a_script_or_meta_tag_that_leaves_the_page_is_followed_no_further() {
    let browser = browser();
    for page in [
        "<script>location = 'https://other.example/'</script><p>info@acme.co</p>",
        "<meta http-equiv=refresh content='0;url=https://other.example/'><p>info@acme.co</p>",
        "<script>onload = () => setTimeout(() => location.replace('https://other.example/'), 50)</script><p>x</p>",
    ] {
        let files = Files::default();
        let leaves = rendered_by(&browser, page, &files).leaves;
        assert_eq!(
            leaves.map(String::from).as_deref(),
            Some("https://other.example/"),
            "{page}"
        );
        assert!(files.asked.lock().unwrap().is_empty());
    }
    let stays = "<script>setTimeout(() => alert('x'), 10)</script><p>info@acme.co</p>";
    assert_eq!(rendered_by(&browser, stays, &Files::default()).leaves, None);
}

#[test]
fn a_page_may_ask_for_sixty_files() {
    let browser = browser();
    let page = |count: usize| {
        let scripts: Vec<_> = (0..count)
            .map(|at| format!("<script src='/{at}.js'></script>"))
            .collect();
        scripts.concat() + "<p>info@acme.co</p>"
    };
    assert_eq!(
        shown(&browser, &page(60), &Files::default()),
        Presence::Visible
    );
    let many = render(&browser, &page(61), &Files::default());
    let Rendered::Unanswered(why) = many else {
        panic!("{many:?}");
    };
    assert_eq!(why.silence, UnansweredKind::Budget);
}

#[test]
fn a_page_that_never_ends_ends() {
    let browser = browser();
    let endless = render(&browser, "<script>for(;;);</script>", &Files::default());
    assert!(matches!(endless, Rendered::Unanswered(_)), "{endless:?}");
    assert_eq!(
        shown(&browser, "<p>info@acme.co</p>", &Files::default()),
        Presence::Visible
    );
}

/// A net whose session shows pages in the browser.
fn rendering() -> EmailNet {
    EmailNet::with(
        &[ACME],
        &[&format!("--set=network.browser={}", chromium().display())],
    )
}

const SCRIPTED: &str = "<p id=p></p><script>document.getElementById('p').textContent = 'info' + '@acme.co.kr'</script>";

#[test]
fn what_a_script_writes_passes_and_is_judged_again_without_a_browser() {
    let net = rendering();
    assert_eq!(net.says(&net.contact(SCRIPTED)), "PASS");
    let (_, status) = net.place.json(["status"]);
    let counted = ["rendered", "from_markup"].map(|key| status[key].as_u64());
    assert_eq!(counted, [Some(1), Some(0)], "{status:#}");
    // The end of the net replays and audits the session, and no browser is on the PATH.
    let (code, audit) = net.place.json(["audit", "--live"]);
    assert_eq!(code, 0, "{audit:#}");
}

#[test]
fn without_a_browser_the_markup_decides() {
    let net = EmailNet::start();
    assert_eq!(
        net.says(&net.contact(SCRIPTED)),
        "REVIEW source-needs-script"
    );
    let net = EmailNet::start();
    let white = net.contact("<p style='color:#fff'>info@acme.co.kr</p>");
    assert_eq!(net.says(&white), "PASS");
    let (_, status) = net.place.json(["status"]);
    let counted = ["rendered", "from_markup"].map(|key| status[key].as_u64());
    assert_eq!(counted, [Some(0), Some(1)], "{status:#}");
}

#[test]
fn what_a_reader_does_not_see_does_not_pass() {
    let net = rendering();
    let white = net.contact("<p style='color:#fff'>info@acme.co.kr</p>");
    assert_eq!(net.says(&white), "REVIEW email-hidden");
}

#[test]
fn a_style_sheet_that_hangs_is_no_answer() {
    let net = rendering();
    net.net.web.reply(WWW, "/slow.css", Reply::Hang);
    let right = net.contact("<link rel=stylesheet href=/slow.css><p>info@acme.co.kr</p>");
    assert_eq!(net.says(&right), "REVIEW source-unanswered");
}

#[test]
fn a_page_gets_nothing_from_private_addresses_and_opens_no_socket() {
    let private = TcpListener::bind("127.0.0.2:0").unwrap();
    let allowed = TcpListener::bind("127.0.0.1:0").unwrap();
    for listener in [&private, &allowed] {
        listener.set_nonblocking(true).unwrap();
    }
    let (private_url, socket) = (private.local_addr().unwrap(), allowed.local_addr().unwrap());
    let net = rendering();
    let right = net.contact(&format!(
        "<p id=p></p><script>
        const failed = [fetch('http://{private_url}/'), fetch('http://169.254.169.254/'),
            new Promise((open, shut) => {{
                const socket = new WebSocket('ws://{socket}/');
                socket.onopen = open; socket.onerror = shut;
            }})];
        Promise.allSettled(failed).then((all) => {{
            if (all.every((one) => one.status === 'rejected')) p.textContent = 'info@acme.co.kr';
        }});</script>"
    ));
    assert_eq!(net.says(&right), "PASS");
    for listener in [&private, &allowed] {
        let asked = listener.accept().map(|_| ());
        assert_eq!(asked.unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }
}

/// A browser of a test's own, whose processes can be told from others.
struct OwnBrowser {
    dir: tempfile::TempDir,
    program: PathBuf,
}

impl OwnBrowser {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let program = dir.path().join("browser");
        let chromium = chromium();
        let script = format!(
            "#!/bin/sh\nexec {} --user-agent={} \"$@\"\n",
            chromium.display(),
            dir.path().display()
        );
        std::fs::write(&program, script).expect("a script");
        // A root that becomes another user must reach it.
        for path in [dir.path(), &program] {
            let readable = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(path, readable).expect("an own file");
        }
        Self { dir, program }
    }

    fn setting(&self) -> String {
        format!("--set=network.browser={}", self.program.display())
    }

    /// Those of its processes that started the others.
    fn running(&self) -> Vec<String> {
        let mark = format!("--user-agent={}", self.dir.path().display());
        let processes = std::fs::read_dir("/proc").expect("the processes");
        let pids = processes.filter_map(|it| it.ok()?.file_name().into_string().ok());
        let is_own = |pid: &String| {
            let arguments = std::fs::read_to_string(format!("/proc/{pid}/cmdline"));
            let arguments = arguments.unwrap_or_default();
            let has = |start: &str| arguments.split('\0').any(|it| it.starts_with(start));
            // What confines it has it as an argument too, but not among its first.
            has("--remote-debugging-pipe") && has(&mark) && !has("--type=") && !has("/bin/sh")
        };
        pids.filter(is_own).collect()
    }
}

/// Kills the browser when its page asks for a file.
struct Killer(OwnBrowser);

impl Resources for Killer {
    fn get(&self, _url: &Url, _within: Duration) -> Resource {
        let mut kill = Command::new("kill");
        let killed = kill.arg("-KILL").args(self.0.running()).status();
        assert!(killed.expect("the command `kill`").success());
        Resource::Unreachable
    }

    fn may_read(&self, _frame: &Url) -> bool {
        true
    }
}

#[test]
fn a_browser_that_is_killed_leaves_its_page_unanswered_and_the_next_page_has_another() {
    let killer = Killer(OwnBrowser::new());
    let comail = PathBuf::from(env!("CARGO_BIN_EXE_comail"));
    let browser = Browser::started_by(Launcher::new(comail), killer.0.program.clone());
    let page = "<p>info@acme.co</p>";
    assert_eq!(shown(&browser, page, &Files::default()), Presence::Visible);
    let began = Instant::now();
    let rendered = render(
        &browser,
        &format!("<link rel=stylesheet href=/a.css>{page}"),
        &killer,
    );
    let Rendered::Unanswered(why) = rendered else {
        panic!("{rendered:?}");
    };
    assert_eq!(why.silence, UnansweredKind::Protocol, "{why:?}");
    // Nobody waits as long as a page may take.
    assert!(began.elapsed() < Duration::from_secs(20), "{why:?}");
    assert_eq!(shown(&browser, page, &Files::default()), Presence::Visible);
}

#[test]
fn several_pages_are_shown_at_once() {
    let browser = browser();
    let files = Files::default().with("/a.css", "text/css", ".b{color:#333} .w{color:#fff}");
    let link = "<link rel=stylesheet href=/a.css>";
    thread::scope(|scope| {
        for at in 0..8 {
            let (browser, files) = (&browser, &files);
            let (class, expected) = match at % 2 {
                0 => ("b", Presence::Visible),
                _ => ("w", Presence::Hidden),
            };
            scope.spawn(move || {
                let html = format!("{link}<p class={class}>info@acme.co</p>");
                assert_eq!(shown(browser, &html, files), expected, "{at}");
            });
        }
    });
}

#[test]
fn a_server_keeps_one_browser_for_all_answers() {
    let own = OwnBrowser::new();
    let mut net = EmailNet::unscanned();
    net.company("beta.co.kr", "Beta Foods");
    let flags = net.flags_with(&[&own.setting()]);
    net.place.scan(&[ACME, "Beta Foods"], &flags);
    let place = std::mem::replace(&mut net.place, Place::new());
    let served = Served::of(place, &[]);
    let token = served.token(&["--worker", "kim"]);
    let mut before = None;
    for (id, domain) in [(1, "acme.co.kr"), (2, "beta.co.kr")] {
        let args = net.right(domain).args(id);
        let args: Vec<_> = args.iter().map(String::as_str).collect();
        let (_, answer) = served.json(&token, &args);
        assert_eq!(answer["verdict"], "PASS", "{answer:#}");
        let running = own.running();
        assert_eq!(running.len(), 1, "{running:?}");
        assert_eq!(*before.get_or_insert(running.clone()), running);
    }
}

#[test]
fn workers_sockets_and_calls_lead_nowhere() {
    let browser = browser();
    let stream = TcpListener::bind("127.0.0.1:0").unwrap();
    let packets = UdpSocket::bind("127.0.0.1:0").unwrap();
    stream.set_nonblocking(true).unwrap();
    packets.set_nonblocking(true).unwrap();
    let to = stream.local_addr().unwrap();
    let stun = packets.local_addr().unwrap();
    let html = format!(
        "<link rel=preconnect href=http://{to}><link rel=prefetch href=http://{to}/p>
        <p>info@acme.co</p><script>
        const script = `fetch('http://{to}/w'); new WebSocket('ws://{to}/'); importScripts('http://{to}/i')`;
        const blob = URL.createObjectURL(new Blob([script]));
        new Worker(blob); new SharedWorker(blob);
        const call = new RTCPeerConnection({{iceServers: [{{urls: 'stun:{stun}'}}]}});
        call.createDataChannel('x'); call.createOffer().then((it) => call.setLocalDescription(it));
        new WebSocket('ws://{to}/'); navigator.sendBeacon('http://{to}/b', 'x');
        new EventSource('http://{to}/e'); new Image().src = 'http://{to}/m';</script>"
    );
    let rendered = rendered_by(&browser, &html, &Files::default());
    assert_eq!(presence(&page(&rendered), &address()), Presence::Visible);
    assert!(rendered.incomplete, "a worker got no answers");
    let got = stream.accept().map(|_| ());
    assert_eq!(got.unwrap_err().kind(), io::ErrorKind::WouldBlock);
    let got = packets.recv(&mut [0]);
    assert_eq!(got.unwrap_err().kind(), io::ErrorKind::WouldBlock);
}

#[test]
fn a_browser_that_is_gone_is_an_error_and_nothing_is_recorded() {
    let net = EmailNet::unscanned();
    let own = OwnBrowser::new();
    let flags = net.flags_with(&[&own.setting()]);
    net.place.scan(&[ACME], &flags);
    std::fs::remove_file(&own.program).unwrap();
    let (code, answer) = net.submit(1, &net.acme());
    assert_eq!(code, 1, "{answer:#}");
    assert!(
        answer.to_string().contains("network.browser=off"),
        "{answer:#}"
    );
    let (_, status) = net.place.json(["status"]);
    assert_eq!(status["tally"]["todo"], 1, "{status:#}");
    // What fails before any page is looked at needs none.
    for email in ["info@acme", "info@other.co.kr"] {
        let (_, answer) = net.submit(1, &net.acme().email(email));
        assert_eq!(answer["verdict"], "FAIL", "{answer:#}");
    }
}

#[test]
fn scan_refuses_a_browser_that_an_agent_could_change_or_that_does_not_start() {
    let net = EmailNet::unscanned();
    let own = net.place.write("browser", "#!/bin/sh\n");
    std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o755)).unwrap();
    net.place.write("companies.txt", ACME);
    for (program, why) in [
        (own.display().to_string(), "an agent could change it"),
        ("/bin/false".to_owned(), "it cannot be started"),
        ("/nowhere/chromium".to_owned(), "No such file"),
    ] {
        let flags = net.flags_with(&[&format!("--set=network.browser={program}")]);
        let scan = ["scan", "companies.txt"].map(str::to_owned);
        let run = net.place.run(scan.iter().chain(&flags));
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.contains(why), "{run:?}");
    }
}
