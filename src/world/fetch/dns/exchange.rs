//! One question to one server and its answer: UDP first, TCP when the answer is truncated.
//!
//! An answer counts only when it echoes the question's random id, name, type and class
//! (RFC 5452 §9.1); datagrams that do not are passed over until the time is up. No EDNS is
//! sent: what does not fit into 512 octets comes over TCP, which every server must offer
//! (RFC 7766 §5).

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use hickory_proto::op::{Message, MessageType, OpCode, Query, ResponseCode};

use super::Indefinite;

/// The largest message that DNS knows, over UDP and TCP alike.
const LARGEST: usize = u16::MAX as usize;

/// How long an answer is waited for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// For one exchange over UDP or TCP.
    pub(super) each: Duration,
    /// In all.
    pub(super) until: Instant,
}

impl Patience {
    fn deadline(self) -> Instant {
        let each = Instant::now().checked_add(self.each);
        each.map_or(self.until, |each| each.min(self.until))
    }
}

/// Asks `server` one question.
pub(super) fn ask(
    server: SocketAddr,
    query: &Query,
    patience: Patience,
) -> Result<Message, Indefinite> {
    let id = random_id()?;
    let question = encode(id, query)?;
    let expected = Expected { id, query };
    let over_udp = udp(server, &question, &expected, patience.deadline());
    match over_udp.map_err(|error| said(&error))? {
        Some(message) => Ok(message),
        None => tcp(server, &question, &expected, patience.deadline())
            .map_err(|error| Indefinite(format!("over TCP: {}", said(&error).0))),
    }
}

/// What an answer must echo.
struct Expected<'a> {
    id: u16,
    query: &'a Query,
}

impl Expected<'_> {
    /// Whether these bytes are a truncated answer to the question, which need not parse.
    fn truncated(&self, bytes: &[u8]) -> bool {
        let [high, low, flags, ..] = *bytes else {
            return false;
        };
        u16::from_be_bytes([high, low]) == self.id && flags & 0x82 == 0x82
    }

    /// The answer in these bytes, if they are one to this question.
    fn answer(&self, bytes: &[u8]) -> Option<Message> {
        let message = Message::from_vec(bytes).ok()?;
        let about_it = match message.queries.as_slice() {
            [echo] => {
                echo.name() == self.query.name()
                    && echo.query_type() == self.query.query_type()
                    && echo.query_class() == self.query.query_class()
            }
            // A server that refuses may leave the question out; it denies nothing by that.
            [] => !matches!(
                message.metadata.response_code,
                ResponseCode::NoError | ResponseCode::NXDomain
            ),
            _ => false,
        };
        let ours = message.metadata.id == self.id
            && message.metadata.message_type == MessageType::Response
            && message.metadata.op_code == OpCode::Query;
        (ours && about_it).then_some(message)
    }
}

/// The answer over UDP; `None` when it is truncated.
fn udp(
    server: SocketAddr,
    question: &[u8],
    expected: &Expected<'_>,
    deadline: Instant,
) -> io::Result<Option<Message>> {
    let any: SocketAddr = match server {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = UdpSocket::bind(any)?;
    // A connected socket takes datagrams of this server alone.
    socket.connect(server)?;
    socket.send(question)?;
    let mut buffer = vec![0; LARGEST];
    loop {
        socket.set_read_timeout(Some(left(deadline)?))?;
        let length = socket.recv(&mut buffer)?;
        let bytes = buffer.get(..length).unwrap_or_default();
        if expected.truncated(bytes) {
            return Ok(None);
        }
        if let Some(message) = expected.answer(bytes) {
            return Ok(Some(message));
        }
    }
}

/// The answer over TCP, where a message follows its length (RFC 1035 §4.2.2).
fn tcp(
    server: SocketAddr,
    question: &[u8],
    expected: &Expected<'_>,
    deadline: Instant,
) -> io::Result<Message> {
    let mut stream = TcpStream::connect_timeout(&server, left(deadline)?)?;
    stream.set_write_timeout(Some(left(deadline)?))?;
    let length = u16::try_from(question.len()).map_err(io::Error::other)?;
    stream.write_all(&[&length.to_be_bytes(), question].concat())?;
    let mut length = [0; 2];
    read_exact(&mut stream, &mut length, deadline)?;
    let mut bytes = vec![0; usize::from(u16::from_be_bytes(length))];
    read_exact(&mut stream, &mut bytes, deadline)?;
    expected
        .answer(&bytes)
        .filter(|message| !message.metadata.truncation)
        .ok_or_else(|| io::Error::other("what came is no answer to the question"))
}

/// Fills `buffer` before `deadline`, however slowly the bytes come.
fn read_exact(stream: &mut TcpStream, mut buffer: &mut [u8], deadline: Instant) -> io::Result<()> {
    while !buffer.is_empty() {
        stream.set_read_timeout(Some(left(deadline)?))?;
        match stream.read(buffer)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => buffer = buffer.get_mut(read..).unwrap_or_default(),
        }
    }
    Ok(())
}

fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    Ok(left)
}

fn encode(id: u16, query: &Query) -> Result<Vec<u8>, Indefinite> {
    let mut message = Message::new(id, MessageType::Query, OpCode::Query);
    message.metadata.recursion_desired = true;
    message.add_query(query.clone());
    message
        .to_vec()
        .map_err(|error| Indefinite(format!("the question cannot be sent: {error}")))
}

fn random_id() -> Result<u16, Indefinite> {
    let bits = getrandom::u32()
        .map_err(|error| Indefinite(format!("the system gave no random number: {error}")))?;
    let [high, low, ..] = bits.to_be_bytes();
    Ok(u16::from_be_bytes([high, low]))
}

fn said(error: &io::Error) -> Indefinite {
    Indefinite(match error.kind() {
        // A socket's read timeout is reported as either, by platform.
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
            "no answer to the question in time".to_owned()
        }
        io::ErrorKind::ConnectionRefused => "nothing answers there".to_owned(),
        io::ErrorKind::UnexpectedEof => "the connection was cut off".to_owned(),
        _ => error.to_string(),
    })
}
