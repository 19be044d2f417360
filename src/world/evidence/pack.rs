//! Bodies as they are stored: gzip, the same bytes for the same body.

use std::io::{self, Read as _, Write as _};

use flate2::read::GzDecoder;
use flate2::{Compression, GzBuilder};

/// The operating system field of a gzip header, for "unknown" (RFC 1952 §2.3.1).
const OS_UNKNOWN: u8 = 255;

/// A stored body that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum BadPack {
    /// It is not whole gzip.
    #[error("the stored body is damaged; restore it from a copy")]
    Damaged(#[source] io::Error),
    /// It unpacks to more than any body that was stored.
    #[error("the stored body unpacks to more than {limit_bytes} bytes: it was not stored so")]
    TooLarge {
        /// The most bytes that were to come.
        limit_bytes: u64,
    },
}

/// Compresses a body, without time or system in its header.
///
/// # Panics
///
/// Never: it writes to memory alone, which does not fail.
#[must_use]
pub fn pack(body: &[u8]) -> Vec<u8> {
    let mut packer = GzBuilder::new()
        .mtime(0)
        .operating_system(OS_UNKNOWN)
        .write(Vec::new(), Compression::default());
    packer
        .write_all(body)
        .and_then(|()| packer.finish())
        .expect("writing to memory does not fail")
}

/// Unpacks a body of at most `limit_bytes`.
pub fn unpack(packed: &[u8], limit_bytes: u64) -> Result<Vec<u8>, BadPack> {
    let mut body = Vec::new();
    GzDecoder::new(packed)
        .take(limit_bytes.saturating_add(1))
        .read_to_end(&mut body)
        .map_err(BadPack::Damaged)?;
    if body.len() as u64 > limit_bytes {
        return Err(BadPack::TooLarge { limit_bytes });
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn refuses_more_than_was_stored() {
        let bomb = pack(&vec![0; 1 << 20]);
        assert!(bomb.len() < 1 << 12);
        assert!(matches!(
            unpack(&bomb, 1000),
            Err(BadPack::TooLarge { limit_bytes: 1000 })
        ));
        assert_eq!(unpack(&bomb, 1 << 20).unwrap().len(), 1 << 20);
    }

    #[test]
    fn refuses_damage() {
        let mut packed = pack(b"hello, hello, hello");
        packed.pop();
        assert!(matches!(unpack(&packed, 100), Err(BadPack::Damaged(_))));
        let mut packed = pack(b"hello, hello, hello");
        let crc = packed.len() - 8;
        packed[crc] ^= 1;
        assert!(matches!(unpack(&packed, 100), Err(BadPack::Damaged(_))));
        assert!(unpack(b"", 100).is_err());
    }

    #[test]
    fn keeps_time_and_system_out() {
        let packed = pack(b"x");
        assert_eq!(&packed[4..8], &[0; 4], "MTIME");
        assert_eq!(packed[9], OS_UNKNOWN);
    }

    proptest! {
        #[test]
        fn unpacks_what_it_packed(body in proptest::collection::vec(any::<u8>(), 0..2000)) {
            let packed = pack(&body);
            prop_assert_eq!(&packed, &pack(&body));
            prop_assert_eq!(unpack(&packed, body.len() as u64).unwrap(), body);
        }
    }
}
