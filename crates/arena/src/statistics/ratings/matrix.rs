//! The little algebra that ratings need: matrices with a row for each player.

/// Rows of a square matrix.
pub(super) type Matrix = Vec<Vec<f64>>;

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
        let inverse = inverse(matrix.clone());
        for (row, entries) in matrix.iter().enumerate() {
            for column in 0..5 {
                let entry: f64 = entries.iter().zip(&inverse).map(|(entry, row)| entry * row[column]).sum();
                let expected = f64::from(u8::from(row == column));
                assert!((entry - expected).abs() < 1e-9, "{row} {column}: {entry}");
            }
        }
    }
}
