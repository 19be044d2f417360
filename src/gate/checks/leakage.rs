//! `leakage`: no part of the source is left as it was in what should say it anew.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use schemars::JsonSchema;
use serde::Deserialize;
use unicode_script::Script;

use super::context::Context;
use super::fields::shown;
use super::held_against::HeldAgainst;
use super::probe::{Detail, Found, Probe};
use super::prose::{Markup, Word, is_mixed, letters_of, words_of};
use super::spec::{Flaw, Shows, Source, Spec};
use super::subject::Text;
use crate::gate::Cost;

/// `kind = "leakage"`.
///
/// Code, links, placeholders and names are left out of both texts. A word in Latin letters with
/// Cyrillic or Greek ones among them leaks too, unless the source has it. Of a script without spaces each
/// character counts as a word.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeakageSpec {
    /// The source, as a template such as `{{ input.text }}`.
    of: Option<String>,
    /// In its place: the path of a file, as a template. It is looked at as it was at the scan.
    of_path: Option<String>,
    /// The field into which nothing may leak.
    field: Option<String>,
    /// In its place: the path of the file, as a template.
    path: Option<String>,
    /// How many words in a row of the source are taken for copied, whatever their case.
    #[serde(default = "four")]
    run: NonZeroUsize,
    /// The scripts of the source that the other language is not written in, such as `Hangul`.
    #[serde(default)]
    scripts: Vec<String>,
    /// How many words in a row of those scripts are too many.
    #[serde(default = "one")]
    script_run: NonZeroUsize,
    /// Names that stay as they are.
    #[serde(default)]
    names: Vec<String>,
    /// A file beside the quest file with more of them, one a line.
    names_list: Option<String>,
}

fn four() -> NonZeroUsize {
    NonZeroUsize::MIN.saturating_add(3)
}

fn one() -> NonZeroUsize {
    NonZeroUsize::MIN
}

#[derive(Debug)]
struct Leakage {
    texts: HeldAgainst,
    run: usize,
    scripts: Vec<Script>,
    script_run: usize,
    /// The words of each name, the longest names first.
    names: Vec<Vec<String>>,
}

impl Spec for LeakageSpec {
    const KIND: &'static str = "leakage";
    const SHOWS: Shows = Shows::Form;

    fn build(self, source: &Source<'_>) -> Result<Box<dyn Probe>, Flaw> {
        let script = |name: &String| {
            let what = || format!("`{name}`: expected the name of a script, such as Hangul");
            Script::from_full_name(name).ok_or_else(|| Flaw::new("scripts", what()))
        };
        let list = self.names_list.as_deref();
        let list = list.map(|name| source.beside("names_list", name));
        let list = list.transpose()?.unwrap_or_default();
        let names = self.names.iter().map(String::as_str).chain(list.lines());
        let names = names.map(|name| words_of(name).into_iter().map(|it| it.folded).collect());
        let mut names: Vec<Vec<String>> = names.filter(|it: &Vec<_>| !it.is_empty()).collect();
        names.sort_by_key(|words| std::cmp::Reverse(words.len()));
        Ok(Box::new(Leakage {
            texts: HeldAgainst::new(
                source,
                [self.of.as_deref(), self.of_path.as_deref()],
                [self.field.as_deref(), self.path.as_deref()],
            )?,
            run: self.run.get(),
            scripts: self.scripts.iter().map(script).collect::<Result<_, _>>()?,
            script_run: self.script_run.get(),
            names,
        }))
    }
}

impl Leakage {
    /// The words of its prose but those of names.
    fn words(&self, text: &str) -> Vec<Word> {
        let mut words = words_of(&Markup::of(text).prose);
        for name in &self.names {
            let is_name = |part: &[Word]| part.iter().map(|word| &word.folded).eq(name);
            let mut starts = Vec::new();
            let mut at = 0;
            while let Some(part) = words.get(at..at + name.len()) {
                let found = is_name(part);
                at += if found { name.len() } else { 1 };
                starts.extend(found.then(|| at - name.len()));
            }
            words = without(words, &starts, name.len());
        }
        words
    }

    fn copied(&self, theirs: &[Word], ours: &[Word], text: &Text) -> Vec<Found> {
        let plain = |words: &[Word]| -> Vec<String> {
            words.iter().map(|word| word.folded.clone()).collect()
        };
        let (theirs, folded) = (plain(theirs), plain(ours));
        let known: BTreeSet<&[String]> = theirs.windows(self.run).collect();
        let mut is_copied = vec![false; ours.len()];
        for (at, window) in folded.windows(self.run).enumerate() {
            if known.contains(window) {
                is_copied[at..at + self.run].fill(true);
            }
        }
        let expected = format!("no {} words in a row of the source", self.run);
        runs(ours, &is_copied, 1, &expected, text)
    }

    fn of_scripts(&self, ours: &[Word], text: &Text) -> Vec<Found> {
        let is_theirs: Vec<_> = ours
            .iter()
            .map(|word| letters_of(word, &self.scripts))
            .collect();
        let names: Vec<_> = self.scripts.iter().map(|it| it.full_name()).collect();
        let expected = format!("no words in {} letters", names.join(" or "));
        runs(ours, &is_theirs, self.script_run, &expected, text)
    }
}

/// Words of ours in letters of scripts that no word mixes: they look like words that they are not.
fn disguised(theirs: &[Word], ours: &[Word], text: &Text) -> Vec<Found> {
    let known: BTreeSet<_> = theirs.iter().map(|word| word.folded.as_str()).collect();
    let marked: Vec<_> = ours
        .iter()
        .map(|word| is_mixed(word) && !known.contains(word.folded.as_str()))
        .collect();
    runs(
        ours,
        &marked,
        1,
        "words in letters of one script each",
        text,
    )
}

/// The words but those of the parts, each of this length, that begin at `starts`, in order.
fn without(words: Vec<Word>, starts: &[usize], length: usize) -> Vec<Word> {
    let mut starts = starts.iter().copied().peekable();
    let kept = words.into_iter().enumerate().filter(|(at, _)| {
        starts.next_if(|start| start + length <= *at);
        starts.peek().is_none_or(|start| at < start)
    });
    kept.map(|(_, word)| word).collect()
}

/// Each run of at least `least` words that are marked.
fn runs(words: &[Word], marked: &[bool], least: usize, expected: &str, text: &Text) -> Vec<Found> {
    let mut at = 0;
    let mut found = Vec::new();
    for part in marked.chunk_by(|one, other| one == other) {
        let run = &words[at..at + part.len()];
        at += part.len();
        if let (Some(true), Some(first)) = (part.first(), run.first())
            && run.len() >= least
        {
            let said: Vec<_> = run.iter().map(|word| word.text.as_str()).collect();
            let detail = Detail::new(expected, shown(&said.join(" ")));
            found.push(text.detail(detail, &first.line.to_string()).wrong());
        }
    }
    found
}

impl Probe for Leakage {
    fn cost(&self) -> Cost {
        self.texts.cost()
    }

    fn look(&self, context: &Context<'_>) -> Vec<Found> {
        self.texts.look(context, |original, text| {
            let (theirs, ours) = (self.words(&original.said), self.words(&text.said));
            let mut found = self.of_scripts(&ours, text);
            found.extend(self.copied(&theirs, &ours, text));
            found.extend(disguised(&theirs, &ours, text));
            found
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::gate::checks::bench::Bench;

    const CHECK: &str = "kind = \"leakage\"\nof = \"{{ input.cell }}\"\nfield = \"value\"\n";
    const SOURCE: &str = "The old mill of the Red River Valley Company grinds 40 sacks a day.\n\
        Run `mill --grind all of it` to see {how many sacks}.";

    fn bench(more: &str, target: &str) -> Bench {
        let bench = Bench::of(&format!("{CHECK}{more}"));
        bench.cell(SOURCE).submit("value", target)
    }

    #[test]
    fn words_in_a_row_are_copied() {
        let text = "Die alte Mühle:\nshe GRINDS 40 **sacks** a\nday, genau.";
        let fact = bench("", text).only_fact();
        assert_eq!(fact.location.as_deref(), Some("2"));
        assert_eq!(fact.actual, "GRINDS sacks a day");
        assert_eq!(bench("run = 5", text).fired(), [""; 0]);
        let split = bench("", "The o\u{200b}ld mill of Deutschland");
        assert_eq!(split.fired(), ["it"]);
    }

    #[test]
    fn code_and_names_stay() {
        let text = "Die Mühle der Red River Valley Company: `mill --grind all of it`.";
        assert_eq!(bench("", text).fired(), ["it"]);
        let names = "names = [\"Red River Valley\"]";
        assert_eq!(bench(names, text).fired(), [""; 0]);
        let listed = bench("names_list = \"names.txt\"", text);
        let listed = listed.asset("names.txt", "Red River Valley Company\n\n");
        assert_eq!(listed.fired(), [""; 0]);
    }

    #[test]
    fn letters_that_look_alike_are_told() {
        let fact = bench("", "Die alte M\u{fc}hle m\u{430}hlt 5 \u{3bc}m").only_fact();
        assert_eq!(fact.actual, "m\u{430}hlt");
        assert_eq!(fact.expected, "words in letters of one script each");
    }

    #[test]
    fn names_are_taken_out_in_one_go() {
        let names = "names = [\"Acme\"]";
        // Where each moves all that follow it this is much work.
        let text = "Acme ".repeat(50_000);
        assert_eq!(bench(names, &text).fired(), [""; 0]);
    }

    #[test]
    fn letters_of_the_source_are_left() {
        let check = "scripts = [\"Hangul\"]\n";
        let fact = bench(check, "A mill\nof 서울 시장\nand more").only_fact();
        assert_eq!(
            (fact.location.as_deref(), &*fact.actual),
            (Some("2"), "서울 시장")
        );
        assert_eq!(bench(check, "A mill in `서울`").fired(), [""; 0]);
        let named = format!("{check}names = [\"서울\"]");
        assert_eq!(bench(&named, "A mill in 서울").fired(), [""; 0]);
        let lenient = format!("{check}script_run = 3");
        assert_eq!(bench(&lenient, "of 서울 시장").fired(), [""; 0]);
        assert!(
            bench("scripts = [\"Korean\"]", "")
                .mistake()
                .contains("Hangul")
        );
    }
}
