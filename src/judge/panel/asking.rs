//! Asking one reviewer, and what it said.

use super::members::Way;
use super::prompt::SYSTEM;
use crate::world::sandbox::{ChatOrder, Chatted, End, Order, Usage, Workshop};

const SHOWN_BYTES: usize = 300;

/// What a reviewer said, or why it said nothing.
pub(super) type Reply = Result<Words, String>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Words {
    pub(super) text: String,
    pub(super) usage: Usage,
}

pub(super) fn ask(way: &Way, prompt: &str, workshop: &dyn Workshop) -> Reply {
    match way {
        Way::Command(order, retries) => run(order, *retries, prompt, workshop),
        Way::Chat(order) => {
            let order = ChatOrder {
                prompt: prompt.to_owned(),
                ..ChatOrder::clone(order)
            };
            match workshop.chat(&order) {
                Chatted::Said(said) => Ok(Words {
                    text: said.text,
                    usage: said.usage,
                }),
                Chatted::Failed(why) => Err(why),
            }
        }
    }
}

fn run(order: &Order, retries: u32, prompt: &str, workshop: &dyn Workshop) -> Reply {
    let mut failed = String::new();
    for round in 0..=retries {
        let order = Order {
            stdin: format!("{SYSTEM}\n\n{prompt}"),
            round,
            ..order.clone()
        };
        let ran = workshop.run(&order);
        failed = match ran.end {
            End::Exited(0) => {
                let text = String::from_utf8(ran.stdout);
                return text
                    .map(|text| Words {
                        text,
                        usage: Usage::default(),
                    })
                    .map_err(|_| String::from("its answer is no text"));
            }
            End::Exited(code) => {
                let start = ran.stderr.len().saturating_sub(SHOWN_BYTES);
                let said = String::from_utf8_lossy(&ran.stderr[start..]);
                format!("it ended with {code}: {}", said.trim())
            }
            End::Signalled(signal) => format!("signal {signal} ended it"),
            End::TimedOut => return Err(String::from("its time was up")),
            End::TooMuchOutput => String::from("it said more than it may"),
            End::NotStarted(why) => return Err(format!("it could not be asked: {why}")),
            End::Withheld(why) => return Err(why),
        };
    }
    Err(failed)
}
