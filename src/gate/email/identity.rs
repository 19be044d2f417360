//! Step 7, `identity`: is the site the company's, and the address the one that it presents, and not
//! another's already?
//!
//! The operator's anchor settles it. Else the site is asked: its legal notice, which the law of the
//! place asks for, names who runs it. Where there is none, the home page must declare the name.

pub mod company_name;
mod corroboration;
mod declared;
mod name_similarity;
mod notice;
mod operator;
#[cfg(test)]
mod tests;
pub mod words;

use std::rc::Rc;

use itertools::Itertools as _;
use url::Url;

use self::company_name::{CompanyName, Folded, are_common};
use self::declared::Declared;
use self::name_similarity::{Similarity, extends, is_in_another_script, similarity};
use self::notice::{Parted, is_line};
use self::operator::{Named, Reading, Slot, Whose, begins_with, firm, operators};
use self::words::{Line, NotInUse, Rank, UNUSED};
use super::freemail::freemail;
use super::site::{hosted, on_site, vouches};
use super::step::{Context, EMAIL, SITE, Step, quoted};
use crate::gate::checks::kind::Verifies;
use crate::gate::{Cost, Fact};
use crate::world::domain::HostName;
use crate::world::fetch::visit::{End, Visit};
use crate::world::mailbox::Mailbox;
use crate::world::page::{OwnerPlace, OwnerText, Page, is_unspaced};
use crate::world::{UniqueValue, UniquenessIndex};

pub static STEP: Step = Step {
    name: "email-identity",
    cost: Cost::Wide,
    verifies: Verifies::Fact,
    keys: &["site", "email", "source", "anchor"],
    run,
};

fn run(context: &Context<'_>) -> Vec<Fact> {
    let (Some(site), Some(email), Some(source)) = (&context.site, &context.email, &context.source)
    else {
        return Vec::new();
    };
    let ownership = ownership(context, site, email, source);
    // Nothing more is asked of a site that is doubted already.
    let ownership = ownership.or_else(|| corroboration::doubt(context, site, email, source));
    let reuse = reuse(context.base.world.accepted, email);
    ownership.into_iter().chain(reuse).collect()
}

/// The most pages of a site's legal notice that are read.
const MAX_NOTICES: usize = 2;

/// Whether the site is the company's.
fn ownership(context: &Context<'_>, site: &Url, email: &Mailbox, source: &Url) -> Option<Fact> {
    let key = context.base.case.quest.key.as_str();
    let name = CompanyName::parse(key);
    let is_anchored = vouches(&context.anchors(), site, email.domain());
    if name.is_weak() && !is_anchored {
        let expected = "a name of three characters or more that is not a common word";
        return Some(Fact::new("company-name-weak", expected, quoted(key)));
    }
    let home = home_page(site, email);
    let front = context.base.visit(&home);
    let unused = not_in_use(&front, key, &home).or_else(|| only_a_domain(&front, &name, &home));
    if let Some(unused) = unused {
        return Some(unused);
    }
    let silent = |why: &str| {
        let fact = Fact::new("identity-unanswered", "the site's home page", quoted(why));
        Some(Doubt::Unproven(fact.on(SITE).at(home.as_str())))
    };
    let source = context.base.visit(source);
    let mut search = Search::new(key, &name, site, &home);
    search.is_anchored = is_anchored;
    search.visits.extend([source, Rc::clone(&front)]);
    let doubt = match &front.end {
        End::Missing { .. } => Some(search.unproven("; there is no home page")),
        End::Pages(pages) => match pages.first() {
            Some(page) if !on_site(site, &page.url) => {
                let there = quoted(page.url.as_str());
                Some(search.unproven(&format!("; the home page leads elsewhere: {there}")))
            }
            Some(page) => search.ask_site(context, &front, page),
            None => silent("it has no page"),
        },
        end => silent(&no_answer(end).unwrap_or_default()),
    };
    // The operator's list proves the name, but it may be older than the site.
    let is_kept = match &doubt {
        Some(Doubt::Contested(_)) => !is_anchored || !search.has_trace(context, &front),
        _ => !is_anchored,
    };
    doubt.filter(|_| is_kept).map(Doubt::into_fact)
}

/// Why the site is not known to be the company's.
enum Doubt {
    /// It names another firm.
    Contested(Fact),
    /// It does not name the company where it counts, or gives no answer.
    Unproven(Fact),
}

impl Doubt {
    fn into_fact(self) -> Fact {
        match self {
            Self::Contested(fact) | Self::Unproven(fact) => fact,
        }
    }
}

/// What is known of the company's name on the site so far.
struct Search<'a> {
    key: &'a str,
    name: &'a CompanyName,
    /// The name for lines that also hold addresses, in which a word in brackets may be the city.
    operator: CompanyName,
    /// What the home page says that the site is called, folded.
    called: Vec<String>,
    /// Whether the key has a legal form, so that it is the whole name of a firm and no person.
    is_formal: bool,
    /// Whether the operator's list names the site.
    is_anchored: bool,
    site: &'a Url,
    home: &'a Url,
    visits: Vec<Rc<Visit>>,
    /// The notices that were read.
    read: Vec<Url>,
}

/// What a page says of who runs the site.
enum Said {
    Company(Slot),
    Another(Named),
    /// A person, who may run a shop of any name, or what may be the company's name in another script.
    Compatible,
    Nothing,
}

/// Why a notice does not say who runs the site.
enum Unread {
    /// It names nobody, is missing, or belongs to another site.
    Bare,
    Silent(String),
}

impl<'a> Search<'a> {
    fn new(key: &'a str, name: &'a CompanyName, site: &'a Url, home: &'a Url) -> Self {
        Self {
            key,
            name,
            operator: name.without_places(),
            called: Vec::new(),
            is_formal: firm(&Line::new(key).text).is_some(),
            is_anchored: false,
            site,
            home,
            visits: Vec::new(),
            read: Vec::new(),
        }
    }

    /// Asks the home page's lines that the law asks for, its legal notice, and what it declares.
    fn ask_site(&mut self, context: &Context<'_>, front: &Visit, page: &Page) -> Option<Doubt> {
        let texts = self.texts(front);
        // A name below a domain may be made of the company's, and its page of the name below.
        if front
            .hops
            .iter()
            .any(|hop| is_named_below(&hop.url, self.name))
        {
            return Some(self.unproven(""));
        }
        let declared = Declared::read(&texts, domain_label(self.home), self.name);
        self.called = declared.called();
        let source = self.visits.first().map(|visit| self.texts(visit));
        let mut linked = linked(&texts);
        linked.retain(|text| source.as_ref().is_some_and(|source| source.contains(text)));
        if let Said::Another(other) = self.labelled_in(&linked) {
            return Some(self.contested("home page", &other.line, self.home));
        }
        let (foot, is_footer) = foot(&texts);
        let frame = self.frame(&texts);
        let mut trading = foot.clone();
        trading.retain(|text| declared.trades_as(&text.text));
        let trading = operators(&trading, Reading::About, &self.operator, &self.called);
        let on_page = operators(
            &notice::on_page(page),
            Reading::Notice,
            &self.operator,
            &self.called,
        );
        let mut labelled = None;
        for (said, proves) in [
            (self.said_in(&foot), is_footer || declared.is_called()),
            (self.said_in(&frame), true),
            (self.said(&trading, Reading::About), true),
            (self.said(&on_page, Reading::Notice), true),
        ] {
            match said {
                Said::Another(other) => {
                    return Some(self.contested("home page", &other.line, self.home));
                }
                Said::Company(slot) if proves => labelled = labelled.max(Some(slot)),
                Said::Company(_) | Said::Compatible | Said::Nothing => {}
            }
        }
        // A number, or a sentence about a part of a firm, stands beside the operator's own name.
        let is_weak = labelled.is_some_and(|slot| slot < Slot::First);
        if is_weak && let Some((place, line)) = declared.other_firm() {
            return Some(self.contested(declared::called(place), line, self.home));
        }
        let is_labelled = labelled.is_some_and(|slot| match slot {
            // A register's number, and a sentence, may be a parent company's, too.
            Slot::Part | Slot::Sentence | Slot::Number => declared.is_called(),
            Slot::First | Slot::Label => true,
        });
        let proves = declared.proves() || self.is_formal && declared.is_framed(&frame);
        let mut unread = None;
        for (url, rank) in self.asked_notices(page, is_labelled, proves) {
            let visit = context.base.visit(&url);
            self.visits.push(Rc::clone(&visit));
            let is_bare = match self.said_by_notice(&visit, rank, &texts, is_labelled) {
                Said::Company(slot) if proves_at(slot, rank) || declared.is_called() => {
                    return None;
                }
                Said::Another(other) => {
                    return Some(self.contested("the site's notice", &other.line, &url));
                }
                Said::Company(_) | Said::Compatible => false,
                // A company may describe itself without its legal form.
                Said::Nothing => rank.is_of_law(),
            };
            let is_notice = rank.names_operator();
            let why = match &visit.end {
                End::Pages(_) => {
                    self.read.push(url.clone());
                    is_bare.then_some(Unread::Bare)
                }
                End::Missing { .. } => is_bare.then_some(Unread::Bare),
                end => no_answer(end).map(Unread::Silent),
            };
            let matters = |why: &Unread| matches!(why, Unread::Bare) || is_notice || !proves;
            unread = unread.or(why.filter(matters).map(|why| (url, why)));
        }
        if is_labelled {
            return None;
        }
        // On a host of many, such a link is the host's.
        if hosted(self.site).is_none()
            && let Some(there) = notice::elsewhere(page, self.site)
        {
            unread = unread.or(Some((there, Unread::Bare)));
        }
        // A label names another operator, also in a menu or beside the text: the declared name yields.
        if let Said::Another(other) = self.labelled_in(&texts) {
            return Some(self.contested("home page", &other.line, self.home));
        }
        self.declared(&declared, proves, unread)
    }

    /// The notices that are asked: fewer, the more the home page says itself.
    fn asked_notices(&self, home: &Page, is_labelled: bool, proves: bool) -> Vec<(Url, Rank)> {
        let is_asked = |rank: Rank| !is_labelled || rank.is_of_law();
        let mut notices = notice::linked(home, self.site);
        notices.retain(|(_, rank)| hosted(self.site).is_none() && is_asked(*rank));
        // Where the page says enough itself, others can only contest it.
        let is_enough = proves && !notices.iter().any(|(_, rank)| rank.names_operator());
        notices.truncate(if is_enough { 1 } else { MAX_NOTICES });
        notices
    }

    fn said_by_notice(
        &self,
        notice: &Visit,
        rank: Rank,
        home: &[OwnerText],
        is_labelled: bool,
    ) -> Said {
        let reading = if rank.names_operator() {
            Reading::Notice
        } else {
            Reading::About
        };
        let texts = self.texts(notice);
        let linked = self.labelled_in(&linked(&texts));
        if let Said::Another(_) = linked {
            return linked;
        }
        let Parted { own, frame } = notice::parted(&texts, home);
        if let said @ Said::Another(_) = self.said_in(&frame) {
            return said;
        }
        let mut named = operators(&own, reading, &self.operator, &self.called);
        // A person may answer for the contents of a firm's site.
        named.retain(|it| it.whose != Whose::Operator || !is_labelled || firm(&it.value).is_some());
        match self.said(&named, reading) {
            // Terms and privacy name the firms whose services they use, too.
            Said::Another(other) if !rank.names_operator() && other.slot < Slot::Label => {
                Said::Nothing
            }
            // The company's name may lead to another site of its own.
            Said::Nothing if matches!(linked, Said::Company(_)) => Said::Compatible,
            said => said,
        }
    }

    /// What the home page declares settles it where there is no notice.
    fn declared(
        &self,
        declared: &Declared<'_>,
        proves: bool,
        unread: Option<(Url, Unread)>,
    ) -> Option<Doubt> {
        if hosted(self.site).is_none()
            && let Some((place, line)) = declared.others().first()
        {
            let place = declared::called(*place);
            let is_claimed = proves || declared.is_titled();
            return Some(if is_claimed {
                self.contested(place, line, self.home)
            } else {
                self.unproven(&format!("; {place}: {}", quoted(line)))
            });
        }
        match unread {
            Some((url, Unread::Silent(why))) => {
                let expected = "the site's legal notice";
                let fact = Fact::new("identity-unanswered", expected, quoted(&why));
                Some(Doubt::Unproven(fact.on(SITE).at(url.as_str())))
            }
            Some((url, Unread::Bare)) => {
                let url = quoted(url.as_str());
                Some(self.unproven(&format!("; its notice does not name it: {url}")))
            }
            _ if proves => None,
            _ => Some(self.unproven("")),
        }
    }

    /// The lines that the home page and the source have around what is their own, where they are two
    /// pages.
    fn frame(&self, home: &[OwnerText]) -> Vec<OwnerText> {
        let source = self.visits.first().map(|visit| self.texts(visit));
        let parted = source.map(|source| notice::parted(&source, home));
        let parted = parted.filter(|parted| !parted.own.is_empty());
        parted.map_or_else(Vec::new, |parted| parted.frame)
    }

    /// The texts of a visit's pages on the site.
    fn texts(&self, visit: &Visit) -> Vec<OwnerText> {
        let pages = own_pages(visit, self.site);
        pages.flat_map(|page| page.owner.iter().cloned()).collect()
    }

    /// What lines of the home page say, or such as all pages have.
    fn said_in(&self, lines: &[OwnerText]) -> Said {
        let named = operators(lines, Reading::Home, &self.operator, &self.called);
        self.said(&named, Reading::Home)
    }

    /// Whom labels name as the operator, in lines that may stand anywhere.
    fn labelled_in(&self, lines: &[OwnerText]) -> Said {
        let lines = lines.iter().map(|line| match line.place {
            OwnerPlace::Linked | OwnerPlace::Menu => line.moved(OwnerPlace::Body),
            _ => line.clone(),
        });
        let lines: Vec<OwnerText> = lines.collect();
        let mut named = operators(&lines, Reading::Home, &self.operator, &self.called);
        named.retain(|it| it.slot == Slot::Label);
        self.said(&named, Reading::Home)
    }

    fn said(&self, named: &[Named], reading: Reading) -> Said {
        let is_ours = |it: &&Named| begins_with(&it.value, &self.operator);
        let ours: Vec<&Named> = named.iter().filter(is_ours).collect();
        let best = ours.iter().map(|it| it.slot).max();
        // A page that names several firms as its operator in one way says of none that it is. Several
        // may have a number, and one line may have both names of one firm.
        let is_counted = |it: &Named| {
            let is_beside = ours.iter().any(|own| own.line == it.line);
            let is_weaker = Some(it.slot) < best || it.slot == Slot::Number;
            let is_firm = firm(&it.value).is_some();
            best.is_none() || it.whose == Whose::Firm || is_firm && !is_beside && !is_weaker
        };
        let mut others = named.iter().filter(|it| !is_ours(it));
        let other = others.find(|it| is_counted(it) && self.is_another(it, reading));
        match (other, best) {
            (Some(other), _) => Said::Another(other.clone()),
            (None, Some(slot)) => Said::Company(slot),
            (None, None) if named.iter().any(|it| self.is_compatible(it)) => Said::Compatible,
            (None, None) => Said::Nothing,
        }
    }

    fn is_compatible(&self, named: &Named) -> bool {
        // A name with a legal form is that of a firm, not of a person.
        match firm(&named.value) {
            Some(called) => is_in_another_script(self.name, called),
            None => named.whose == Whose::Operator,
        }
    }

    fn is_another(&self, named: &Named, reading: Reading) -> bool {
        let formal = firm(&named.value);
        let is_name = match named.whose {
            Whose::Firm => true,
            // A person may run a shop, but is not a firm with a legal form.
            Whose::Operator => self.is_formal && reading == Reading::Notice,
            Whose::Unclear => false,
        };
        let first = || named.value.split(operator::is_between).next();
        let called = formal.or_else(|| first().filter(|_| is_name));
        called.is_some_and(|called| match similarity(self.name, called) {
            Similarity::Different => true,
            // How a name in Chinese characters sounds is not known.
            Similarity::OtherScript if self.is_anchored => false,
            Similarity::OtherScript => {
                let is_han = self.name.spellings().any(Folded::is_han);
                !is_han && !Folded::new(called).has_han()
            }
            // Two whole names that differ are two firms'.
            Similarity::Kin => self.is_formal && formal.is_some() && extends(self.name, called),
            Similarity::Same | Similarity::Unclear => false,
        })
    }

    /// Whether the pages that were read have the name at all.
    fn is_mentioned(&self) -> bool {
        let is_in = |text: &String| self.name.is_in(&Folded::new(text));
        let mut pages = self
            .visits
            .iter()
            .flat_map(|visit| own_pages(visit, self.site));
        pages.any(|page| {
            let mut declared = page.owner.iter().filter(|text| !is_line(text.place));
            declared.any(|text| is_in(&text.text)) || page.visible.iter().any(is_in)
        })
    }

    /// Whether the pages, or the site's notice, have a word by which the company is called.
    fn has_trace(&mut self, context: &Context<'_>, front: &Visit) -> bool {
        let home = own_pages(front, self.site).next();
        let notices = home.map_or_else(Vec::new, |home| notice::linked(home, self.site));
        let notices = notices.iter().take(MAX_NOTICES);
        self.visits
            .extend(notices.map(|(url, _)| context.base.visit(url)));
        let words = self.name.spellings().flat_map(Folded::words);
        let words: Vec<&String> = words.filter(|word| is_telling(word)).collect();
        let pages = self
            .visits
            .iter()
            .flat_map(|visit| own_pages(visit, self.site));
        let texts = pages.flat_map(|page| {
            let owner = page.owner.iter().map(|text| &text.text);
            owner.chain(&page.visible)
        });
        let has_word = |text: &String| {
            let text = plain(text);
            let mut words = words.iter();
            words.any(|word| text.compact().contains(word.as_str()))
        };
        words.is_empty() || texts.into_iter().any(has_word)
    }

    /// Another is named; where the company is not even mentioned, that is no contest.
    fn contested(&self, place: &str, line: &str, at: &Url) -> Doubt {
        if !self.is_mentioned() && !self.is_anchored {
            return self.unproven(&format!("; {place}: {}", quoted(line)));
        }
        let expected = format!("only {} where the site says who runs it", quoted(self.key));
        let fact = Fact::new(
            "owner-contested",
            expected,
            format!("{place}: {}", quoted(line)),
        );
        Doubt::Contested(fact.on(SITE).at(at.as_str()))
    }

    fn unproven(&self, more: &str) -> Doubt {
        let (rule, actual) = if self.is_mentioned() {
            (
                "company-mentioned-only",
                "it is mentioned, not named as who runs the site",
            )
        } else {
            ("company-not-on-site", "on none of the pages that were read")
        };
        let read = match self.read.as_slice() {
            [] => String::new(),
            urls => {
                let urls: Vec<&str> = urls.iter().map(Url::as_str).collect();
                format!("; also read: {}", urls.join(" "))
            }
        };
        let expected = format!("{} where the site says who runs it", quoted(self.key));
        let fact = Fact::new(rule, expected, format!("{actual}{more}{read}"));
        Doubt::Unproven(fact.on(SITE).at(self.home.as_str()))
    }
}

/// Whether a word of a name tells it from others.
fn is_telling(word: &String) -> bool {
    let fewest = if word.contains(is_unspaced) { 2 } else { 4 };
    word.chars().count() >= fewest && !are_common(std::slice::from_ref(word))
}

/// Whether a notice proves a name in this slot: terms have sentences about others, too.
fn proves_at(slot: Slot, rank: Rank) -> bool {
    match slot {
        Slot::Part => false,
        Slot::Sentence => rank.names_operator(),
        Slot::Number | Slot::First | Slot::Label => true,
    }
}

/// Why a page gave no answer; none if it has one, or does not exist.
fn no_answer(end: &End) -> Option<String> {
    match end {
        End::Pages(_) | End::Missing { .. } => None,
        End::Unanswered { why, .. } => Some(why.to_string()),
        End::Forbidden { .. } => Some("robots.txt forbids it".to_owned()),
        End::Unreadable { why, .. } => Some(why.clone()),
    }
}

fn own_pages<'v>(visit: &'v Visit, site: &Url) -> impl Iterator<Item = &'v Page> {
    let pages = match &visit.end {
        End::Pages(pages) => pages.as_slice(),
        _ => &[],
    };
    pages.iter().filter(move |page| on_site(site, &page.url))
}

/// The lines of a home page that may say who runs the site: its footer, whether it has one or not.
fn foot(texts: &[OwnerText]) -> (Vec<OwnerText>, bool) {
    let footer = texts.iter().filter(|text| text.place == OwnerPlace::Footer);
    let footer: Vec<OwnerText> = footer.cloned().collect();
    if !footer.is_empty() {
        return (footer, true);
    }
    let lines = texts
        .iter()
        .filter(|text| text.place != OwnerPlace::Article);
    (lines.cloned().collect(), false)
}

/// The lines with the names that link to other sites.
fn linked(texts: &[OwnerText]) -> Vec<OwnerText> {
    let linked = texts.iter().filter(|text| text.place == OwnerPlace::Linked);
    linked.cloned().collect()
}

/// The label by which the registrable domain is called, in its own letters.
fn domain_label(url: &Url) -> Option<String> {
    let domain = HostName::of_url(url)?.registrable()?;
    Some(idna::domain_to_unicode(domain.name_label()).0)
}

/// A page with more lines than this is not one of a domain broker.
const MAX_LINES_OF_SALE: usize = 60;

/// Whether the site is parked, for sale, or what became of a domain that has lapsed.
fn not_in_use(front: &Visit, key: &str, home: &Url) -> Option<Fact> {
    let End::Pages(pages) = &front.end else {
        return None;
    };
    let texts = pages.iter().flat_map(|page| &page.owner);
    let texts = texts.filter(|text| text.place != OwnerPlace::Menu);
    let is_short = texts.clone().count() <= MAX_LINES_OF_SALE;
    let found = texts.into_iter().find(|text| {
        let is_title = is_title(text.place);
        if !is_title && !is_short {
            return false;
        }
        let says = |kind| UNUSED.find(text.line(), kind).is_some();
        says(NotInUse::Sale) || is_title && says(NotInUse::Gambling)
    });
    // A casino's or a broker's own name has such words too.
    let own = Line::new(key);
    let is_own = |kind| UNUSED.find(&own, kind).is_some();
    let text = found.filter(|_| !is_own(NotInUse::Sale) && !is_own(NotInUse::Gambling))?;
    Some(unused(&text.text, home))
}

fn unused(says: &str, home: &Url) -> Fact {
    let fact = Fact::new(
        "site-not-in-use",
        "a site that the company uses",
        quoted(says),
    );
    fact.on(SITE).at(home.as_str())
}

/// The most lines of the page that a registrar or broker shows for a domain without a site.
const MAX_LINES_OF_HOLDER: usize = 12;

/// Whether the home page has its domain as its only title, and few lines, none of which names the company:
/// such are the pages of brokers and registrars in any language.
fn only_a_domain(front: &Visit, name: &CompanyName, home: &Url) -> Option<Fact> {
    let End::Pages(pages) = &front.end else {
        return None;
    };
    let domain = HostName::of_url(home)?.registrable()?.to_string();
    let domain = idna::domain_to_unicode(&domain).0;
    let texts = || pages.iter().flat_map(|page| &page.owner);
    let mut titles = texts().filter(|text| is_title(text.place)).peekable();
    let is_domain = |text: &OwnerText| {
        let text = text.text.trim().to_lowercase();
        text.strip_prefix("www.").unwrap_or(&text) == domain
    };
    titles.peek()?;
    let names_it = |text: &OwnerText| !is_domain(text) && name.is_in(&plain(&text.text));
    let is_bare =
        titles.all(is_domain) && texts().count() <= MAX_LINES_OF_HOLDER && !texts().any(names_it);
    is_bare.then(|| unused(&domain, home))
}

/// A text without its addresses, which have the words of their domain.
fn plain(text: &str) -> Folded {
    let words = text.split_whitespace();
    Folded::new(&words.filter(|word| !word.contains('@')).join(" "))
}

fn is_title(place: OwnerPlace) -> bool {
    matches!(
        place,
        OwnerPlace::Title | OwnerPlace::Heading | OwnerPlace::SiteName
    )
}

/// Whether a name below the registrable domain, which may be anybody's choice, is made of the company's.
fn is_named_below(url: &Url, name: &CompanyName) -> bool {
    let below = HostName::of_url(url)
        .and_then(|host| Some(idna::domain_to_unicode(host.below_domain()?).0));
    below.is_some_and(|below| name.is_in(&Folded::new(&below)))
}

/// Who else holds the address, or else its domain.
///
/// A mail provider's domain is everybody's, so that sharing it says nothing.
fn reuse(accepted: &dyn UniquenessIndex, email: &Mailbox) -> Option<Fact> {
    if let Some(holder) = accepted.holder(&UniqueValue::Mailbox(email.clone())) {
        let expected = "an address of this company alone";
        let actual = format!("{email} is accepted for {}", quoted(holder.as_str()));
        return Some(Fact::new("email-reused", expected, actual).on(EMAIL));
    }
    if freemail(email).is_some() {
        return None;
    }
    let domain = email.domain().registrable()?;
    let holder = accepted.holder(&UniqueValue::Domain(domain.clone()))?;
    let expected = "a domain of this company alone";
    let actual = format!(
        "an address of {domain} is accepted for {}",
        quoted(holder.as_str())
    );
    Some(Fact::new("domain-reused", expected, actual).on(EMAIL))
}

/// The home page of `site`: the root of its host, or the site itself where its host is not its
/// own.
pub fn home_url(site: &Url) -> Url {
    let mut home = site.clone();
    home.set_fragment(None);
    if hosted(site).is_none() {
        home.set_path("/");
        home.set_query(None);
    }
    home
}

/// The page that introduces who reads mail at `email`: the home page of `site`, or, where that
/// may be anybody's, the one of its registrable domain.
pub fn home_page(site: &Url, email: &Mailbox) -> Url {
    let mut home = home_url(site);
    if !introduces(&home, email)
        && let Some(domain) = HostName::of_url(&home).and_then(|host| host.registrable())
        && home.set_host(Some(&format!("www.{domain}"))).is_err()
    {
        // A registrable domain is a host, and so is `www.` before it.
        return home_url(site);
    }
    home
}

/// Whether a home page may introduce who reads mail at `email`.
///
/// A name below a registrable domain may be given to anybody, as portals do (`c17.jobs.kr`), and so
/// may one of two letters that looks like a language (`kr.jobs.kr`). So only the domain itself, `www`
/// and `m` stand for the domain; another name does where the address is of that very name.
pub fn introduces(home: &Url, email: &Mailbox) -> bool {
    if hosted(home).is_some() {
        return true;
    }
    let Some(host) = HostName::of_url(home) else {
        return false;
    };
    let Some(below) = host.below_domain() else {
        return false;
    };
    let host = host.as_str();
    let own = host.strip_prefix("www.").unwrap_or(host);
    let of_own = email.domain().as_str().strip_suffix(own);
    matches!(below, "" | "www" | "m")
        || of_own.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}
