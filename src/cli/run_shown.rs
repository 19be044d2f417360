//! What `comail run` shows while it goes on: a line for each attempt and quest.

use std::time::Duration;

use jiff::SignedDuration;

use super::output::{Paper, Tone};
use crate::base::text::Escaped;
use crate::base::text::plural;
use crate::run::News;
use crate::session::{Reason, Spent};

/// Writes what happened.
pub(super) fn write(paper: &mut Paper, news: &News) {
    match news {
        News::Began { run, began } => {
            let model = began.model.as_deref();
            let model = model.map(|model| format!(" with {}", Escaped(model)));
            paper.line(format!(
                "run {run}: {}{}, {} at once",
                Escaped(&began.agent),
                model.unwrap_or_default(),
                plural(began.workers, "agent")
            ));
        }
        News::Attempt {
            key,
            last_call,
            attempt,
        } => {
            let last_call = if *last_call { " (the last call)" } else { "" };
            let took = took(attempt.milliseconds);
            let exit = attempt
                .exit
                .filter(|_| attempt.reason == Reason::AgentFailed);
            paper.line(format!(
                "quest {}, {}: start {}{last_call} ended after {took}, {}: {}{}",
                attempt.quest,
                Escaped(key.as_str()),
                attempt.start,
                spent(&attempt.spent),
                attempt.reason,
                exit.map(|code| format!(", exit {code}"))
                    .unwrap_or_default()
            ));
        }
        News::Quest { key, state, quest } => {
            let word = paper.tint(tone(quest.reason), quest.reason.label());
            paper.line(format!(
                "{word} quest {}, {}: {state} after {}",
                quest.quest,
                Escaped(key.as_str()),
                plural(quest.starts, "start")
            ));
        }
        News::Ended { run, reason } => {
            let word = paper.tint(tone(*reason), reason.label());
            paper.line(format!("run {run} ended: {word} ({})", reason.meaning()));
        }
        News::Note { text } => paper.line(Escaped(text).to_string()),
    }
}

fn tone(reason: Reason) -> Tone {
    match reason {
        Reason::Settled | Reason::Complete => Tone::Good,
        Reason::Error | Reason::Breaker | Reason::PermissionDenied => Tone::Bad,
        _ => Tone::Doubt,
    }
}

/// How long it took, to the tenth of a second.
fn took(milliseconds: u64) -> String {
    let tenths = Duration::from_millis(milliseconds / 100 * 100);
    let took = SignedDuration::try_from(tenths).unwrap_or(SignedDuration::MAX);
    format!("{took:#}")
}

fn spent(spent: &Spent) -> String {
    let guess = if spent.told { "" } else { "about " };
    format!("{guess}{} tokens", spent.tokens)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quest::{Key, QuestId};
    use crate::session::{DrivenAttempt, RunId};

    fn said(news: &News) -> String {
        let mut paper = Paper::plain();
        write(&mut paper, news);
        paper.into_text()
    }

    #[test]
    fn the_end_of_a_run_says_what_its_reason_means() {
        for reason in Reason::ALL {
            let said = said(&News::Ended {
                run: RunId::new(7),
                reason,
            });
            let expected = format!("run 00000007 ended: {reason} ({})\n", reason.meaning());
            assert_eq!(said, expected);
        }
    }

    #[test]
    fn a_last_call_is_marked_as_one() {
        let said = [false, true].map(|last_call| {
            said(&News::Attempt {
                key: Key::new("Acme").unwrap(),
                last_call,
                attempt: DrivenAttempt {
                    quest: QuestId::from_index(0).unwrap(),
                    start: 4,
                    worker: "w1".parse().unwrap(),
                    reason: Reason::Attempts,
                    milliseconds: 1200,
                    spent: Spent::default(),
                    exit: None,
                },
            })
        });
        assert!(said[0].contains("start 4 ended after"), "{said:?}");
        assert!(
            said[1].contains("start 4 (the last call) ended after"),
            "{said:?}"
        );
    }
}
