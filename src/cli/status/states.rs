//! Where quests stand, state by state.

use super::bar::sign;
use crate::cli::output::{Paper, Tone};
use crate::report::Overview;
use crate::session::{Effective, State};

/// Writes a line for each state, with the sign that stands for it in the bar.
pub(super) fn write_states(paper: &mut Paper, overview: &Overview) {
    for state in State::ALL {
        let count = overview.tally.of(state);
        let (tone, sign) = (tone(state), sign(state));
        let sign = paper.tint(tone, &sign.to_string());
        let word = paper.tint(tone, &format!("{state:6}"));
        let share = share(count, overview.total);
        let note = note(state, overview);
        paper.line(format!("{sign} {word} {count:>8}  {share:>5.1} %{note}"));
    }
}

/// The same on one line.
pub(super) fn short(paper: &mut Paper, overview: &Overview) {
    let counts = State::ALL.map(|state| {
        let count = format!("{}{}", sign(state), overview.tally.of(state));
        paper.tint(tone(state), &count)
    });
    paper.line(counts.join(" "));
}

/// The meaning of a state's colour.
pub(super) fn tone(state: State) -> Tone {
    match state {
        State::Pass => Tone::Good,
        State::Review => Tone::Doubt,
        State::Done => Tone::Bad,
        State::Todo => Tone::Strong,
    }
}

/// How many per cent that is. Neither is all said before it is, nor nothing where there is some.
fn share(count: u32, total: u32) -> f64 {
    const LEAST: f64 = 0.1;
    let share = f64::from(count) * 100.0 / f64::from(total.max(1));
    if count == 0 || count == total {
        share
    } else {
        share.clamp(LEAST, 100.0 - LEAST)
    }
}

/// How many open REVIEWs are told: none where every REVIEW is open and was never judged again,
/// which goes without saying.
fn said_open(overview: &Overview) -> u32 {
    let open = overview.effective.get(&Effective::Open).copied();
    let open = open.unwrap_or(0);
    let untouched = open == overview.tally.review && overview.resolutions.open == 0;
    if untouched { 0 } else { open }
}

/// What is said of some of the quests in `state`, in parentheses.
fn note(state: State, overview: &Overview) -> String {
    let of = |effective| overview.effective.get(&effective).copied().unwrap_or(0);
    let said = match state {
        State::Pass => vec![
            (overview.unanchored, "unanchored"),
            (overview.carried, "carried"),
        ],
        State::Review => vec![
            (of(Effective::Accepted), "accepted"),
            (of(Effective::Confirmed), "confirmed"),
            (of(Effective::Refuted), "refuted"),
            (of(Effective::Rejected), "rejected"),
            (said_open(overview), "open"),
        ],
        State::Done | State::Todo => Vec::new(),
    };
    let said: Vec<String> = said
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if said.is_empty() {
        return String::new();
    }
    format!("  ({})", said.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_all_nor_nothing_is_said_too_early() {
        let said = |count, total| format!("{:.1}", share(count, total));
        assert_eq!(
            [said(0, 9), said(9, 9), said(0, 0)],
            ["0.0", "100.0", "0.0"]
        );
        let said = [1, 50_000, 99_999].map(|count| said(count, 100_000));
        assert_eq!(said, ["0.1", "50.0", "99.9"]);
    }
}
