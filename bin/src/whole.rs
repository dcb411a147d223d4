//! Files that are written as a whole, or not at all.

use crate::status::Failure;
use analysis::runfolder::{followed, parent};
use std::io::{self, Write};
use std::path::Path;

/// Writes a file.
///
/// # Errors
/// [`Failure`] that names the file.
pub(crate) fn write(path: &Path, octets: &[u8]) -> Result<(), Failure> {
    replace(path, octets)
        .map_err(|error| Failure::bad_input(format_args!("cannot write {}: {error}", path.display())))
}

/// Writes what a regular file shall hold, at the end of links if there are any. Of a pipe or a device the
/// octets go through it: a file in its place would be lost to whoever reads there.
pub(crate) fn replace(path: &Path, octets: &[u8]) -> io::Result<()> {
    if path.metadata().is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        return std::fs::File::options().write(true).open(path)?.write_all(octets);
    }
    let path = followed(path)?;
    // others may be writing the same file at the same time, on other machines too
    let mut whole = tempfile::Builder::new();
    whole.prefix(".riosim-");
    #[cfg(unix)]
    whole.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = whole.tempfile_in(parent(&path))?;
    file.write_all(octets)?;
    file.as_file().sync_all()?;
    file.persist(&path)?;
    Ok(())
}
