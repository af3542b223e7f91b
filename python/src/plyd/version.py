"""The version of this package, which is that of the engine it comes with."""

VERSION = "0.1.0"
