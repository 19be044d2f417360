//! What the demo does, command by command.

use std::path::Path;

use super::place::Place;
use crate::cli::shell_line::ShellLine;

/// One command line, and what it shows.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) about: &'static str,
    pub(super) line: ShellLine,
}

/// An answer as an agent gives it.
struct Answer<'a> {
    about: &'static str,
    company: &'a str,
    site: &'a str,
    email: &'a str,
    source: &'a str,
}

const HANBIT: Answer<'_> = Answer {
    about: "The agent answers; the gate reads the page, DNS and the home page, and locks PASS.",
    company: "Hanbit Foods Co., Ltd.",
    site: "https://www.hanbit-foods.co.kr",
    email: "info@hanbit-foods.co.kr",
    source: "https://www.hanbit-foods.co.kr/contact",
};

const NORTHWIND_MADE_UP: Answer<'_> = Answer {
    about: "A made-up address: the page does not say it, and the facts say what it does say.",
    company: "Northwind Tools GmbH",
    site: "https://www.northwind-tools.de",
    email: "info@northwind-tools.de",
    source: "https://www.northwind-tools.de/impressum",
};

const NORTHWIND: Answer<'_> = Answer {
    about: "The agent corrects it by the facts.",
    email: "kontakt@northwind-tools.de",
    ..NORTHWIND_MADE_UP
};

const BLUEFIN: Answer<'_> = Answer {
    about: "A free-mail address may be the company's; the machine cannot know, a person decides.",
    company: "Bluefin Freight Inc.",
    site: "https://bluefin-freight.com",
    email: "bluefin.freight@gmail.com",
    source: "https://bluefin-freight.com/",
};

const AOYAMA_GUESSED: Answer<'_> = Answer {
    about: "A guess on a page that has only a form.",
    company: "Aoyama Seiki K.K.",
    site: "https://www.aoyama-seiki.co.jp",
    email: "info@aoyama-seiki.co.jp",
    source: "https://www.aoyama-seiki.co.jp/inquiry",
};

const AOYAMA_ELSEWHERE: Answer<'_> = Answer {
    about: "Another company's site: the workbook's Website column is held against it.",
    site: "https://www.hanbit-foods.co.kr",
    email: "info@hanbit-foods.co.kr",
    source: "https://www.hanbit-foods.co.kr/contact",
    ..AOYAMA_GUESSED
};

const LUMIERE: Answer<'_> = Answer {
    about: "The last one passes.",
    company: "Lumière Textiles SARL",
    site: "https://lumiere-textiles.fr",
    email: "contact@lumiere-textiles.fr",
    source: "https://lumiere-textiles.fr/",
};

/// The demo's steps at `place`.
pub(super) fn script(place: &Place) -> Vec<Step> {
    let session = place.session();
    let command = |name| ShellLine::comail(name, Some(&session));
    let step = |about, line| Step { about, line };
    let submit = |answer: Answer<'_>| {
        let line = command("submit")
            .flag("company", answer.company)
            .flag("site", answer.site)
            .flag("email", answer.email)
            .flag("source", answer.source);
        step(answer.about, line)
    };
    vec![
        step(
            "A list becomes quests. The sites that the list knows are held against the answers.",
            scan(&place.workbook(), command("scan")),
        ),
        step("An agent asks for a quest.", command("next")),
        submit(HANBIT),
        submit(NORTHWIND_MADE_UP),
        submit(NORTHWIND),
        submit(BLUEFIN),
        submit(AOYAMA_GUESSED),
        submit(AOYAMA_ELSEWHERE),
        step(
            "The agent gives up, which is not its to decide: it costs the third and last try.",
            command("submit")
                .flag("company", AOYAMA_GUESSED.company)
                .flag("none", "the site shows a form and no address"),
        ),
        submit(LUMIERE),
        step(
            "Nothing is left, and only the ledger can say so.",
            command("next"),
        ),
        step("How it went.", command("status")),
        step(
            "The results, in a copy of the workbook.",
            command("export").path(&place.results()),
        ),
    ]
}

fn scan(list: &Path, line: ShellLine) -> ShellLine {
    line.path(list)
        .flag("col", "Company")
        .flag("site-col", "Website")
        .flag("show", "Country")
}
