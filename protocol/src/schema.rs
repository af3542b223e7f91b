//! The JSON Schema of both directions, as it stands in `schema/`. Making it from the types takes code for
//! each type and field, which a build without the feature `schema` leaves out.

use serde_json::Value;

const REQUESTS: &str = include_str!("../schema/requests.json");
const MESSAGES: &str = include_str!("../schema/messages.json");

/// The schemas by name: `requests` and `messages`, each of one line of its direction.
///
/// ```
/// for (direction, schema) in plyd_protocol::schemas() {
///     println!("{direction}: {schema:#}");
/// }
/// assert_eq!(plyd_protocol::schemas().len(), 2);
/// ```
#[must_use]
pub fn schemas() -> Vec<(&'static str, Value)> {
    let read = |text| serde_json::from_str(text).expect("the files hold JSON, as a test has read them");
    vec![("requests", read(REQUESTS)), ("messages", read(MESSAGES))]
}
