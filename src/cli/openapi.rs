//! The description of the HTTP interface of `comail serve`.

use serde_json::Value;

use super::generator::generator;
use super::{claims, next, submit};
use crate::report::Status;
use crate::serve::{self, KindDocument, Replies};
use crate::session::Line;

pub(super) fn openapi(kind: &KindDocument) -> Value {
    let mut generator = generator("/components/schemas");
    let replies = Replies {
        next: generator.subschema_for::<next::NextReply>(),
        submit: generator.subschema_for::<submit::SubmitReply>(),
        status: generator.subschema_for::<Status>(),
        claims: generator.subschema_for::<claims::Listed>(),
        event: generator.subschema_for::<Line<'static>>(),
    };
    serve::openapi(kind, &replies, generator)
}
