//! Words and flags of `riosim sweep` and `riosim compare`.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// The part of the points that a task owns: those congruent to `index` modulo `count`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    /// From 0.
    pub index: u32,
    /// At least 1.
    pub count: u32,
}

impl Shard {
    /// Everything.
    pub const ALL: Shard = Shard { index: 0, count: 1 };

    /// Its points.
    pub fn points(self, all: usize) -> impl Iterator<Item = usize> + Clone {
        (self.index as usize..all).step_by(self.count as usize)
    }
}

/// Parameter sweeps.
#[derive(Debug, Args)]
pub(crate) struct SweepArgs {
    #[command(subcommand)]
    pub verb: SweepVerb,
}

/// What to do with a sweep; `riosim sweep x.json` is short for `riosim sweep run x.json`.
#[derive(Debug, Subcommand)]
pub(crate) enum SweepVerb {
    /// Simulate what is missing of a sweep, then write its results
    Run(Box<RunArgs>),
    /// Say how far a sweep is
    Status(FolderArgs),
    /// Write the results of a sweep whose shards ran apart
    Merge(MergeArgs),
    /// Stop the Slurm jobs of a sweep
    Cancel(FolderArgs),
    /// Draw a metric against one, two or three axes
    Plot(Box<PlotArgs>),
    /// Print the JSON Schema of sweep files
    Schema,
}

/// Flags of `sweep run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Sweep file
    #[arg(value_name = "SWEEP")]
    pub sweep: PathBuf,
    /// Result folder (default: results/sweeps/ and the name of the sweep)
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// List the points and estimate the cost; simulate next to nothing, write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Runs at a time (default: one for each core, and not more than fit into memory)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Simulate only the points congruent to I modulo N (I from 0), and leave the results to sweep merge
    #[arg(long, value_name = "I/N", value_parser = parse_shard)]
    pub shard: Option<Shard>,
    /// Count the runs that are there although scenario, seed or program have changed
    #[arg(long)]
    pub accept_changes: bool,
    /// Throw away the runs that are there
    #[arg(long, conflicts_with = "accept_changes")]
    pub restart: bool,
    /// No progress bar and no tables
    #[arg(long, short)]
    pub quiet: bool,
    /// Who runs the points
    #[arg(long, value_name = "ENGINE", default_value = "local")]
    pub engine: Engine,
    #[command(flatten, next_help_heading = "Slurm")]
    pub slurm: SlurmArgs,
}

/// Who runs the points.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    /// This machine
    Local,
    /// A Slurm cluster: a job array, and a job that merges
    Slurm,
}

/// What Slurm should know.
#[derive(Debug, Args)]
pub(crate) struct SlurmArgs {
    /// Tasks of the job array (default: one for each point, at most 64)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub array_size: Option<u32>,
    /// Tasks that may run at the same time (default: as many as the cluster likes)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub array_limit: Option<u32>,
    /// Partition (default: that of the cluster)
    #[arg(long, value_name = "NAME")]
    pub partition: Option<String>,
    /// Account to charge
    #[arg(long, value_name = "NAME")]
    pub account: Option<String>,
    /// Most time of a task, as Slurm writes it: 2:00:00
    #[arg(long, value_name = "TIME")]
    pub time: Option<String>,
    /// Memory of a task, as Slurm writes it: 4G
    #[arg(long, value_name = "SIZE")]
    pub mem: Option<String>,
    /// Cores of a task (default 1)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub cpus_per_task: Option<u16>,
    /// Write the batch scripts, do not submit them
    #[arg(long)]
    pub no_submit: bool,
}

impl SlurmArgs {
    /// The first flag that is given: each is for Slurm alone.
    pub fn given(&self) -> Option<&'static str> {
        let all = [
            ("--array-size", self.array_size.is_some()),
            ("--array-limit", self.array_limit.is_some()),
            ("--partition", self.partition.is_some()),
            ("--account", self.account.is_some()),
            ("--time", self.time.is_some()),
            ("--mem", self.mem.is_some()),
            ("--cpus-per-task", self.cpus_per_task.is_some()),
            ("--no-submit", self.no_submit),
        ];
        all.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }
}

/// A folder that a sweep wrote.
#[derive(Debug, Args)]
pub(crate) struct FolderArgs {
    /// Folder of the sweep
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
}

/// Flags of `sweep merge`.
#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Folder of the sweep
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
    /// Merge what there is although points are missing
    #[arg(long)]
    pub partial: bool,
    /// Count runs of other versions of scenario or program
    #[arg(long)]
    pub accept_changes: bool,
    /// No tables
    #[arg(long, short)]
    pub quiet: bool,
}

/// Flags of `sweep plot`.
#[derive(Debug, Args)]
pub(crate) struct PlotArgs {
    /// Folder of the sweep
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
    /// Column of the results
    #[arg(long, value_name = "NAME", default_value = "latency_mean_ns")]
    pub metric: String,
    /// overall, or a flow
    #[arg(long, value_name = "FLOW", default_value = "overall")]
    pub scope: String,
    /// Horizontal axis (default: the one with the most numbers)
    #[arg(long, value_name = "AXIS")]
    pub x: Option<String>,
    /// Axis with a line for each value, or the vertical one of a heat map (default: the next)
    #[arg(long, value_name = "AXIS")]
    pub y: Option<String>,
    /// Axis with a panel for each value (default: the next)
    #[arg(long, value_name = "AXIS")]
    pub panels: Option<String>,
    /// Hold an axis at a value: --where load=0.7
    #[arg(long = "where", value_name = "AXIS=VALUE")]
    pub fixed: Vec<String>,
    /// A heat map, true or false (default: if both axes have eight numbers or more)
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub heat: Option<bool>,
    /// Logarithmic values, true or false (default: if they span more than a factor of 30)
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub log: Option<bool>,
}

/// Flags of `compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Folder of a sweep, or a part of it: FOLDER:axis=value,axis=value
    #[arg(value_name = "A")]
    pub a: String,
    /// Likewise
    #[arg(value_name = "B")]
    pub b: String,
    /// Columns of the results (default: loads, goodput, latencies, head-of-line blocking, stalls)
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub metric: Vec<String>,
    /// overall, or a flow (default: all that both have)
    #[arg(long, value_name = "FLOW")]
    pub scope: Option<String>,
    /// Every column
    #[arg(long, conflicts_with = "metric")]
    pub all: bool,
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

fn parse_shard(text: &str) -> Result<Shard, String> {
    let wrong = || "expected I/N, for example 0/8".to_owned();
    let (index, count) = text.split_once('/').ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse::<u32>().map_err(|_| wrong());
    let shard = Shard { index: number(index)?, count: number(count)? };
    if shard.count == 0 {
        return Err("a sweep has at least one shard, 0/1".into());
    }
    if shard.index >= shard.count {
        let last = shard.count - 1;
        return Err(format!(
            "shards are counted from 0: the last of {} is {last}/{}",
            shard.count, shard.count
        ));
    }
    Ok(shard)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_count_from_zero() {
        assert_eq!(parse_shard("7/8"), Ok(Shard { index: 7, count: 8 }));
        assert!(parse_shard("8/8").unwrap_err().contains("7/8"));
        for text in ["", "1", "a/b", "0/0", "-1/3", "1/2/3"] {
            assert!(parse_shard(text).is_err(), "{text}");
        }
    }
}
