//! Rows in columns.

use crate::screen::Paint;
use console::{measure_text_width, truncate_str};
use entourage_model::visible_line;

/// Cells longer than this are cut, the last of a row excepted.
const COLUMNS_MAX: usize = 60;

/// Lines of a table, the heads of its columns first. Only the last column may be ragged.
pub(crate) fn lines<const N: usize>(heads: [&str; N], rows: &[[String; N]], paint: Paint) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].as_str()).chain([heads[column]]);
        cells.map(measure_text_width).max().unwrap_or(0).min(COLUMNS_MAX)
    };
    let widths: [usize; N] = std::array::from_fn(width);
    let line = |cells: [&str; N]| {
        let mut line = String::new();
        for (column, cell) in cells.into_iter().enumerate() {
            if column + 1 == N {
                line.push_str(cell);
                break;
            }
            let cell = truncate_str(cell, COLUMNS_MAX, "…");
            line.push_str(&cell);
            line.push_str(&" ".repeat(widths[column].saturating_sub(measure_text_width(&cell)) + 2));
        }
        line.trim_end().to_owned()
    };
    let mut text = paint.faint(&line(heads));
    for row in rows {
        text.push('\n');
        text.push_str(&line(std::array::from_fn(|column| row[column].as_str())));
    }
    text
}

/// What a file says, as a cell that stays one.
pub(crate) fn cell(text: &str) -> String {
    visible_line(text).into_owned()
}

/// The first line of a text, at most so many columns of it.
pub(crate) fn first_line(text: &str, columns: usize) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    truncate_str(&visible_line(line), columns, "…").into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows =
            [["a".to_owned(), "wide é".to_owned(), String::new()], ["bb".to_owned(), "c".to_owned(), "end".to_owned()]];
        let table = lines(["X", "YY", "Z"], &rows, Paint { coloured: false });
        assert_eq!(table, "X   YY      Z\na   wide é\nbb  c       end");
    }
}
