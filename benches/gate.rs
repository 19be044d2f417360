//! How long the e-mail gate takes to judge, with and without a browser, and a page to be read.

use std::env;
use std::hint::black_box;
use std::time::Duration;

use comail::gate::GateSettings;
use comail::gate::email::email_gate;
use comail::gate::{Case, Gate as _};
use comail::judge::{judge_from, record};
use comail::quest::{Fields, Key, Quest, QuestId, Submission, Verdict, email};
use comail::world::browser::{self, Browser, Resource, Resources};
use comail::world::evidence::record::Recorder;
use comail::world::evidence::recorded::RecordedWorld;
use comail::world::page::Page;
use comail::world::sandbox::Launcher;
use comail::world::{
    Fetched, Fetcher, Rendered, Request, Response, UniqueValue, UniquenessIndex, World,
};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use serde_json::json;
use url::Url;

/// A session that has passed nothing.
struct NothingTaken;

impl UniquenessIndex for NothingTaken {
    fn holder(&self, _: &UniqueValue) -> Option<Key> {
        None
    }
}

/// Many more tags than on most pages: 83 in 1,000 bytes.
const TABLE: &str = "<tr><td class=\"name\">Trading &amp; Shipping <b>한빛</b></td>\
    <td><a href=\"/item?id=7&amp;lang=en\">More of it</a></td></tr>\n";

/// 19 tags in 1,000 bytes: of 170 saved pages of about 200 kB, nine in ten have fewer.
const PROSE: &str = "<tr><td class=\"col-md-6 product-card__description js-track\" \
    data-item=\"2f9c1b7e\"><p>Trading &amp; Shipping <b>한빛</b> has sent dried fruit, tea and \
    spices by sea since 1987. Each load is weighed and sealed at the quay, and its papers travel \
    with it. Write to us for a list of ports, or for the price of a part of a container.</p>\
    <a class=\"btn btn-default btn-sm\" href=\"/item?id=7&amp;lang=en&amp;from=contact\">More of it</a>\n";

/// A contact page of about this many bytes.
fn page(row: &str, bytes: usize) -> String {
    let rows = row.repeat(bytes / row.len());
    format!(
        "<!doctype html><html><head><meta charset=\"utf-8\"><title>Acme Trading | Contact</title>\
         <style>td {{ color: black }}</style></head><body><h1>Acme Trading</h1><table>{rows}</table>\
         <p>Write to <a href=\"mailto:info@acme.co.kr\">info@acme.co.kr</a></p>\
         <footer>© Acme Trading Co., Ltd.</footer></body></html>"
    )
}

fn judge(criterion: &mut Criterion) {
    let name = "gate/judge-from-evidence";
    judged(
        criterion,
        name,
        &page(TABLE, 20_000),
        Work::JudgeFromEvidence,
    );
    // All that is done with the pages of one answer: judged, pruned and judged again.
    for (pages, row, bytes, work) in [
        ("two pages of 200 kB", PROSE, 200_000, Work::Record),
        ("two tables of 200 kB", TABLE, 200_000, Work::Record),
        ("two tables of 20 kB", TABLE, 20_000, Work::Record),
        ("two tables of 20 kB", TABLE, 20_000, Work::Show),
    ] {
        let name = match work {
            Work::Show => format!("gate/show and record {pages}"),
            _ => format!("gate/record {pages}"),
        };
        judged(criterion, &name, &page(row, bytes), work);
    }
}

/// What is done with a world on which an answer passes.
#[derive(Clone, Copy, PartialEq)]
enum Work {
    JudgeFromEvidence,
    Record,
    /// The same where Chromium shows the pages.
    Show,
}

/// A recorded web, whose pages a browser shows.
struct Shown<'a> {
    pages: &'a RecordedWorld,
    browser: &'a Browser,
}

impl Fetcher for Shown<'_> {
    fn get(&self, request: &Request) -> Fetched {
        Fetcher::get(self.pages, request)
    }

    fn render(&self, url: &Url, response: &Response) -> Rendered {
        self.browser.render(url, response, self)
    }
}

impl Resources for Shown<'_> {
    fn get(&self, _url: &Url, _within: Duration) -> Resource {
        Resource::Unreachable
    }

    fn may_read(&self, _frame: &Url) -> bool {
        true
    }
}

fn judged(criterion: &mut Criterion, name: &str, page: &str, work: Work) {
    let source = "https://www.acme.co.kr/contact";
    let written = json!({
        "pages": {
            source: {"body": page},
            "https://www.acme.co.kr/": {"body": page},
        },
        "dns": {
            "acme.co.kr": {"MX": [[10, "mx.acme.co.kr"]]},
            "mx.acme.co.kr": {"A": ["8.8.8.8"]},
        },
    });
    let world = RecordedWorld::from_json(&written.to_string()).expect("a world");
    let quest = Quest {
        rows: vec![2],
        ..Quest::new(
            QuestId::from_index(0).expect("the first"),
            Key::new("Acme Trading Co., Ltd.").expect("not blank"),
        )
    };
    let fields = [
        (email::SITE, "https://www.acme.co.kr/"),
        (email::EMAIL, "info@acme.co.kr"),
        (email::SOURCE, source),
    ];
    let fields: Fields = fields.map(|(name, text)| (name, text.to_owned())).into();
    let submission = Submission::Fields(fields);
    let case = Case::new(&quest, &submission);
    let gate = email_gate(GateSettings::default());
    let recorder = Recorder::new(world.world_with(&NothingTaken));
    let judgement = gate.judge(case, &recorder.world());
    assert_eq!(judgement.verdict, Verdict::Pass, "{:?}", judgement.facts);
    let recording = recorder.finish();
    criterion.bench_function(name, |bencher| match work {
        Work::JudgeFromEvidence => {
            bencher.iter(|| judge_from(&gate, case, black_box(&recording)));
        }
        Work::Record => {
            bencher.iter(|| record(&gate, case, black_box(world.world_with(&NothingTaken))));
        }
        Work::Show => {
            let Some(program) = browser::find(env::var_os("PATH").as_deref()) else {
                return;
            };
            let comail = Launcher::new(env!("CARGO_BIN_EXE_comail").into());
            let browser = Browser::started_by(comail, program);
            let pages = Shown {
                pages: &world,
                browser: &browser,
            };
            let shown = || World {
                fetcher: &pages,
                ..world.world_with(&NothingTaken)
            };
            bencher.iter(|| record(&gate, case, shown()));
        }
    });
}

fn parse(criterion: &mut Criterion) {
    let url = Url::parse("https://www.acme.co.kr/contact").expect("a URL");
    let mut group = criterion.benchmark_group("page/parse");
    for (name, bytes) in [("50 KB", 50_000), ("1 MB", 1_000_000)] {
        let page = page(TABLE, bytes);
        group.throughput(Throughput::Bytes(page.len() as u64));
        group.bench_function(name, |bencher| {
            let read = || Page::parse(&url, Some("text/html"), None, black_box(page.as_bytes()));
            bencher.iter(|| read().expect("a page"));
        });
    }
}

criterion_group!(benches, judge, parse);
criterion_main!(benches);
