//! The options of a program, told from its operands as the program itself tells them: letters in
//! one word, values joined or in the next word, and long names cut short.

use super::shell::Word;

/// Whether an option takes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// It takes none.
    Nothing,
    /// It takes one that stands in the same word, or none.
    Joined,
    /// It takes one, in the same word or in the next.
    Value,
}

/// Options that are alike.
#[derive(Debug, Clone, Copy)]
pub(super) struct Alike<M: 'static> {
    /// The short ones.
    pub letters: &'static str,
    /// The long ones, without their dashes and with blanks between them.
    pub long: &'static str,
    /// Whether they take a value.
    pub takes: Takes,
    /// What they mean.
    pub means: M,
}

/// Options that take no value.
pub(super) const fn alone<M>(means: M, letters: &'static str, long: &'static str) -> Alike<M> {
    Alike {
        letters,
        long,
        takes: Takes::Nothing,
        means,
    }
}

/// Options whose value is joined to them, if they have one.
pub(super) const fn joined<M>(means: M, letters: &'static str, long: &'static str) -> Alike<M> {
    Alike {
        letters,
        long,
        takes: Takes::Joined,
        means,
    }
}

/// Options that take a value.
pub(super) const fn valued<M>(means: M, letters: &'static str, long: &'static str) -> Alike<M> {
    Alike {
        letters,
        long,
        takes: Takes::Value,
        means,
    }
}

/// The words of a command, told apart.
#[derive(Debug)]
pub(super) struct Told<M> {
    /// What its options mean, with their values.
    pub options: Vec<(M, Option<Word>)>,
    /// What is no option.
    pub operands: Vec<Word>,
    /// How many of the operands stand before `--`, where that stands.
    pub before: Option<usize>,
    /// Whether an option is not known, so that all of it is a guess.
    pub is_guess: bool,
}

impl<M: Copy + PartialEq> Told<M> {
    /// Whether an option of this meaning is given.
    pub fn has(&self, means: M) -> bool {
        self.options.iter().any(|(it, _)| *it == means)
    }
}

/// Tells the words behind a program's name apart.
pub(super) fn told<M: Copy + PartialEq>(known: &[Alike<M>], words: &[Word]) -> Told<M> {
    let mut told = Told {
        options: Vec::new(),
        operands: Vec::new(),
        before: None,
        is_guess: false,
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if told.before.is_some() || text == "-" || !text.starts_with('-') {
            told.operands.push(word.clone());
        } else if text == "--" {
            told.before = Some(told.operands.len());
        } else if let Some(name) = text.strip_prefix("--") {
            let (name, value) = name
                .split_once('=')
                .map_or((name, None), |(name, value)| (name, Some(value)));
            let Some(alike) = long(known, name) else {
                told.is_guess = true;
                continue;
            };
            let value = value.map(|value| part_of(word, value));
            let next = || words.next().cloned();
            let value = match alike.takes {
                Takes::Value => value.or_else(next),
                Takes::Nothing | Takes::Joined => value,
            };
            told.options.push((alike.means, value));
        } else {
            cluster(&mut told, known, word, &mut words);
        }
        told.is_guess |= text.starts_with('-') && !word.is_plain();
    }
    told
}

/// Whether `text` is the long option `full`, or its beginning; both with their dashes.
pub(super) fn shortens(text: &str, full: &str) -> bool {
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    name.len() > 2 && full.starts_with(name)
}

fn cluster<'a, M: Copy>(
    told: &mut Told<M>,
    known: &[Alike<M>],
    word: &Word,
    words: &mut impl Iterator<Item = &'a Word>,
) {
    for (place, letter) in word.text.char_indices().skip(1) {
        let Some(alike) = known.iter().find(|alike| alike.letters.contains(letter)) else {
            told.is_guess = true;
            return;
        };
        let rest = &word.text[place + letter.len_utf8()..];
        let rest = (!rest.is_empty()).then(|| part_of(word, rest));
        match alike.takes {
            Takes::Nothing => told.options.push((alike.means, None)),
            Takes::Joined => return told.options.push((alike.means, rest)),
            Takes::Value => {
                let value = rest.or_else(|| words.next().cloned());
                return told.options.push((alike.means, value));
            }
        }
    }
}

/// The option of this long name, which may be cut short as long as it is not two at once.
fn long<'a, M: Copy + PartialEq>(known: &'a [Alike<M>], name: &str) -> Option<&'a Alike<M>> {
    let fitting = |fits: &dyn Fn(&str) -> bool| -> Vec<&'a Alike<M>> {
        let all = known.iter();
        all.filter(|alike| alike.long.split(' ').any(fits))
            .collect()
    };
    if name.is_empty() {
        return None;
    }
    let exact = fitting(&|it| it == name);
    if let Some(first) = exact.first() {
        return Some(first);
    }
    let begun = fitting(&|it| it.starts_with(name));
    let (first, others) = begun.split_first()?;
    let same = |other: &&Alike<M>| other.means == first.means && other.takes == first.takes;
    others.iter().all(same).then_some(*first)
}

fn part_of(word: &Word, text: &str) -> Word {
    Word {
        text: text.to_owned(),
        sight: word.sight,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[Alike<char>] = &[
        alone('a', "vq", "verbose quiet"),
        joined('j', "i", "in-place"),
        valued('t', "t", "target-directory"),
    ];

    fn shown(line: &str) -> String {
        let words: Vec<_> = line.split(' ').map(Word::plain).collect();
        let told = told(KNOWN, &words);
        let options = told.options.iter().map(|(means, value)| {
            let value = value.as_ref().map_or("-", |value| &value.text);
            format!("{means}={value}")
        });
        let operands = told.operands.iter().map(|word| word.text.clone());
        let mut all: Vec<_> = options.chain(operands).collect();
        all.extend(told.is_guess.then(|| "?".to_owned()));
        all.join(" ")
    }

    #[test]
    fn an_option_is_read_however_it_is_written() {
        for (line, expected) in [
            ("-vt in x", "a=- t=in x"),
            ("-vtin x", "a=- t=in x"),
            ("x -t in", "t=in x"),
            ("--target=in x", "t=in x"),
            ("--t in x", "t=in x"),
            ("-qi.b x", "a=- j=.b x"),
            ("-i x", "j=- x"),
            ("--in x", "j=- x"),
            ("-v -- -t in", "a=- -t in"),
            ("- x", "- x"),
            ("--ver --q x", "a=- a=- x"),
        ] {
            assert_eq!(shown(line), expected, "{line}");
        }
    }

    #[test]
    fn an_option_that_is_not_known_makes_it_a_guess() {
        for line in ["-x a", "-vx", "--other a", "--verbosely", "--=x"] {
            assert!(shown(line).ends_with('?'), "{line}: {}", shown(line));
        }
        assert!(shortens("--no-tar", "--no-target-directory"));
        assert!(shortens("--output=x", "--output"));
        assert!(!shortens("--outputs", "--output") && !shortens("--", "--output"));
    }
}
