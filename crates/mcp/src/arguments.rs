//! The arguments of a call, read one by one, so that a fault is known by its code and its place.

use plyd_protocol::{ErrorCode, kind_of, pointer};
use serde_json::{Map, Value};

use crate::error::ToolError;

/// Arguments of which those that were read are taken out.
pub(crate) struct Arguments(Map<String, Value>);

fn wrong_type(at: &str, expected: &str, found: &Value) -> ToolError {
    let message = format!("expected {expected}, found {}", kind_of(found));
    ToolError::new(ErrorCode::WrongType, message).at(at)
}

impl Arguments {
    pub(crate) fn new(given: Option<Map<String, Value>>) -> Self {
        Self(given.unwrap_or_default())
    }

    /// An argument as it stands; none if it is absent or null.
    pub(crate) fn value(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name).filter(|value| !value.is_null())
    }

    /// A text, if it is given.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, ToolError> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong_type(&pointer("", name), "a string", &other)),
        }
    }

    /// A text that must be given.
    pub(crate) fn needed_text(&mut self, name: &str) -> Result<String, ToolError> {
        let missing = || ToolError::new(ErrorCode::MissingField, format!("the argument `{name}` is missing"));
        self.text(name)?.ok_or_else(|| missing().at(pointer("", name)))
    }

    /// A list of texts; empty if it is absent.
    pub(crate) fn texts(&mut self, name: &str) -> Result<Vec<String>, ToolError> {
        let at = pointer("", name);
        let list = match self.value(name) {
            None => return Ok(Vec::new()),
            Some(Value::Array(list)) => list,
            Some(other) => return Err(wrong_type(&at, "an array of strings", &other)),
        };
        let text = |(index, value)| match value {
            Value::String(text) => Ok(text),
            other => Err(wrong_type(&format!("{at}/{index}"), "a string", &other)),
        };
        list.into_iter().enumerate().map(text).collect()
    }

    /// A whole number between these two, or `unset`.
    pub(crate) fn whole(&mut self, name: &str, least: u64, most: u64, unset: u64) -> Result<u64, ToolError> {
        let at = pointer("", name);
        let Some(value) = self.value(name) else { return Ok(unset) };
        if !value.is_number() {
            return Err(wrong_type(&at, "an integer", &value));
        }
        match value.as_u64() {
            Some(number) if (least..=most).contains(&number) => Ok(number),
            None if !value.is_i64() => {
                Err(ToolError::new(ErrorCode::NotInteger, "expected an integer").at(at))
            }
            _ => {
                let message = format!("give {least} to {most}");
                Err(ToolError::new(ErrorCode::OutOfRange, message).at(at))
            }
        }
    }

    /// Says that all arguments were read.
    ///
    /// # Errors
    /// One is left, which the tool does not have.
    pub(crate) fn finish(self) -> Result<(), ToolError> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(name) => {
                let message = format!("the tool has no argument `{}`", plyd_protocol::echo(name));
                Err(ToolError::new(ErrorCode::UnknownField, message).at(pointer("", name)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn arguments(value: Value) -> Arguments {
        Arguments::new(value.as_object().cloned())
    }

    /// The code and the pointer of a fault.
    fn fault<T: std::fmt::Debug>(result: Result<T, ToolError>) -> (ErrorCode, String) {
        let error = result.unwrap_err();
        (error.code, error.pointer.unwrap())
    }

    #[test]
    fn each_fault_has_its_code_and_its_place() {
        let given = || arguments(json!({"text": 1, "list": ["a", 2], "number": 7, "half": 0.5, "less": -1}));
        assert_eq!(fault(given().text("text")), (ErrorCode::WrongType, "/text".into()));
        assert_eq!(fault(given().needed_text("name")), (ErrorCode::MissingField, "/name".into()));
        assert_eq!(fault(given().texts("list")), (ErrorCode::WrongType, "/list/1".into()));
        assert_eq!(fault(given().whole("number", 1, 6, 1)), (ErrorCode::OutOfRange, "/number".into()));
        assert_eq!(fault(given().whole("half", 1, 6, 1)), (ErrorCode::NotInteger, "/half".into()));
        assert_eq!(fault(given().whole("less", 1, 6, 1)), (ErrorCode::OutOfRange, "/less".into()));
        assert_eq!(fault(arguments(json!({"a/b": 1})).finish()), (ErrorCode::UnknownField, "/a~1b".into()));
    }

    #[test]
    fn what_is_absent_has_its_default() {
        let mut given = arguments(json!({"text": null}));
        assert_eq!(given.text("text"), Ok(None));
        assert_eq!((given.texts("moves"), given.whole("number", 1, 6, 3)), (Ok(Vec::new()), Ok(3)));
        assert_eq!(given.finish(), Ok(()));
    }
}
