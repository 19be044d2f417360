//! A service that must answer a request as it should.

use super::super::context::Context;
use super::super::kind::Probe;
use super::super::kind::first_facts;
use super::answer::AnswerRules;
use super::request::RequestPlan;
use crate::gate::Cost;
use crate::gate::Fact;
use crate::quest::Span;
use crate::world::sandbox::{Call, Called, Started};

/// Asks a service that runs for the judgement.
#[derive(Debug)]
pub(super) struct ServiceCheck {
    pub(super) service: String,
    pub(super) request: RequestPlan,
    pub(super) answer: AnswerRules,
    pub(super) timeout: Span,
}

impl Probe for ServiceCheck {
    fn cost(&self) -> Cost {
        Cost::Command
    }

    fn run(&self, context: &Context<'_>) -> Vec<Fact> {
        let request = match self.request.request(context) {
            Ok(Some(request)) => request,
            Ok(None) => return Vec::new(),
            Err(found) => return vec![found],
        };
        let workshop = context.world.workshop;
        if let Started::Failed(why) = workshop.service(&self.service) {
            let expected = format!("a service {} that starts", self.service);
            return vec![Fact::wrong(expected, why).unconfirmed()];
        }
        let named = request.named();
        let call = Call {
            service: self.service.clone(),
            body: request.sent_body(),
            method: request.method,
            path: request.path,
            headers: request.headers.into_iter().collect(),
            timeout_ms: self.timeout.millis().into(),
        };
        match workshop.call(&call) {
            // A service that goes on has only this request to blame for its silence.
            Called::Refused(why) => {
                let actual = format!("the service gave no answer to this request: {why}");
                let detail = Fact::wrong("an answer of the service", actual);
                vec![detail.at(named)]
            }
            Called::Unanswered(why) => {
                let detail = Fact::wrong("an answer of the service", why);
                vec![detail.at(named).unconfirmed()]
            }
            Called::Answered(answer) => {
                let misfits = match self.answer.misfits(context, &answer) {
                    Ok(misfits) => misfits.into_iter(),
                    Err(found) => return vec![found],
                };
                let placed = misfits.map(|mut detail| {
                    let inside = detail.location.take();
                    let place = inside.map_or_else(|| named.clone(), |at| format!("{named}: {at}"));
                    detail.at(place)
                });
                first_facts(placed.collect())
            }
        }
    }
}
