//! The progress of a run at a terminal: a bar for all quests, and a line for each agent.

use std::io::{self, Write as _};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use jiff::{SignedDuration, Timestamp};

use crate::base::text::{Escaped, truncate};
use crate::cli::output::Output;
use crate::cli::{context, progress};
use crate::quest::{Key, QuestId};
use crate::report::Pace;
use crate::report::template::short_span;
use crate::run::{Live, RunEvent};
use crate::session::{Spent, Tally, Totals};

/// The maximum length of a key in a line, which leaves room for the activity of the agent.
const MAX_KEY: usize = 24;

/// The minimum time between two drawings of the lines.
const INTERVAL: Duration = Duration::from_millis(100);

pub(super) struct LiveView {
    bars: MultiProgress,
    all: ProgressBar,
    tally: ProgressBar,
    agents: Vec<AgentLine>,
    totals: Totals,
    began: Timestamp,
    drawn: Instant,
}

impl LiveView {
    /// None without a terminal.
    pub(super) fn of(output: &Output) -> Option<Self> {
        if !output.is_watched() {
            return None;
        }
        let bars = MultiProgress::new();
        let all = ProgressBar::no_length().with_style(style("{bar:20} {wide_msg}"));
        let tally = ProgressBar::no_length().with_style(style("{wide_msg}"));
        Some(Self {
            all: bars.add(all),
            tally: bars.add(tally),
            bars,
            agents: Vec::new(),
            totals: Totals::default(),
            began: context::now(),
            drawn: Instant::now(),
        })
    }

    pub(super) fn take(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Began { began, .. } => {
                let bars = &self.bars;
                let line = || AgentLine {
                    bar: bars.add(ProgressBar::no_length().with_style(style("{wide_msg}"))),
                    work: None,
                };
                self.agents = (0..began.workers).map(|_| line()).collect();
            }
            RunEvent::Live { agent, live } => {
                if let Some(line) = self.agents.get_mut(*agent) {
                    line.take(live);
                }
            }
            RunEvent::Progress(totals) => {
                self.totals.clone_from(totals);
                let tally = totals.tally;
                self.all.set_length(tally.total().into());
                self.all.set_position((tally.total() - tally.todo).into());
            }
            _ => {}
        }
    }

    /// Stops drawing: the terminal has echoed Ctrl-C below the lines, so that they can no longer be
    /// drawn in place.
    fn freeze(&self) {
        if !self.bars.is_hidden() {
            self.bars.set_draw_target(ProgressDrawTarget::hidden());
            // A terminal that is gone must not change how the run ends.
            let _ = writeln!(io::stderr());
        }
    }

    pub(super) fn draw(&mut self) {
        if progress::is_asked() {
            return self.freeze();
        }
        if self.drawn.elapsed() < INTERVAL {
            return;
        }
        self.drawn = Instant::now();
        let tally = self.totals.tally;
        let now = context::now();
        // The pace of earlier runs does not count, because they may have had other agents.
        let settled = self.totals.settled.times().filter(|at| *at >= self.began);
        let pace = Pace::of(settled, tally.todo, now);
        show(&self.all, head(tally, pace));
        show(&self.tally, counts(tally));
        for line in &mut self.agents {
            line.draw(Instant::now());
        }
    }

    pub(super) fn above<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bars.suspend(print)
    }
}

impl Drop for LiveView {
    fn drop(&mut self) {
        let agents = self.agents.iter().map(|line| &line.bar);
        for bar in agents.chain([&self.tally, &self.all]) {
            bar.finish_and_clear();
        }
    }
}

// A wrong template is a bug of comail; it must not end the run.
fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template);
    style.unwrap_or_else(|_| ProgressStyle::default_bar())
}

fn show(bar: &ProgressBar, text: String) {
    if bar.message() != text {
        bar.set_message(text);
    }
}

fn head(tally: Tally, pace: Option<Pace>) -> String {
    let count = format!("{} of {}", tally.total() - tally.todo, tally.total());
    let Some(pace) = pace else {
        return count;
    };
    let rate = if pace.per_hour < 1.0 {
        String::from("<1/h")
    } else if pace.per_hour < 120.0 {
        format!("{:.0}/h", pace.per_hour)
    } else {
        format!("{:.0}/min", pace.per_hour / 60.0)
    };
    // Near the end, an estimate is of no use.
    if tally.todo > 0 && pace.left_seconds > 0 {
        let left = short_span(pace.left_seconds);
        format!("{count}, {rate}, {left} left")
    } else {
        format!("{count}, {rate}")
    }
}

fn counts(tally: Tally) -> String {
    let Tally {
        todo,
        pass,
        review,
        done,
    } = tally;
    format!("{pass} PASS, {review} REVIEW, {done} DONE, {todo} TODO")
}

struct AgentLine {
    bar: ProgressBar,
    work: Option<Work>,
}

/// The part of an agent's start that its line shows.
#[derive(Debug)]
struct Work {
    quest: QuestId,
    key: Key,
    start: u32,
    since: Instant,
    does: String,
    spent: Spent,
}

impl AgentLine {
    fn take(&mut self, live: &Live) {
        match (live, &mut self.work) {
            (Live::Started { quest, key, start }, _) => {
                self.work = Some(Work {
                    quest: *quest,
                    key: key.clone(),
                    start: *start,
                    since: Instant::now(),
                    does: String::from("starting"),
                    spent: Spent::default(),
                });
            }
            (Live::Does(text), Some(work)) => work.does.clone_from(text),
            (Live::Used(spent), Some(work)) => work.spent = *spent,
            (Live::Idle, _) => self.work = None,
            (Live::Does(_) | Live::Used(_), None) => {}
        }
    }

    fn draw(&mut self, now: Instant) {
        let text = match &self.work {
            Some(work) => work.line(now.duration_since(work.since)),
            None => String::from("waiting for a quest"),
        };
        show(&self.bar, text);
    }
}

impl Work {
    /// The activity comes last, because a narrow terminal cuts the end of the line.
    fn line(&self, elapsed: Duration) -> String {
        let elapsed = SignedDuration::from_secs(elapsed.as_secs().cast_signed());
        format!(
            "quest {}, {}, start {}, {elapsed:#}, {} tokens: {}",
            self.quest,
            Escaped(&truncate(self.key.as_str(), MAX_KEY)),
            self.start,
            tokens(self.spent),
            Escaped(&self.does)
        )
    }
}

fn tokens(spent: Spent) -> String {
    let about = if spent.told || spent.tokens == 0 {
        ""
    } else {
        "~"
    };
    match spent.tokens {
        few @ 0..1_000 => format!("{about}{few}"),
        many @ 1_000..1_000_000 => format!("{about}{}k", many / 1_000),
        many => format!("{about}{}M", many / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TALLY: Tally = Tally {
        todo: 515,
        pass: 8,
        review: 3,
        done: 1,
    };

    #[test]
    fn an_agent_cannot_break_its_line() {
        let mut work = Work {
            quest: QuestId::FIRST,
            key: Key::new("kim-17").unwrap(),
            start: 2,
            since: Instant::now(),
            does: String::from("Bash\n\u{1b}[2J rm"),
            spent: Spent {
                tokens: 12_345,
                ..Spent::default()
            },
        };
        assert_eq!(
            work.line(Duration::from_millis(65_900)),
            "quest 1, kim-17, start 2, 1m 5s, ~12k tokens: Bash\\u{a}\\u{1b}[2J rm"
        );
        work.spent.told = true;
        let told = work.line(Duration::ZERO);
        assert!(told.contains(", 0s, 12k tokens: "), "{told}");
    }

    #[test]
    fn the_head_has_whole_numbers_and_no_time_without_a_pace() {
        let pace = |per_hour, left_seconds| {
            Some(Pace {
                settled: 3,
                seconds: 60,
                per_hour,
                left_seconds,
            })
        };
        assert_eq!(head(TALLY, None), "12 of 527");
        let slow = head(TALLY, pace(30.6, 60_600));
        assert_eq!(slow, "12 of 527, 31/h, 16h 50m left");
        assert_eq!(head(TALLY, pace(150.0, 0)), "12 of 527, 2/min");
        assert_eq!(head(TALLY, pace(0.4, 0)), "12 of 527, <1/h");
        assert_eq!(counts(TALLY), "8 PASS, 3 REVIEW, 1 DONE, 515 TODO");
    }

    #[test]
    fn an_agent_line_shows_its_latest_event() {
        let mut line = AgentLine {
            bar: ProgressBar::hidden(),
            work: None,
        };
        let mut shown = |live: &[Live]| {
            for live in live {
                line.take(live);
            }
            line.draw(Instant::now());
            line.bar.message()
        };
        let lost = [Live::Does(String::from("late"))];
        assert_eq!(shown(&lost), "waiting for a quest");
        let started = Live::Started {
            quest: QuestId::FIRST,
            key: Key::new("kim-17").unwrap(),
            start: 1,
        };
        assert!(shown(&[started]).starts_with("quest 1, kim-17, start 1, "));
        let does = [Live::Does(String::from("Read a.txt"))];
        assert!(shown(&does).ends_with("tokens: Read a.txt"));
        assert_eq!(shown(&[Live::Idle]), "waiting for a quest");
    }
}
