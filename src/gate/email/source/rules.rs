//! The catalogue of step 5.

use crate::gate::{Cause, Level, Rule};

const WRITTEN_BY_OWNER: &str =
    "submit a page of the site that its owner writes, such as its contact page or its footer";

/// Every rule of step 5.
pub static RULES: [Rule; 13] = [
    Rule::known(
        "source-echo",
        Level::Fail,
        "the URL carries the address: a page that repeats it proves nothing",
        "submit a page that shows the address without being told it",
    ),
    Rule::known(
        "source-may-echo",
        Level::Review,
        "the URL carries something that the page may repeat, or make the address of",
        "submit the page's plain URL, without such parameters",
    ),
    Rule::known(
        "source-off-site",
        Level::Review,
        "what answered is not on the site",
        "submit a page of the company's own site",
    ),
    Rule::known(
        "source-user-content",
        Level::Review,
        "others than the site's owner write there",
        WRITTEN_BY_OWNER,
    ),
    Rule::known(
        "source-missing",
        Level::Fail,
        "the page does not exist",
        "submit a page that exists",
    ),
    Rule::known(
        "email-not-on-source",
        Level::Fail,
        "the page was read, and the address is not on it",
        "submit the page that shows the address, or an address that the page shows",
    ),
    Rule::known(
        "email-hidden",
        Level::Review,
        "the address is only where no reader sees it, or struck out",
        "submit a page that shows the address to its readers",
    ),
    Rule::known(
        "email-obfuscated",
        Level::Review,
        "the address is there only in disguise, or it is not sure where it begins",
        "submit a page that spells the address out, if there is one",
    ),
    Rule::known(
        "collection-refused",
        Level::Review,
        "the page states that addresses may not be collected",
        "submit another page of the site that shows the address, if there is one",
    ),
    Rule::known(
        "source-needs-script",
        Level::Review,
        "the page shows little without its scripts, and not the address",
        "submit a page that shows the address without scripts, if there is one",
    )
    .because(Cause::Unreadable),
    Rule::known(
        "source-robots",
        Level::Review,
        "robots.txt forbids to read the page",
        "submit another page of the site that shows the address, if there is one",
    )
    .because(Cause::Unreadable),
    Rule::known(
        "source-unanswered",
        Level::Review,
        "the page gave no answer",
        "nothing for the agent to change: a person looks again later",
    )
    .because(Cause::Unanswered),
    Rule::known(
        "source-unreadable",
        Level::Review,
        "the page is too large, or not text",
        "submit a web page that shows the address, if there is one",
    )
    .because(Cause::Unreadable),
];
