//! Files that are written as a whole, or not at all.

use crate::status::Failure;
use std::io::Write;
use std::path::Path;

/// Writes a file.
///
/// # Errors
/// [`Failure`] that names the file.
pub(crate) fn write(path: &Path, octets: &[u8]) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| {
        Failure::bad_input(format_args!("cannot write {}: {error}", path.display()))
    };
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let mut whole = tempfile::Builder::new();
    #[cfg(unix)]
    whole.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = whole.tempfile_in(parent.unwrap_or(Path::new("."))).map_err(|error| failed(&error))?;
    file.write_all(octets).map_err(|error| failed(&error))?;
    file.persist(path).map_err(|error| failed(&error))?;
    Ok(())
}
