//! Writing HTML: every text goes through one place that escapes it.

/// A page, or a part of one.
#[derive(Clone, Debug, Default)]
pub(super) struct Html(String);

/// Text as HTML and attributes of it may hold it.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // HTML has no way to write other control characters
            c if c.is_control() && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

impl Html {
    /// Markup that stands in the program.
    pub fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Any text.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.0.push_str(&escaped(text));
        self
    }

    /// The beginning of an element.
    pub fn open(&mut self, tag: &'static str, attributes: &[(&'static str, &str)]) -> &mut Self {
        self.0.push('<');
        self.0.push_str(tag);
        for (name, value) in attributes {
            self.0.push_str(&format!(" {name}=\"{}\"", escaped(value)));
        }
        self.0.push('>');
        self
    }

    /// Its end.
    pub fn close(&mut self, tag: &'static str) -> &mut Self {
        self.0.push_str(&format!("</{tag}>"));
        self
    }

    /// An element with nothing but text in it.
    pub fn element(
        &mut self,
        tag: &'static str,
        attributes: &[(&'static str, &str)],
        text: &str,
    ) -> &mut Self {
        self.open(tag, attributes).text(text).close(tag)
    }

    /// A drawing that this crate has made: SVG, whose texts its writer has escaped.
    pub fn drawing(&mut self, svg: &str) -> &mut Self {
        self.0.push_str(svg);
        self
    }

    /// Data for the script: JSON in which nothing looks like markup.
    pub fn data(&mut self, id: &'static str, value: &serde_json::Value) -> &mut Self {
        let text = value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
        self.raw("<script type=\"application/json\" id=\"").raw(id).raw("\">");
        self.0.push_str(&text);
        self.raw("</script>\n")
    }

    pub fn into_text(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_gets_through_as_markup() {
        let evil = "</td><script>alert('1')</script>\"&\u{1}";
        let mut html = Html::default();
        html.element("td", &[("title", evil)], evil);
        html.data("data", &serde_json::json!({ "name": evil }));
        let text = html.into_text();
        assert_eq!(text.matches("<script").count(), 1, "{text}");
        assert!(!text.contains("alert('1')</script>\""), "{text}");
        let json = text.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
        let value: serde_json::Value = serde_json::from_str(json).unwrap();
        assert_eq!(value["name"], evil);
    }
}
