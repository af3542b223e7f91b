//! Boards as pictures: SVG drawn from the primitives of a [`Drawing`], for any game.
//!
//! Knows no rules, no files and no protocol. A picture needs nothing beside itself: no font, no script, no
//! style of the page around it. Equal drawings give equal bytes, and whatever a drawing holds, the size is
//! bounded: rows and columns beyond the 64th, and what stands outside the grid, are left out.

mod canvas;
mod layers;
mod layout;
mod marks;
mod pieces;
mod words;

use std::fmt::Write;

pub use self::canvas::Theme;

use self::canvas::{Canvas, Colour, Escaped, Rect};
use self::layout::{Layout, UNIT, shortened};
use crate::game::{Cell, Drawing, Side};

/// Units between the board and the edge where no labels are.
const EDGE: i64 = 6;
/// The letters of a label of a row or a column that are shown.
const LABEL: usize = 3;
/// The letters of a title that are shown.
const TITLE: usize = 200;

/// A drawing and what a picture of it shows besides.
///
/// ```
/// use plyd_core::game::{Drawing, Piece, Side};
/// use plyd_core::svg::Picture;
///
/// let disc = Piece { cells: vec![(5, 3)], piece: "disc", label: None, owner: Some(Side::First) };
/// let board = Drawing { rows: 6, cols: 7, pieces: vec![disc], ..Drawing::default() };
/// let svg = Picture { title: "Connect Four", last: &[(5, 3)], ..Picture::of(&board) }.svg();
/// assert!(svg.starts_with("<svg ") && svg.contains("<title>Connect Four</title>"));
/// assert!(svg.contains("player 1&#39;s disc: row 6 column 4."), "what stands where, in words");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Picture<'a> {
    /// The board.
    pub drawing: &'a Drawing,
    /// Its title, for screen readers and for a pointer that rests on the picture.
    pub title: &'a str,
    /// The cells to point out besides the marks `last`, such as those that the last move changed.
    pub last: &'a [Cell],
    /// The glyphs of kinds of pieces, as paths around the origin in a cell of 100 units.
    pub glyphs: &'a [(&'a str, &'a str)],
    /// Whether it is light or dark.
    pub theme: Theme,
}

impl<'a> Picture<'a> {
    /// A picture of the drawing alone.
    #[must_use]
    pub fn of(drawing: &'a Drawing) -> Self {
        Self { drawing, title: "Board", last: &[], glyphs: &[], theme: Theme::Auto }
    }

    /// The picture as SVG.
    #[must_use]
    pub fn svg(&self) -> String {
        let layout = Layout::of(self.drawing);
        let view = View::of(self.drawing, layout);
        let mut canvas = Canvas::new(self.theme);
        canvas.rect(view.whole(), 12, Colour::Ground);
        self.draw_cells(&mut canvas, layout);
        layers::draw(&mut canvas, self.drawing, layout);
        self.draw_lines(&mut canvas, layout, view);
        self.draw_pieces(&mut canvas, layout);
        marks::draw(&mut canvas, self.drawing, layout);
        self.draw_walls(&mut canvas, layout);
        if let Some(scores) = self.drawing.scores {
            draw_scores(&mut canvas, scores, layout, view);
        }
        let Rect { x, y, width, height } = view.whole();
        let size = |units: i64| units * view.cell / UNIT;
        let described = words::describe(self.drawing, &self.all_last().collect::<Vec<Cell>>());
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{}\" height=\"{}\" \
             viewBox=\"{x} {y} {width} {height}\" font-family=\"system-ui,sans-serif\" font-weight=\"600\" \
             text-anchor=\"middle\"><title>{}</title><desc>{}</desc>{}</svg>\n",
            size(width),
            size(height),
            Escaped(&shortened(self.title, TITLE)),
            Escaped(&described),
            canvas.finish(),
        )
    }

    /// The cells of the grid that are pointed out.
    fn all_last(&self) -> impl Iterator<Item = Cell> {
        let &Drawing { rows, cols, .. } = self.drawing;
        let marks = self.drawing.marks.iter().filter(|mark| mark.mark == "last");
        let cells = self.last.iter().copied().chain(marks.map(|mark| mark.cell));
        cells.filter(move |&(row, col)| row < rows && col < cols)
    }

    fn draw_cells(&self, canvas: &mut Canvas, layout: Layout) {
        let all = Rect { x: 0, y: 0, width: layout.width(), height: layout.height() };
        canvas.rect(all, 0, Colour::Cell);
        for at in self.all_last().filter_map(|cell| layout.middle(cell)).take(layout.shapes()) {
            canvas.rect(Rect::around(at, UNIT), 0, Colour::Last);
        }
    }

    /// The grid, its frame, the heavier lines of blocks, and the labels.
    fn draw_lines(&self, canvas: &mut Canvas, layout: Layout, view: View) {
        let (width, height) = (layout.width(), layout.height());
        let (tall, wide) = self.drawing.blocks.unwrap_or((0, 0));
        let parts = |at: usize, block: usize| block > 0 && at.is_multiple_of(block);
        let (mut thin, mut heavy) = (String::new(), format!("M0 0h{width}v{height}h-{width}z"));
        let mut put = |is_heavy: bool, line: std::fmt::Arguments<'_>| {
            let path = if is_heavy { &mut heavy } else { &mut thin };
            path.write_fmt(line).expect("a text takes any other");
        };
        for col in 1..layout.cols {
            put(parts(col, wide), format_args!("M{} 0v{height}", col as i64 * UNIT));
        }
        for row in 1..layout.rows {
            put(parts(row, tall), format_args!("M0 {}h{width}", row as i64 * UNIT));
        }
        canvas.lines(&thin, (UNIT / view.cell).max(1), Colour::Line);
        canvas.lines(&heavy, UNIT * 5 / (2 * view.cell), Colour::Heavy);

        let middle = |at: usize| at as i64 * UNIT + UNIT / 2;
        let short = |labels: &[String], most: usize| -> Vec<String> {
            labels.iter().take(most).map(|label| shortened(label, LABEL)).collect()
        };
        let rows = short(&self.drawing.row_labels, layout.rows);
        let cols = short(&self.drawing.col_labels, layout.cols);
        let left = rows.iter().enumerate().map(|(at, label)| (&**label, (-view.left / 2, middle(at))));
        let above = cols.iter().enumerate().map(|(at, label)| (&**label, (middle(at), -view.top / 2)));
        let labels: Vec<(&str, (i64, i64))> = left.chain(above).collect();
        canvas.texts(&labels, view.margin * 11 / 20, Colour::Faint);
    }

    fn draw_pieces(&self, canvas: &mut Canvas, layout: Layout) {
        let mut left = layout.shapes();
        for piece in &self.drawing.pieces {
            let places = piece.cells.iter().filter_map(|&cell| layout.middle(cell)).take(left);
            let places: Vec<(i64, i64)> = places.collect();
            left -= places.len();
            let glyph = self.glyphs.iter().find(|(kind, _)| *kind == piece.piece).map(|(_, path)| *path);
            pieces::draw(canvas, piece, &places, glyph);
            if left == 0 {
                break;
            }
        }
    }

    fn draw_walls(&self, canvas: &mut Canvas, layout: Layout) {
        let walls = self.drawing.walls.iter().filter(|wall| layout.has(wall.cell));
        let path: String = walls
            .take(layout.shapes())
            .map(|wall| {
                let (row, col) = (wall.cell.0 as i64 * UNIT, wall.cell.1 as i64 * UNIT);
                if wall.right {
                    format!("M{} {}v92", col + UNIT, row + 4)
                } else {
                    format!("M{} {}h92", col + 4, row + UNIT)
                }
            })
            .collect();
        canvas.lines(&path, 11, Colour::Wall);
    }
}

/// What is seen: the board, the labels on its left and above it, and the scores below it.
#[derive(Clone, Copy)]
struct View {
    /// Pixels of a cell.
    cell: i64,
    /// Room that labels take.
    margin: i64,
    left: i64,
    top: i64,
    width: i64,
    height: i64,
    /// Room for the scores.
    below: i64,
}

impl View {
    fn of(drawing: &Drawing, layout: Layout) -> Self {
        let longer = layout.rows.max(layout.cols).max(1) as i64;
        // Labels are about equally large on boards of any size.
        let margin = 22 + longer * 3;
        let room = |labels: &[String]| if labels.is_empty() { EDGE } else { margin };
        Self {
            cell: (440 / longer).clamp(20, 64),
            margin,
            left: room(&drawing.row_labels),
            top: room(&drawing.col_labels),
            width: layout.width(),
            height: layout.height(),
            below: if drawing.scores.is_some() { 2 * margin } else { 0 },
        }
    }

    fn whole(self) -> Rect {
        Rect {
            x: -self.left,
            y: -self.top,
            width: self.left + self.width + EDGE,
            height: self.top + self.height + EDGE + self.below,
        }
    }
}

/// The scores below the board, each behind a disc of its player.
fn draw_scores(canvas: &mut Canvas, scores: [i32; 2], layout: Layout, view: View) {
    let y = layout.height() + EDGE + view.margin;
    for (side, score) in Side::ALL.into_iter().zip(scores) {
        let (body, on_it) = pieces::colours(Some(side));
        let quarter = layout.width() / 4;
        let x = quarter + 2 * quarter * side.index() as i64;
        canvas.disc((x - view.margin, y), view.margin * 2 / 3, body);
        canvas.text(&(side.index() + 1).to_string(), (x - view.margin, y), view.margin * 3 / 4, on_it);
        canvas.text(&score.to_string(), (x + view.margin / 2, y), view.margin, Colour::Text);
    }
}

#[cfg(test)]
mod tests;
