//! The document of the API, OpenAPI 3.1.

use serde_json::{Map, Value, json};

use super::endpoints::{API, Answer, Endpoint, QueryParameter, Takes, endpoints};
use super::schemas::{Type, generator};
use crate::pages::refusal::Problem;

/// The document.
pub(in crate::pages) fn document() -> Value {
    let mut generator = generator();
    let problem = Type::of::<Problem>().schema(&mut generator);
    let mut paths = Map::new();
    for endpoint in endpoints() {
        let answer = match &endpoint.answer {
            Answer::Json(answer) => {
                json!({ "application/json": { "schema": answer.schema(&mut generator) } })
            }
            Answer::Events(events) => {
                let mut kinds = Map::new();
                for (name, data) in events {
                    kinds.insert((*name).into(), data.schema(&mut generator));
                }
                let about = "Server-sent events. `x-events` has the data of each by its name, as JSON.";
                json!({
                    "text/event-stream": { "schema": { "type": "string", "description": about }, "x-events": kinds },
                })
            }
        };
        paths.insert(format!("{API}{}", endpoint.path), json!({ "get": operation(&endpoint, answer) }));
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "A ladder of plyd",
            "description": "The public data of a ladder. All requests are read-only, and no login is needed. \
                Fields and addresses may be added, but none is removed: ignore what you do not know.",
            "version": "1",
        },
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "responses": {
                "Problem": {
                    "description": "Why the request was not answered (RFC 9457).",
                    "content": { "application/problem+json": { "schema": problem } },
                },
            },
        },
    })
}

fn operation(endpoint: &Endpoint, content: Value) -> Value {
    let has_id = endpoint.path.contains("{id}");
    let id = json!({
        "name": "id", "in": "path", "required": true, "schema": { "type": "integer", "minimum": 1 },
    });
    let parameters: Vec<Value> =
        has_id.then_some(id).into_iter().chain(endpoint.query.iter().map(parameter)).collect();
    let problem = json!({ "$ref": "#/components/responses/Problem" });
    let mut responses = Map::from_iter([
        ("200".to_owned(), json!({ "description": "The answer.", "content": content })),
        ("429".to_owned(), problem.clone()),
        ("503".to_owned(), problem.clone()),
    ]);
    if has_id {
        responses.insert("404".into(), problem.clone());
    }
    responses.insert("400".into(), problem.clone());
    responses.insert("500".into(), problem);
    if matches!(endpoint.answer, Answer::Events(_)) {
        responses.insert("204".into(), json!({ "description": "There is nothing to watch any more." }));
    }
    json!({
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "parameters": parameters,
        "responses": responses,
    })
}

fn parameter(parameter: &QueryParameter) -> Value {
    let schema = match parameter.takes {
        Takes::Bool => json!({ "type": "boolean" }),
        Takes::Integer(least, None) => json!({ "type": "integer", "minimum": least }),
        Takes::Integer(least, Some(most)) => json!({ "type": "integer", "minimum": least, "maximum": most }),
    };
    json!({
        "name": parameter.name, "in": "query", "required": parameter.required, "description": parameter.about, "schema": schema,
    })
}
