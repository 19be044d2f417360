//! Calling a reader that may panic on a damaged file.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use super::read_error::ReadError;

/// Calls `read`; its panic becomes [`ReadError::Damaged`].
///
/// calamine indexes the records of binary workbooks and computes cell references unchecked, so
/// a damaged file can make it panic; what it was reading is dropped then.
pub(super) fn calmly<T>(path: &Path, read: impl FnOnce() -> T) -> Result<T, ReadError> {
    catch_unwind(AssertUnwindSafe(read))
        .map_err(|_| ReadError::damaged(path, "its records contradict each other"))
}
