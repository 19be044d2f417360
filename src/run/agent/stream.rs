//! From the lines that an agent prints to what they tell.

mod claude;
mod codex;
mod gemini;
mod loose;
mod opencode;

use serde_json::Value;

use super::findings::Findings;
use super::order::{Stream, StreamForm};
use super::usage;
pub(super) use loose::used as used_in;

use claude::Claude;
use codex::Codex;

#[derive(Debug)]
pub(super) struct Reader {
    form: Form,
    guessed: bool,
    pub findings: Findings,
}

#[derive(Debug)]
enum Form {
    Plain,
    Claude(Claude),
    Codex(Codex),
    Gemini,
    Opencode,
}

impl Reader {
    pub(super) fn new(stream: Stream) -> Self {
        let form = match stream {
            Stream::Plain => Form::Plain,
            Stream::Events(StreamForm::Claude | StreamForm::Cursor) => {
                Form::Claude(Claude::default())
            }
            Stream::Events(StreamForm::Codex) => Form::Codex(Codex::default()),
            Stream::Events(StreamForm::Gemini) => Form::Gemini,
            Stream::Events(StreamForm::Opencode) => Form::Opencode,
        };
        Self {
            guessed: matches!(form, Form::Plain),
            form,
            findings: Findings::new(),
        }
    }

    pub(super) fn line(&mut self, line: &[u8]) {
        let findings = &mut self.findings;
        let Some(event) = object_in(line) else {
            let text = String::from_utf8_lossy(line);
            if let (Form::Plain, Some(usage)) = (&self.form, usage::in_words(&text)) {
                findings.turn(usage);
            }
            return findings.says(&text);
        };
        if matches!(self.form, Form::Plain)
            && let Some(form) = Form::that_begins_with(&event)
        {
            self.form = form;
        }
        match &mut self.form {
            Form::Plain => loose::read(&event, &String::from_utf8_lossy(line), findings),
            Form::Claude(claude) => claude.read(&event, findings),
            Form::Codex(codex) => codex.read(&event, findings),
            Form::Gemini => gemini::read(&event, findings),
            Form::Opencode => opencode::read(&event, findings),
        }
    }

    pub(super) fn is_guessed(&self) -> bool {
        self.guessed
    }

    pub(super) fn end(&mut self) {
        if let Form::Claude(claude) = &mut self.form {
            claude.end_turn(&mut self.findings);
        }
    }
}

impl Form {
    fn that_begins_with(event: &Value) -> Option<Self> {
        let says = |name: &str| event[name].is_string();
        Some(match event["type"].as_str()? {
            "system" if says("subtype") && says("session_id") => Self::Claude(Claude::default()),
            "assistant" if event["message"]["content"].is_array() => {
                Self::Claude(Claude::default())
            }
            "thread.started" if says("thread_id") => Self::Codex(Codex::default()),
            "init" if says("session_id") && says("model") => Self::Gemini,
            "step_start" if says("sessionID") => Self::Opencode,
            _ => return None,
        })
    }
}

fn object_in(line: &[u8]) -> Option<Value> {
    let line = line.trim_ascii();
    if line.first() != Some(&b'{') {
        return None;
    }
    serde_json::from_slice(line).ok()
}

#[cfg(test)]
mod tests;
