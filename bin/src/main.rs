//! The `riosim` command: for now `decode` and `encode` only.

mod codec;

use std::io::Read;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["decode", format, hex @ ..] => codec::decode(format, &hex.join(" ")).map_err(|e| e.to_string()),
        ["encode", format] => {
            let mut json = String::new();
            match std::io::stdin().read_to_string(&mut json) {
                Ok(_) => codec::encode(format, &json).map_err(|e| e.to_string()),
                Err(error) => Err(format!("standard input: {error}")),
            }
        }
        _ => Err(format!("usage: riosim decode|encode {} [hex]", codec::formats().join("|"))),
    };
    match result {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(text) => {
            eprintln!("riosim: {text}");
            ExitCode::from(2)
        }
    }
}
