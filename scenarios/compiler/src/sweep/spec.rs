//! The sweep language: what a sweep file may say. Doc comments here are the reference manual.

use crate::spec::{Places, Words};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A sweep of riosim: a scenario, what to vary in it, and how often to repeat each point.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SweepSpec {
    /// Short name: results go to `results/sweeps/<name>`. Letters, digits, - _ and .
    pub name: String,
    /// One line for the head of a report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the sweep shows and what to look for; a list of lines is joined with spaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Words>,
    /// The scenario: a file, named from the folder of the sweep file, or the scenario itself. Its variants
    /// become the last axis, `variant`.
    pub scenario: Source,
    /// Seed of the replications (default 1). Replication r has the same seed at every point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// What to vary. Entries are crossed; the last one varies fastest.
    #[serde(default)]
    pub axes: Vec<AxisSpec>,
    /// How often each point is simulated (default once).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replications: Option<ReplicationSpec>,
    /// Figures to draw with the results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plots: Option<Vec<PlotSpec>>,
}

/// Where the scenario is.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Source {
    /// File name, from the folder of the sweep file.
    File(String),
    /// The scenario itself.
    Inline(Value),
}

impl JsonSchema for Source {
    fn schema_name() -> Cow<'static, str> {
        "Source".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A scenario file, named from the folder of the sweep, or the scenario itself.",
            "type": ["string", "object"]
        })
    }
}

/// One axis, several in lock step (`zip`), or a sample of the space of several (`sample`).
///
/// An axis says where (`parameter` or `pointer`; the settings of `cases` say it themselves) and what
/// (`values`, `range`, `log_range` or `cases`).
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AxisSpec {
    /// Name in tables and figures (default: the parameter, or the last word of the pointer).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A name that the scenario gives in `parameters`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameter: Option<String>,
    /// JSON pointer into the scenario, or several that take the same value. An element of a list may be named
    /// by its position or its `name`: `/traffic/hot/priority`. Where both would do, the name counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<Places>,
    /// The values one by one, of any kind that the place takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<Value>>,
    /// Equally spaced numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<RangeSpec>,
    /// Numbers with equal ratios.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_range: Option<RangeSpec>,
    /// Named sets of settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cases: Option<Vec<CaseSpec>>,
    /// Unit that is written after each number of a range: 100 with unit "ns" sets "100 ns".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Rounds the numbers of a range to whole ones (default false).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integer: Option<bool>,
    /// Axes of equal length that move together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zip: Option<Vec<AxisSpec>>,
    /// Points spread over the space of several axes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<SampleSpec>,
}

/// A range of numbers, both ends included.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RangeSpec {
    /// First number.
    #[schemars(with = "f64")]
    pub from: Number,
    /// Last number.
    #[schemars(with = "f64")]
    pub to: Number,
    /// How many numbers. Not in a sample, which has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub count: Option<u32>,
}

/// Points spread over a space.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SampleSpec {
    /// How the points are spread.
    pub method: SampleMethod,
    /// How many points, at most 65 536.
    #[schemars(range(min = 1, max = 65536))]
    pub points: u32,
    /// The dimensions: axes with a `range`, a `log_range` or `values`.
    pub axes: Vec<AxisSpec>,
}

/// How points are spread over a space.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SampleMethod {
    /// Owen-scrambled Sobol sequence: even in every projection; best with a power of two of points.
    Sobol,
    /// One point in each of as many equal slices of every axis as there are points.
    LatinHypercube,
}

/// How often each point is simulated.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplicationSpec {
    /// A fixed number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub count: Option<u32>,
    /// With `stop`: at least so many (default 3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 1_000_000))]
    pub min: Option<u32>,
    /// With `stop`: at most so many (default 30).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 1_000_000))]
    pub max: Option<u32>,
    /// When a point is known well enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopSpec>,
}

/// A point has as many replications as the smallest k for which the 95 % interval of the mean over
/// replications 1 to k is narrow enough.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StopSpec {
    /// Column of the results, for example `latency_mean_ns`.
    pub metric: String,
    /// `overall` (default) or a flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Largest half width: a number in the unit of the metric, or a share of the mean (`"5 %"`).
    pub half_width: Width,
}

/// A half width: absolute, or relative to the mean.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Width {
    /// In the unit of the metric.
    Absolute(Number),
    /// A percentage of the mean.
    Relative(String),
}

impl JsonSchema for Width {
    fn schema_name() -> Cow<'static, str> {
        "Width".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number in the unit of the metric, or a percentage of the mean (\"5 %\").",
            "type": ["number", "string"]
        })
    }
}

/// A figure: a metric against one axis, as lines with 95 % bands, or against two, as a heat map.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlotSpec {
    /// Column of the results, for example `latency_mean_ns`.
    pub metric: String,
    /// `overall` (default) or a flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Horizontal axis (default: the axis with the most numbers).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<String>,
    /// Axis with a line for each value, or the vertical axis of a heat map (default: the next axis).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<String>,
    /// Axis with a panel for each value (default: the next axis).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panels: Option<String>,
    /// A heat map instead of lines (default: if both axes have more than seven numbers).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heat: Option<bool>,
    /// Logarithmic vertical axis or colours (default: if the values span more than a factor of 30).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<bool>,
}

/// One case of an axis: settings that go together.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CaseSpec {
    /// Unique name.
    pub name: String,
    /// JSON pointer -> new value, as in a variant of a scenario.
    #[serde(default)]
    pub set: BTreeMap<String, Value>,
}
