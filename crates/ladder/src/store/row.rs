//! Values on their way to a database and back, alike for both kinds.

use std::borrow::Cow;

use super::error::StoreError;

/// A value of a query: what `$1`, `$2` and so on stand for.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Value<'a> {
    Null,
    Int(i64),
    Real(f64),
    Text(Cow<'a, str>),
}

impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<u64> for Value<'_> {
    /// Numbers that are counted up from 1, and bounds: far below 2^63.
    fn from(value: u64) -> Self {
        Self::Int(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<f64> for Value<'_> {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    /// Without NUL, which PostgreSQL does not take.
    fn from(value: &'a str) -> Self {
        Self::Text(if value.contains('\0') { value.replace('\0', "\u{fffd}").into() } else { value.into() })
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(value: &'a String) -> Self {
        value.as_str().into()
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// A row that a query gave.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Row(pub(super) Vec<Value<'static>>);

impl Row {
    /// A whole number.
    pub(super) fn int(&self, column: usize) -> Result<i64, StoreError> {
        self.maybe_int(column)?.ok_or_else(|| self.wrong(column, "a number"))
    }

    /// A number that is counted up from 0.
    pub(super) fn count(&self, column: usize) -> Result<u64, StoreError> {
        u64::try_from(self.int(column)?).map_err(|_| self.wrong(column, "a number from 0 on"))
    }

    pub(super) fn maybe_int(&self, column: usize) -> Result<Option<i64>, StoreError> {
        match self.0.get(column) {
            Some(Value::Null) => Ok(None),
            Some(Value::Int(value)) => Ok(Some(*value)),
            _ => Err(self.wrong(column, "a number")),
        }
    }

    pub(super) fn maybe_count(&self, column: usize) -> Result<Option<u64>, StoreError> {
        self.maybe_int(column)?.map(|_| self.count(column)).transpose()
    }

    pub(super) fn real(&self, column: usize) -> Result<f64, StoreError> {
        self.maybe_real(column)?.ok_or_else(|| self.wrong(column, "a real number"))
    }

    pub(super) fn maybe_real(&self, column: usize) -> Result<Option<f64>, StoreError> {
        match self.0.get(column) {
            Some(Value::Null) => Ok(None),
            Some(Value::Real(value)) => Ok(Some(*value)),
            _ => Err(self.wrong(column, "a real number")),
        }
    }

    pub(super) fn text(&self, column: usize) -> Result<&str, StoreError> {
        self.maybe_text(column)?.ok_or_else(|| self.wrong(column, "a text"))
    }

    pub(super) fn maybe_text(&self, column: usize) -> Result<Option<&str>, StoreError> {
        match self.0.get(column) {
            Some(Value::Null) => Ok(None),
            Some(Value::Text(value)) => Ok(Some(value)),
            _ => Err(self.wrong(column, "a text")),
        }
    }

    /// A value that is kept as JSON.
    pub(super) fn json<T: serde::de::DeserializeOwned>(&self, column: usize) -> Result<T, StoreError> {
        serde_json::from_str(self.text(column)?).map_err(|error| {
            StoreError::corrupt(format!("column {column} of a row is no such JSON: {error}"))
        })
    }

    fn wrong(&self, column: usize, wanted: &str) -> StoreError {
        let found = match self.0.get(column) {
            None => "nothing".to_owned(),
            Some(Value::Null) => "null".to_owned(),
            Some(Value::Int(value)) => value.to_string(),
            Some(Value::Real(value)) => value.to_string(),
            Some(Value::Text(_)) => "a text".to_owned(),
        };
        StoreError::corrupt(format!("{found} in column {column} of a row, where {wanted} belongs"))
    }
}

/// A value as JSON, to be kept as a text.
pub(super) fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("it has texts for keys, and nothing that JSON cannot say")
}
