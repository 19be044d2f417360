//! What was seen before.

use std::collections::{HashSet, VecDeque};

use crate::base::Digest;

// Bounds the memory of a long run; older entries count as new again.
const MOST: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Seen {
    known: HashSet<Digest>,
    in_order: VecDeque<Digest>,
}

impl Seen {
    pub(super) fn is_new(&mut self, digest: Digest) -> bool {
        if !self.known.insert(digest) {
            return false;
        }
        self.in_order.push_back(digest);
        if self.in_order.len() > MOST
            && let Some(oldest) = self.in_order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }

    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.known.clear();
        self.in_order.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_the_last_ones_and_no_more() {
        let digest = |number: usize| Digest::of(&number.to_le_bytes());
        let mut seen = Seen::default();
        assert!(seen.is_new(digest(0)));
        assert!(!seen.is_new(digest(0)));
        for number in 1..=MOST {
            assert!(seen.is_new(digest(number)));
        }
        assert_eq!(seen.known.len(), MOST);
        assert!(!seen.is_new(digest(1)));
        assert!(seen.is_new(digest(0)), "it is long ago");
    }
}
