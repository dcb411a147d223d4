//! The Slurm engine: a job array whose tasks own their points, and a job that merges when all are done.
//!
//! A task that is preempted, killed or requeued reads its own log and goes on. Tasks share nothing but the
//! folder, which they only read beyond their own log, so nothing on a shared file system needs a lock.

use super::folder::Folder;
use crate::cli::sweep::RunArgs;
use crate::console::print;
use crate::status::Failure;
use scenarios::sweep::SweepPlan;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Tasks without `--array-size`.
const TASKS: usize = 64;
/// The jobs of a sweep, in its folder.
const JOBS: &str = "slurm/jobs.json";

/// Numbers of the jobs of a sweep.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Jobs {
    array: String,
    merge: String,
    tasks: u32,
}

/// Text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn absolute(path: &Path) -> Result<String, Failure> {
    let path = fs::canonicalize(path)
        .map_err(|error| Failure::bad_input(format_args!("cannot find {}: {error}", path.display())))?;
    path.into_os_string()
        .into_string()
        .map_err(|path| Failure::bad_input(format_args!("the path {} is not UTF-8", path.display())))
}

/// What a batch script needs to know.
struct Script<'a> {
    program: String,
    sweep: String,
    folder: String,
    name: &'a str,
    tasks: u32,
    args: &'a RunArgs,
}

impl Script<'_> {
    fn head(&self, name: &str, output: &str) -> String {
        let slurm = &self.args.slurm;
        // sbatch reads its own lines with its own quotes; % stands for numbers of jobs
        let folder = self.folder.replace('\\', r"\\").replace('"', r#"\""#).replace('%', "%%");
        let mut text = format!(
            "#!/bin/sh\n#SBATCH --job-name={name}\n#SBATCH --output=\"{folder}/slurm/{output}\"\n\
             #SBATCH --open-mode=append\n"
        );
        for (flag, value) in [
            ("partition", &slurm.partition),
            ("account", &slurm.account),
            ("time", &slurm.time),
            ("mem", &slurm.mem),
        ] {
            if let Some(value) = value {
                text += &format!("#SBATCH --{flag}={value}\n");
            }
        }
        text
    }

    fn array(&self) -> String {
        let limit = self.args.slurm.array_limit.map(|limit| format!("%{limit}")).unwrap_or_default();
        let cores = self.args.slurm.cpus_per_task.unwrap_or(1);
        let jobs = self.args.jobs.unwrap_or(cores);
        let accept = if self.args.accept_changes { " --accept-changes" } else { "" };
        format!(
            "{}#SBATCH --array=0-{}{limit}\n#SBATCH --cpus-per-task={cores}\n#SBATCH --requeue\n\n\
             # a task that was stopped goes on where its log ends\n\
             exec {} sweep run {} --out {} --shard \"$SLURM_ARRAY_TASK_ID/{}\" \\\n  \
             --jobs {jobs} --quiet{accept}\n",
            self.head(&format!("riosim-{}", self.name), "task-%a.out"),
            self.tasks - 1,
            quoted(&self.program),
            quoted(&self.sweep),
            quoted(&self.folder),
            self.tasks
        )
    }

    fn merge(&self) -> String {
        let accept = if self.args.accept_changes { " --accept-changes" } else { "" };
        format!(
            "{}\nexec {} sweep merge {} --quiet{accept}\n",
            self.head(&format!("riosim-{}-merge", self.name), "merge.out"),
            quoted(&self.program),
            quoted(&self.folder)
        )
    }
}

/// Writes the batch scripts of a sweep and submits them.
pub(crate) fn submit(args: &RunArgs, plan: &SweepPlan, folder: &Folder) -> Result<(), Failure> {
    if args.sweep == Path::new("-") {
        return Err(Failure::bad_input("the tasks of a cluster cannot read standard input: name a file"));
    }
    if let Some(jobs) = known(folder) {
        let shown = folder.path().display();
        let works = active(&jobs).map_err(|why| {
            let array = &jobs.array;
            Failure::bad_input(format_args!(
                "whether job {array} still works on this sweep is not known: {why}"
            ))
        })?;
        if !works.is_empty() {
            return Err(Failure::bad_input(format_args!(
                "job {} works on this sweep already; riosim sweep cancel {shown} stops it",
                jobs.array,
            )));
        }
    }
    let tasks = args.slurm.array_size.map_or(TASKS, |size| size as usize).min(plan.points.len()).max(1);
    let program = std::env::current_exe()
        .map_err(|error| Failure::bad_input(format_args!("cannot find this program: {error}")))?;
    let script = Script {
        program: absolute(&program)?,
        sweep: absolute(&args.sweep)?,
        folder: absolute(folder.path())?,
        name: &plan.name,
        tasks: tasks as u32,
        args,
    };
    for (what, text) in
        [("sweep file", &script.sweep), ("folder", &script.folder), ("program", &script.program)]
    {
        if text.contains(['\n', '\r']) {
            return Err(Failure::bad_input(format_args!("the path of the {what} has a line break in it")));
        }
    }
    folder.write("slurm/array.sbatch", script.array().as_bytes())?;
    folder.write("slurm/merge.sbatch", script.merge().as_bytes())?;
    let at = folder.path().join("slurm");
    if args.slurm.no_submit {
        return print(&format!("{} and merge.sbatch are written\n", at.join("array.sbatch").display()));
    }
    let array = sbatch(&[], &at.join("array.sbatch"))?;
    // without its array the merge job would wait for ever
    let after = [format!("--dependency=afterok:{array}"), "--kill-on-invalid-dep=yes".into()];
    let merge = sbatch(&after, &at.join("merge.sbatch")).inspect_err(|_| {
        let _ = ask("scancel", &[&array]);
    })?;
    let jobs = Jobs { array, merge, tasks: tasks as u32 };
    let mut text = serde_json::to_string(&jobs).expect("string keys only");
    text.push('\n');
    folder.write(JOBS, text.as_bytes())?;
    let shown = folder.path().display().to_string();
    let plain = |letter: char| letter.is_alphanumeric() || "/._-+:,=@%".contains(letter);
    let shown = if shown.chars().all(plain) { shown } else { quoted(&shown) };
    print(&format!(
        "submitted {} as job array {} of {tasks} tasks, and job {} to merge\n\
         riosim sweep status {shown}\nriosim sweep cancel {shown}\n",
        plan.name, jobs.array, jobs.merge
    ))
}

/// Standard output of a command, or why there is none.
fn ask(program: &str, words: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(words).output().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => format!("{program} is not installed here"),
        _ => format!("{program}: {error}"),
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{program}: {}", said.trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Submits a script; gives back the number of its job.
fn sbatch(flags: &[String], script: &Path) -> Result<String, Failure> {
    let script = script.display().to_string();
    let mut words = vec!["--parsable"];
    words.extend(flags.iter().map(String::as_str));
    words.push(&script);
    let said = ask("sbatch", &words).map_err(Failure::bad_input)?;
    // "number", or "number;cluster"
    let job = said.trim().split(';').next().unwrap_or_default();
    if job.is_empty() || !job.chars().all(|digit| digit.is_ascii_digit()) {
        let said = said.trim();
        return Err(Failure::bad_input(format_args!("sbatch says \"{said}\", and not the number of a job")));
    }
    Ok(job.to_owned())
}

fn known(folder: &Folder) -> Option<Jobs> {
    serde_json::from_str(&fs::read_to_string(folder.path().join(JOBS)).ok()?).ok()
}

/// (task, state) of the jobs that Slurm still has, or why it cannot be asked.
fn active(jobs: &Jobs) -> Result<Vec<(String, String)>, String> {
    let list = format!("{},{}", jobs.array, jobs.merge);
    let lines = match ask("squeue", &["--noheader", "--array", "--format=%i %T", "--jobs", &list]) {
        // Jobs that have been over for some minutes are unknown.
        Err(why) if why.contains("Invalid job id") => String::new(),
        said => said?,
    };
    let pair =
        |line: &str| line.trim().split_once(' ').map(|(job, state)| (job.to_owned(), state.to_owned()));
    Ok(lines.lines().filter_map(pair).collect())
}

/// What Slurm says about the jobs of a sweep; `None` if it was never submitted.
pub(crate) fn state(folder: &Folder) -> Option<String> {
    let jobs = known(folder)?;
    let active = match active(&jobs) {
        Ok(active) => active,
        Err(why) => {
            return Some(format!("whether Slurm still has job {} is not known: {why}\n", jobs.array));
        }
    };
    if active.is_empty() {
        return Some(format!(
            "Slurm has no job of this sweep any more (the array of tasks was {}, the merge {})\n",
            jobs.array, jobs.merge
        ));
    }
    let mut counts: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
    for (job, state) in &active {
        let what = if *job == jobs.merge { "merge" } else { "tasks" };
        *counts.entry(format!("{what} {}", state.to_lowercase())).or_default() += 1;
    }
    let counts: Vec<String> = counts.into_iter().map(|(what, count)| format!("{count} {what}")).collect();
    Some(format!("Slurm job {}: {}\n", jobs.array, counts.join(", ")))
}

/// `riosim sweep cancel`
pub(crate) fn cancel(folder: &Folder) -> Result<(), Failure> {
    folder.manifest()?;
    let Some(jobs) = known(folder) else {
        return Err(Failure::bad_input(format_args!(
            "{} was never submitted to Slurm; a sweep on this machine stops with Ctrl-C",
            folder.path().display()
        )));
    };
    ask("scancel", &[&jobs.array, &jobs.merge]).map_err(Failure::bad_input)?;
    print(&format!(
        "cancelled jobs {} and {}; finished runs are kept, the same sweep command goes on from there\n",
        jobs.array, jobs.merge
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_survive_the_shell() {
        let word = "it's $HOME `x`";
        let output =
            Command::new("sh").args(["-c", &format!("printf %s {}", quoted(word))]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), word);
    }
}
