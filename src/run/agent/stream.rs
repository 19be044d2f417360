//! From the lines that an agent prints to what they tell.

mod claude;
mod codex;
mod gemini;
mod loose;
mod opencode;

use serde_json::Value;

use super::transcript::Transcript;
use super::transcript::{Stream, StreamForm};
use super::usage;
pub(super) use loose::used as used_in;

use claude::Claude;
use codex::Codex;

#[derive(Debug)]
pub(super) struct Reader {
    form: Form,
    guessed: bool,
    pub transcript: Transcript,
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
            transcript: Transcript::new(),
        }
    }

    pub(super) fn line(&mut self, line: &[u8]) {
        let transcript = &mut self.transcript;
        let Some(event) = object_in(line) else {
            let text = String::from_utf8_lossy(line);
            if let (Form::Plain, Some(usage)) = (&self.form, usage::in_words(&text)) {
                transcript.turn(usage);
            }
            return transcript.says(&text);
        };
        if matches!(self.form, Form::Plain)
            && let Some(form) = Form::that_begins_with(&event)
        {
            self.form = form;
        }
        match &mut self.form {
            Form::Plain => loose::read(&event, &String::from_utf8_lossy(line), transcript),
            Form::Claude(claude) => claude.read(&event, transcript),
            Form::Codex(codex) => codex.read(&event, transcript),
            Form::Gemini => gemini::read(&event, transcript),
            Form::Opencode => opencode::read(&event, transcript),
        }
    }

    pub(super) fn is_guessed(&self) -> bool {
        self.guessed
    }

    pub(super) fn end(&mut self) {
        if let Form::Claude(claude) = &mut self.form {
            claude.end_turn(&mut self.transcript);
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
