//! Congestion over time, place by place: what each port does in each of some frames of the run.
//!
//! A run that is drawn keeps it for whoever shows the run. No number of a summary comes from here.

use models::config::FabricConfig;
use models::probe::{Sample, StagingEdge};

/// Frames of a run; a frame is that many of its time bins.
pub const FRAMES: usize = 128;
/// Ports beyond which nothing is kept: the file would be too large to look at.
pub const PORTS_MAX: usize = 4_096;

/// What is counted while the run goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct Congestion {
    /// Where the ports of each device begin.
    starts: Vec<usize>,
    ports: usize,
    bins_per_frame: usize,
    /// Staging queues stopped now, by port.
    stopped: Vec<u32>,
    frames: Vec<Frame>,
}

/// One frame; empty until it is sampled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// The last sample.
    pub at: u64,
    /// How many samples it has.
    pub samples: u32,
    /// What transmitters had carried then, picoseconds.
    pub carried: Vec<u64>,
    /// Sums over samples of packets in receive buffers.
    pub input: Vec<u32>,
    /// Likewise of packets that wait.
    pub waiting: Vec<u32>,
    /// Likewise of staging queues.
    pub stopped: Vec<u32>,
}

impl Congestion {
    /// Of a fabric; `None` if it has too many ports.
    pub fn new(fabric: &FabricConfig) -> Option<Self> {
        let mut starts = Vec::with_capacity(fabric.devices.len());
        let mut ports = 0;
        for device in &fabric.devices {
            starts.push(ports);
            ports += device.ports.len();
        }
        (ports <= PORTS_MAX).then(|| Self {
            starts,
            ports,
            bins_per_frame: 1,
            stopped: vec![0; ports],
            frames: vec![Frame::default(); FRAMES],
        })
    }

    /// Over a run with that many bins of time.
    pub fn over(self, bins: usize) -> Self {
        Self { bins_per_frame: bins.div_ceil(FRAMES), ..self }
    }

    /// A staging queue stopped, or was released.
    pub fn edge(&mut self, edge: &StagingEdge) {
        let port = self.starts[edge.device as usize] + usize::from(edge.port);
        let count = &mut self.stopped[port];
        *count = if edge.stopped { *count + 1 } else { count.saturating_sub(1) };
    }

    /// Queues stop in the parts of the fabric, each in one of them: how many are stopped now.
    pub(super) fn stopped_in<'a>(&mut self, parts: impl Iterator<Item = &'a Congestion>) {
        self.stopped.fill(0);
        for part in parts {
            self.stopped.iter_mut().zip(&part.stopped).for_each(|(all, stopped)| *all += stopped);
        }
    }

    /// A sample, in this bin of time.
    pub fn sample(&mut self, bin: usize, sample: &Sample) {
        // samples of a part of a fabric are not those of its ports
        if sample.ports.len() != self.ports || sample.carried_ps.len() != self.ports {
            return;
        }
        let frame = &mut self.frames[bin / self.bins_per_frame];
        if frame.samples == 0 {
            for sums in [&mut frame.input, &mut frame.waiting, &mut frame.stopped] {
                sums.resize(self.ports, 0);
            }
        }
        frame.at = sample.at.0;
        frame.samples += 1;
        frame.carried.clone_from(&sample.carried_ps);
        let values = [
            (&mut frame.input, &sample.input_occupancy),
            (&mut frame.waiting, &sample.output_waiting),
            (&mut frame.stopped, &self.stopped),
        ];
        for (sums, now) in values {
            sums.iter_mut().zip(now).for_each(|(sum, now)| *sum += now);
        }
    }

    /// Frames that were sampled.
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.frames.iter().filter(|frame| frame.samples > 0)
    }

    /// Place of a port in the values of a frame.
    pub fn place(&self, (device, port): (u32, u8)) -> usize {
        self.starts[device as usize] + usize::from(port)
    }
}
