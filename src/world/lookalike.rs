//! Labels that are made to be mistaken for others.

use unicode_script::{Script, ScriptExtension, UnicodeScript as _};

/// The scripts that are written together in one word: UTS #39 §5.2, "highly restrictive".
const WRITTEN_TOGETHER: [&[Script]; 3] = [
    &[
        Script::Latin,
        Script::Han,
        Script::Hiragana,
        Script::Katakana,
    ],
    &[Script::Latin, Script::Han, Script::Bopomofo],
    &[Script::Latin, Script::Han, Script::Hangul],
];

/// Lower-case letters of other scripts whose skeleton is Latin (UTS #39, `confusables.txt`).
const LIKE_LATIN: [&str; 3] = ["авгеорсухѕіјһԁԛԝѵӏ", "αγινορσυ", "հցոսօզ"];

/// Whether `label` mixes scripts that no language writes together.
#[must_use]
pub fn mixes_scripts(label: &str) -> bool {
    let one_script = !ScriptExtension::for_str(label).is_empty();
    let together = |scripts: &&[Script]| {
        label.chars().all(|c| {
            let extension = c.script_extension();
            scripts
                .iter()
                .any(|&script| extension.contains_script(script))
        })
    };
    !one_script && !WRITTEN_TOGETHER.iter().any(|scripts| together(scripts))
}

/// Whether every letter of `label` stands for a Latin one in the eye of a reader.
#[must_use]
pub fn looks_latin(label: &str) -> bool {
    label
        .chars()
        .filter(|c| c.is_alphabetic())
        .all(|c| LIKE_LATIN.iter().any(|letters| letters.contains(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lets_languages_mix_what_they_mix() {
        for label in [
            "müller",
            "東京タワーの",
            "lg전자",
            "삼성電子",
            "x東京",
            "kрасно".get(1..).unwrap(),
        ] {
            assert!(!mixes_scripts(label), "{label}");
        }
        for label in ["аcme", "αcme", "한かな", "москва東京", "日本бг"] {
            assert!(mixes_scripts(label), "{label}");
        }
    }

    #[test]
    fn knows_words_that_read_as_latin() {
        for label in ["асе", "ѕсоре", "αι-1", "ороӏ2"] {
            assert!(looks_latin(label), "{label}");
        }
        for label in ["москва", "λογος", "асме", "한국"] {
            assert!(!looks_latin(label), "{label}");
        }
    }
}
