//! What people are shown of a quest beside its key.

use super::{Anchor, Shown};

/// The cells that people are shown of a quest, each once.
#[must_use]
pub fn listed(anchor: Option<&Anchor>, shown: &[Shown], known: &[Shown]) -> Vec<Shown> {
    let anchor = anchor.map(|anchor| Shown {
        label: anchor.label().to_owned(),
        text: anchor.text().to_owned(),
    });
    // Checks may go by a column that prompts show as well.
    let others = known.iter().filter(|cell| !shown.contains(cell));
    let cells = shown.iter().chain(others).cloned();
    anchor.into_iter().chain(cells).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(label: &str, text: &str) -> Shown {
        let (label, text) = (label.to_owned(), text.to_owned());
        Shown { label, text }
    }

    #[test]
    fn what_is_known_beforehand_comes_first_and_no_cell_twice() {
        let anchor = Anchor::Site("acme.co.kr".to_owned());
        let shown = [cell("City", "Seoul"), cell("Area", "4")];
        let known = [cell("City", "Seoul"), cell("Area", "5"), cell("Code", "x")];
        let told: Vec<String> = listed(Some(&anchor), &shown, &known)
            .into_iter()
            .map(|it| format!("{}: {}", it.label, it.text))
            .collect();
        let site = "site, as the operator knows it: acme.co.kr";
        assert_eq!(told, [site, "City: Seoul", "Area: 4", "Area: 5", "Code: x"]);
        assert_eq!(listed(None, &[], &[]), []);
    }
}
