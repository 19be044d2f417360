//! A model on loopback that speaks the protocols of four providers and says what a script makes it
//! say.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use super::{anthropic, chat, gemini, responses};

/// The name of the scripted model. Agents use others for titles and summaries.
pub const SCRIPTED: &str = "scripted-model";

/// What the model does with a request.
#[derive(Debug, Clone)]
pub enum Turn {
    /// Calls the agent's shell with this command.
    Shell(String),
    /// Calls this tool of comail's MCP server, as Claude Code names it.
    Tool(&'static str, Value),
    Say(String),
    /// Refuses with this HTTP status.
    Refuse(u16),
}

impl Turn {
    pub fn shell(command: impl Into<String>) -> Self {
        Self::Shell(command.into())
    }

    pub fn say(words: impl Into<String>) -> Self {
        Self::Say(words.into())
    }
}

/// What a provider's protocol says about a conversation.
#[derive(Debug, Clone, Default)]
pub struct Talk {
    /// What the user and the agent wrote.
    pub text: String,
    /// What the tools returned, in order.
    pub outputs: Vec<String>,
    pub tools: Vec<Tool>,
}

#[derive(Debug, Clone)]
pub struct Tool {
    pub name: String,
    /// The JSON Schema of its arguments.
    pub input: Value,
}

/// What the model writes.
#[derive(Debug)]
pub enum Output {
    Text(String),
    Call { tool: String, input: Value },
}

/// One answer of the model, before a protocol writes it down.
#[derive(Debug)]
pub struct Answer<'a> {
    /// Unique among the answers of this server.
    pub number: usize,
    pub model: &'a str,
    pub output: Output,
    pub read: u64,
    pub written: u64,
}

// How many tokens each answer reports.
pub const READ: u64 = 1_000;
pub const WRITTEN: u64 = 40;

/// An event of a stream: its name, if the protocol names events, and its data.
pub type Event = (Option<&'static str>, Value);

/// A protocol: how a request is read and an answer is written.
#[derive(Debug, Clone, Copy)]
pub struct Protocol {
    pub read: fn(&Value) -> Talk,
    pub stream: fn(&Answer<'_>) -> Vec<Event>,
    pub whole: fn(&Answer<'_>) -> Value,
    pub refusal: fn(u16) -> Value,
    /// Whether the last event of a stream is `[DONE]`.
    pub says_done: bool,
}

#[derive(Debug, Clone)]
pub struct Asked {
    pub model: String,
    pub talk: Talk,
}

pub struct ModelServer {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
}

type Script = dyn Fn(&Talk) -> Turn + Send + Sync;

impl ModelServer {
    /// A model that does what `script` says for a conversation.
    pub fn start(script: impl Fn(&Talk) -> Turn + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has a free port");
        let address = listener.local_addr().expect("an address");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (shared, script) = (Arc::clone(&asked), Arc::new(script));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (shared, script) = (Arc::clone(&shared), Arc::clone(&script));
                // An agent that is stopped hangs up.
                thread::spawn(move || converse(&stream, &shared, &*script).ok());
            }
        });
        Self { address, asked }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What the scripted model was asked.
    pub fn asked(&self) -> Vec<Asked> {
        let mut asked = self.asked.lock().expect("no thread panics here").clone();
        asked.retain(|asked| asked.model == SCRIPTED);
        asked
    }
}

fn converse(stream: &TcpStream, known: &Mutex<Vec<Asked>>, script: &Script) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    while let Some((path, body)) = request(&mut reader)? {
        let Some(protocol) = protocol_at(&path) else {
            reply(stream, 404, "application/json", "{}")?;
            continue;
        };
        let model = body["model"].as_str().or_else(|| gemini::model_in(&path));
        let model = model.unwrap_or_default().to_owned();
        let talk = (protocol.read)(&body);
        let turn = if model == SCRIPTED {
            script(&talk)
        } else {
            Turn::say("{}")
        };
        let number = {
            let mut known = known.lock().expect("no thread panics here");
            known.push(Asked {
                model: model.clone(),
                talk: talk.clone(),
            });
            known.len()
        };
        let output = match turn {
            Turn::Refuse(status) => {
                let refusal = (protocol.refusal)(status).to_string();
                reply(stream, status, "application/json", &refusal)?;
                continue;
            }
            Turn::Say(text) => Output::Text(text),
            Turn::Tool(tool, input) => Output::Call {
                tool: format!("mcp__comail__{tool}"),
                input,
            },
            Turn::Shell(command) => in_shell(&talk.tools, &command),
        };
        let answer = Answer {
            number,
            model: &model,
            output,
            read: READ,
            written: WRITTEN,
        };
        let streams = body["stream"] == true || path.contains(":streamGenerateContent");
        if streams {
            let mut events = String::new();
            for (name, data) in (protocol.stream)(&answer) {
                if let Some(name) = name {
                    events.extend(["event: ", name, "\n"]);
                }
                events.extend(["data: ", &data.to_string(), "\n\n"]);
            }
            if protocol.says_done {
                events += "data: [DONE]\n\n";
            }
            reply(stream, 200, "text/event-stream", &events)?;
        } else {
            let whole = (protocol.whole)(&answer).to_string();
            reply(stream, 200, "application/json", &whole)?;
        }
    }
    Ok(())
}

fn protocol_at(path: &str) -> Option<Protocol> {
    let path = path.split('?').next().unwrap_or(path);
    match path {
        _ if path.ends_with("/messages") => Some(anthropic::PROTOCOL),
        _ if path.ends_with("/responses") => Some(responses::PROTOCOL),
        _ if path.ends_with("/chat/completions") => Some(chat::PROTOCOL),
        _ if path.ends_with("enerateContent") => Some(gemini::PROTOCOL),
        _ => None,
    }
}

/// A call of whatever the agent calls its shell.
fn in_shell(tools: &[Tool], command: &str) -> Output {
    const SHELLS: [&str; 6] = [
        "Bash",
        "bash",
        "shell",
        "shell_command",
        "exec_command",
        "run_shell_command",
    ];
    let Some(tool) = tools
        .iter()
        .find(|tool| SHELLS.contains(&tool.name.as_str()))
    else {
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        return Output::Text(format!("I have no shell, but {names:?}: {command}"));
    };
    let properties = &tool.input["properties"];
    let mut input = if properties["cmd"].is_object() {
        json!({"cmd": command})
    } else if properties["command"]["type"] == "array" {
        json!({"command": ["sh", "-c", command]})
    } else {
        json!({"command": command})
    };
    for name in tool.input["required"].as_array().into_iter().flatten() {
        let name = name.as_str().unwrap_or_default();
        if input.get(name).is_none() {
            input[name] = match properties[name]["type"].as_str() {
                Some("boolean") => json!(false),
                Some("number" | "integer") => json!(60_000),
                _ => json!("a step of the work"),
            };
        }
    }
    Output::Call {
        tool: tool.name.clone(),
        input,
    }
}

/// The path and the body of the next request, if there is one.
fn request(reader: &mut impl BufRead) -> io::Result<Option<(String, Value)>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let (mut length, mut chunked) = (0, false);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim_end().split_once(':') else {
            break;
        };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().map_err(io::Error::other)?,
            "transfer-encoding" => chunked = true,
            _ => {}
        }
    }
    let mut body = Vec::new();
    if chunked {
        loop {
            let mut size = String::new();
            reader.read_line(&mut size)?;
            let size = u64::from_str_radix(size.trim(), 16).map_err(io::Error::other)?;
            reader.by_ref().take(size).read_to_end(&mut body)?;
            reader.read_line(&mut String::new())?;
            if size == 0 {
                break;
            }
        }
    } else {
        reader.by_ref().take(length).read_to_end(&mut body)?;
    }
    Ok(Some((
        path,
        serde_json::from_slice(&body).unwrap_or_default(),
    )))
}

fn reply(mut stream: &TcpStream, status: u16, kind: &str, body: &str) -> io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {status} Status\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// The texts of a value that is a text or a list of parts with texts.
pub fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
