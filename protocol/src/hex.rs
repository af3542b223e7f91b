//! 64-bit numbers that travel as text, because JSON numbers hold 53 bits: 1-16 lower-case hexadecimal digits.

#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::{borrow::Cow, fmt, str::FromStr};

/// The text is not 1-16 lower-case hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseHexError;

impl fmt::Display for ParseHexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected 1 to 16 lower-case hexadecimal digits")
    }
}

impl std::error::Error for ParseHexError {}

fn parse(text: &str) -> Result<u64, ParseHexError> {
    let digits = text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if digits && text.len() <= 16 {
        u64::from_str_radix(text, 16).map_err(|_| ParseHexError)
    } else {
        Err(ParseHexError)
    }
}

macro_rules! hex {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:x}", self.0)
            }
        }

        impl FromStr for $name {
            type Err = ParseHexError;
            fn from_str(text: &str) -> Result<Self, ParseHexError> {
                parse(text).map(Self)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Cow::<str>::deserialize(deserializer)?.parse().map_err(D::Error::custom)
            }
        }

        #[cfg(feature = "schema")]
        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "pattern": "^[0-9a-f]{1,16}$" })
            }
        }
    };
}

hex! {
    /// A seed of random choices.
    ///
    /// ```
    /// use plyd_protocol::Seed;
    ///
    /// assert_eq!("2a".parse(), Ok(Seed(42)));
    /// assert_eq!(Seed(255).to_string(), "ff");
    /// assert!("2A".parse::<Seed>().is_err());
    /// ```
    Seed
}
hex! {
    /// The hash of a position: equal for equal positions under equal rules, stable within one build.
    Hash
}
