//! How much work quests took, and of which quests that is told.

use serde::Serialize;

use super::chart::Histogram;
use super::words::{self, counted, number};
use crate::report::picture::{Picture, Spread};

/// How much work quests took, as the page shows it.
#[derive(Debug, Serialize)]
pub struct Effort {
    times: Told,
    submissions: Told,
}

/// A histogram, and of what it is.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Told {
    #[serde(flatten)]
    histogram: Histogram,
    /// From when to when, of how many quests, and why of no others.
    of: String,
}

impl Effort {
    /// What `picture` tells of it.
    pub fn of(picture: &Picture) -> Self {
        let settled = picture
            .overview
            .total
            .saturating_sub(picture.overview.tally.todo);
        // Every other settled quest took a submission here.
        let carried = settled.saturating_sub(picture.tries.known);
        Self {
            times: Told {
                histogram: Histogram::of(&picture.times, words::span),
                of: times_of(&picture.times, settled, carried),
            },
            submissions: Told {
                histogram: Histogram::of(&picture.tries, words::number),
                of: submissions_of(&picture.tries, settled, carried),
            },
        }
    }
}

fn times_of(times: &Spread, settled: u32, carried: u32) -> String {
    let head = head(
        "the first hand-out or submission to the end",
        times,
        settled,
    );
    let rest = settled.saturating_sub(times.known);
    let unseen = rest.saturating_sub(carried);
    let unseen = (unseen > 0).then(|| {
        let unseen = number(unseen.into());
        format!(
            "{unseen} without a known beginning, settled by a first submission that no hand-out \
             came before"
        )
    });
    told(head, [unseen, brought(carried.min(rest))])
}

fn submissions_of(submissions: &Spread, settled: u32, carried: u32) -> String {
    let head = head("the first submission to the last", submissions, settled);
    told(head, [brought(carried), None])
}

fn head(way: &str, spread: &Spread, settled: u32) -> String {
    let known = number(spread.known.into());
    let settled = counted(settled.into(), "settled quest");
    format!("From {way}, of {known} of {settled}.")
}

fn brought(carried: u32) -> Option<String> {
    let carried = (carried > 0).then(|| number(carried.into()));
    carried.map(|carried| format!("{carried} brought from an earlier session"))
}

fn told(head: String, left_out: [Option<String>; 2]) -> String {
    let left_out: Vec<String> = left_out.into_iter().flatten().collect();
    if left_out.is_empty() {
        return head;
    }
    format!("{head} Left out: {}.", left_out.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(known: u32) -> Spread {
        Spread {
            known,
            ..Spread::default()
        }
    }

    #[test]
    fn those_that_are_left_out_are_told_with_why() {
        let way = "From the first hand-out or submission to the end, of";
        assert_eq!(
            times_of(&known(25), 54, 4),
            format!(
                "{way} 25 of 54 settled quests. Left out: 25 without a known beginning, settled \
                 by a first submission that no hand-out came before; 4 brought from an earlier \
                 session."
            )
        );
        assert_eq!(
            times_of(&known(1), 1, 0),
            format!("{way} 1 of 1 settled quest.")
        );
        assert_eq!(
            submissions_of(&known(50), 54, 4),
            "From the first submission to the last, of 50 of 54 settled quests. Left out: 4 \
             brought from an earlier session."
        );
        assert!(!submissions_of(&known(54), 54, 0).contains("Left out"));
    }
}
