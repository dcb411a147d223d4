//! A page as PDF, printed by a Chromium that is installed.

use crate::status::Failure;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What Chromiums are called.
const NAMES: [&str; 5] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

/// The first Chromium on the path.
///
/// # Errors
/// [`Failure`] if there is none.
pub(crate) fn browser() -> Result<PathBuf, Failure> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let places = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    places.into_iter().find(|place| place.is_file()).ok_or_else(|| {
        Failure::bad_input(format_args!(
            "--pdf: no Chromium found on PATH; allowed: one of {}; or print the page from any browser",
            NAMES.join(", ")
        ))
    })
}

/// The page as PDF.
///
/// # Errors
/// [`Failure`] if the browser does not run, or prints nothing.
pub(crate) fn print(browser: &Path, page: &str) -> Result<Vec<u8>, Failure> {
    let failed =
        |why: &dyn std::fmt::Display| Failure::bad_input(format_args!("--pdf: {}: {why}", browser.display()));
    let folder = tempfile::tempdir().map_err(|error| failed(&error))?;
    let (html, pdf) = (folder.path().join("page.html"), folder.path().join("page.pdf"));
    std::fs::write(&html, page).map_err(|error| failed(&error))?;
    // The page is ours, and its policy forbids the network; a sandbox needs rights that containers lack.
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--no-pdf-header-footer"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("--print-to-pdf={}", pdf.display()))
        .arg(format!("file://{}", html.display()))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| failed(&error))?;
    match std::fs::read(&pdf) {
        Ok(octets) if octets.starts_with(b"%PDF") => Ok(octets),
        _ => {
            let said = String::from_utf8_lossy(&output.stderr);
            let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("nothing was said");
            Err(failed(&format_args!("printed nothing ({}): {last}", output.status)))
        }
    }
}
