//! Whether a page shows little without its scripts.

/// A page with scripts and less text than this, in characters, shows little.
const LITTLE_TEXT: usize = 50;

/// A page with less text than this, in characters, shows little when it asks for scripts or
/// has an empty place for an application.
const SOME_TEXT: usize = 500;

/// Ids of the elements that frameworks render into.
const ROOTS: &[&str] = &[
    "root",
    "app",
    "app-root",
    "__next",
    "__nuxt",
    "__layout",
    "___gatsby",
    "react-root",
    "main-app",
    "svelte",
    "q-app",
    "ember-application",
    "vue-app",
];

/// What a page's scripts are to it.
#[derive(Debug, Default)]
pub(super) struct Scripts {
    /// It has scripts that are not data.
    pub(super) has: bool,
    /// It has an empty element that a framework renders into.
    pub(super) empty_root: bool,
    /// Its `<noscript>` asks for scripts.
    pub(super) asks: bool,
}

impl Scripts {
    /// Whether a page that shows `visible` shows little without its scripts.
    pub(super) fn needed(&self, visible: &[String]) -> bool {
        let text: usize = visible.iter().map(|line| line.chars().count()).sum();
        self.has && (text < LITTLE_TEXT || (text < SOME_TEXT && (self.empty_root || self.asks)))
    }

    /// Reads the text of a `<noscript>`.
    pub(super) fn noscript(&mut self, text: &str) {
        let lower = text.to_lowercase();
        let scripts = ["javascript", "자바스크립트", "스크립트"]
            .iter()
            .any(|word| lower.contains(word));
        let asks = [
            "enable", "turn on", "activate", "need", "require", "without", "disabled", "aktivier",
            "활성", "허용", "필요", "켜", "有効", "启用", "activer", "activar",
        ];
        self.asks |= scripts && asks.iter().any(|word| lower.contains(word));
    }
}

/// Whether frameworks render into an element with this id.
pub(super) fn is_root(id: &str) -> bool {
    ROOTS.contains(&id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needed(scripts: &Scripts, characters: usize) -> bool {
        scripts.needed(&["x".repeat(characters)])
    }

    #[test]
    fn little_text_with_scripts_needs_them() {
        let mut scripts = Scripts {
            has: true,
            ..Scripts::default()
        };
        assert!(needed(&scripts, 10));
        assert!(!needed(&scripts, 100));
        scripts.noscript("You need to enable JavaScript to run this app.");
        assert!(needed(&scripts, 100));
        assert!(!needed(&scripts, 1000));
    }

    #[test]
    fn without_scripts_little_text_is_all_there_is() {
        let scripts = Scripts {
            empty_root: true,
            asks: true,
            ..Scripts::default()
        };
        assert!(!needed(&scripts, 0));
    }

    #[test]
    fn a_pixel_in_noscript_asks_for_nothing() {
        let mut scripts = Scripts::default();
        scripts.noscript("<img src='https://t.example/pixel?enable=1'>");
        assert!(!scripts.asks);
    }
}
