//! What a detector says.

use std::fmt;

use super::settings::Settings;
use crate::session::Reason;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Detector {
    Repeat,
    PingPong,
    Poll,
    Breaker,
}

impl Detector {
    pub const ALL: [Self; 4] = [Self::Repeat, Self::PingPong, Self::Poll, Self::Breaker];

    #[must_use]
    pub fn reason(self) -> Reason {
        match self {
            Self::Repeat => Reason::Repeat,
            Self::PingPong => Reason::PingPong,
            Self::Poll => Reason::Poll,
            Self::Breaker => Reason::Breaker,
        }
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        self.reason().label()
    }
}

impl fmt::Display for Detector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Warn,
    Stop,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alarm {
    pub detector: Detector,
    pub level: Level,
    pub count: u32,
    pub settings: Settings,
}

impl Alarm {
    #[must_use]
    pub fn reason(&self) -> Option<Reason> {
        (self.level == Level::Stop).then(|| self.detector.reason())
    }

    #[must_use]
    pub fn text(&self) -> String {
        let (count, settings) = (self.count, &self.settings);
        let window = settings.window;
        let counted = match self.detector {
            Detector::Repeat => {
                format!("{count} of the last {window} calls submitted one and the same answer")
            }
            Detector::PingPong => {
                format!("the last {count} answers went to and fro between the same two")
            }
            Detector::Poll => format!(
                "{count} of the last {window} calls asked `next` or `status`, and nothing had \
                 changed in between"
            ),
            Detector::Breaker => format!("the last {count} calls brought nothing new"),
        };
        match self.level {
            Level::Warn => format!(
                "{counted}; at {} the work on this quest ends",
                settings.stop
            ),
            Level::Stop => counted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alarm(detector: Detector, level: Level) -> Alarm {
        Alarm {
            detector,
            level,
            count: 10,
            settings: Settings::default(),
        }
    }

    #[test]
    fn only_a_stop_is_a_reason() {
        for detector in Detector::ALL {
            assert_eq!(alarm(detector, Level::Warn).reason(), None);
            let stop = alarm(detector, Level::Stop);
            assert_eq!(stop.reason(), Some(detector.reason()));
        }
    }

    #[test]
    fn a_warning_says_what_was_counted_and_what_comes() {
        assert_eq!(
            alarm(Detector::PingPong, Level::Warn).text(),
            "the last 10 answers went to and fro between the same two; at 20 the work on this \
             quest ends"
        );
        let stop = alarm(Detector::Breaker, Level::Stop).text();
        assert_eq!(stop, "the last 10 calls brought nothing new");
    }
}
