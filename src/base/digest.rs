//! SHA-256 digests, written as 64 hexadecimal digits.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::serde_as_text;

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^[0-9a-f]{64}$"))]
pub struct Digest([u8; 32]);

#[derive(Debug, thiserror::Error)]
#[error("expected a digest of 64 hexadecimal digits, not {0:?}")]
pub struct BadDigest(String);

impl Digest {
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub fn first_bytes<const N: usize>(&self) -> [u8; N] {
        std::array::from_fn(|index| self.0[index])
    }

    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    pub fn of_reader(reader: &mut dyn std::io::Read) -> std::io::Result<Self> {
        let mut hasher = Sha256::new();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match reader.read(&mut buffer)? {
                0 => return Ok(Self(hasher.finalize().into())),
                read => hasher.update(&buffer[..read]),
            }
        }
    }
}

/// Decodes lower-case hexadecimal digits; `None` unless there are exactly `2 * N` of them.
pub(crate) fn lower_hex<const N: usize>(digits: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    hex::decode_to_slice(digits, &mut bytes).ok()?;
    let upper = digits.bytes().any(|digit| digit.is_ascii_uppercase());
    (!upper).then_some(bytes)
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl FromStr for Digest {
    type Err = BadDigest;

    fn from_str(text: &str) -> Result<Self, BadDigest> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| BadDigest(text.to_owned()))?;
        Ok(Self(bytes))
    }
}

serde_as_text!(Digest);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_the_standard_test_vector() {
        // FIPS 180-2, appendix B.1.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Digest::of(b"abc").to_string(), expected);
        assert_eq!(
            Digest::of_parts([b"a".as_slice(), b"bc"]).to_string(),
            expected
        );
        assert_eq!(
            Digest::of_reader(&mut b"abc".as_slice()).unwrap(),
            expected.parse().unwrap()
        );
    }

    #[test]
    fn rejects_text_that_is_not_64_digits() {
        assert!("".parse::<Digest>().is_err());
        assert!("ba78".parse::<Digest>().is_err());
        assert!("g".repeat(64).parse::<Digest>().is_err());
    }

    #[test]
    fn lower_hex_rejects_upper_case_and_wrong_lengths() {
        assert_eq!(lower_hex("00ff1a"), Some([0x00, 0xFF, 0x1A]));
        for bad in [
            "00ff1", "00ff1a0", "00ff1A", "00ff1g", "00ff1/", "00ff1:", "00ffé", "",
        ] {
            assert_eq!(lower_hex::<3>(bad), None, "{bad:?}");
        }
    }
}
