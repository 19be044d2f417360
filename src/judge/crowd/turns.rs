//! Whose turn it is: things to do, so that no host is asked by two at once.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

#[derive(Debug)]
pub(super) struct Turns<T> {
    waiting: VecDeque<Line<T>>,
    closed: bool,
}

/// What is left of a line while its first thing is being done.
#[derive(Debug)]
pub(super) struct Line<T>(VecDeque<T>);

impl<T> Turns<T> {
    pub(super) fn new<K: Eq + Hash>(things: impl IntoIterator<Item = (K, T)>) -> Self {
        let mut places = HashMap::new();
        let mut waiting: VecDeque<Line<T>> = VecDeque::new();
        for (key, thing) in things {
            let place = *places.entry(key).or_insert(waiting.len());
            match waiting.get_mut(place) {
                Some(line) => line.0.push_back(thing),
                None => waiting.push_back(Line(VecDeque::from([thing]))),
            }
        }
        Self {
            waiting,
            closed: false,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// The next thing to do, and the line to give back when it is done.
    ///
    /// Whoever gets none may go home: each line that others have is done by those who have it.
    pub(super) fn take(&mut self) -> Option<(T, Line<T>)> {
        let mut line = self.waiting.pop_front()?;
        let thing = line.0.pop_front()?;
        Some((thing, line))
    }

    /// Lets nobody take anything any more.
    pub(super) fn close(&mut self) {
        self.closed = true;
        self.waiting.clear();
    }

    /// Puts a line at the end, unless it is done.
    pub(super) fn give_back(&mut self, line: Line<T>) {
        if !line.0.is_empty() && !self.closed {
            self.waiting.push_back(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns() -> Turns<&'static str> {
        Turns::new([("a", "a1"), ("a", "a2"), ("b", "b1"), ("a", "a3")])
    }

    #[test]
    fn a_line_is_with_one_taker_at_a_time() {
        let mut turns = turns();
        assert_eq!(turns.len(), 2);
        let (first, a) = turns.take().unwrap();
        let (second, b) = turns.take().unwrap();
        assert_eq!((first, second), ("a1", "b1"));
        // Two of `a` wait, and are not to be had.
        assert!(turns.take().is_none());
        turns.give_back(b);
        assert!(turns.take().is_none());
        turns.give_back(a);
        assert_eq!(turns.take().unwrap().0, "a2");
    }

    #[test]
    fn nothing_is_taken_once_it_is_closed() {
        let mut turns = turns();
        let (_, a) = turns.take().unwrap();
        turns.close();
        assert!(turns.take().is_none());
        turns.give_back(a);
        assert!(turns.take().is_none());
    }

    #[test]
    fn lines_take_turns() {
        let things = [("a", 1), ("a", 2), ("b", 3), ("b", 4), ("c", 5)];
        let mut turns = Turns::new(things);
        let mut done = Vec::new();
        while let Some((thing, line)) = turns.take() {
            done.push(thing);
            turns.give_back(line);
        }
        assert_eq!(done, [1, 3, 5, 2, 4]);
    }
}
