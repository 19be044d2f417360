//! The files that a command writes, as its words tell.

use super::options::{Told, told};
use super::rules::program;
use super::sed_script;
use super::shell::Word;
use super::writer_table::{Means, Operands, Writer};

/// What a command writes.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// The files.
    pub files: Vec<Word>,
    /// Why it is not sure that these are all.
    pub doubt: Option<&'static str>,
    /// Whether further files get the names of what is fetched.
    pub is_named: bool,
}

/// The words of a command, told apart as this program does.
pub(super) fn words_of(writer: &Writer, argv: &[Word]) -> Told<Means> {
    told(writer.options, &argv[1..])
}

/// The files that a command writes.
pub(super) fn written(writer: &Writer, argv: &[Word]) -> Written {
    let told = words_of(writer, argv);
    let values = |means: Means| {
        let options = told.options.iter().filter(move |(it, _)| *it == means);
        options.filter_map(|(_, value)| value.clone())
    };
    let mut files: Vec<Word> = values(Means::File).collect();
    let named = !files.is_empty();
    match writer.operands {
        Operands::Linked if told.has(Means::Shows) => files.extend(placed(writer, &told)),
        Operands::Options if told.has(Means::Fetches) => files.extend(fetched(&told.operands)),
        _ if told.has(Means::Shows) => {}
        Operands::Fetched if named => {}
        operands => files.extend(changed(operands, writer, &told)),
    }
    if told.has(Means::Links) {
        files.extend(told.operands.iter().cloned());
    }
    files.retain(|word| !word.is("-"));
    Written {
        files,
        doubt: doubt(writer, &told),
        is_named: told.has(Means::Named),
    }
}

/// Why more may be written than the words tell.
fn doubt(writer: &Writer, told: &Told<Means>) -> Option<&'static str> {
    if told.is_guess {
        return Some("an option of it is not known");
    }
    if told.has(Means::Elsewhere) {
        return Some("what it does stands in a file or in another program");
    }
    let scripts = told.options.iter().filter(|(it, _)| *it == Means::Script);
    let scripts: Vec<_> = scripts
        .filter_map(|(_, value)| value.as_ref().map(|value| value.text.as_str()))
        .collect();
    match writer.operands {
        Operands::Patched if !told.has(Means::Shows) => {
            Some("the files that it changes stand in the patch")
        }
        Operands::Edited if !told.has(Means::Shows) => {
            let first = operands_of_sed(told).first();
            let alone = first.filter(|_| scripts.is_empty());
            let script = alone.map_or_else(|| scripts.join("\n"), |word| word.text.clone());
            (!sed_script::only_edits(&script)).then_some("its script may write or run something")
        }
        Operands::Options => {
            let elsewhere = |text: &&str| text.starts_with('@') || text.contains("%output{");
            let is_doubtful = scripts.iter().any(elsewhere);
            is_doubtful.then_some("what it prints may go to a file")
        }
        _ => None,
    }
}

/// The operands that a command changes.
fn changed(operands: Operands, writer: &Writer, told: &Told<Means>) -> Vec<Word> {
    let given = &told.operands;
    match operands {
        Operands::All => given.clone(),
        Operands::Patched => given.iter().take(1).cloned().collect(),
        Operands::Second => given.iter().skip(1).take(1).cloned().collect(),
        Operands::Last => placed(writer, told),
        Operands::Linked => {
            let mut all = given.clone();
            all.extend(placed(writer, told));
            all
        }
        Operands::Move => {
            let sources = given.len() - usize::from(!told.has(Means::Folder) && !given.is_empty());
            let mut all = given[..sources].to_vec();
            all.extend(placed(writer, told));
            all
        }
        Operands::Edited if told.has(Means::InPlace) => {
            let scripted = told.has(Means::Script) || told.has(Means::Elsewhere);
            let files = operands_of_sed(told).iter();
            files.skip(usize::from(!scripted)).cloned().collect()
        }
        Operands::Of => {
            let outs = given.iter().filter_map(|word| {
                let out = word.text.strip_prefix("of=")?;
                Some(like(word, out.to_owned()))
            });
            outs.collect()
        }
        Operands::Pieces => {
            let begin = given.get(1).cloned().unwrap_or_else(|| Word::plain("x"));
            vec![like(&begin, format!("{}aa", begin.text))]
        }
        Operands::Fetched => fetched(given),
        Operands::Edited | Operands::Options => Vec::new(),
    }
}

/// The operands without the empty one, which is a value of `-i` to some: it comes to no script.
fn operands_of_sed(told: &Told<Means>) -> &[Word] {
    match told.operands.split_first() {
        Some((first, rest)) if first.is("") => rest,
        _ => &told.operands,
    }
}

/// Where what is copied or linked comes to lie.
fn placed(writer: &Writer, told: &Told<Means>) -> Vec<Word> {
    let mut folders = told.options.iter().filter(|(it, _)| *it == Means::Folder);
    if let Some((_, Some(folder))) = folders.next_back() {
        return within(folder, &told.operands);
    }
    match told.operands.split_last() {
        None => Vec::new(),
        Some((only, [])) if writer.operands == Operands::Linked => {
            vec![like(only, program(&only.text).to_owned())]
        }
        Some((last, others)) if last.text.ends_with('/') && !others.is_empty() => {
            within(last, others)
        }
        Some((last, _)) => vec![last.clone()],
    }
}

/// The names that these have in a directory.
fn within(folder: &Word, words: &[Word]) -> Vec<Word> {
    let base = folder.text.trim_end_matches('/');
    let named = words.iter().map(|word| Word {
        text: format!("{base}/{}", program(word.text.trim_end_matches('/'))),
        sight: folder.sight.max(word.sight),
    });
    named.collect()
}

/// The files that get the names of what is fetched.
fn fetched(urls: &[Word]) -> Vec<Word> {
    let named = urls.iter().map(|word| {
        let text = word
            .text
            .split_once("://")
            .map_or(&*word.text, |(_, it)| it);
        let text = text.split(['?', '#']).next().unwrap_or_default();
        let name = text.rsplit_once('/').map_or("", |(_, name)| name);
        let name = if name.is_empty() { "index.html" } else { name };
        like(word, name.to_owned())
    });
    named.collect()
}

fn like(word: &Word, text: String) -> Word {
    Word {
        text,
        sight: word.sight,
    }
}
