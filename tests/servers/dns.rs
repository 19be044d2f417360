//! A DNS server that answers as a recursive resolver does, or as badly as it is told to.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use comail::world::RecordKind;
use hickory_resolver::proto::op::{Message, MessageType, OpCode, Query, ResponseCode};
use hickory_resolver::proto::rr::rdata::{A, AAAA, CNAME, MX, NS, SOA};
use hickory_resolver::proto::rr::{Name, RData, Record, RecordType};

use super::HERE;

/// A DNS server over UDP and TCP at one port.
pub struct DnsServer {
    address: SocketAddr,
    zone: Arc<Mutex<Zone>>,
}

#[derive(Debug, Clone)]
pub enum Answer {
    /// These addresses, of the kind that was asked for.
    Addresses(Vec<IpAddr>),
    /// These mail exchangers; `.` is the null MX's.
    Mx(Vec<(u16, String)>),
    /// An alias, with whatever the server knows of its target.
    Alias(String),
    /// An alias alone: the target is for the client to ask for.
    AliasAlone(String),
    /// The name exists, no such record: with the zone's SOA.
    NoData,
    NoSuchName,
    /// "Ask those", without an answer.
    Referral,
    Code(ResponseCode),
    /// A denial by a server that is neither authoritative nor recursive.
    Lame,
    Silence,
    /// A right answer under a wrong id.
    WrongId,
    /// A right answer to another question.
    WrongQuestion,
    /// Over UDP an empty truncated answer, over TCP this one.
    Truncated(Box<Answer>),
    /// Truncated over UDP, and over TCP nothing.
    TruncatedForEver,
    /// Bytes that are no message.
    Garbage,
}

#[derive(Default)]
struct Zone {
    /// Whether nothing is answered at all.
    is_silent: bool,
    /// How often the name servers of the root were asked for.
    root_asked: usize,
    answers: HashMap<(String, RecordKind), Vec<Answer>>,
    asked: Vec<(String, RecordKind)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Transport {
    Udp,
    Tcp,
}

impl DnsServer {
    pub fn start() -> Self {
        let (udp, tcp) = same_port();
        let address = udp.local_addr().expect("a bound socket has an address");
        let zone = Arc::new(Mutex::new(Zone::default()));
        let (over_udp, over_tcp) = (Arc::clone(&zone), Arc::clone(&zone));
        thread::spawn(move || {
            let mut buffer = [0; 512];
            while let Ok((length, from)) = udp.recv_from(&mut buffer) {
                if let Some(answer) = reply(&buffer[..length], Transport::Udp, &over_udp) {
                    udp.send_to(&answer, from).ok();
                }
            }
        });
        thread::spawn(move || {
            for stream in tcp.incoming().flatten() {
                converse(stream, &over_tcp).ok();
            }
        });
        Self { address, zone }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Gives a host one address, and none of the other kind.
    pub fn host(&self, name: &str, address: &str) {
        let address: IpAddr = address.parse().expect("an address");
        let kind = if address.is_ipv4() {
            RecordKind::A
        } else {
            RecordKind::Aaaa
        };
        self.says(name, kind, Answer::Addresses(vec![address]));
    }

    pub fn mx(&self, domain: &str, preference: u16, host: &str) {
        let mut zone = self.lock();
        let key = (domain.to_ascii_lowercase(), RecordKind::Mx);
        let answers = zone.answers.entry(key).or_default();
        let host = (preference, host.to_owned());
        if let [Answer::Mx(hosts)] = answers.as_mut_slice() {
            hosts.push(host);
        } else {
            *answers = vec![Answer::Mx(vec![host])];
        }
    }

    pub fn null_mx(&self, domain: &str) {
        self.says(
            domain,
            RecordKind::Mx,
            Answer::Mx(vec![(0, ".".to_owned())]),
        );
    }

    /// Makes a name an alias for every kind of record.
    pub fn alias(&self, name: &str, target: &str) {
        self.says_always(name, &Answer::Alias(target.to_owned()));
    }

    /// Says what one question is answered with. A name of which anything is said exists; its
    /// other kinds of record are NODATA.
    pub fn says(&self, name: &str, kind: RecordKind, answer: Answer) {
        self.says_in_turn(name, kind, vec![answer]);
    }

    /// The same for every kind of record.
    pub fn says_always(&self, name: &str, answer: &Answer) {
        for kind in [RecordKind::A, RecordKind::Aaaa, RecordKind::Mx] {
            self.says(name, kind, answer.clone());
        }
    }

    /// Says what the first question is answered with, the second …; the last one stays.
    pub fn says_in_turn(&self, name: &str, kind: RecordKind, answers: Vec<Answer>) {
        let key = (name.to_ascii_lowercase(), kind);
        self.lock().answers.insert(key, answers);
    }

    pub fn forget(&self) {
        *self.lock() = Zone::default();
    }

    /// Swallows every question from now on, or answers again.
    pub fn set_silent(&self, is_silent: bool) {
        self.lock().is_silent = is_silent;
    }

    pub fn root_asked(&self) -> usize {
        self.lock().root_asked
    }

    /// How often one question was asked, over UDP and TCP together.
    pub fn asked(&self, name: &str, kind: RecordKind) -> usize {
        let it = (name.to_owned(), kind);
        self.lock()
            .asked
            .iter()
            .filter(|asked| **asked == it)
            .count()
    }

    pub fn questions(&self) -> Vec<(String, RecordKind)> {
        self.lock().asked.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Zone> {
        lock(&self.zone)
    }
}

fn lock(zone: &Mutex<Zone>) -> MutexGuard<'_, Zone> {
    zone.lock()
        .expect("no server thread panics while it holds the zone")
}

fn same_port() -> (UdpSocket, TcpListener) {
    for _ in 0..100 {
        let tcp = TcpListener::bind((HERE, 0)).expect("loopback has a free port");
        let address = tcp.local_addr().expect("a bound listener has an address");
        if let Ok(udp) = UdpSocket::bind(address) {
            return (udp, tcp);
        }
    }
    panic!("no port is free for UDP and TCP alike");
}

fn converse(mut stream: TcpStream, zone: &Mutex<Zone>) -> io::Result<()> {
    let mut length = [0; 2];
    stream.read_exact(&mut length)?;
    let mut question = vec![0; usize::from(u16::from_be_bytes(length))];
    stream.read_exact(&mut question)?;
    if let Some(answer) = reply(&question, Transport::Tcp, zone) {
        let length = u16::try_from(answer.len()).map_err(io::Error::other)?;
        stream.write_all(&length.to_be_bytes())?;
        stream.write_all(&answer)?;
    }
    Ok(())
}

fn reply(bytes: &[u8], transport: Transport, zone: &Mutex<Zone>) -> Option<Vec<u8>> {
    let question = Message::from_vec(bytes).ok()?;
    let query = question.queries.first()?;
    let mut zone = lock(zone);
    let kind = match query.query_type() {
        _ if zone.is_silent => return None,
        RecordType::A => Some(RecordKind::A),
        RecordType::AAAA => Some(RecordKind::Aaaa),
        RecordType::MX => Some(RecordKind::Mx),
        RecordType::NS if query.name().is_root() => None,
        _ => return None,
    };
    let mut message = Message::new(question.metadata.id, MessageType::Response, OpCode::Query);
    message.metadata.recursion_desired = question.metadata.recursion_desired;
    message.metadata.recursion_available = true;
    message.add_query(query.clone());
    let Some(kind) = kind else {
        // Any reply shows that there is a network.
        zone.root_asked += 1;
        message.metadata.response_code = ResponseCode::Refused;
        return Some(message.to_vec().expect("a message that can be sent"));
    };
    zone.asked.push((text(query.name()), kind));
    let answer = zone.next(&text(query.name()), kind);
    if let Answer::Garbage = answer {
        return Some(b"garbage".to_vec());
    }
    let filled = zone.fill(&mut message, query.name(), kind, answer, transport);
    filled.then(|| message.to_vec().expect("a message that can be sent"))
}

impl Zone {
    fn next(&mut self, name: &str, kind: RecordKind) -> Answer {
        let exists = self.exists(name);
        match self.answers.get_mut(&(name.to_owned(), kind)) {
            Some(answers) if answers.len() > 1 => answers.remove(0),
            Some(answers) => answers.first().cloned().expect("a question has an answer"),
            None if exists => Answer::NoData,
            None => Answer::NoSuchName,
        }
    }

    /// Whether anything is said of the name or of one below it (RFC 8020 §2).
    fn exists(&self, name: &str) -> bool {
        let below = format!(".{name}");
        let mut names = self.answers.keys().map(|(known, _)| known);
        names.any(|known| known == name || known.ends_with(&below))
    }

    /// Writes the answer into `message`; false when none is to be sent.
    fn fill(
        &mut self,
        message: &mut Message,
        name: &Name,
        kind: RecordKind,
        answer: Answer,
        transport: Transport,
    ) -> bool {
        match answer {
            Answer::Addresses(addresses) => {
                for address in addresses {
                    message.add_answer(record(name, address_data(address)));
                }
            }
            Answer::Mx(hosts) => {
                for (preference, host) in hosts {
                    let mx = MX::new(preference, parse(&host));
                    message.add_answer(record(name, RData::MX(mx)));
                }
            }
            Answer::AliasAlone(target) => {
                message.add_answer(record(name, RData::CNAME(CNAME(parse(&target)))));
            }
            Answer::Alias(target) => {
                let target = parse(&target);
                message.add_answer(record(name, RData::CNAME(CNAME(target.clone()))));
                if message.answers.len() > 20 {
                    return true;
                }
                let next = self.next(&text(&target), kind);
                return self.fill(message, &target, kind, next, transport);
            }
            Answer::NoData => {
                message.add_authority(soa(name));
            }
            Answer::NoSuchName => {
                message.metadata.response_code = ResponseCode::NXDomain;
                message.add_authority(soa(&Name::root()));
            }
            Answer::Referral => {
                message.add_authority(record(name, RData::NS(NS(parse("ns.elsewhere.test")))));
            }
            Answer::Code(code) => message.metadata.response_code = code,
            Answer::Lame => {
                message.metadata.recursion_available = false;
                message.metadata.response_code = ResponseCode::NXDomain;
            }
            Answer::WrongId => {
                message.metadata.id = message.metadata.id.wrapping_add(1);
                message.add_answer(record(name, address_data([127, 0, 0, 1].into())));
            }
            Answer::WrongQuestion => {
                message.queries = vec![Query::query(parse("other.test"), RecordType::A)];
                message.add_answer(record(name, address_data([127, 0, 0, 1].into())));
            }
            Answer::Truncated(_) | Answer::TruncatedForEver if transport == Transport::Udp => {
                message.metadata.truncation = true;
                // The next question, over TCP, must find the same answer again.
                let key = (text(name), kind);
                self.answers.entry(key).or_default().insert(0, answer);
            }
            Answer::Truncated(whole) => return self.fill(message, name, kind, *whole, transport),
            Answer::Silence | Answer::TruncatedForEver | Answer::Garbage => return false,
        }
        true
    }
}

fn address_data(address: IpAddr) -> RData {
    match address {
        IpAddr::V4(address) => RData::A(A(address)),
        IpAddr::V6(address) => RData::AAAA(AAAA(address)),
    }
}

fn record(name: &Name, data: RData) -> Record {
    Record::from_rdata(name.clone(), 60, data)
}

fn soa(zone: &Name) -> Record {
    let [server, mailbox] = ["ns.test", "host.test"].map(parse);
    record(zone, RData::SOA(SOA::new(server, mailbox, 1, 1, 1, 1, 60)))
}

fn parse(name: &str) -> Name {
    let absolute = if name.ends_with('.') {
        name.to_owned()
    } else {
        format!("{name}.")
    };
    Name::from_ascii(absolute).expect("the tests' names are well-formed")
}

fn text(name: &Name) -> String {
    name.to_ascii().trim_end_matches('.').to_ascii_lowercase()
}
