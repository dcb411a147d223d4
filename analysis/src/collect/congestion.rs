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
    /// By port.
    stopped: Vec<Stopped>,
    frames: Vec<Frame>,
}

/// One frame; empty until it is sampled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// The last sample.
    pub at: u64,
    /// What transmitters had carried then, picoseconds.
    pub carried: Vec<u64>,
    /// Packets in receive buffers since the last sample before the frame, times the picoseconds that they
    /// were there.
    pub input: Vec<u64>,
    /// Likewise packets that waited.
    pub waiting: Vec<u64>,
    /// Staging queues that had been stopped up to `at`, times the picoseconds that they were.
    pub stopped: Vec<u64>,
}

/// Staging queues of a port.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
struct Stopped {
    /// How many are stopped now.
    now: u64,
    /// When they were released, less when they were stopped, picoseconds; wraps.
    ps: u64,
}

impl Stopped {
    /// Queues times the picoseconds for which they had been stopped at `at`.
    fn until(&self, at: u64) -> u64 {
        self.ps.wrapping_add(self.now.wrapping_mul(at))
    }
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
            stopped: vec![Stopped::default(); ports],
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
        let stopped = &mut self.stopped[port];
        if edge.stopped {
            stopped.now += 1;
            stopped.ps = stopped.ps.wrapping_sub(edge.at.0);
        } else if stopped.now > 0 {
            stopped.now -= 1;
            stopped.ps = stopped.ps.wrapping_add(edge.at.0);
        }
    }

    /// Queues stop in the parts of the fabric, each in one of them: how many are stopped now.
    pub(super) fn stopped_in<'a>(&mut self, parts: impl Iterator<Item = &'a Congestion>) {
        self.stopped.fill(Stopped::default());
        for part in parts {
            for (all, stopped) in self.stopped.iter_mut().zip(&part.stopped) {
                all.now += stopped.now;
                all.ps = all.ps.wrapping_add(stopped.ps);
            }
        }
    }

    /// A sample, in this bin of time.
    pub fn sample(&mut self, bin: usize, sample: &Sample) {
        // samples of a part of a fabric are not those of its ports
        if sample.ports.len() != self.ports || sample.carried_ps.len() != self.ports {
            return;
        }
        let frame = &mut self.frames[bin / self.bins_per_frame];
        frame.at = sample.at.0;
        frame.carried.clone_from(&sample.carried_ps);
        let values = [(&mut frame.input, &sample.input_ps), (&mut frame.waiting, &sample.waiting_ps)];
        for (sums, more) in values {
            sums.resize(self.ports, 0);
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        }
        frame.stopped = self.stopped.iter().map(|stopped| stopped.until(frame.at)).collect();
    }

    /// Frames that were sampled.
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.frames.iter().filter(|frame| frame.at > 0)
    }

    /// Place of a port in the values of a frame.
    pub fn place(&self, (device, port): (u32, u8)) -> usize {
        self.starts[device as usize] + usize::from(port)
    }
}
