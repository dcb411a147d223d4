//! The picture of a run that goes on.

use super::sight::{Sight, State};
use crate::progress::seconds_text;
use analysis::num::{count_text, three_digits, time_text};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Style, Stylize};
use ratatui::text::Line;
use ratatui::widgets::{Block, Gauge, Paragraph, Row, Table};

/// Variants that are listed.
const LISTED: usize = 6;

/// Draws all variants, and what is seen of the first one that is being simulated.
pub(super) fn draw(frame: &mut Frame<'_>, title: &str, sights: &[Sight]) {
    let over = sights.iter().filter(|sight| sight.state == State::Over).count();
    let running: Vec<&Sight> = sights.iter().filter(|sight| sight.state == State::Running).collect();
    let listed = &running[..running.len().min(LISTED)];
    let shown = listed.first().copied();
    let protocols = shown.map_or(0, |sight| sight.protocols.len() as u16);
    let [head, bars, packets, lists, talks, foot] = Layout::vertical([
        Constraint::Length(2),
        Constraint::Length(listed.len() as u16),
        Constraint::Length(2),
        Constraint::Fill(2),
        Constraint::Length(if protocols > 0 { protocols.min(8) + 3 } else { 0 }),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    let run = if running.len() == 1 { "runs" } else { "run" };
    let count = format!("{over} of {} variants are done, {} {run} now", sights.len(), running.len());
    frame.render_widget(Paragraph::new(vec![Line::from(title.to_owned()).bold(), count.into()]), head);
    for (sight, area) in listed.iter().zip(bars.rows()) {
        progress(frame, sight, area);
    }
    frame.render_widget(Line::from("Ctrl-C ends the run").dim(), foot);
    let Some(sight) = shown else { return };
    let [created, delivered, dropped, left] = sight.packets.map(count_text);
    let words = format!(
        "{}: {created} packets created, {delivered} delivered, {dropped} dropped, {left} under way",
        sight.name
    );
    frame.render_widget(Paragraph::new(vec![Line::default(), words.into()]), packets);
    let [left, right] = Layout::horizontal([Constraint::Fill(1); 2]).areas(lists);
    hot_links(frame, sight, left);
    stopped_queues(frame, sight, right);
    if protocols > 0 {
        flows(frame, sight, talks);
    }
}

fn progress(frame: &mut Frame<'_>, sight: &Sight, area: Rect) {
    let name = sight.name.chars().count().min(24) as u16;
    let [label, bar, rest] =
        Layout::horizontal([Constraint::Length(name + 1), Constraint::Fill(1), Constraint::Length(50)])
            .areas(area);
    frame.render_widget(Line::from(sight.name.clone()), label);
    let gauge = Gauge::default().ratio(sight.share.clamp(0.0, 1.0)).gauge_style(Style::new().cyan());
    frame.render_widget(gauge, bar);
    let left = if sight.left_s.is_finite() { seconds_text(sight.left_s) } else { "?".to_owned() };
    let speed = three_digits(sight.speed / 1e6);
    let at = time_text(sight.now_ps as f64);
    frame.render_widget(Line::from(format!(" {at}, {speed} M events/s, up to {left} left")), rest);
}

fn table<'a, const N: usize>(
    title: String,
    heads: [&'a str; N],
    rows: impl Iterator<Item = [String; N]>,
    widths: [Constraint; N],
) -> Table<'a> {
    Table::new(rows.map(Row::new), widths)
        .header(Row::new(heads).style(Style::new().dim()))
        .block(Block::bordered().title(title))
}

fn hot_links(frame: &mut Frame<'_>, sight: &Sight, area: Rect) {
    let rows = sight.links.iter().map(|(name, share)| [format!("{:.0} %", share * 100.0), name.clone()]);
    let title = "Busiest links since the last look".to_owned();
    let widths = [Constraint::Length(6), Constraint::Fill(1)];
    frame.render_widget(table(title, ["in use", "from > to"], rows, widths), area);
}

fn stopped_queues(frame: &mut Frame<'_>, sight: &Sight, area: Rect) {
    let rows =
        sight.stopped.iter().map(|(port, now, ever)| [count_text(*now), count_text(*ever), port.clone()]);
    let (queues, ports) = sight.all_stopped;
    let title = format!("Stopped queues: {} at {ports} ports", count_text(queues));
    let widths = [Constraint::Length(11), Constraint::Length(12), Constraint::Fill(1)];
    frame.render_widget(table(title, ["stopped now", "stops so far", "port"], rows, widths), area);
}

fn flows(frame: &mut Frame<'_>, sight: &Sight, area: Rect) {
    let rows = sight.protocols.iter().map(|talk| {
        let [sent, well, taken] = talk.counts.map(count_text);
        [talk.flow.clone(), sent, well, taken, talk.met.clone()]
    });
    let title = "Messages of protocols so far".to_owned();
    let heads = ["flow", "sent", "ended well", "handed over", "what they met"];
    let widths = [
        Constraint::Length(16),
        Constraint::Length(12),
        Constraint::Length(12),
        Constraint::Length(12),
        Constraint::Fill(1),
    ];
    frame.render_widget(table(title, heads, rows, widths), area);
}
