//! How a check's command is run, and what it means that it was cut short.

use crate::gate::Fact;
use std::collections::BTreeMap;

use super::argv::Argv;
use super::environment::Environment;
use super::keys::{NetworkName, OnTimeout, RunKeys};
use super::limits::misfit_in_all;
use super::tail::tail;
use crate::gate::checks::context::Context;
use crate::gate::checks::kind::{Flaw, Source};
use crate::quest::file::unknown_name;
use crate::quest::template::{Names, Values};
use crate::quest::{ByteSize, Span};
use crate::world::sandbox::{End, Network, Order, Ran, Started};

/// All of a command but what the submission and the services put into it.
#[derive(Debug)]
pub struct OrderPlan {
    check: String,
    argv: Argv,
    environment: Environment,
    timeout: Span,
    output: ByteSize,
    writable: Vec<String>,
    network: NetworkName,
    services: Vec<String>,
}

impl OrderPlan {
    /// The plan for the program and arguments that are the value of `key`.
    pub fn build(
        key: &'static str,
        argv: &[String],
        keys: RunKeys,
        source: &Source<'_>,
    ) -> Result<Self, Flaw> {
        let names = names(&keys.services, source)?;
        let relative =
            |path: &&String| !path.starts_with('/') || path.split('/').any(|it| it == "..");
        if let Some(path) = keys.writable.iter().find(relative) {
            let what = format!("`{path}`: expected an absolute path without `..`");
            return Err(Flaw::new("writable", what));
        }
        let network = match (keys.network, keys.services.is_empty()) {
            (None, true) => NetworkName::None,
            (None, false) => NetworkName::Loopback,
            (Some(NetworkName::Loopback), true) => {
                let what = "it reaches the services that `services` names, and there is none";
                return Err(Flaw::new("network", what));
            }
            (Some(NetworkName::None), false) => {
                let what = "services are reached over the network: say `loopback`";
                return Err(Flaw::new("network", what));
            }
            (Some(network), _) => network,
        };
        for text in argv.iter().chain(keys.env.values()) {
            source.told_to_command(text);
        }
        Ok(Self {
            check: source.name.to_owned(),
            argv: Argv::build(key, argv, source, &names)?,
            environment: Environment::build(&keys.env, &keys.pass_env, source, &names)?,
            timeout: keys.timeout,
            output: keys.output_cap,
            writable: keys.writable,
            network,
            services: keys.services,
        })
    }

    /// The values of this judgement, with what is known of the services once they are up.
    pub fn values(&self, context: &Context<'_>) -> Result<Values, Fact> {
        let mut values = context.values().clone();
        for name in &self.services {
            let known = match context.world.workshop.service(name) {
                Started::Listening { port } => {
                    let url = format!("http://127.0.0.1:{port}");
                    [("port", port.to_string()), ("url", url)]
                }
                Started::Failed(why) => {
                    let expected = format!("the service {name} is up");
                    return Err(Fact::wrong(expected, why).unconfirmed());
                }
            };
            let known = known.map(|(what, text)| (what.to_owned(), text));
            values.service.insert(name.clone(), known.into());
        }
        Ok(values)
    }

    /// The order, with these values.
    pub fn order(&self, context: &Context<'_>, values: &Values) -> Result<Order, Fact> {
        let argv = self.argv.render(values)?;
        let env = self.environment.render(context, values);
        let env = env?;
        let texts = argv.iter().chain(env.keys()).chain(env.values());
        if let Some(wrong) = misfit_in_all(texts.map(String::as_str)) {
            return Err(wrong);
        }
        Ok(Order {
            name: self.check.clone(),
            argv,
            env,
            pass: Vec::new(),
            dir: String::new(),
            stdin: String::new(),
            timeout_ms: self.timeout.millis().into(),
            output_bytes: self.output.bytes(),
            writable: self.writable.clone(),
            network: self.network(values),
            reports: Vec::new(),
            edits: Vec::new(),
            round: 0,
        })
    }

    fn network(&self, values: &Values) -> Network {
        let port = |known: &BTreeMap<String, String>| known.get("port")?.parse().ok();
        match self.network {
            NetworkName::None => Network::None,
            NetworkName::Any => Network::Any,
            NetworkName::Loopback => Network::Loopback {
                ports: values.service.values().filter_map(port).collect(),
            },
        }
    }
}

/// What the texts of a command may name: of the services those alone that are started for it.
pub fn names(services: &[String], source: &Source<'_>) -> Result<Names, Flaw> {
    let known: Vec<_> = source
        .file
        .services
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    if let Some(name) = services.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(Flaw::new("services", unknown_name("service", name, &known)));
    }
    let services = services.iter().map(String::as_str);
    Ok(source.file.names_with(services))
}

/// What it means that the command did not come to an end by itself; nothing where it did.
#[must_use]
pub fn cut_short(order: &Order, ran: &Ran, on_timeout: OnTimeout) -> Option<Fact> {
    match &ran.end {
        End::Exited(_) => None,
        End::Signalled(signal) => {
            let actual = format!("it was ended by signal {signal}: {}", tail(ran));
            Some(Fact::wrong("it ends by itself", actual))
        }
        End::TimedOut => {
            let span = u32::try_from(order.timeout_ms).unwrap_or(u32::MAX);
            let span = Span::from_millis(span);
            let actual = format!(
                "it was still running after {span}, and was ended with all that it had started"
            );
            let detail = Fact::wrong(format!("it ends within {span}"), actual);
            Some(match on_timeout {
                OnTimeout::Fail => detail,
                OnTimeout::Review => detail.unconfirmed(),
            })
        }
        End::TooMuchOutput => Some(too_much(order)),
        End::Withheld(why) => Some(Fact::wrong("what it says", why.clone()).unconfirmed()),
        End::NotStarted(why) => Some(Fact::wrong("it can be started", why.clone()).unconfirmed()),
    }
}

/// That the command printed more than it may.
#[must_use]
pub fn too_much(order: &Order) -> Fact {
    let expected = format!("it prints at most {} bytes", order.output_bytes);
    Fact::wrong(expected, "it printed more, and was ended")
}
