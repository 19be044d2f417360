//! The detectors over what one worker's agents do.

use super::alarm::{Alarm, Detector, Level};
use super::call::Call;
use super::own::Own;
use super::seen::Seen;
use super::settings::Settings;
use super::window::{Answer, Window};
use crate::base::Digest;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observed {
    Began,
    // Each call is observed once: from the event stream, or, without one, from comail's own
    // record.
    Call(Call),
    Submitted(Digest),
    Progress,
    Settled,
}

#[derive(Debug)]
pub struct Detectors {
    settings: Settings,
    window: Window,
    calls: Seen,
    answers: Seen,
    idle: u32,
    changes: u32,
    said: [Option<Level>; Detector::ALL.len()],
}

impl Detectors {
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            window: Window::new(settings.window),
            calls: Seen::default(),
            answers: Seen::default(),
            idle: 0,
            changes: 0,
            said: [None; Detector::ALL.len()],
        }
    }

    /// Returns the most serious new alarm. An alarm repeats only after the count has fallen to
    /// half of the warning level.
    pub fn observe(&mut self, observed: Observed) -> Option<Alarm> {
        match observed {
            Observed::Began => {
                self.window.clear();
                // Who begins anew has to look at everything anew.
                self.calls.clear();
            }
            Observed::Call(call) => self.call(&call),
            Observed::Submitted(digest) => self.judged(digest),
            Observed::Progress => {
                self.changes = self.changes.wrapping_add(1);
                self.window.changed();
                self.idle = 0;
            }
            Observed::Settled => *self = Self::new(self.settings),
        }
        self.alarm()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        let nothing_seen = self.calls.is_empty() && self.answers.is_empty();
        self.window.is_empty() && nothing_seen && self.idle == 0
    }

    fn call(&mut self, call: &Call) {
        match call.own {
            Some(Own::Next | Own::Status) => {
                self.window.poll();
                self.brought(false);
            }
            Some(Own::Submit(digest)) => {
                let is_new = self.calls.is_new(digest);
                if self.window.submits(digest) {
                    self.brought(is_new);
                }
            }
            None => {
                self.window.other();
                let is_new = self.calls.is_new(call.digest);
                self.brought(is_new);
            }
        }
    }

    fn judged(&mut self, digest: Digest) {
        let at = self.changes.to_le_bytes();
        let is_new = self
            .answers
            .is_new(Digest::of_parts([digest.as_bytes().as_slice(), &at]));
        let is_first_told = self.window.judged(Answer::Judged(digest, self.changes));
        self.window.changed();
        if is_new || is_first_told {
            self.brought(is_new);
        }
    }

    fn brought(&mut self, something_new: bool) {
        self.idle = if something_new {
            0
        } else {
            self.idle.saturating_add(1)
        };
    }

    fn counted(&self, detector: Detector) -> u32 {
        match detector {
            Detector::Repeat => self.window.repeats(),
            Detector::PingPong => self.window.swings(),
            Detector::Poll => self.window.polls(),
            Detector::Breaker => self.idle,
        }
    }

    fn level(&self, detector: Detector, count: u32) -> Option<Level> {
        let settings = &self.settings;
        let (warn, stop) = match detector {
            Detector::Breaker => (settings.breaker, settings.breaker),
            Detector::Repeat | Detector::PingPong | Detector::Poll => {
                (settings.warn, settings.stop)
            }
        };
        if count >= stop {
            Some(Level::Stop)
        } else if count >= warn {
            Some(Level::Warn)
        } else {
            None
        }
    }

    fn alarm(&mut self) -> Option<Alarm> {
        let mut gravest: Option<Alarm> = None;
        for detector in Detector::ALL {
            let count = self.counted(detector);
            if count <= self.settings.warn / 2 {
                self.said[detector as usize] = None;
            }
            let level = self.level(detector, count);
            let is_told = level <= self.said[detector as usize];
            if let Some(level) = level
                && !is_told
                && self.settings.looks(detector)
                && gravest.is_none_or(|other| other.level < level)
            {
                gravest = Some(Alarm {
                    detector,
                    level,
                    count,
                    settings: self.settings,
                });
            }
        }
        if let Some(alarm) = gravest {
            self.said[alarm.detector as usize] = Some(alarm.level);
        }
        gravest
    }
}

#[cfg(test)]
mod tests;
