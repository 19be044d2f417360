//! Which detectors look, and by which numbers.

use std::str::FromStr;

use super::alarm::Detector;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    pub window: u32,
    pub warn: u32,
    pub stop: u32,
    pub breaker: u32,
    off: [bool; Detector::ALL.len()],
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected one of repeat, ping-pong, poll, breaker")]
pub struct BadDetector;

impl Default for Settings {
    fn default() -> Self {
        Self {
            window: 30,
            warn: 10,
            stop: 20,
            breaker: 30,
            off: [false; Detector::ALL.len()],
        }
    }
}

impl Settings {
    #[must_use]
    pub fn without(mut self, detector: Detector) -> Self {
        self.off[detector as usize] = true;
        self
    }

    #[must_use]
    pub fn looks(&self, detector: Detector) -> bool {
        !self.off[detector as usize]
    }
}

impl FromStr for Detector {
    type Err = BadDetector;

    fn from_str(name: &str) -> Result<Self, BadDetector> {
        let mut all = Self::ALL.into_iter();
        all.find(|detector| detector.name() == name)
            .ok_or(BadDetector)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_detector_can_be_switched_off_by_its_name() {
        for detector in Detector::ALL {
            let named: Detector = detector.name().parse().unwrap();
            let settings = Settings::default().without(named);
            for other in Detector::ALL {
                assert_eq!(settings.looks(other), other != detector);
            }
        }
        assert_eq!("loop".parse::<Detector>(), Err(BadDetector));
    }
}
