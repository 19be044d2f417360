//! All that an agent prints: copied, read, and never kept.

use serde_json::Value;

use super::end::AgentEnd;
use super::event::AgentEvent;
use super::failure;
use super::heard::Pipe;
use super::last_object::{LastObject, last_object};
use super::lines::Lines;
use super::log::CappedLog;
use super::order::Stream;
use super::stream::{Reader, used_in};
use super::tail::{Tail, end_of};
use super::wire::HowEnded;
use crate::session::Spent;

const TAIL_BYTES: usize = 8 << 10;

const LAST_WORDS: usize = 4 << 10;

// The line that reports usage is itself output.
const SLACK: u64 = 1_000;

const BYTES_OF_A_TOKEN: u64 = 4;

#[derive(Debug)]
pub(super) struct Output {
    log: CappedLog,
    lines: Lines,
    reader: Reader,
    errors: Tail,
    read: u64,
    written: u64,
}

impl Output {
    pub(super) fn new(stream: Stream, log: CappedLog, read: u64) -> Self {
        Self {
            log,
            lines: Lines::default(),
            reader: Reader::new(stream),
            errors: Tail::new(TAIL_BYTES),
            read,
            written: 0,
        }
    }

    pub(super) fn take(&mut self, pipe: Pipe, bytes: &[u8]) {
        self.log.write(bytes);
        self.written += bytes.len() as u64;
        match pipe {
            Pipe::Out => self.lines.take(bytes, |line| self.reader.line(line)),
            Pipe::Err => self.errors.push(bytes),
        }
    }

    pub(super) fn written(&self) -> u64 {
        self.written
    }

    pub(super) fn events(&mut self) -> Vec<AgentEvent> {
        let mut events = self.reader.findings.events();
        if self.reader.is_guessed() {
            // Anything may have printed this: it says no more than what is written.
            for event in &mut events {
                if let AgentEvent::Spent(spent) = event {
                    spent.told = false;
                }
            }
        }
        events
    }

    pub(super) fn end(&mut self, how: Option<HowEnded>) -> AgentEnd {
        self.lines.end(|line| self.reader.line(line));
        self.reader.end();
        let findings = &self.reader.findings;
        let said = findings.said.text();
        let errors = self.errors.text();
        let (last, told) = unwrapped(last_object(&said));
        let (answer, bad_answer) = match last {
            LastObject::None => (None, None),
            LastObject::Object(answer) => (Some(answer), None),
            LastObject::Bad(why) => (None, Some(why)),
        };
        let used = findings.used.map(|used| Spent {
            tokens: used.tokens,
            cost: used.cost,
            told: true,
        });
        let died = how != Some(HowEnded::Exited(0)) || findings.failed;
        let last_words = [end_of(&said, LAST_WORDS), end_of(&errors, LAST_WORDS)];
        let died_of = |why: fn(&str) -> bool| died && last_words.into_iter().any(why);
        let (exit, signal) = match how {
            Some(HowEnded::Exited(code)) => (Some(code), None),
            Some(HowEnded::Signalled(signal)) => (None, Some(signal)),
            None => (None, None),
        };
        AgentEnd {
            exit,
            signal,
            answer,
            bad_answer,
            spent: self.spent(used.or(told)),
            tail: last_of(&said, &errors),
            conversation: findings.conversation.clone(),
            denied: findings.denied,
            rate_limited: died_of(failure::is_rate_limited),
            no_login: died_of(failure::is_no_login),
        }
    }

    // In a plain stream any program may have printed the usage line, so it is an estimate and
    // never less than what the output itself implies.
    fn spent(&self, told: Option<Spent>) -> Spent {
        let Some(told) = told else {
            return self.estimate();
        };
        if !self.reader.is_guessed() {
            return told;
        }
        let written = self.written / BYTES_OF_A_TOKEN;
        let believed = told.tokens.saturating_add(SLACK) >= written;
        Spent {
            tokens: told.tokens.max(if believed { 0 } else { written }),
            cost: told.cost,
            told: false,
        }
    }

    fn estimate(&self) -> Spent {
        Spent {
            tokens: self.read.saturating_add(self.written) / BYTES_OF_A_TOKEN,
            cost: None,
            told: false,
        }
    }
}

fn unwrapped(last: LastObject) -> (LastObject, Option<Spent>) {
    let LastObject::Object(document) = &last else {
        return (last, None);
    };
    let told = used_in(document).map(|used| Spent {
        tokens: used.tokens,
        cost: used.cost,
        told: true,
    });
    let text = match (document["type"].as_str(), &document["stats"]) {
        (Some("result"), _) => document["result"].as_str(),
        (_, Value::Object(_)) => document["response"].as_str(),
        _ => None,
    };
    match text {
        Some(text) => (last_object(text), told),
        None => (last, told),
    }
}

fn last_of(said: &str, errors: &str) -> String {
    let text = if said.trim().is_empty() { errors } else { said };
    end_of(text.trim(), TAIL_BYTES).to_owned()
}

#[cfg(test)]
mod tests;
