//! What a shell line consists of.

/// How far it is known what a word will be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(in crate::hook) enum Sight {
    /// It is what it says.
    #[default]
    Plain,
    /// It has `*`, `?` or `[` and stands for files.
    Pattern,
    /// The shell puts something else in its place.
    Hidden,
}

/// A word, without its quotes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::hook) struct Word {
    /// What is known of it.
    pub text: String,
    /// Whether that is all.
    pub sight: Sight,
}

/// A command with its words, before anything is known of what it does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::hook) struct Part {
    /// Its words.
    pub words: Vec<Word>,
    /// The files that it is redirected to.
    pub writes: Vec<Word>,
    /// The files that it is fed from.
    pub reads: Vec<Word>,
    /// The texts that it is fed: here-strings.
    pub fed: Vec<Word>,
    /// The here-documents that it is fed, by their place in [`Script::bodies`].
    pub heredocs: Vec<usize>,
}

/// All that a line runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::hook) struct Script {
    /// The commands, those in substitutions before the one whose word they are.
    pub parts: Vec<Part>,
    /// The here-documents.
    pub bodies: Vec<Word>,
    /// Why it is not sure that these are all.
    pub doubt: Option<&'static str>,
}

impl Word {
    /// A word that is what it says.
    pub fn plain(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            sight: Sight::Plain,
        }
    }

    /// Whether it is known what the word will be.
    pub fn is_plain(&self) -> bool {
        self.sight == Sight::Plain
    }

    /// Whether it is known to be this text.
    pub fn is(&self, text: &str) -> bool {
        self.is_plain() && self.text == text
    }

    /// Takes it that the shell does so much with the word.
    pub fn dim(&mut self, sight: Sight) {
        self.sight = self.sight.max(sight);
    }
}

impl Part {
    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
