//! The little algebra that ratings need: matrices with a row for each player.

/// Rows of a square matrix.
pub(super) type Matrix = Vec<Vec<f64>>;

/// A matrix times a vector.
pub(super) fn apply(matrix: &Matrix, vector: &[f64]) -> Vec<f64> {
    matrix.iter().map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum()).collect()
}

/// A matrix times another one.
pub(super) fn multiply(left: &Matrix, right: &Matrix) -> Matrix {
    let column = |column: usize| right.iter().map(|row| row[column]).collect::<Vec<_>>();
    let columns: Vec<_> = (0..right.len()).map(|index| apply(left, &column(index))).collect();
    (0..left.len()).map(|row| columns.iter().map(|column| column[row]).collect()).collect()
}

/// The inverse of a symmetric positive definite matrix: Gauss-Jordan elimination, which needs no pivots
/// there.
pub(super) fn inverse(mut matrix: Matrix) -> Matrix {
    let size = matrix.len();
    for pivot in 0..size {
        // In place: each column of the unit matrix is kept in the column that becomes one.
        let scale = 1.0 / matrix[pivot][pivot];
        matrix[pivot][pivot] = 1.0;
        matrix[pivot].iter_mut().for_each(|entry| *entry *= scale);
        let eliminated = matrix[pivot].clone();
        for row in (0..size).filter(|row| *row != pivot) {
            let factor = std::mem::replace(&mut matrix[row][pivot], 0.0);
            matrix[row].iter_mut().zip(&eliminated).for_each(|(entry, above)| *entry -= factor * above);
        }
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_times_the_matrix_is_the_unit() {
        // A Hilbert matrix, which is hard to invert.
        let matrix: Matrix =
            (1..6).map(|row| (0..5).map(|column| 1.0 / f64::from(row + column)).collect()).collect();
        for (row, entries) in multiply(&matrix, &inverse(matrix.clone())).into_iter().enumerate() {
            for (column, entry) in entries.into_iter().enumerate() {
                let expected = f64::from(u8::from(row == column));
                assert!((entry - expected).abs() < 1e-9, "{row} {column}: {entry}");
            }
        }
    }
}
