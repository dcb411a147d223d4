//! A page in a real browser: what a reader sees, and what keys and buttons do. Skipped, with a word, where no
//! Chromium is installed.

use crate::page::{browser, cells, data, page, unpacked};
use crate::{Home, scenario};
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A browser that is told what to do by the DevTools protocol, over two pipes.
pub(crate) struct Browser {
    child: Child,
    to: File,
    from: BufReader<File>,
    session: Option<String>,
    number: u64,
    /// What it said on its console, and what went wrong.
    said: Vec<Value>,
    _folder: tempfile::TempDir,
}

impl Browser {
    /// `None` where there is no browser.
    pub(crate) fn start() -> Option<Self> {
        let Some(browser) = browser() else {
            eprintln!("skipped: no Chromium is installed");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let [to, from, profile] = ["to", "from", "profile"].map(|name| folder.path().join(name));
        assert!(Command::new("mkfifo").args([&to, &from]).status().unwrap().success());
        // Descriptors 3 and 4 are where the protocol is spoken. A pipe opens when both of its ends do, so
        // both sides open them in one order.
        let child = Command::new("sh")
            .args(["-c", "to=$1 from=$2; shift 2; exec \"$@\" 3<\"$to\" 4>\"$from\"", "sh"])
            .args([&to, &from])
            .args([
                browser,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
            ])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .args(["--remote-debugging-pipe", &format!("--user-data-dir={}", profile.display())])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let to = OpenOptions::new().write(true).open(&to).unwrap();
        let from = BufReader::new(File::open(&from).unwrap());
        let mut own = Self { child, to, from, session: None, number: 0, said: Vec::new(), _folder: folder };
        let target = own.call("Target.createTarget", &json!({"url": "about:blank"}))["targetId"].clone();
        let attached = own.call("Target.attachToTarget", &json!({"targetId": target, "flatten": true}));
        own.session = Some(attached["sessionId"].as_str().unwrap().to_owned());
        for what in ["Page.enable", "Runtime.enable", "Log.enable"] {
            own.call(what, &json!({}));
        }
        Some(own)
    }

    fn read(&mut self) -> Value {
        let mut message = Vec::new();
        self.from.read_until(0, &mut message).unwrap();
        assert_eq!(message.pop(), Some(0), "the browser has ended");
        let message: Value = serde_json::from_slice(&message).unwrap();
        let method = message["method"].as_str().unwrap_or("");
        if ["Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"].contains(&method) {
            self.said.push(message["params"].clone());
        }
        message
    }

    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Value {
        self.number += 1;
        let mut message = json!({"id": self.number, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.to.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let answer = self.read();
            if answer["id"] == json!(self.number) {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }

    /// The value of an expression in the page.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let result = self.call("Runtime.evaluate", &json!({"expression": expression, "returnByValue": true}));
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].clone()
    }

    /// Presses a key.
    fn key(&mut self, key: &str) {
        let (code, text) = match key {
            "Tab" => (9, ""),
            "Enter" => (13, "\r"),
            "ArrowRight" => (39, ""),
            "ArrowLeft" => (37, ""),
            other => panic!("no code for {other}"),
        };
        for what in ["keyDown", "keyUp"] {
            let text = if what == "keyDown" { text } else { "" };
            self.call(
                "Input.dispatchKeyEvent",
                &json!({"type": what, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text}),
            );
        }
    }

    /// Shows a page at a width, and waits until it is there.
    pub(crate) fn show(&mut self, page: &Path, width: u32) {
        let size = json!({"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600});
        self.call("Emulation.setDeviceMetricsOverride", &size);
        self.call("Page.navigate", &json!({"url": format!("file://{}", page.display())}));
        while self.read()["method"] != "Page.loadEventFired" {}
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// On a wide screen, on a telephone and on paper nothing is wider than the page, and nothing is said.
#[test]
fn a_page_fits_where_it_is_read() {
    let Some(mut browser) = Browser::start() else { return };
    let home = Home::new();
    page(&home);
    for width in [1_400, 390] {
        browser.show(&home.at("page.html"), width);
        let wide = browser.value("document.documentElement.scrollWidth").as_u64().unwrap();
        assert!(wide <= u64::from(width), "{wide} of {width}");
        let drawn = browser.value("document.querySelector('svg.fabric').getBoundingClientRect().width");
        assert!(drawn.as_f64().unwrap() > 0.8 * f64::from(width.min(1_280)), "{drawn} of {width}");
    }
    browser.call("Emulation.setEmulatedMedia", &json!({"media": "print"}));
    let hidden = "[...document.querySelectorAll('nav, .tools, .filter, #theme')].every(e => !e.offsetParent)";
    assert_eq!(browser.value(hidden), json!(true));
    assert_eq!(browser.said, Vec::<Value>::new());
}

/// The tab key comes to each control and each link of the drawing once, each has a name, and it comes out.
#[test]
fn all_of_a_page_is_reached_by_keys() {
    let Some(mut browser) = Browser::start() else { return };
    let home = Home::new();
    page(&home);
    browser.show(&home.at("page.html"), 1_400);
    let wanted = browser.value(
        "document.querySelectorAll('a[href], button, input, select, summary, [tabindex=\"0\"]').length",
    );
    let focus = "(() => { const e = document.activeElement; if (e === document.body) return null; \
                 e.seen = (e.seen || 0) + 1; const label = e.closest('label'); \
                 return [e.seen, (e.getAttribute('aria-label') || (label || e).textContent).trim()]; })()";
    let mut reached = 0;
    loop {
        browser.key("Tab");
        let at = browser.value(focus);
        if at.is_null() {
            break;
        }
        assert_eq!(at[0], json!(1), "{at} twice");
        assert_ne!(at[1], json!(""), "number {reached} has no name");
        reached += 1;
    }
    assert_eq!(json!(reached), wanted);
    assert_eq!(browser.said, Vec::<Value>::new());
}

/// What the slider says is what the bytes in the page say, part by part.
#[test]
fn the_slider_goes_through_the_run() {
    let Some(mut browser) = Browser::start() else { return };
    let home = Home::new();
    let page = page(&home);
    browser.show(&home.at("page.html"), 1_400);
    let data = data(&page);
    let frames = &data[0]["variants"][0]["frames"];
    let ports = data[0]["ports"].as_array().unwrap().len();
    let sums = |name: &str, bytes: &str| -> Vec<f64> {
        let means: Vec<f64> = serde_json::from_value(frames[name].clone()).unwrap();
        let bytes = unpacked(frames[bytes].as_str().unwrap());
        // bytes are rounded up, each by less than one
        for (mean, bytes) in means.iter().zip(bytes.chunks(ports)) {
            let sum: f64 = bytes.iter().map(|byte| f64::from(*byte)).sum();
            let some = bytes.iter().filter(|byte| **byte > 0).count() as f64;
            assert!(*mean <= sum && sum - some <= *mean, "{mean} of {sum}");
        }
        means
    };
    let (waiting, stopped) = (sums("waits", "wait"), sums("stops", "stop"));
    let ends = frames["t"].as_array().unwrap();
    assert!(waiting.len() > 5 && waiting.iter().any(|count| *count > 0.0));
    // three digits of what is less than a hundred
    let digits = |mean: f64| match mean {
        ..99.5 => {
            let decimals = (2 - mean.log10().floor().max(-9.0) as i32).max(0) as usize;
            format!("{mean:.decimals$}").parse::<f64>().unwrap().to_string()
        }
        _ => mean.round().to_string(),
    };
    browser.value("document.querySelector('[data-is=time]').focus()");
    for at in 0..5 {
        browser.key("ArrowRight");
        let said = browser.value("document.getElementById('told0').textContent");
        let wanted = format!(
            "Until {} µs: {} packets wait, {} staging queues are stopped, on average over this part.",
            ends[at].as_f64().unwrap(),
            digits(waiting[at]),
            digits(stopped[at])
        );
        assert!(said.as_str().unwrap().starts_with(&wanted), "{said}, {wanted}");
    }
    browser.key("ArrowLeft");
    assert_eq!(browser.value("document.querySelector('[data-is=time]').value"), json!("3"));
    // By what their buffers hold, links are coloured beside the fullest of any variant: it has the last
    // colour.
    let held = |variant: &Value| unpacked(variant["frames"]["held"].as_str().unwrap());
    let variants = data[0]["variants"].as_array().unwrap();
    let most = variants.iter().flat_map(held).max().unwrap();
    let (fullest, bytes) =
        variants.iter().map(held).enumerate().find(|(_, held)| held.contains(&most)).unwrap();
    let at = bytes.iter().position(|byte| *byte == most).unwrap() / ports;
    let choose = |is: &str, value: &str, event: &str| {
        format!(
            "(() => {{ const e = document.querySelector('[data-is={is}]'); e.value = '{value}'; \
             e.dispatchEvent(new Event('{event}')); }})()"
        )
    };
    browser.value(&choose("variant", &fullest.to_string(), "change"));
    browser.value(&choose("measure", "held", "change"));
    browser.value(&choose("time", &at.to_string(), "input"));
    let said = browser.value("document.getElementById('told0').textContent");
    assert!(said.as_str().unwrap().ends_with(&format!("any receive buffers hold: {most}.")), "{said}");
    assert!(browser.value("document.querySelectorAll('.ln.u8').length").as_u64() > Some(0));
    let play =
        "(() => { const b = document.querySelector('[data-is=play]'); b.click(); return b.textContent; })()";
    assert_eq!((browser.value(play), browser.value(play)), (json!("Pause"), json!("Play")));
    assert_eq!(browser.said, Vec::<Value>::new());
}

/// Headings sort by the numbers behind the cells, up and down (12 Gb/s are more than 6); a filter leaves the
/// rows that have its text; the name of a flow shows its way.
#[test]
fn tables_sort_and_filter_and_show_ways() {
    let Some(mut browser) = Browser::start() else { return };
    let home = Home::new();
    let page = page(&home);
    browser.show(&home.at("page.html"), 1_400);
    let rows = cells(&page, "budget0");
    let mut rates: Vec<f64> = rows.iter().map(|row| row[5].1.as_ref().unwrap().parse().unwrap()).collect();
    rates.sort_by(f64::total_cmp);
    let column = "[...document.querySelectorAll('#budget0 tbody tr')].map(r => +r.cells[5].dataset.v)";
    browser.value("document.querySelectorAll('#budget0 th button')[5].focus()");
    for order in ["ascending", "descending"] {
        browser.key("Enter");
        assert_eq!(browser.value("document.querySelectorAll('#budget0 th')[5].ariaSort"), json!(order));
        let shown: Vec<f64> = serde_json::from_value(browser.value(column)).unwrap();
        assert_eq!(shown, rates, "{order}");
        rates.reverse();
    }
    let shown = "[...document.querySelectorAll('#budget0 tbody tr')].filter(r => r.offsetParent).length";
    assert_eq!(browser.value(shown), json!(rows.len()));
    browser.value("document.querySelector('[data-filter=budget0]').focus()");
    browser.call("Input.insertText", &json!({"text": "EP/0"}));
    let wanted = rows.iter().filter(|row| row.iter().any(|cell| cell.0.contains("ep/0"))).count();
    assert!(wanted > 0 && wanted < rows.len());
    assert_eq!(browser.value(shown), json!(wanted));
    // control goes over the links of ep/0 and ep/2
    browser.value("document.querySelector('[aria-label=\"Show the way of control\"]').focus()");
    browser.key("Enter");
    let way = "[...document.querySelectorAll('.ln.way')].map(l => l.getAttribute('aria-label')).sort()";
    assert_eq!(browser.value(way), json!(["sw:0-ep/0", "sw:2-ep/2"]));
    let said = browser.value("document.getElementById('told0').textContent");
    assert!(said.as_str().unwrap().starts_with("control: 2 directions of links on its ways"), "{said}");
    assert_eq!(browser.said, Vec::<Value>::new());
}

/// Light and dark are chosen by a button, whatever the system says.
#[test]
fn light_and_dark_by_a_button() {
    let Some(mut browser) = Browser::start() else { return };
    let home = Home::new();
    home.write("x.json", &scenario());
    home.ends(&["x.json", "--out", "there", "--quiet", "--no-figures"], 0);
    home.ends(&["report", "there", "-o", "page.html"], 0);
    let ground = "getComputedStyle(document.body).backgroundColor";
    for system in ["light", "dark"] {
        let feature = json!({"features": [{"name": "prefers-color-scheme", "value": system}]});
        browser.call("Emulation.setEmulatedMedia", &feature);
        browser.show(&home.at("page.html"), 1_400);
        let before = browser.value(ground);
        browser.value("document.getElementById('theme').click()");
        let after = browser.value(ground);
        let both = [json!("rgb(255, 255, 255)"), json!("rgb(15, 20, 25)")];
        let [light, dark] = both;
        let wanted = if system == "light" { (light, dark) } else { (dark, light) };
        assert_eq!((before, after), wanted);
    }
    assert_eq!(browser.said, Vec::<Value>::new());
}
