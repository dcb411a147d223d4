//! The append log of a task: every finished run is in it before it is counted.
//!
//! A log is lines of text: length and CRC-32 of what follows, in hexadecimal, then one JSON object. The first
//! line binds the log to a scenario and a version of the program. Lines are appended in groups, each with one
//! `fsync`. A line that is not whole can only be at the end (a kill or a full disk cut it off); reading stops
//! there, and the owner of the log cuts it off before it goes on.
//!
//! There are no locks: a task is the only writer of its log. Should a second process write to it all the
//! same, the length of the file says so before anything is lost.

use analysis::sweep::Run;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// What the runs of a log belong to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    /// Version of the program.
    pub riosim: String,
    /// Fingerprint of a small run that every version makes: it changes when results do.
    pub reference: String,
    /// Hash of the scenario.
    pub scenario: String,
    /// Seed of the sweep.
    pub seed: u64,
}

/// One finished run in a log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Key of the point.
    pub point: String,
    /// Replication, from 1.
    pub replication: u32,
    /// Wall-clock microseconds; no result depends on it.
    pub wall_us: u64,
    /// What was measured.
    #[serde(flatten)]
    pub run: Run,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Entry {
    Header(Header),
    Run(Record),
}

/// What is in a log.
#[derive(Debug, Default)]
pub(crate) struct Content {
    /// What the runs belong to; the last header counts.
    pub header: Option<Header>,
    /// Finished runs.
    pub records: Vec<Record>,
    /// Octets up to the end of the last whole line.
    pub whole: u64,
    /// Octets after that.
    pub torn: u64,
}

/// Length and checksum in front of a line.
const PREFIX: usize = 18;

fn line(entry: &Entry) -> Vec<u8> {
    let json = serde_json::to_vec(entry).expect("string keys only");
    let mut line = format!("{:08x} {:08x} ", json.len(), crc32fast::hash(&json)).into_bytes();
    line.extend(json);
    line.push(b'\n');
    line
}

/// The JSON of the first line of `octets`, and the length of the line; `None` if it is not whole.
fn first(octets: &[u8]) -> Option<(&[u8], usize)> {
    let prefix = std::str::from_utf8(octets.get(..PREFIX)?).ok()?;
    let (length, rest) = prefix.split_once(' ')?;
    let length = usize::from_str_radix(length, 16).ok()?;
    let checksum = u32::from_str_radix(rest.trim_end(), 16).ok()?;
    let end = PREFIX.checked_add(length)?;
    let json = octets.get(PREFIX..end)?;
    if octets.get(end) != Some(&b'\n') || crc32fast::hash(json) != checksum {
        return None;
    }
    Some((json, end + 1))
}

/// Reads a log as far as it is whole.
pub(crate) fn read(path: &Path) -> io::Result<Content> {
    let mut octets = Vec::new();
    File::open(path)?.read_to_end(&mut octets)?;
    let mut content = Content::default();
    let mut at = 0;
    while let Some((json, length)) = first(&octets[at..]) {
        match serde_json::from_slice(json) {
            Ok(Entry::Header(header)) => content.header = Some(header),
            Ok(Entry::Run(record)) => content.records.push(record),
            // whole, so nothing that may be cut off
            Err(error) => {
                let text = format!("a line that another version of riosim wrote ({error})");
                return Err(io::Error::new(io::ErrorKind::InvalidData, text));
            }
        }
        at += length;
    }
    content.whole = at as u64;
    content.torn = (octets.len() - at) as u64;
    Ok(content)
}

/// What a log is written to.
pub(crate) trait Media {
    /// Octets there are.
    fn length(&self) -> io::Result<u64>;
    /// Adds at the end.
    fn append(&mut self, octets: &[u8]) -> io::Result<()>;
    /// Returns when everything is durable.
    fn sync(&mut self) -> io::Result<()>;
    /// Cuts off what is behind `length`.
    fn cut(&mut self, length: u64) -> io::Result<()>;
}

impl Media for File {
    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }
    fn append(&mut self, octets: &[u8]) -> io::Result<()> {
        self.write_all(octets)
    }
    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }
}

/// The writing end of a log.
#[derive(Debug)]
pub(crate) struct Log<M: Media> {
    media: M,
    length: u64,
}

impl Log<File> {
    /// Opens the log at `path` for a task, makes it if it is not there, and cuts off what is not whole.
    ///
    /// Gives back how many octets were cut off as well.
    pub fn open(path: &Path, header: &Header) -> io::Result<(Self, u64)> {
        let content = match read(path) {
            Ok(content) => content,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Content::default(),
            Err(error) => return Err(error),
        };
        let mut file = OpenOptions::new().append(true).create(true).open(path)?;
        if content.torn > 0 {
            file.cut(content.whole)?;
        }
        let mut log = Log { media: file, length: content.whole };
        if content.header.as_ref() != Some(header) {
            log.write(line(&Entry::Header(header.clone())))?;
        }
        // the name of a new file has to be durable as well
        #[cfg(unix)]
        if let Some(folder) = path.parent() {
            File::open(folder)?.sync_all()?;
        }
        Ok((log, content.torn))
    }
}

impl<M: Media> Log<M> {
    /// Makes these runs durable, all or none.
    pub fn commit(&mut self, records: &[Record]) -> io::Result<()> {
        let lines = records.iter().flat_map(|record| line(&Entry::Run(record.clone()))).collect();
        self.write(lines)
    }

    fn write(&mut self, lines: Vec<u8>) -> io::Result<()> {
        if self.media.length()? != self.length {
            return Err(io::Error::other("another process writes to this log"));
        }
        if let Err(error) = self.media.append(&lines).and_then(|()| self.media.sync()) {
            // reading would stop at half a line anyway: this only keeps the file tidy
            let _ = self.media.cut(self.length);
            return Err(error);
        }
        self.length += lines.len() as u64;
        Ok(())
    }
}

/// Name of the log of a task.
pub(crate) fn path(folder: &Path, (index, count): (u32, u32)) -> PathBuf {
    folder.join("tasks").join(format!("{index}-of-{count}.log"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::sweep::ScopeRow;
    use proptest::prelude::*;

    fn header() -> Header {
        Header { riosim: "1".into(), reference: "2".into(), scenario: "3".into(), seed: 4 }
    }

    fn record(replication: u32) -> Record {
        let rows = vec![ScopeRow { scope: "overall\n".into(), values: vec![Some(0.1), None, Some(1e-300)] }];
        let run = Run { seed: 5, outcome: "6".into(), stopped: false, rows };
        Record { point: "7".into(), replication, wall_us: 8, run }
    }

    fn log_of(records: u32) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.log");
        let (mut log, _) = Log::open(&path, &header()).unwrap();
        for replication in 1..=records {
            log.commit(&[record(replication)]).unwrap();
        }
        (folder, path)
    }

    #[test]
    fn what_is_written_is_read() {
        let (_folder, path) = log_of(3);
        let (mut log, torn) = Log::open(&path, &header()).unwrap();
        log.commit(&[record(4), record(5)]).unwrap();
        let content = read(&path).unwrap();
        assert_eq!((torn, content.torn, content.header), (0, 0, Some(header())));
        assert_eq!(content.records, (1..=5).map(record).collect::<Vec<Record>>());
        // another scenario: the new header counts
        let other = Header { scenario: "other".into(), ..header() };
        Log::open(&path, &other).unwrap();
        let content = read(&path).unwrap();
        assert_eq!((content.header, content.records.len()), (Some(other), 5));
    }

    /// Cut at every octet: whole records stay, the rest goes, and writing goes on.
    #[test]
    fn a_torn_end_costs_what_is_torn() {
        let (_folder, path) = log_of(3);
        let octets = std::fs::read(&path).unwrap();
        let ends: Vec<usize> =
            octets.iter().enumerate().filter(|(_, octet)| **octet == b'\n').map(|(at, _)| at + 1).collect();
        for length in 0..octets.len() {
            std::fs::write(&path, &octets[..length]).unwrap();
            let whole = ends.iter().filter(|end| **end <= length).count();
            assert_eq!(read(&path).unwrap().records.len(), whole.saturating_sub(1), "cut at {length}");
            let (mut log, _) = Log::open(&path, &header()).unwrap();
            log.commit(&[record(9)]).unwrap();
            let content = read(&path).unwrap();
            assert_eq!((content.torn, content.header), (0, Some(header())));
            assert_eq!(content.records.last().map(|record| record.replication), Some(9));
        }
    }

    /// A whole line that means nothing here is somebody's work: it is not taken for a torn end.
    #[test]
    fn lines_of_other_versions_are_refused() {
        let (_folder, path) = log_of(1);
        let json = br#"{"walk":{"point":"7"}}"#;
        let mut octets = std::fs::read(&path).unwrap();
        octets.extend(format!("{:08x} {:08x} ", json.len(), crc32fast::hash(json)).into_bytes());
        octets.extend(json);
        octets.push(b'\n');
        std::fs::write(&path, &octets).unwrap();
        let error = Log::open(&path, &header()).unwrap_err();
        assert!(error.to_string().contains("another version"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), octets);
    }

    #[test]
    fn a_second_writer_is_noticed() {
        let (_folder, path) = log_of(1);
        let (mut first, _) = Log::open(&path, &header()).unwrap();
        let (mut second, _) = Log::open(&path, &header()).unwrap();
        first.commit(&[record(2)]).unwrap();
        let error = second.commit(&[record(3)]).unwrap_err();
        assert!(error.to_string().contains("another process"), "{error}");
        assert_eq!(read(&path).unwrap().records.len(), 2);
    }

    /// A disk with room for so many octets.
    struct Small(Vec<u8>, usize);

    impl Media for Small {
        fn length(&self) -> io::Result<u64> {
            Ok(self.0.len() as u64)
        }
        fn append(&mut self, octets: &[u8]) -> io::Result<()> {
            let room = self.1 - self.0.len();
            self.0.extend(&octets[..octets.len().min(room)]);
            if octets.len() > room { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }
        fn sync(&mut self) -> io::Result<()> {
            Ok(())
        }
        fn cut(&mut self, length: u64) -> io::Result<()> {
            self.0.truncate(length as usize);
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_takes_all_or_none() {
        let one = line(&Entry::Run(record(1))).len();
        for room in one..3 * one {
            let mut log = Log { media: Small(Vec::new(), room), length: 0 };
            log.commit(&[record(1)]).unwrap();
            let result = log.commit(&[record(2), record(3)]);
            assert_eq!(result.is_ok(), room >= 3 * one);
            assert_eq!(log.media.0.len(), if result.is_ok() { 3 * one } else { one });
        }
    }

    proptest! {
        /// Whatever a disk makes of a log, reading it neither panics nor finds a run that nobody wrote.
        #[test]
        fn damage_is_never_taken_for_a_run(at in 0usize..2_000, bits in 1u8.., cut in 0usize..2_000) {
            let (_folder, path) = log_of(3);
            let mut octets = std::fs::read(&path).unwrap();
            let length = octets.len();
            octets[at % length] ^= bits;
            octets.truncate(length - cut % length);
            std::fs::write(&path, &octets).unwrap();
            for found in read(&path).unwrap().records {
                prop_assert_eq!(&found, &record(found.replication));
            }
        }
    }
}
